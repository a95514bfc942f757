"""Effects that the equivalence class leaves open: warnings, what is printed, and what the command prefers."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rfdag
from fitted import exact, of_rows
from rfdag.cli import app
from rfdag.effects import is_identified, possible_parents
from rfdag.effects.lines import signed
from rfdag.errors import EquivalenceWarning
from rfdag.graphs import cpdag, markov_equivalent
from rfdag.notebooks import view
from rfdag.simulate import linear_sem, sample
from strategies import dags
from test_effects import class_of

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
FAN = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]], np.int8)
"""age – job → pay ← luck."""
NAMES = ("age", "job", "pay", "luck")


def learnt(dag=FAN, names=NAMES, n=400):
    return of_rows(dag, sample(linear_sem(dag, rng=1), n, rng=2), names)


@settings(max_examples=60, deadline=None)
@given(dags(min_nodes=2, max_nodes=5), st.integers(0, 1000))
def test_it_warns_if_and_only_if_the_dags_of_the_class_disagree(dag, seed):
    """On exact moments, the effects of all DAGs of the class that fit them are compared."""
    sem = linear_sem(dag, seed)
    result, covariance = exact(sem), sem.covariance()
    for x, y in itertools.permutations(range(len(dag)), 2):
        effects = []
        for other in class_of(dag):
            parents = np.flatnonzero(other[:, x])
            given = [x, *parents]
            slopes = np.linalg.solve(covariance[np.ix_(given, given)], covariance[given, y])
            effects.append(0.0 if y in parents else slopes[0])
        disagree = max(effects) - min(effects) > 1e-6
        assert is_identified(cpdag(dag), x, y) or disagree
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            found = result.effect(x, y)
        assert bool(raised) == disagree == (found.possible is not None)
        if disagree:
            assert raised[0].category is EquivalenceWarning
            assert (found.possible.low, found.possible.high) == pytest.approx((min(effects), max(effects)), abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 1000))
def test_every_set_of_parents_comes_with_a_dag_of_the_class(p, seed):
    """On trees in any numbering, with some triangles: all edges are undirected."""
    generator = np.random.default_rng(seed)
    numbers, dag = generator.permutation(p), np.zeros((p, p), np.int8)
    for node in range(1, p):
        first = int(generator.integers(node))
        joined = [first, *np.flatnonzero(dag[:, numbers[first]])[: int(generator.integers(2))].tolist()]
        dag[numbers[first], numbers[node]] = 1
        dag[joined[1:], numbers[node]] = 1
    found_class = cpdag(dag)
    assert not (found_class == 1).any()
    for node in range(p):
        sets = list(possible_parents(dag, found_class, node))
        assert sets
        for parents, member in sets:
            assert np.flatnonzero(member[:, node]).tolist() == parents
            assert markov_equivalent(member, dag)


def test_the_warning_states_the_range_and_points_at_the_caller():
    result = learnt()
    with pytest.warns(
        EquivalenceWarning, match=r"'age' on 'pay' is .* ranges from .*effect_range\('age', 'pay'\)"
    ) as raised:
        found = result.effect("age", "pay")
    assert raised[0].filename == __file__
    every = result.effect_range("age", "pay")
    assert found.possible == every
    assert f"ranges from {signed(every.low)} to {signed(every.high)}, adjusted" in str(raised[0].message)
    assert "knowledge=" in str(raised[0].message)


def test_several_sets_of_parents_need_not_leave_the_effect_open():
    """Whether age is a cause or an effect of the job, the effect of the job on the pay is the same."""
    result = learnt()
    assert len(result.effect_range("job", "pay").possible) == 2
    assert result.effect("job", "pay").possible is None


def test_knowledge_closes_it():
    rows = sample(linear_sem(CHAIN, rng=1), 400, rng=2)
    open_one = rfdag.learn(rows, names=["a", "b", "c"])
    with pytest.warns(EquivalenceWarning):
        open_one.effect("a", "c")
    closed = rfdag.learn(rows, names=["a", "b", "c"], knowledge={"roots": ["a"]})
    assert closed.effect("a", "c").possible is None


@pytest.mark.filterwarnings("ignore::rfdag.errors.EquivalenceWarning")
def test_text_and_html_show_the_range():
    result = learnt()
    found, sure = result.effect("age", "pay"), result.effect("luck", "pay")
    for shown in (str(found), view(found)):
        assert "over its equivalence class it is" in shown
        assert "job" in shown
    assert "equivalence class" not in str(sure)
    assert "equivalence class" not in view(sure)


def test_more_sets_than_can_be_tried_are_a_warning():
    complete = np.triu(np.ones((14, 14), np.int8), 1)
    with pytest.warns(EquivalenceWarning, match="too many to try: more than 4096 sets of parents"):
        found = of_rows(complete, sample(linear_sem(complete, rng=1), 400, rng=1)).effect(0, 13)
    assert found.possible is None


def test_parent_sets_that_cannot_be_estimated_are_a_warning():
    """Too few rows to adjust for all that could be parents; the DAG's own set is smaller."""
    complete = np.triu(np.ones((6, 6), np.int8), 1)
    rows = sample(linear_sem(complete, rng=1), 6, rng=1)
    with pytest.warns(EquivalenceWarning, match="not all can be estimated: Adjusting for 4 variables"):
        of_rows(complete, rows).effect(0, 5)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    result = rfdag.learn(sample(linear_sem(FAN, rng=1), 400, rng=2), names=NAMES)
    assert (result.cpdag == cpdag(FAN)).all()
    return result.save(tmp_path_factory.mktemp("open") / "r.json")


def asked(saved, *words):
    return CliRunner().invoke(app, ["effect", str(saved), *words])


def test_the_command_prints_the_range_where_the_class_leaves_it_open(saved):
    open_one = asked(saved, "age", "pay")
    assert open_one.exit_code == 0
    assert "over the equivalence class" in open_one.stdout
    assert "parents of age" in open_one.stdout
    assert "leaves the effect open" in open_one.stdout
    closed = asked(saved, "job", "pay")
    assert "adjusted for" in closed.stdout
    assert "equivalence class" not in closed.stdout
    always = asked(saved, "job", "pay", "--range")
    assert "parents of job" in always.stdout
    assert "leaves the effect open" not in always.stdout


def test_the_command_prints_a_single_effect_on_demand(saved):
    single = asked(saved, "age", "pay", "--single")
    assert "adjusted for" in single.stdout
    assert "parents of age" not in single.stdout
    assert "over its equivalence class it is" in " ".join(single.stdout.split())
    both = asked(saved, "age", "pay", "--single", "--range")
    assert both.exit_code == 2
    assert "leave one of them out" in both.stderr


def test_json_says_both(saved):
    result = rfdag.load(saved)
    every = result.effect_range("age", "pay")
    for words in ((), ("--single",), ("--range",)):
        found = json.loads(asked(saved, "age", "pay", "--json", *words).stdout)
        assert found["open"] is True
        assert found["range"] == [every.low, every.high]
        assert found["estimate"] in every.estimates
        assert [tuple(each["parents"]) for each in found["possible"]] == [each.parents for each in every.possible]
    closed = json.loads(asked(saved, "job", "pay", "--json").stdout)
    assert (closed["open"], closed["range"], closed["possible"]) == (False, None, [])
