"""The studies that go beyond the paper: their graphs and data, real cells, tables and claims."""

from __future__ import annotations

import numpy as np
import pytest

import rfdag
from rfdag import datasets, metrics
from rfdag.graphs import cpdag
from rfdag.studies.paper import beyond_noiseless, beyond_noisy, noiseless
from rfdag.studies.paper.study import Scope


@pytest.mark.parametrize("kind", beyond_noiseless.NETWORKS)
def test_networks_are_only_renumbered(kind):
    dag = beyond_noiseless._network(kind)
    drawn = beyond_noiseless.draw_dag(kind, len(dag), np.random.default_rng(3))
    assert not np.array_equal(drawn, dag)
    assert sorted(drawn.sum(axis=0)) == sorted(dag.sum(axis=0))
    assert sorted(drawn.sum(axis=1)) == sorted(dag.sum(axis=1))


def test_a_cell_without_noise():
    key = next(key for key in beyond_noiseless.plan(Scope(quick=True)) if key["kind"] == "Sachs")
    records = beyond_noiseless.measure({**key, "graphs": [0, 1]}, Scope())
    assert [record["method"] for record in records] == key["methods"]
    assert {record["edges"] for record in records} == {20}
    found = {record["method"]: record["found"] for record in records}
    # The sparsest of all orders is the truth's, and no order is sparser.
    assert found["SP"] == 20
    assert min(found.values()) == 20
    assert found["RP"] > 20


def row(kind, p, method, ratio, difference=0.0):
    return {
        "kind": kind, "p": p, "method": method, "ratio": ratio, "exact": float(ratio == 1), "beyond_rfd": difference,
        "beyond_rfd_low": difference - 0.001, "beyond_rfd_high": difference + 0.001,
    }  # fmt: skip


def test_claims_without_noise():
    methods = {"RFD": 1.01, "RFD + covered edges": 1.0} | dict.fromkeys(beyond_noiseless.BASELINES, 1.2)
    rows = [row("Sachs", 11, method, ratio, ratio - 1.01) for method, ratio in methods.items()]
    assert beyond_noiseless.claims(rows)[0].held is True
    ahead = [each | ({"beyond_rfd_high": -0.01} if each["method"] == "MF" else {}) for each in rows]
    assert beyond_noiseless.claims(ahead)[0].held is False
    dense = [each | ({"ratio": 1.06} if each["method"] == "RFD" else {}) for each in rows]
    assert beyond_noiseless.claims(dense)[0].held is False


def test_pictures_without_noise():
    key = next(key for key in beyond_noiseless.plan(Scope(quick=True)) if key["kind"] == "Sachs")
    rows = beyond_noiseless.table(beyond_noiseless.measure({**key, "graphs": [0, 1]}, Scope()))
    pictures = beyond_noiseless.draw(rows)
    assert list(pictures) == ["beyond-noiseless-networks"]
    points = [line for line in pictures["beyond-noiseless-networks"].axes[1].lines if line.get_marker() != "None"]
    assert len(points) == len(key["methods"])


@pytest.mark.parametrize("kind", beyond_noisy.SOURCES)
def test_data_have_the_size_and_the_truth_they_say(kind):
    source = beyond_noisy.SOURCES[kind]
    drawn = source.source(np.random.default_rng(1))
    assert drawn.rows.shape == (source.n, source.p)
    assert drawn.true.shape == (source.p, source.p)
    # The true graph is acyclic and not empty.
    assert (cpdag(drawn.true) != 0).any()


def test_rows_of_sachs_are_drawn_once_each():
    drawn = beyond_noisy.SOURCES["Sachs, n = 1000"].source(np.random.default_rng(1))
    known, counts = np.unique(datasets.sachs().values, axis=0, return_counts=True)
    times = {tuple(line): count for line, count in zip(known, counts, strict=True)}
    lines, taken = np.unique(drawn.rows, axis=0, return_counts=True)
    assert all(times[tuple(line)] >= count for line, count in zip(lines, taken, strict=True))


def test_a_cell_with_noise_agrees_with_the_library():
    kind = "scale-free, m = 2, p = 20, n = 40"
    plan = beyond_noisy.plan(Scope(quick=True))
    key = next(key for key in plan if key["kind"] == kind and key["home"] == "rfdag")
    key = {**key, "calls": [["RFD", "rfdag-rfd", [0.01]]], "limit": 60.0}
    (record,) = beyond_noisy.measure(key, Scope())
    drawn = beyond_noisy.SOURCES[kind].draw(key["seed"], key["graph"])
    expected = metrics.skeleton(drawn.true, rfdag.learn(drawn.rows, method="rfd", alpha=0.01).dag)
    assert record["tpr"] == expected.tpr
    assert record["fpr"] == expected.fpr
    assert record["failure"] == ""
    (summed,) = beyond_noisy.table([record])
    assert (summed["kind"], summed["tpr"], summed["graphs"]) == (kind, pytest.approx(expected.tpr, rel=1e-3), 1)


def test_methods_of_the_sizes_that_are_run():
    for key in beyond_noiseless.plan(Scope()):
        assert ("SP" in key["methods"]) == (key["p"] <= noiseless.MOST_FOR_SP)
