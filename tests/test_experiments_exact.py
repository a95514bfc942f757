"""The studies that look at populations: orders on the elimination graph, the noiseless study, B_K and the run time."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest

import reference
from rfdag.graphs import markov_equivalent, moral_graph
from rfdag.simulate import dense_dag, linear_sem, random_dag
from rfdag.studies.paper import dense_family, noiseless, orderings, runtime_law
from rfdag.studies.paper.study import Scope

QUICK = Scope(quick=True)

ORDERINGS = (orderings.minimum_degree, orderings.minimum_fill, orderings.multiple_minimum_degree)


def unjoined(graph, node):
    """Return the pairs of a node's neighbours that are not joined."""
    return [pair for pair in itertools.combinations(graph[node], 2) if not graph.has_edge(*pair)]


def slowly(matrix, cost):
    """Eliminate the cheapest node, of several the lowest, and join its neighbours; return a source first."""
    graph = nx.from_numpy_array(np.asarray(matrix))
    gone = []
    while graph:
        node = min(sorted(graph), key=lambda node: cost(graph, node))
        graph.add_edges_from(unjoined(graph, node))
        graph.remove_node(node)
        gone.append(node)
    return gone[::-1]


def fill_of(matrix, order):
    """Return how many edges the elimination from the end of an order adds."""
    graph = nx.from_numpy_array(np.asarray(matrix))
    fill = 0
    for node in reversed(list(order)):
        new = unjoined(graph, int(node))
        fill += len(new)
        graph.add_edges_from(new)
        graph.remove_node(int(node))
    return fill


def moral_graphs():
    """Return moral graphs of random DAGs, from nearly empty to nearly complete, and of one node."""
    drawn = [moral_graph(random_dag(p, density, rng=p)) for p in (2, 7, 15, 30) for density in (0.05, 0.2, 0.6)]
    return [moral_graph([[0]]), *drawn]


@pytest.mark.parametrize("matrix", moral_graphs())
def test_greedy_orders_are_those_of_the_slow_way(matrix):
    degrees = slowly(matrix, lambda graph, node: graph.degree(node))
    fills = slowly(matrix, lambda graph, node: len(unjoined(graph, node)))
    assert orderings.minimum_degree(matrix).tolist() == degrees
    assert orderings.minimum_fill(matrix).tolist() == fills


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize("p", [2, 10, 40])
def test_trees_are_eliminated_without_fill(ordering, p):
    tree = nx.to_numpy_array(nx.random_labeled_tree(p, seed=p))
    order = ordering(tree)
    assert sorted(order.tolist()) == list(range(p))
    assert fill_of(tree, order) == 0


@pytest.mark.parametrize("seed", range(5))
def test_minimum_fill_eliminates_chordal_graphs_without_fill(seed):
    random = nx.gnp_random_graph(20, 0.2, seed=seed)
    chordal, _ = nx.complete_to_chordal_graph(random)
    matrix = nx.to_numpy_array(chordal, nodelist=range(20))
    assert fill_of(matrix, orderings.minimum_fill(matrix)) == 0


@pytest.mark.parametrize("matrix", moral_graphs())
def test_superlu_fills_about_as_little_as_minimum_degree(matrix):
    order = orderings.multiple_minimum_degree(matrix)
    least = fill_of(matrix, orderings.minimum_degree(matrix))
    assert sorted(order.tolist()) == list(range(len(matrix)))
    assert fill_of(matrix, order) <= 1.25 * least + 2


def test_superlu_read_backwards_would_fill_more():
    star = np.zeros((12, 12))
    star[0, 1:] = star[1:, 0] = 1
    order = orderings.multiple_minimum_degree(star)
    assert fill_of(star, order) == 0 < fill_of(star, order[::-1])


def slow_edges(method, dag):
    """Return how many edges the DAG of a method's order has, all by d-separation."""
    world, p = reference.Population(dag), len(dag)
    moral = reference.elimination_graph(dag, range(p))
    matrix = np.array([[frozenset((i, j)) in moral for j in range(p)] for i in range(p)])
    order = {
        "MD": lambda: reference.greedy(world, p, reference.BASELINES["min-degree"]),
        "MF": lambda: reference.greedy(world, p, reference.BASELINES["min-fill"]),
        "MR": lambda: reference.greedy(world, p, reference.BASELINES["max-remove"]),
        "RFD": lambda: reference.rfd(world, p),
        "RFD w=2": lambda: reference.rfd(world, p, w=2),
        "RFD w=3": lambda: reference.rfd(world, p, w=3),
        "MD elimination": lambda: slowly(matrix, lambda graph, node: graph.degree(node)),
        "MF elimination": lambda: slowly(matrix, lambda graph, node: len(unjoined(graph, node))),
    }[method]()
    return len(reference.minimal_imap(world, order))


@pytest.mark.parametrize("method", ["MD", "MF", "MR", "RFD", "RFD w=2", "RFD w=3", "MD elimination", "MF elimination"])
def test_noiseless_methods_agree_with_the_paper_read_literally(method):
    for seed in range(3):
        dag = random_dag(6, 0.4, rng=seed)
        assert noiseless.outcome(method, dag, np.random.default_rng(0)).dag.sum() == slow_edges(method, dag)


@pytest.mark.parametrize("method", noiseless.METHODS)
def test_as_many_edges_as_the_truth_means_the_true_class(method):
    generator = np.random.default_rng(1)
    for seed in range(8):
        dag = random_dag(7, 0.4, rng=seed)
        found = noiseless.outcome(method, dag, generator).dag
        assert found.sum() >= dag.sum()
        assert (found.sum() == dag.sum()) == markov_equivalent(found, dag)


def test_noiseless_plan_covers_every_graph_once():
    keys = noiseless.plan(Scope())
    assert len({json.dumps(key, sort_keys=True) for key in keys}) == len(keys)
    covered = [(key["density"], key["p"], graph) for key in keys for graph in range(*key["graphs"])]
    assert len(covered) == len(set(covered)) == 4 * 10 * 100
    assert {key["p"] for key in noiseless.plan(QUICK)} == {10, 30, 60}
    assert all("RFD w=3" not in key["methods"] for key in noiseless.plan(QUICK) if key["p"] == 60)


def test_a_noiseless_cell_draws_its_graphs_whatever_else_is_run():
    key = next(key for key in noiseless.plan(QUICK) if key["p"] == 10 and key["density"] == "1/2")
    every = noiseless.measure(key, QUICK)
    later = noiseless.measure({**key, "graphs": [3, 4], "methods": ["RP", "RFD"]}, QUICK)
    told = {(record["graph"], record["method"]): (record["edges"], record["found"]) for record in every}
    assert len(every) == 5 * len(key["methods"])
    assert [told[3, method] for method in ("RP", "RFD")] == [(record["edges"], record["found"]) for record in later]
    json.dumps(every, allow_nan=False)


def test_graphs_without_edges_are_drawn_again():
    generator = np.random.default_rng(0)
    assert all(noiseless.draw_dag(3, "1/p", generator).any() for _ in range(30))


def noiseless_records(ratios, *, density="1/2", edges=100, graphs=4):
    """Make records in which a method finds these ratios at these sizes, on every graph."""
    return [
        {"density": density, "p": p, "graph": graph, "method": method, "edges": edges,
         "found": round(edges * ratio), "seconds": 0.5, "capped": int(graph == 0)}
        for method, by_size in ratios.items()
        for p, ratio in by_size.items()
        for graph in range(graphs)
    ]  # fmt: skip


def test_noiseless_table_sums_up_by_point():
    records = noiseless_records({"RFD": {10: 1.0}, "MR": {10: 1.5}})
    records[1] = {**records[1], "found": 120}
    rfd, mr = sorted(noiseless.table(records[::-1]), key=lambda row: row["ratio"])
    assert (rfd["method"], rfd["graphs"], rfd["ratio"], rfd["exact"], rfd["capped"]) == ("RFD", 4, 1.05, 0.75, 0.25)
    assert rfd["ratio_low"] == 1.0 < rfd["ratio_high"] <= 1.2
    assert (mr["ratio"], mr["beyond_rfd"], mr["exact"], mr["median_seconds"]) == (1.5, 0.45, 0.0, 0.5)
    assert 0.3 <= mr["beyond_rfd_low"] < 0.45 < mr["beyond_rfd_high"] == 0.5


def noiseless_ratios(**changes):
    """Return ratios that bear out everything that the paper says and that the study adds."""
    flat = {10: 1.0, 30: 1.0, 100: 1.0}
    rising, steep = {10: 1.1, 30: 1.2, 100: 1.4}, {10: 1.2, 30: 1.3, 100: 1.9}
    ratios = {
        "RFD": {10: 1.04, 30: 1.01, 100: 1.01},
        "MR": {10: 1.1, 30: 1.02, 100: 1.02},
        "RP": {10: 1.5, 30: 2.0, 100: 2.0},
        **dict.fromkeys(("MD", "MF"), rising),
        **dict.fromkeys(("MD elimination", "MF elimination"), steep),
        **dict.fromkeys(("RFD w=2", "RFD w=3", "RFD + covered edges"), flat),
    }
    return ratios | changes


def noiseless_verdicts(ratios):
    """Return which claims are held, by their statement."""
    rows = noiseless.table(noiseless_records(ratios))
    return {claim.statement: claim.held for claim in noiseless.STUDIES[0].claims(rows)}


def test_noiseless_claims_hold_where_they_should():
    assert set(noiseless_verdicts(noiseless_ratios()).values()) == {True}


@pytest.mark.parametrize(
    ("changes", "refuted"),
    [
        (
            {"RFD": {10: 1.06, 30: 1.01, 100: 1.01}},
            ["RFD (w = 1) induces", "beyond the paper: the mean ratio of RFD"],
        ),
        ({"RFD": {10: 1.05, 30: 1.01, 100: 1.01}}, ["beyond the paper: the mean ratio of RFD"]),
        ({"MF": {10: 1.02, 30: 1.2, 100: 1.4}}, ["RFD outperforms MF"]),
        ({"MR": {10: 1.1, 30: 1.04, 100: 1.02}}, ["MR matches RFD"]),
        ({"MD": {10: 1.1, 30: 1.2, 100: 1.1}}, ["at density ½, MD in the moral subgraph"]),
        ({"MD elimination": {10: 1.05, 30: 1.3, 100: 1.9}}, ["beyond the paper: MD is better"]),
        (
            {"RFD w=2": {10: 1.0, 30: 1.0, 100: 1.02}},
            ["beyond the paper: RFD w=2 is sparser", "beyond the paper: at density ½, RFD w=2 recovers"],
        ),
        ({"RFD w=2": {10: 1.0, 30: 1.01, 100: 1.0}}, ["beyond the paper: at density ½, RFD w=2 recovers"]),
        ({"RFD + covered edges": {10: 1.0, 30: 1.01, 100: 1.0}}, ["beyond the paper: RFD + covered edges recovers"]),
    ],
)
def test_noiseless_claims_are_refuted_by_what_speaks_against_them(changes, refuted):
    verdicts = noiseless_verdicts(noiseless_ratios(**changes))
    found = [statement for statement, held in verdicts.items() if not held]
    assert len(found) == len(refuted)
    assert all(statement.startswith(start) for statement, start in zip(found, refuted, strict=True))


def test_noiseless_figures_show_every_method_that_was_run():
    pytest.importorskip("matplotlib")
    figures = noiseless.draw(noiseless.table(noiseless_records(noiseless_ratios())))
    assert next(iter(figures)) == "noiseless"
    drawn = {line.get_label() for line in figures["noiseless-time"].axes[0].lines}
    assert drawn == set(noiseless_ratios())


def test_dense_family_plan_is_of_different_cells():
    for scope in (Scope(), QUICK):
        keys = [json.dumps(key, sort_keys=True) for key in dense_family.plan(scope)]
        assert len(set(keys)) == len(keys)


def dense_cell(kind, K):
    """Return the first cell of a kind with K sources."""
    return next(key for key in dense_family.plan(QUICK) if key["kind"] == kind and key["K"] == K)


def test_removal_scores_of_the_dense_family_are_those_of_the_definition():
    (record,) = dense_family.measure(dense_cell("scores", 4), QUICK)
    world = reference.Population(dense_dag(4))
    for turn, node in enumerate(range(9, 3, -1)):
        scores = [len(reference.removed_edges(world, range(node + 1), other)) for other in range(node + 1)]
        assert record["removals"][turn] == scores[-1]
        assert record["of_others"][turn] == max(scores[:-1])


def test_dense_family_is_recovered_exactly_and_from_many_rows():
    exact = {record["method"]: record for record in dense_family.measure(dense_cell("exact", 4), QUICK)}
    assert exact["RFD"]["exact"]
    assert exact["RFD"]["ratio"] == 1
    assert not exact["MD"]["exact"]
    key = {**dense_cell("data", 3), "n": 10**7}
    from_data = dense_family.measure(key, QUICK)
    assert [(record["exact"], record["f1"], record["shd"]) for record in from_data] == [(True, 1.0, 0)] * 2
    json.dumps([*exact.values(), *from_data], allow_nan=False)


def test_shuffling_renames_the_nodes():
    dag = dense_dag(4)
    renamed = dense_family.shuffled(dag, np.random.default_rng(0))
    assert (renamed != dag).any()
    assert nx.is_isomorphic(reference.Population(dag).graph, reference.Population(renamed).graph)


def test_sample_covariances_scatter_like_those_of_rows():
    sem = linear_sem(dense_dag(2), rng=1)
    truth, n, draws = sem.covariance(), 20, 4000
    generator = np.random.default_rng(2)
    drawn = np.array([dense_family.sample_covariance(sem, n, generator) for _ in range(draws)])
    variances = (np.outer(np.diag(truth), np.diag(truth)) + truth**2) / (n - 1)
    assert np.abs(drawn.mean(axis=0) - truth).max() < 5 * np.sqrt(variances.max() / draws)
    np.testing.assert_allclose(drawn.var(axis=0), variances, rtol=0.25)


def dense_records(K=3, *, exact=True, removals=(2, 2, 1), of_others=(0, 0, 0), n=100):
    """Make the records of one B_K."""
    found = {"K": K, "exact": exact, "ratio": 1.0 if exact else 1.5, "f1": 1.0, "shd": 0, "seconds": 0.1}
    scores = {"kind": "scores", "K": K, "removals": list(removals), "of_others": list(of_others)}
    on_graph = [
        {"kind": "exact", "draw": draw, "n": None, "method": method, **found}
        for method in dense_family.ON_GRAPHS
        for draw in range(2)
    ]
    on_data = [{"kind": "data", "draw": 0, "n": n, "method": method, **found} for method in dense_family.ON_DATA]
    return [scores, *on_graph, *on_data]


def test_dense_family_table_and_claims():
    rows = dense_family.table(dense_records())
    assert len({tuple(row) for row in rows}) == 1
    scores = rows[0]
    assert (scores["p"], scores["edges"], scores["least_removal"], scores["most_removal"]) == (6, 9, 1, 2)
    assert scores["removals_of_one"] == 1
    exact = next(row for row in rows if row["setting"] == "exact" and row["method"] == "RFD")
    assert (exact["models"], exact["exact"], exact["ratio"], exact["median_seconds"]) == (2, 1.0, 1.0, 0.1)
    recovered, of_one, dense, *from_data = dense_family.claims(rows)
    assert [recovered.held, of_one.held, dense.held] == [True, False, True]
    assert "zero for all others, which is what recovery needs" in of_one.numbers
    assert [claim.held for claim in from_data] == [True, True]


def test_dense_family_claims_can_fail():
    bad = dense_records(exact=False, removals=(1, 1, 1), of_others=(1, 0, 0))
    recovered, of_one, _, *from_data = dense_family.claims(dense_family.table(bad))
    assert [recovered.held, of_one.held] == [False, True]
    assert "nor is it above zero" in of_one.numbers
    assert [claim.held for claim in from_data] == [False, False]


def test_runtime_plan_goes_from_small_to_large_and_stops_where_calls_get_long():
    keys = runtime_law.plan(QUICK)
    assert len({json.dumps(key, sort_keys=True) for key in keys}) == len(keys)
    assert [key["p"] for key in keys] == sorted(key["p"] for key in keys)
    key = next(key for key in keys if key["p"] == 80)
    same = {"family": key["family"], "input": key["input"], "w": key["w"], "p": 40, "graph": 0, "capped": 0}
    assert not runtime_law.pointless(key, [])
    # Twice the size is foretold to take sixteen times as long.
    assert not runtime_law.pointless(key, [{**same, "seconds": key["limit"] / 17}])
    assert runtime_law.pointless(key, [{**same, "seconds": key["limit"] / 15}])
    assert not runtime_law.pointless(key, [{**same, "seconds": 1e9, "w": 3}, {**same, "seconds": 1e9, "p": 113}])


@pytest.mark.parametrize("depth", runtime_law.DEPTHS)
@pytest.mark.parametrize("given", runtime_law.INPUTS)
def test_a_runtime_cell_is_timed(given, depth):
    key = next(key for key in runtime_law.plan(QUICK) if key["input"] == given and key["w"] == depth)
    (record,) = runtime_law.measure(key, QUICK)
    assert record["seconds"] > 0
    assert (record["p"], record["w"], record["capped"]) == (20, depth, 0)


def runtime_records(exponent, *, depths=(1,), wobble=1.0):
    """Make records of a power law, with graphs a factor above and below it."""
    return [
        {"family": "degree 4", "input": "data", "w": depth, "p": p, "graph": graph, "capped": 0,
         "seconds": 1e-6 * p**exponent * wobble ** (graph - 1) if p >= 40 else 1.0}
        for depth in depths
        for p in (20, 28, 40, 80, 160)
        for graph in range(3)
    ]  # fmt: skip


def test_runtime_table_fits_the_larger_half():
    *points, fit = runtime_law.table(runtime_records(3.5, wobble=1.1)[::-1])
    assert [row["p"] for row in points] == [20, 28, 40, 80, 160]
    assert points[2]["seconds"] == pytest.approx(1e-6 * 40**3.5, rel=1e-4)
    assert points[2]["seconds_low"] == pytest.approx(1e-6 * 40**3.5 / 1.1, rel=1e-4)
    assert (fit["row"], fit["p"], fit["graphs"], fit["exponent"], fit["bound"]) == ("fit", 40, 9, 3.5, 4)
    assert fit["exponent_low"] < 3.5 < fit["exponent_high"]
    assert fit["factor"] == pytest.approx(1e-6, rel=1e-3)
    assert {tuple(row) for row in points} == {tuple(fit)}


@pytest.mark.parametrize(
    ("exponent", "wobble", "verdicts"),
    [(3.5, 1.01, [True, True, True]), (5.5, 1.01, [False, False, True]), (3.9, 1.5, [None, True, True])],
)
def test_runtime_claims_compare_intervals_with_bounds(exponent, wobble, verdicts):
    rows = runtime_law.table(runtime_records(exponent, depths=(1, 2, 3), wobble=wobble))
    assert [claim.held for claim in runtime_law.claims(rows)] == verdicts


def test_figures_of_the_other_studies_are_drawn():
    pytest.importorskip("matplotlib")
    dense = dense_family.draw(dense_family.table(dense_records()))
    assert list(dense) == ["dense-family", "dense-family-data", "dense-family-f1", "dense-family-data-time"]
    panel = runtime_law.draw(runtime_law.table(runtime_records(3.0)))["runtime"].axes[3]
    assert [text.get_text() for text in panel.texts] == ["w = 1: $p^{3.0}$"]
