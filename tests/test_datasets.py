"""Bundled data are what their descriptions say."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from rfdag import datasets
from rfdag.graphs import find_cycle
from rfdag.input.environments import read_targets


def test_sachs_on_both_scales():
    log, raw = datasets.sachs(), datasets.sachs(raw=True)
    assert log.names == raw.names
    np.testing.assert_allclose(log.values, np.log(raw.values + 10), atol=1e-3)


def test_sachs_with_its_conditions():
    log = datasets.sachs()
    with datasets.sachs_conditions_path().open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == [*log.names, "condition"]
    np.testing.assert_array_equal(np.array([line[:-1] for line in lines], float), log.values)
    targets = read_targets(datasets.sachs_condition_targets_path())
    assert set(targets) == {line[-1] for line in lines}
    assert {name for names in targets.values() for name in names} <= set(log.names)
    assert [label for label, names in targets.items() if not names] == ["cd3_cd28", "icam2"]


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
