"""Bundled data are what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest

from rfdag import datasets
from rfdag.graphs import find_cycle


def test_sachs_on_both_scales():
    log, raw = datasets.sachs(), datasets.sachs(raw=True)
    assert log.names == raw.names
    np.testing.assert_allclose(log.values, np.log(raw.values + 10), atol=1e-3)


@pytest.mark.parametrize(
    ("load", "nodes", "arcs", "node", "parents"),
    [
        (datasets.ecoli70, 46, 70, "atpD", {"sucA": 0.2603, "ygcE": -0.7252}),
        (datasets.magic_niab, 44, 66, "G311", {"G1853": 0.1543}),
    ],
)
def test_networks(load, nodes, arcs, node, parents):
    network = load()
    assert (len(network.names), network.sem.dag.sum()) == (nodes, arcs)
    assert not find_cycle(network.sem.dag)
    column = network.sem.weights[:, network.names.index(node)]
    assert {network.names[at]: column[at] for at in np.flatnonzero(column)} == parents


def test_rows_of_a_network_follow_its_regressions():
    network = datasets.ecoli70()
    rows, names = network.sample(20_000, rng=1)
    assert names == network.names
    left = rows - rows @ network.sem.weights - network.intercepts
    np.testing.assert_allclose(left.mean(axis=0) / left.std(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(left.var(axis=0), network.sem.variances, rtol=0.06)
