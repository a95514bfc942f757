"""Background knowledge: its constraints, what is refused, and that every way of learning obeys it."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

import rfdag
from devices import on_gpu
from rfdag import datasets, graphs, metrics, simulate
from rfdag.eliminate import OracleEngine
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.errors import FileError, GraphError, OptionError
from rfdag.evidence.independence import GraphIndependence
from rfdag.evidence.local import SharedMoments
from rfdag.graphs import cpdag
from rfdag.graphs.sparse import entries_at
from rfdag.knowledge import Knowledge
from rfdag.knowledge.compliance import compliance
from rfdag.knowledge.orientation import oriented_class
from rfdag.orders.parents import induced_dag
from rfdag.orders.scores import ScoredOrder

QUICK = settings(max_examples=25, deadline=None)

AUTO_MPG = """/knowledge
addtemporal

1  modelyear origin weight
2*  cylinders
4 displacement mpg

forbiddirect
cylinders mpg

requiredirect
weight displacement"""


def obeys(known: Knowledge, dag: np.ndarray) -> bool:
    """Whether a DAG over the variables 0 … p − 1 obeys, by the words of the definition alone."""
    tier = {name: at for at, members in enumerate(known.tiers) for name in members}
    edges = {(int(i), int(j)) for i, j in np.argwhere(dag)}
    reach = np.linalg.matrix_power(np.eye(len(dag), dtype=int) + (dag != 0), len(dag)) > 0
    return (
        all(not reach[j, i] for i in tier for j in tier if tier[i] < tier[j])
        and all(tier.get(i, -1) != tier.get(j, -2) or tier[i] + 1 not in known.forbidden_within for i, j in edges)
        and edges.issuperset(known.required)
        and edges.isdisjoint(known.forbidden)
        and not any(j in known.roots or i in known.leaves for i, j in edges)
    )


@cache
def all_dags(p: int) -> list[np.ndarray]:
    """Every DAG over p nodes."""
    pairs = list(itertools.combinations(range(p), 2))
    found = []
    for ways in itertools.product((0, 1, 2), repeat=len(pairs)):
        dag = np.zeros((p, p), np.int8)
        for (i, j), way in zip(pairs, ways, strict=True):
            dag[i, j], dag[j, i] = way == 1, way == 2
        if not graphs.find_cycle(dag):
            found.append(dag)
    return found


@st.composite
def some_knowledge(draw: st.DrawFn, p: int, dag: np.ndarray | None = None) -> Knowledge:
    """Consistent knowledge over 0 … p − 1: that of a given DAG, or of a random one, so that it may be false."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dag is None:
        order = rng.permutation(p)
        dag = np.zeros((p, p), np.int8)
        dag[np.ix_(order, order)] = np.triu(rng.random((p, p)) < 0.5, 1)
    order = graphs.topological_order(dag)
    cuts = np.sort(rng.integers(0, p + 1, size=rng.integers(0, 3)))
    tiers = list(np.split(order, cuts)) if len(cuts) else []
    listed = rng.random(p) < (1.0 if rng.random() < 0.5 else 0.7)
    tiers = [[int(name) for name in part if listed[name]] for part in tiers]
    closed = [at for at, part in enumerate(tiers, 1) if not dag[np.ix_(part, part)].any() and rng.random() < 0.5]
    edges, absent = np.argwhere(dag), np.argwhere((dag == 0) & ~np.eye(p, dtype=bool))
    return Knowledge(
        tiers=tiers,
        forbidden_within=closed,
        required=[(int(i), int(j)) for i, j in edges if rng.random() < 0.15],
        forbidden=[(int(i), int(j)) for i, j in absent if rng.random() < 0.15],
        roots=[int(i) for i in np.flatnonzero(~dag.any(axis=0)) if rng.random() < 0.3],
        leaves=[int(i) for i in np.flatnonzero(~dag.any(axis=1)) if rng.random() < 0.3],
    )


@QUICK
@given(st.data())
def test_a_dag_obeys_iff_it_has_allowed_edges_and_an_order_that_obeys(data: st.DataObject) -> None:
    p = data.draw(st.integers(1, 4))
    known = data.draw(some_knowledge(p))
    demands = known.constraints(range(p))
    assert not (demands.before & demands.before.T).any()
    for dag in all_dags(p):
        allowed = not (dag.astype(bool) & ~demands.allowed).any() and (dag != 0)[demands.required].all()
        closure = np.linalg.matrix_power(np.eye(p, dtype=int) + (dag != 0) + demands.before, p) > 0
        fits = not (closure & closure.T & ~np.eye(p, dtype=bool)).any()
        assert obeys(known, dag) == (allowed and fits)


@QUICK
@given(st.data())
def test_who_may_be_removed_and_orders_that_obey(data: st.DataObject) -> None:
    p = data.draw(st.integers(1, 8))
    known = data.draw(some_knowledge(p))
    demands = known.constraints(range(p))
    order = demands.arrange(np.array(data.draw(st.permutations(range(p)))))
    rank = np.argsort(order)
    assert (rank[:, None] < rank)[demands.before].all()
    assert demands.obeyed_by(order)
    for count in range(1, p + 1):
        left = order[:count]
        assert (demands.free(left) == ~demands.before[np.ix_(left, left)].any(axis=1)).all()


def test_an_order_that_breaks_a_tier_does_not_obey() -> None:
    demands = Knowledge(tiers=[["a"], ["b"]]).constraints(["a", "b", "c"])
    assert demands.obeyed_by(np.array([2, 0, 1]))
    assert not demands.obeyed_by(np.array([1, 0, 2]))


def test_tetrads_text_and_json_are_read_back_as_written(tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text(AUTO_MPG)
    known = Knowledge.read(tmp_path / "known.txt")
    assert known.tiers == (("modelyear", "origin", "weight"), ("cylinders",), ("displacement", "mpg"))
    assert known.forbidden_within == (2,)
    assert known.forbidden == (("cylinders", "mpg"),)
    assert known.required == (("weight", "displacement"),)
    (tmp_path / "again.txt").write_text(known.to_tetrad())
    assert Knowledge.read(tmp_path / "again.txt") == known
    everything = Knowledge(tiers=[[1, ("x", 2)], ["b"]], roots=[("x", 2)], leaves=["b"], required=[(1, "b")])
    (tmp_path / "known.json").write_text(everything.to_json())
    assert Knowledge.read(tmp_path / "known.json") == everything
    assert Knowledge.of(everything.to_dict()) == everything
    assert Knowledge.of(json.loads(everything.to_json())) == everything


@pytest.mark.parametrize(
    ("parts", "error", "words"),
    [
        ({"tiers": [["a"], ["b", "a"]]}, OptionError, "'a' is in tiers 1 and 2"),
        ({"tiers": [["a", "a"]]}, OptionError, "Tier 1 lists 'a' more than once"),
        ({"tiers": ["ab"]}, OptionError, "A tier of knowledge is a list, not 'ab'"),
        ({"tiers": [["a"]], "forbidden_within": [2]}, OptionError, "names tier 2; there are 1"),
        ({"required": [("a", "b"), ("b", "a")]}, GraphError, "'a' → 'b' → 'a'"),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, GraphError, "cycle 'a' → 'b' → 'c' → 'a'"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, GraphError, "it is forbidden as well"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "a")]}, GraphError, "'b' is in tier 2 and 'a' in tier 1"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "u"), ("u", "a")]}, GraphError, "cycle"),
        ({"tiers": [["a", "b"]], "forbidden_within": True, "required": [("b", "a")]}, GraphError, "no edges inside"),
        ({"roots": ["a"], "required": [("b", "a")]}, GraphError, "'a' is a root"),
        ({"leaves": ["a"], "required": [("a", "b")]}, GraphError, "'a' is a leaf"),
        ({"required": [("a", "a")]}, GraphError, "from 'a' to itself"),
        ({"required": ["ab"]}, OptionError, "pairs"),
        ({"required": [("a", "b", "c")]}, OptionError, "pairs"),
        ({"roots": [["a"]]}, OptionError, "names of columns"),
        ({"roots": [{"x": 1}]}, OptionError, "in place of a column's name"),
        ({"sources": ["a"]}, OptionError, "no part 'sources'"),
    ],
)
def test_contradictions_are_refused_and_shown(parts: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Knowledge.of(parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/knowledge\naddtemporal\n1 a\n1 b\n", "line 4: tier 1 is listed twice"),
        ("/knowledge\naddtemporal\nfirst a\n", "line 3: a tier begins with its number"),
        ("/knowledge\nrequiredirect\na b c\n", "line 3: an edge is two names"),
        ("/knowledge\na b\n", "line 2: 'a b' stands before"),
        ("a b\n", "begins neither"),
        ("{broken", "not JSON"),
        ('{"roots": [{"x": 1}]}', r"known.txt: Found \{'x': 1\} in place of a column's name"),
        ('{"roots": [{}]}', r"Found \{\} in place"),
        ('{"tiers": [["a", {"tuple": "bc"}]]}', r"Found \{'tuple': 'bc'\}"),
        ('{"required": [["a", {"date": 5}]]}', r"Found \{'date': 5\}"),
        ('{"leaves": [{"date": "yesterday"}]}', "Found the date 'yesterday'"),
    ],
)
def test_files_are_refused_with_the_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "known.txt").write_text(text)
    with pytest.raises(FileError, match=words):
        Knowledge.read(tmp_path / "known.txt")


def test_numbers_of_tiers_and_names_may_be_numpys() -> None:
    known = Knowledge(tiers=[np.array(["a"]), np.array(["b", "c"])], forbidden_within=np.array([2]), roots=["a", "a"])
    assert known == Knowledge(tiers=[["a"], ["b", "c"]], forbidden_within=[2], roots=["a"])
    assert json.loads(known.to_json())["forbidden_within"] == [2]


def test_what_tetrad_cannot_say_and_what_is_no_knowledge() -> None:
    with pytest.raises(OptionError, match="no roots or leaves"):
        Knowledge(roots=["a"]).to_tetrad()
    with pytest.raises(OptionError, match=r"'a b'\. Write JSON"):
        Knowledge(tiers=[["a b"]]).to_tetrad()
    with pytest.raises(OptionError, match="mapping of its parts"):
        Knowledge.of(3)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="no file"):
        Knowledge.of("nowhere.txt")


def test_unknown_variables_are_named_with_the_nearest_columns() -> None:
    with pytest.raises(OptionError, match=r"names 'wieght' \(nearest: 'weight'\)"):
        Knowledge(roots=["wieght"]).constraints(["weight", "origin"])
    assert Knowledge(roots=["1"]).constraints([0, 1]).root.tolist() == [False, True]


def random_dag(rng: np.random.Generator, p: int, density: float = 0.5) -> np.ndarray:
    order = rng.permutation(p)
    dag = np.zeros((p, p), np.int8)
    dag[np.ix_(order, order)] = np.triu(rng.random((p, p)) < density, 1)
    return dag


def equivalent_dags(dag: np.ndarray) -> list[np.ndarray]:
    """All members of a DAG's Markov equivalence class, by turning its edges in every combination."""
    edges = np.argwhere(dag)
    members = []
    for turned in itertools.product((False, True), repeat=len(edges)):
        other = np.zeros_like(dag)
        for (i, j), back in zip(edges, turned, strict=True):
            other[(j, i) if back else (i, j)] = 1
        if not graphs.find_cycle(other) and graphs.markov_equivalent(dag, other):
            members.append(other)
    return members


@QUICK
@given(st.data())
def test_the_class_is_directed_where_all_members_that_obey_agree(data: st.DataObject) -> None:
    p = data.draw(st.integers(2, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dag = random_dag(rng, p, 0.6)
    known = data.draw(some_knowledge(p, dag))
    demands = known.constraints(range(p))
    members = [member for member in equivalent_dags(dag) if obeys(known, member)]
    assert any((member == dag).all() for member in members)
    some, every = np.any(members, axis=0), np.all(members, axis=0)
    expected = np.where(every, 1, np.where(some, 2, 0))
    assert (oriented_class(dag, demands) == expected).all()
    assert (oriented_class(csr_array(dag), demands).toarray() == expected).all()


def test_no_detour_leads_back_to_an_earlier_tier() -> None:
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    demands = Knowledge(tiers=[[0], [2]]).constraints(range(3))
    # 2 → 1 would make 1 → 0, and so a path from the second tier to the first; 0 – 1 stays open.
    assert oriented_class(chain, demands).tolist() == [[0, 2, 0], [2, 0, 1], [0, 0, 0]]


@QUICK
@given(st.data())
def test_the_class_under_tiers_of_some_variables(data: st.DataObject) -> None:
    p = data.draw(st.integers(3, 7))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    # A forest has many open edges and long ways round.
    dag = np.zeros((p, p), np.int8)
    for node in range(1, p):
        dag[rng.integers(node), node] = rng.random() < 0.9
    cuts = np.sort(rng.integers(0, p + 1, size=2))
    tiers = [[int(name) for name in part if rng.random() < 0.6] for part in np.split(np.arange(p), cuts)]
    known = Knowledge(tiers=tiers)
    members = [member for member in equivalent_dags(dag) if obeys(known, member)]
    expected = np.where(np.all(members, axis=0), 1, np.where(np.any(members, axis=0), 2, 0))
    assert (oriented_class(dag, known.constraints(range(p))) == expected).all()


DATA = [
    {"method": "soft", "beam": 2, "restarts": 1},
    {"method": "soft", "beam": 2, "rescoring": "lazy", "refine": False},
    {"method": "soft", "beam": 2, "refine": False, "parents": "threshold"},
    {"method": "rfd"},
    {"method": "rfd", "depth": 2},
    {"method": "rfd", "refine": True, "restarts": 1, "random_state": 1},
    {"method": "min-degree", "parents": "bic"},
    {"method": "min-fill"},
    {"method": "max-remove", "pairs": "neighbours"},
    {"method": "random", "random_state": 3},
    {"method": "gsp"},
    {"method": "gsp", "depth": 1, "runs": 2, "initial": "min-degree"},
    {"method": "sp"},
    {"method": "sp", "parents": "threshold"},
    {"method": "soft", "beam": 2, "penalty": [1, 4], "restarts": 0},
    {"method": "soft", "beam": 2, "restarts": 0, "blocks": True},
    {"method": "rfd", "blocks": True},
]
EXACT = [{"method": "soft"}, {"method": "soft", "beam": 2}, {"method": "rfd"}, {"method": "gsp"}, {"method": "sp"}]
SPARSE = [{"method": rule} for rule in ("soft", "rfd", "min-degree", "min-fill", "max-remove", "random")]
SPARSE += [{"method": "rfd", "depth": 2}]


def check(result: rfdag.Result, known: Knowledge) -> None:
    dag = result.dag.toarray() if issparse(result.dag) else result.dag
    place = np.argsort(result.causal_order)
    assert all(place[i] < place[j] for i, j in np.argwhere(dag))
    assert obeys(known, dag)
    assert known.constraints(result.names).obeyed_by(result.causal_order)
    assert all(record.holds for record in result.compliance)
    edges = np.argwhere(dag)
    oriented = entries_at(result.cpdag, *edges.T) if issparse(result.cpdag) else result.cpdag[tuple(edges.T)]
    assert (oriented > 0).all()


def draw_case(data: st.DataObject, truly: bool | None = None) -> tuple[np.random.Generator, np.ndarray, Knowledge]:
    """A DAG, and knowledge that is true of it or true of another one."""
    p = data.draw(st.integers(2, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dag = random_dag(rng, p)
    truly = data.draw(st.booleans()) if truly is None else truly
    return rng, dag, data.draw(some_knowledge(p, dag if truly else None))


@pytest.mark.parametrize("options", DATA, ids=str)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_every_way_of_learning_from_data_obeys(options: dict, data: st.DataObject) -> None:
    rng, dag, known = draw_case(data)
    rows = simulate.sample(simulate.linear_sem(dag, rng), 120, rng)
    check(rfdag.learn(rows, knowledge=known, n_jobs=1, progress=False, **options), known)


@pytest.mark.parametrize("options", EXACT, ids=str)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_every_way_of_learning_from_exact_input_obeys(options: dict, data: st.DataObject) -> None:
    rng, dag, known = draw_case(data)
    sem = simulate.linear_sem(dag, rng)
    check(rfdag.learn(dag, input="dag", knowledge=known, progress=False, **options), known)
    check(rfdag.learn(sem.precision(), input="precision", knowledge=known, progress=False, **options), known)


@pytest.mark.parametrize("options", SPARSE, ids=str)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_sparse_input_obeys_and_agrees_with_full_input(options: dict, data: st.DataObject) -> None:
    rng, dag, known = draw_case(data)
    precision = simulate.linear_sem(dag, rng).precision()
    for matrix, kind in ((dag, "dag"), (precision, "precision")):
        found = rfdag.learn(csr_array(matrix), input=kind, knowledge=known, progress=False, **options)
        check(found, known)
        if options.get("method") != "random":
            full = rfdag.learn(matrix, input=kind, knowledge=known, progress=False, refine=False, **options)
            assert found.order == full.order
            assert (found.dag.toarray() == full.dag).all()
            if found.coefficients is not None:
                np.testing.assert_allclose(found.coefficients.toarray(), full.coefficients, atol=1e-8)
                np.testing.assert_allclose(found.residual_variances, full.residual_variances, rtol=1e-8)
    found = rfdag.learn(
        csr_array(precision), input="precision", n_samples=500, knowledge=known, progress=False, **options
    )
    check(found, known)


@QUICK
@given(data=st.data())
def test_parents_by_threshold_are_those_of_the_regression_on_allowed_predecessors(data: st.DataObject) -> None:
    rng, dag, known = draw_case(data)
    rows = simulate.sample(simulate.linear_sem(dag, rng), 120, rng)
    result = rfdag.learn(rows, method="rfd", knowledge=known, n_jobs=1, progress=False)
    demands = known.constraints(result.names)
    order = result.causal_order
    for at, child in enumerate(order):
        allowed = [x for x in order[:at] if demands.allowed[x, child]]
        inverse = np.linalg.inv(np.atleast_2d(np.cov(rows[:, [*allowed, child]].T)))
        sizes = np.abs(inverse[-1, :-1]) / np.sqrt(inverse[-1, -1] * np.diag(inverse)[:-1])
        tau = np.tanh(NormalDist().inv_cdf(1 - 0.0005) / np.sqrt(120 - len(allowed) - 2))
        expected = {x for x, size in zip(allowed, sizes, strict=True) if size > tau or demands.required[x, child]}
        assert set(np.flatnonzero(result.dag[:, child])) == expected


def bic(rows: np.ndarray, dag: np.ndarray, penalty: float = 2.0) -> float:
    """The score of a DAG, by least squares."""
    n = len(rows)
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    total = penalty * np.log(n) * dag.sum()
    for child in range(len(dag)):
        parents = scaled[:, dag[:, child] != 0]
        residuals = scaled[:, child] - parents @ np.linalg.lstsq(parents, scaled[:, child], rcond=None)[0]
        total += n * np.log(np.mean(residuals**2))
    return float(total)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_rule_sp_finds_the_best_of_all_dags_that_obey(data: st.DataObject) -> None:
    p = data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    known = data.draw(some_knowledge(p))
    rows = simulate.sample(simulate.linear_sem(random_dag(rng, p), rng), 60, rng)
    result = rfdag.learn(rows, method="sp", knowledge=known, n_jobs=1, progress=False, gamma=0)
    best = min(bic(rows, dag) for dag in all_dags(p) if obeys(known, dag))
    assert result.score == pytest.approx(best, abs=1e-6)
    assert bic(rows, result.dag) == pytest.approx(best, abs=1e-6)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_rule_sp_finds_the_fewest_edges_that_obey(data: st.DataObject) -> None:
    p = data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dag, known = random_dag(rng, p), data.draw(some_knowledge(p))
    demands = known.constraints(range(p))
    fewest = min(
        induced_dag(order, GraphIndependence(dag), demands).sum()
        for order in map(np.array, itertools.permutations(range(p)))
        if demands.obeyed_by(order)
    )
    assert rfdag.learn(dag, input="dag", method="sp", knowledge=known, progress=False).dag.sum() == fewest


def test_moves_obey_the_constraints_and_scores_stay_right() -> None:
    rng = np.random.default_rng(5)
    p, n = 8, 150
    rows = simulate.sample(simulate.linear_sem(random_dag(rng, p), rng), n, rng)
    known = Knowledge(tiers=[[5, 1, 2], [0, 3], [7]], required=[(4, 6), (6, 2)], forbidden=[(1, 0), (5, 7)])
    demands = known.constraints(range(p))
    scored = ScoredOrder(
        SharedMoments(np.corrcoef(rows.T), n), demands.arrange(rng.permutation(p)), constraints=demands
    )
    for _ in range(25):
        scored.reverse_edge(rng)
        scored.reinsert(int(rng.integers(p)))
        assert demands.obeyed_by(scored.order)
        assert obeys(known, scored.dag)
        assert scored.total == pytest.approx(bic(rows, scored.dag), abs=1e-6)


def test_learning_with_knowledge_beats_striking_edges_out() -> None:
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng, 8)
        rows = simulate.sample(simulate.linear_sem(dag, rng), 300, rng)
        free = rfdag.learn(rows, beam=4, restarts=2, gamma=0, n_jobs=1, progress=False)
        edges = np.argwhere(free.dag)
        chosen = edges[rng.permutation(len(edges))[: len(edges) // 3]]
        known = Knowledge(forbidden=[(int(i), int(j)) for i, j in chosen])
        struck = free.dag.copy()
        struck[tuple(chosen.T)] = 0
        learnt = rfdag.learn(rows, beam=4, restarts=2, gamma=0, n_jobs=1, progress=False, knowledge=known)
        gains.append(bic(rows, struck) - bic(rows, learnt.dag))
    assert np.mean(gains) > 10
    assert min(gains) > -1e-6


def test_true_knowledge_does_not_make_orders_worse_on_average() -> None:
    without, with_tiers = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng, 8)
        rows = simulate.sample(simulate.linear_sem(dag, rng), 60, rng)
        order = graphs.topological_order(dag).tolist()
        known = Knowledge(tiers=[order[:3], order[3:6], order[6:]])
        for errors, told in ((without, None), (with_tiers, known)):
            result = rfdag.learn(rows, beam=2, restarts=0, n_jobs=1, progress=False, knowledge=told)
            errors.append(metrics.order_error(dag, result.causal_order))
    assert np.mean(with_tiers) < np.mean(without)


def test_auto_mpg_with_its_tiers() -> None:
    known = datasets.auto_mpg_knowledge()
    result = rfdag.learn(datasets.auto_mpg_path(), knowledge=known, method="sp", progress=False)
    free = rfdag.learn(datasets.auto_mpg_path(), method="sp", progress=False)
    assert result.order[-2:] in (("mpg", "acceleration"), ("acceleration", "mpg"))
    assert [record.kind for record in result.compliance] == ["tiers"] * 4
    assert all(record.holds for record in result.compliance)
    assert free.score <= result.score
    assert (result.cpdag == 2).sum() < (cpdag(result.dag) == 2).sum()
    assert "all 4 constraints hold" in result.summary()
    assert not all(record.holds for record in compliance(known, free.names, free.order, free.dag))


def test_knowledge_that_says_nothing_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = simulate.sample(simulate.linear_sem(random_dag(rng, 6), rng), 100, rng)
    for options in ({"method": "rfd"}, {"beam": 2, "restarts": 1}):
        plain = rfdag.learn(rows, n_jobs=1, progress=False, **options)
        silent = rfdag.learn(rows, n_jobs=1, progress=False, knowledge={}, **options)
        # Over these columns the tier constrains nothing, but the code for constraints runs.
        idle = rfdag.learn(rows, n_jobs=1, progress=False, knowledge={"tiers": [range(6)]}, **options)
        for other in (silent, idle):
            assert other.order == plain.order
            assert (other.dag == plain.dag).all()
            assert other.score == plain.score
        assert silent.compliance == idle.compliance == ()


def test_results_keep_their_knowledge(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = simulate.sample(simulate.linear_sem(random_dag(rng, 4), rng), 100, rng)
    known = {"tiers": [["a", ("b", 1)]], "forbidden_within": [1], "roots": ["c"], "required": [("c", "a")]}
    result = rfdag.learn(rows, names=["a", ("b", 1), "c", "d"], knowledge=known, method="rfd", progress=False)
    again = rfdag.load(result.save(tmp_path / "result.json"))
    assert again.knowledge == result.knowledge == Knowledge.of(known)
    assert again.compliance == result.compliance
    assert {record.kind for record in result.compliance} == {"within", "root", "required"}
    assert (again.cpdag == result.cpdag).all()


def test_the_program_reads_a_file_and_tells_of_compliance(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from rfdag.cli import app

    (tmp_path / "known.txt").write_text(AUTO_MPG)
    call = ["learn", str(datasets.auto_mpg_path()), "--method", "rfd", "--knowledge", str(tmp_path / "known.txt")]
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0
    assert "Knowledge: all 5 constraints hold" in shown.output
    (tmp_path / "known.txt").write_text("/knowledge\naddtemporal\n1 wieght\n")
    refused = CliRunner().invoke(app, call)
    assert refused.exit_code == 2
    assert "(nearest: 'weight')" in refused.output.replace("\n", " ")


def test_the_estimator_takes_knowledge() -> None:
    rng = np.random.default_rng(3)
    rows = simulate.sample(simulate.linear_sem(random_dag(rng, 4), rng), 100, rng)
    fitted = clone(rfdag.RFD(knowledge=Knowledge(roots=[2]), method="rfd")).fit(rows)
    assert fitted.causal_order_[0] == 2
    assert not fitted.dag_[:, 2].any()


def test_blocks_obey_across_their_bounds() -> None:
    rng = np.random.default_rng(4)
    dag = np.zeros((8, 8), np.int8)
    dag[0, 1] = dag[1, 2] = dag[3, 4] = dag[4, 5] = dag[6, 7] = 1
    rows = simulate.sample(simulate.linear_sem(dag, rng), 400, rng)
    known = Knowledge(tiers=[[4, 0], [3, 1], [5]], required=[(2, 6)], leaves=[7])
    result = rfdag.learn(rows, blocks=True, method="rfd", knowledge=known, n_jobs=1, progress=False)
    check(result, known)
    assert result.order[-1] == 7


def test_beams_of_any_engine_obey() -> None:
    rng = np.random.default_rng(6)
    dag = random_dag(rng, 6)
    known = Knowledge(tiers=[[5, 3], [0, 1], [4]])
    demands = known.constraints(range(6))
    found = beam_search(EngineStates(OracleEngine(dag)), 1, mu=0.5, constraints=demands)
    assert demands.obeyed_by(found.orders[0])
    wide = beam_search(EngineStates(OracleEngine(dag)), 50, mu=0.5, constraints=demands)
    assert all(demands.obeyed_by(order) for order in wide.orders)


@on_gpu
@pytest.mark.parametrize(
    "options", [{"method": "rfd"}, {"beam": 1, "restarts": 0}, {"beam": 4, "refine": False}], ids=str
)
def test_knowledge_on_a_gpu_gives_the_answer_of_the_cpu(options: dict) -> None:
    rng = np.random.default_rng(8)
    dag = random_dag(rng, 20, 0.2)
    rows = simulate.sample(simulate.linear_sem(dag, rng), 400, rng)
    known = Knowledge(tiers=[[3, 4, 5], [8, 9], [1, 0]], forbidden=[(6, 7), (3, 8)], roots=[12], leaves=[13])
    found, expected = (
        rfdag.learn(rows, knowledge=known, progress=False, device=device, **options) for device in ("cuda", "cpu")
    )
    check(found, known)
    assert found.order == expected.order
    assert (found.dag == expected.dag).all()
