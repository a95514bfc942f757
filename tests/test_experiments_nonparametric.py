"""The study of kernel tests on nonlinear data: its data, real cells, the table and the claims."""

from __future__ import annotations

import numpy as np
import pytest

from rfdag.simulate import random_dag
from rfdag.studies.bench.additive import CURVES, additive_sample
from rfdag.studies.bench.workloads import WORKLOADS
from rfdag.studies.paper import nonparametric
from rfdag.studies.paper.study import Scope


@pytest.mark.parametrize("curve", CURVES)
def test_additive_data_have_unit_variances_and_noise(curve):
    dag = random_dag(6, degree=3, rng=[1, 2])
    rows = additive_sample(dag, 4000, curve, np.random.default_rng([1, 3]))
    np.testing.assert_allclose(rows.std(axis=0), 1.0)
    # A variable with parents has noise beside them: no polynomial of the parents explains it whole.
    for child in np.flatnonzero(dag.any(axis=0)):
        parents = rows[:, np.flatnonzero(dag[:, child])]
        features = np.column_stack([np.ones(len(rows)), *(parents**power for power in range(1, 6))])
        left = rows[:, child] - features @ np.linalg.lstsq(features, rows[:, child], rcond=None)[0]
        assert 0.05 < left.var() < 0.9


def test_parabolas_hide_from_correlations():
    dag = np.array([[0, 1], [0, 0]])
    weak = [
        abs(np.corrcoef(additive_sample(dag, 500, "quadratic", np.random.default_rng([seed, 9])).T)[0, 1])
        for seed in range(30)
    ]
    assert min(weak) < 0.1


def test_a_quick_plan_and_its_cheap_cells():
    plan = nonparametric.plan(Scope(quick=True))
    assert {key["p"] for key in plan} == {10}
    assert {key["method"] for key in plan} == set(nonparametric.METHODS)
    records = []
    for method in ("RFD + Fisher z", "PC + Fisher z", "soft + refinement"):
        key = next(key for key in plan if key["method"] == method)
        (record,) = nonparametric.measure(key, Scope())
        assert 0 <= record["f1"] <= 1
        assert (record["tests"] is None) == (method == "soft + refinement")
        records.append(record)
    rows = nonparametric.table(records)
    assert [row["method"] for row in rows] == ["RFD + Fisher z", "PC + Fisher z", "soft + refinement"]
    assert nonparametric.claims(rows) == []
    assert set(nonparametric.draw(rows)) == {"nonparametric"}


def test_pc_asks_each_question_once():
    rows = WORKLOADS["sigmoid-p10-n500"].draw(3, 0).rows[:, :6]
    graph, tests = nonparametric.found_by_pc(rows, "fisher-z", 0.01)
    assert (graph == graph.T).all()
    assert tests >= 15


def row(method, f1, tests):
    return {"curve": "sigmoid", "p": 10, "method": method, "f1": f1, "tests": tests}


@pytest.mark.parametrize(
    ("kci", "tests", "held"),
    [(0.9, 50, [True, True, True, True]), (0.75, 50, [True, False, True, True]), (0.9, 60, [True, True, False, False])],
)
def test_claims_judge_the_better_of_the_two(kci, tests, held):
    rows = [
        row("RFD + KCI", kci, tests),
        row("RFD + RCIT", 0.7, 40),
        row("RFD + Fisher z", 0.6, 30),
        row("PC + KCI", 0.8, 100),
        row("PC + RCIT", 0.85, 100),
        row("PC + Fisher z", 0.5, 100),
    ]
    assert [claim.held for claim in nonparametric.claims(rows)] == held
