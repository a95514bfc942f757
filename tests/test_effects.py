"""Total effects: adjustment sets, estimates, errors, intervals, and the range over an equivalence class."""

from __future__ import annotations

import dataclasses
import itertools
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rfdag
from fitted import exact, fitted, of_rows
from rfdag.cli import app
from rfdag.effects import Effect, adjustment_set, possible_parents
from rfdag.effects.lines import signed
from rfdag.errors import DataError, GraphError, OptionError
from rfdag.evidence.moments import Moments
from rfdag.graphs import cpdag
from rfdag.simulate import linear_sem, random_dag, sample
from strategies import dags

pytestmark = pytest.mark.filterwarnings("ignore::rfdag.errors.EquivalenceWarning")
NAMES = tuple("abcdef")
DAG = random_dag(6, 0.6, rng=11)


def rows_of(dag, n, seed=1):
    generator = np.random.default_rng(seed)
    return sample(linear_sem(dag, generator), n, generator)


def true_effects(sem):
    return np.linalg.inv(np.eye(len(sem.weights)) - sem.weights)


def class_of(dag):
    """Every DAG with the same skeleton and v-structures, by trying all directions."""
    pairs = [(i, j) for i, j in itertools.combinations(range(len(dag)), 2) if dag[i, j] or dag[j, i]]
    for flips in itertools.product((False, True), repeat=len(pairs)):
        other = np.zeros_like(dag)
        for (i, j), flip in zip(pairs, flips, strict=True):
            other[(j, i) if flip else (i, j)] = 1
        if nx.is_directed_acyclic_graph(nx.DiGraph(other)) and colliders(other) == colliders(dag):
            yield other


def colliders(dag):
    found = set()
    for i, j in itertools.combinations(range(len(dag)), 2):
        if not dag[i, j] and not dag[j, i]:
            found |= {(i, k, j) for k in range(len(dag)) if dag[i, k] and dag[j, k]}
    return found


@pytest.mark.parametrize("method", ["optimal", "parents"])
@given(dags(min_nodes=2, max_nodes=7))
def test_adjustment_sets_are_valid(method, dag):
    """No descendant of what lies between, and nothing left open once the causal edges out of the cause are cut."""
    graph = nx.DiGraph(dag)
    for x, y in itertools.permutations(range(len(dag)), 2):
        found = adjustment_set(dag, x, y, method)
        if y not in nx.descendants(graph, x):
            assert found is None
            continue
        between = (nx.descendants(graph, x) & nx.ancestors(graph, y)) | {y}
        below = between.union(*(nx.descendants(graph, node) for node in between))
        assert not set(found) & (below | {x})
        cut = graph.copy()
        cut.remove_edges_from([(x, node) for node in between])
        assert nx.is_d_separator(cut, {x}, {y}, set(found))


@given(dags(min_nodes=2, max_nodes=6), st.integers(0, 1000))
def test_exact_moments_give_the_true_effect(dag, seed):
    sem = linear_sem(dag, seed)
    result, truth = exact(sem), true_effects(sem)
    for x, y in itertools.permutations(range(len(dag)), 2):
        for method in ("optimal", "parents"):
            found = result.effect(x, y, adjustment=method)
            assert found.estimate == pytest.approx(truth[x, y], abs=1e-8)
            if truth[x, y] == 0:
                assert found[:9] == (x, y, 0.0, 0.0, 0.0, 0.0, 0.95, (), "data")
            elif y in nx.descendants(nx.DiGraph(dag), x):
                assert found.standard_error is None


@given(dags(min_nodes=3, max_nodes=6), st.integers(0, 1000))
def test_the_optimal_set_has_the_least_variance(dag, seed):
    """The asymptotic variance is that of y given x and the set, over that of x given the set."""
    covariance = linear_sem(dag, seed).covariance()

    def left(of, given):
        inner = covariance[np.ix_(given, given)]
        across = covariance[of, given]
        return covariance[of, of] - across @ np.linalg.solve(inner, across)

    for x, y in itertools.permutations(range(len(dag)), 2):
        best, usual = (adjustment_set(dag, x, y, method) for method in ("optimal", "parents"))
        if best is not None:
            variances = [left(y, [x, *given]) / left(x, list(given)) for given in (best, usual)]
            assert variances[0] <= variances[1] * (1 + 1e-9)


@pytest.mark.parametrize("method", ["optimal", "parents"])
def test_numbers_are_those_of_least_squares(method):
    rows = rows_of(DAG, 120) * np.array([1, 10, 0.1, 3, 1, 7]) + 5
    result = of_rows(DAG, rows, NAMES)
    checked = 0
    for x, y in itertools.permutations(range(6), 2):
        found = result.effect(NAMES[x], NAMES[y], adjustment=method, level=0.9)
        if found.standard_error == 0:
            continue
        given = [NAMES.index(name) for name in found.adjustment]
        design = np.column_stack([np.ones(120), rows[:, [x, *given]]])
        slopes, *_ = np.linalg.lstsq(design, rows[:, y])
        left = rows[:, y] - design @ slopes
        freedom = 120 - design.shape[1]
        error = np.sqrt(left @ left / freedom * np.linalg.inv(design.T @ design)[1, 1])
        assert found.estimate == pytest.approx(slopes[1])
        assert found.standard_error == pytest.approx(error)
        assert (found.low + found.high) / 2 == pytest.approx(found.estimate)
        assert (found.cause, found.outcome, found.level) == (NAMES[x], NAMES[y], 0.9)
        checked += 1
    assert checked > 5


def test_statsmodels_agrees():
    api = pytest.importorskip("statsmodels.api")
    rows = rows_of(DAG, 80)
    result = of_rows(DAG, rows, NAMES)
    x, y = next((x, y) for x, y in itertools.permutations(range(6), 2) if adjustment_set(DAG, x, y))
    found = result.effect(NAMES[x], NAMES[y])
    given = [NAMES.index(name) for name in found.adjustment]
    fit = api.OLS(rows[:, y], api.add_constant(rows[:, [x, *given]])).fit()
    assert found.standard_error == pytest.approx(fit.bse[1])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]))


@pytest.mark.parametrize("method", ["optimal", "parents"])
def test_intervals_cover_at_their_level(method):
    sem = linear_sem(DAG, rng=2)
    x, y = next((x, y) for x, y in itertools.permutations(range(6), 2) if adjustment_set(DAG, x, y, "parents"))
    truth = true_effects(sem)[x, y]
    generator = np.random.default_rng(7)
    runs, level = 400, 0.8
    covered = 0
    for _ in range(runs):
        found = of_rows(DAG, sample(sem, 25, generator)).effect(x, y, adjustment=method, level=level)
        covered += found.low <= truth <= found.high
    assert abs(covered - runs * level) < 4 * np.sqrt(runs * level * (1 - level))


def test_estimates_converge():
    sem = linear_sem(DAG, rng=2)
    truth = true_effects(sem)
    result = of_rows(DAG, sample(sem, 40_000, rng=3))
    for x, y in itertools.permutations(range(6), 2):
        found = result.effect(x, y)
        assert abs(found.estimate - truth[x, y]) <= 5 * found.standard_error


@settings(max_examples=40)
@given(dags(min_nodes=2, max_nodes=5), st.integers(0, 1000))
def test_the_range_is_that_of_all_dags_of_the_class(dag, seed):
    rows = rows_of(dag, 50, seed)
    result = of_rows(dag, rows)
    every = list(class_of(dag))
    for x, y in itertools.permutations(range(len(dag)), 2):
        expected = {}
        for other in every:
            parents = tuple(np.flatnonzero(other[:, x]).tolist())
            estimate = 0.0
            if y in nx.descendants(nx.DiGraph(other), x):
                design = np.column_stack([np.ones(50), rows[:, [x, *parents]]])
                estimate = np.linalg.lstsq(design, rows[:, y])[0][1]
            # The parents decide: all DAGs that share them agree on the effect.
            assert expected.setdefault(parents, estimate) == pytest.approx(estimate)
        found = result.effect_range(x, y)
        assert {each.parents: each.effect.estimate for each in found.possible} == pytest.approx(expected)
        assert len(found.possible) == len(expected)
        assert (found.low, found.high) == pytest.approx((min(expected.values()), max(expected.values())))
        assert list(found.estimates) == sorted(found.estimates)


@settings(max_examples=40)
@given(dags(min_nodes=3, max_nodes=5), st.data())
def test_parents_where_knowledge_has_directed_more(dag, data):
    every = list(class_of(dag))
    undirected = [(i, j) for i, j in np.argwhere(cpdag(dag) == 2).tolist() if dag[i, j]]
    known = data.draw(st.sets(st.sampled_from(undirected))) if undirected else set()
    left = [other for other in every if all(other[i, j] for i, j in known)]
    always = np.min(left, axis=0)
    ever = np.max(left, axis=0)
    oriented = (always + 2 * ((ever - always) & (ever - always).T)).astype(np.int8)
    for node in range(len(dag)):
        expected = {tuple(np.flatnonzero(other[:, node]).tolist()) for other in left}
        found = [tuple(parents) for parents, _ in possible_parents(dag, oriented, node)]
        assert len(found) == len(set(found))
        assert set(found) == expected


def obeys(known, dag):
    """Whether a DAG has the required edges, none that are forbidden, and no path from a tier to an earlier one."""
    graph = nx.DiGraph(dag)
    pairs = itertools.product(known["tiers"][1], known["tiers"][0])
    return (
        not any(nx.has_path(graph, late, early) for late, early in pairs)
        and all(dag[edge] for edge in known.get("required", []))
        and not any(dag[edge] for edge in known.get("forbidden", []))
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "known",
    [
        {"tiers": [[0], [2]]},
        {"tiers": [[], []], "required": [(0, 3)]},
        {"tiers": [[3, 1], [0]], "forbidden": [(2, 3)]},
        {"tiers": [[2], []], "required": [(1, 0)]},
    ],
    ids=str,
)
def test_the_range_under_a_results_own_knowledge(known, seed):
    rows = rows_of(random_dag(4, 0.7, rng=seed), 200, seed)
    result = rfdag.learn(rows, knowledge=known, method="rfd", progress=False)
    left = [dag for dag in class_of(result.dag) if obeys(known, dag)]
    assert any((dag == result.dag).all() for dag in left)
    for x, y in itertools.permutations(range(4), 2):
        expected = {}
        for dag in left:
            parents = tuple(np.flatnonzero(dag[:, x]).tolist())
            design = np.column_stack([np.ones(200), rows[:, [x, *parents]]])
            slope = np.linalg.lstsq(design, rows[:, y])[0][1]
            expected[parents] = slope if nx.has_path(nx.DiGraph(dag), x, y) else 0.0
        found = {each.parents: each.effect.estimate for each in result.effect_range(x, y).possible}
        assert found == pytest.approx(expected)


def test_all_intervals_together():
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    sem = linear_sem(chain, rng=1)
    for x, y in ((1, 2), (0, 1)):
        found = of_rows(chain, -sample(sem, 60, rng=1) * [1, -1, 1]).effect_range(x, y)
        intervals = [(each.effect.low, each.effect.high) for each in found.possible]
        assert len(set(intervals)) > 1
        assert (found.lowest, found.highest) == (min(low for low, _ in intervals), max(high for _, high in intervals))
        assert found.lowest < found.low or found.high < found.highest
        assert f"All intervals together: {signed(found.lowest)} to {signed(found.highest)}" in str(found)
    known = exact(sem).effect_range(1, 2)
    assert (known.lowest, known.highest) == (known.low, known.high)
    assert "All intervals" not in str(known)


def test_too_many_parent_sets_are_refused():
    complete = np.triu(np.ones((14, 14), np.int8), 1)
    with pytest.raises(GraphError, match="more than 4096 sets of parents: 13 of its edges"):
        next(possible_parents(complete, cpdag(complete), 0))


def test_what_cannot_be_asked():
    result = of_rows(DAG, rows_of(DAG, 50), ["weight", "height", "age", "income", "rent", "tax"])
    with pytest.raises(OptionError, match=r"'wieght' \(nearest: 'weight'\); the result has 'weight', 'height'"):
        result.effect("wieght", "age")
    with pytest.raises(OptionError, match="'age' was given twice"):
        result.effect("age", "age")
    with pytest.raises(OptionError, match="level is a probability"):
        result.effect("age", "tax", level=95)
    with pytest.raises(OptionError, match="optimal, parents, not 'all'"):
        result.effect("age", "tax", adjustment="all")
    forgetful = dataclasses.replace(result, moments=None)
    for ask in (forgetful.effect, forgetful.effect_range):
        with pytest.raises(DataError, match="moments=True"):
            ask("age", "tax")
    of_a_dag = dataclasses.replace(result.settings, description=rfdag.Description(input="dag"))
    with pytest.raises(DataError, match="learnt from a DAG"):
        dataclasses.replace(result, settings=of_a_dag).effect("age", "tax")


def test_too_few_rows_and_dependent_columns():
    complete = np.triu(np.ones((6, 6), np.int8), 1)
    with pytest.raises(DataError, match="takes more than 6 rows, and there are 6"):
        of_rows(complete, rows_of(complete, 6)).effect(4, 5)
    twins = rows_of(complete, 50)
    twins[:, 4] = twins[:, 3]
    with pytest.raises(DataError, match="column 4 depends linearly on column 0, column 1, column 2, column 3;"):
        of_rows(complete, twins).effect(4, 5)


def test_effects_from_correlations_are_in_standard_deviations():
    rows = rows_of(DAG, 100)
    result = fitted(DAG, Moments.from_correlation(np.corrcoef(rows.T), 100), "correlation")
    raw = of_rows(DAG, rows)
    scales = rows.std(axis=0)
    for x, y in itertools.permutations(range(6), 2):
        assert result.effect(x, y).estimate == pytest.approx(raw.effect(x, y).estimate * scales[x] / scales[y])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    chain = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]
    result = rfdag.learn(chain, input="correlation", n_samples=200, names=["a", "b [x]", 3])
    folder = tmp_path_factory.mktemp("effects")
    result.save(folder / "r.json")
    result.save(folder / "bare.json", moments=False)
    return folder


def test_command(saved):
    run = CliRunner().invoke
    found = run(app, ["effect", str(saved / "r.json"), "b [x]", "3", "--range", "--json"])
    assert found.exit_code == 0
    result = rfdag.load(saved / "r.json")
    possible = json.loads(found.stdout)["possible"]
    expected = {each.parents: each.effect.estimate for each in result.effect_range("b [x]", 3).possible}
    assert {tuple(each["parents"]): each["estimate"] for each in possible} == expected
    single = json.loads(run(app, ["effect", str(saved / "r.json"), "a", "3", "--json"]).stdout)
    assert single["estimate"] == result.effect("a", 3).estimate
    assert set(single) == {*Effect._fields, "open", "range"}
    assert single["units"] == "standardised"
    words = run(app, ["effect", str(saved / "r.json"), "b [x]", "a", "--range"])
    assert words.exit_code == 0
    assert "b [x]" in words.stdout
    assert "over the equivalence class" in words.stdout
    assert "in standard deviations" in words.stdout
    every = result.effect_range("b [x]", "a")
    assert len(every.possible) > 1
    assert f"All intervals together: {signed(every.lowest)} to {signed(every.highest)}" in words.stdout
    assert run(app, ["effect", str(saved / "r.json"), "a", "3", "--adjustment", "parents"]).exit_code == 0


def test_command_says_what_is_wrong(saved):
    run = CliRunner().invoke
    bare = run(app, ["effect", str(saved / "bare.json"), "a", "3"])
    assert bare.exit_code == 1
    assert "moments" in bare.stderr
    unknown = run(app, ["effect", str(saved / "r.json"), "z", "3"])
    assert unknown.exit_code == 2
    assert "no variable 'z'" in unknown.stderr


def test_effects_are_printed_as_tables():
    rows = rows_of(DAG, 200)
    result = of_rows(DAG, rows, ["a", "b", "c", "d", "e", "f"])
    source, target = (result.names[at] for at in np.argwhere(DAG)[0])
    found = result.effect(source, target)
    title, heading, row, caveat = str(found._replace(possible=None)).splitlines()
    assert title == f"Total effect of {source} on {target}"
    assert heading.split()[:2] == ["adjusted", "for"]
    assert heading.endswith("95% interval")
    assert f"{found.estimate:+.4g}  " in row
    assert row.endswith(f"{found.low:+.4g} to {found.high:+.4g}")
    assert len(row) == len(heading)
    assert caveat.startswith("The graph is taken as given")
    assert "no directed path" in str(result.effect(target, source))
    possible = result.effect_range(source, target)
    title, heading, *printed = str(possible).splitlines()
    assert title.endswith("over the equivalence class")
    assert heading.startswith(f"parents of {source}")
    assert len(possible.possible) > 1
    for each, line in zip(possible.possible, printed, strict=False):
        assert line.startswith(", ".join(each.parents) or "nothing")
        assert signed(each.effect.estimate) in line
    exact = rfdag.learn(np.linalg.inv(np.cov(rows, rowvar=False)), input="precision", method="rfd")
    assert len(str(exact.effect_range(*exact.order[:2])).splitlines()) > 2
    assert "exact input" in str(exact.effect_range(*exact.order[:2]))
