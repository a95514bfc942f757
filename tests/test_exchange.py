"""Graphs to and from other packages: directions, names, refusals, and the packages themselves where they are there."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import re
import subprocess
import textwrap
import warnings
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rfdag
from rfdag import exchange
from rfdag.errors import FileError, GraphError, OptionError, RfdagError
from rfdag.exchange import NamedGraph
from rfdag.graphs import cpdag
from rfdag.studies.bench.environments import python_of, version_of
from strategies import dags

PEERS = Path(__file__).resolve().parent.parent / ".peers"
HOSTILE = ["a -> b", 'q"uote', "sp ace", "new\nline", "émoji 🦊", "semi;colon", "com,ma", "back\\slash", "dag {", "(L)"]
TEXTS = {
    "dagitty": (exchange.to_dagitty, exchange.from_dagitty),
    "tetrad": (exchange.to_tetrad, exchange.from_tetrad),
    "pcalg": (exchange.to_pcalg_csv, exchange.from_pcalg_csv),
}
REFUSED = {
    "dagitty": r"[\x00-\x1f\x7f]|\\\Z|\A(graph|node)\Z",
    "tetrad": r"\A\Z|[\s,;]|\A\(.*\)\Z|\A\[.*\]\Z",
    "pcalg": r"\x00",
    "csv": r"\x00",
}
"""What each format has no way to write, by its documentation."""
OBJECTS = {
    "networkx": (exchange.to_networkx, exchange.from_networkx),
    "endpoints": (exchange.to_endpoints, lambda marks: exchange.from_endpoints(marks)),
    "pcalg": (exchange.to_pcalg, lambda marks: exchange.from_pcalg(marks)),
}

# 0 → 2 ← 1, 2 → 3, and 4 – 5; 6 stands alone.
DAG = np.zeros((7, 7), np.int8)
DAG[[0, 1, 2, 4], [2, 2, 3, 5]] = 1
NAMES = ("age", "blood pressure", "c", "d", "e", "f", "g")


@st.composite
def graphs(draw):
    """A DAG or the CPDAG of one."""
    dag = draw(dags(min_nodes=1, max_nodes=6))
    return cpdag(dag) if draw(st.booleans()) else dag


def named(matrix, prefix="x"):
    return NamedGraph(tuple(f"{prefix}{at}" for at in range(len(matrix))), matrix)


def assert_same(first, second):
    assert first.names == second.names
    np.testing.assert_array_equal(first.matrix, second.matrix)


@pytest.fixture
def package(record_property):
    """Import another package, or skip; the end of the test run lists what was there."""

    def find(distribution, module):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = importlib.import_module(module)
        except ImportError:
            record_property("exchange", (distribution, None))
            pytest.skip(f"{distribution} is not installed here")
        record_property("exchange", (distribution, importlib.metadata.version(distribution)))
        return found

    return find


@pytest.fixture
def peer(record_property):
    """Run a program inside a peer's own environment, or skip; JSON goes in and comes out."""

    def run(home, script, content):
        python, version = python_of(home, PEERS), version_of(home, home, PEERS)
        if python is None or version is None:
            record_property("exchange", (f"{home} of .peers", None))
            pytest.skip(f"there is no environment of {home}; rfdag bench --setup makes it")
        record_property("exchange", (f"{home} of .peers", version))
        done = subprocess.run(
            [python, "-W", "ignore", "-c", textwrap.dedent(script)],
            input=json.dumps(content),
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "PYTHONPATH": ""},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.parametrize("form", TEXTS)
@given(graphs())
def test_text_round_trips(form, matrix):
    write, read = TEXTS[form]
    graph = named(matrix)
    assert_same(read(write(graph)), graph)


@pytest.mark.parametrize("form", OBJECTS)
@given(graphs())
def test_object_round_trips(form, matrix):
    write, read = OBJECTS[form]
    graph = NamedGraph(tuple(range(len(matrix))), matrix)
    assert_same(read(write(graph)), graph)


@given(graphs())
def test_edges_round_trip(matrix):
    graph = named(matrix)
    again = exchange.from_csv(exchange.to_csv(graph), names=graph.names, graph="cpdag")
    assert_same(again, graph)


@given(dags(max_nodes=6))
def test_lingam_round_trip(dag):
    graph = named(dag)
    weights = dag * np.random.default_rng(1).uniform(0.5, 1, dag.shape)
    found = exchange.to_lingam(graph, weights)
    assert_same(exchange.from_lingam(found, graph.names), graph)
    # The order lingam gives makes its matrix strictly lower triangular.
    ordered = found.adjacency_matrix_[np.ix_(found.causal_order_, found.causal_order_)]
    assert (np.triu(ordered) == 0).all()
    np.testing.assert_array_equal(found.adjacency_matrix_, weights.T)


@pytest.mark.parametrize("form", [*TEXTS, "csv"])
@given(st.lists(st.text(max_size=6), min_size=2, max_size=4, unique=True))
def test_any_name_survives_or_is_refused(form, names):
    write, read = (exchange.to_csv, exchange.from_csv) if form == "csv" else TEXTS[form]
    # Text files hold no half characters.
    assume(all(name.isprintable() or name.encode("utf-8", "ignore").decode() == name for name in names))
    chain = NamedGraph.of_edges(names, list(pairwise(names)))
    if any(re.search(REFUSED[form], name) for name in names):
        with pytest.raises(OptionError, match="cannot hold the name"):
            write(chain)
        return
    again = read(write(chain))
    assert again.directed == chain.directed
    assert set(again.names) == set(names)


@pytest.mark.parametrize(
    ("form", "refused"),
    [
        ("dagitty", {"new\nline"}),
        ("tetrad", {"a -> b", "sp ace", "new\nline", "émoji 🦊", "semi;colon", "com,ma", "dag {", "(L)"}),
        ("pcalg", set()),
    ],
)
def test_hostile_names(form, refused):
    write, read = TEXTS[form]
    for name in HOSTILE:
        graph = NamedGraph.of_edges(["plain", name], [("plain", name)])
        if name in refused:
            with pytest.raises(OptionError, match="cannot hold the name"):
                write(graph)
        else:
            assert_same(read(write(graph)), graph)


@pytest.mark.parametrize("write", [exchange.to_dagitty, exchange.to_tetrad, exchange.to_csv, exchange.to_dowhy])
def test_names_that_read_the_same_are_refused(write):
    with pytest.raises(OptionError, match="3, '3' read the same"):
        write(NamedGraph.of_edges([3, "3"], [(3, "3")]))


def test_the_same_direction_in_every_form():
    """Age acts on blood pressure, as each format says it in its own documentation."""
    arrow = NamedGraph.of_edges(["age", "pressure"], [("age", "pressure")])
    assert '"age" -> "pressure"' in exchange.to_dagitty(arrow)
    assert "1. age --> pressure" in exchange.to_tetrad(arrow)
    assert "age,pressure,true" in exchange.to_csv(arrow)
    assert list(exchange.to_networkx(arrow).edges) == [("age", "pressure")]
    assert exchange.to_pcalg(arrow).tolist() == [[0, 0], [1, 0]]
    assert exchange.to_endpoints(arrow).tolist() == [[0, -1], [1, 0]]
    assert exchange.to_lingam(arrow).adjacency_matrix_.tolist() == [[0, 0], [1, 0]]
    assert exchange.to_lingam(arrow).causal_order_ == [0, 1]


def test_a_result_has_every_form():
    result = rfdag.learn(DAG, input="dag", names=NAMES)
    whole = result.named_graph("cpdag")
    np.testing.assert_array_equal(whole.matrix, result.cpdag)
    assert whole.undirected == [("e", "f")]
    for graph in ("dag", "cpdag"):
        expected = result.named_graph(graph)
        assert_same(exchange.from_dagitty(result.to_dagitty(graph)), expected)
        assert_same(exchange.from_pcalg_csv(result.to_pcalg_csv(graph)), expected)
        assert_same(exchange.from_pcalg(result.to_pcalg(graph), NAMES), expected)
        assert_same(exchange.from_endpoints(result.to_endpoints(graph), NAMES), expected)
        assert_same(exchange.from_networkx(result.to_networkx(graph)).arranged(NAMES), expected)
    assert_same(exchange.from_csv(result.to_csv(), NAMES, graph="cpdag"), whole)
    assert_same(exchange.from_lingam(result.to_lingam(), NAMES), result.named_graph())
    assert result.to_lingam().causal_order_ == result.causal_order.tolist()
    assert_same(exchange.from_dowhy(result.to_dowhy()), result.named_graph())
    with pytest.raises(OptionError, match="dag, cpdag, icpdag, not 'pag'"):
        result.named_graph("pag")
    with pytest.raises(OptionError, match="blood pressure"):
        result.to_tetrad()


def test_coefficients_go_to_lingam():
    rows = rfdag.simulate.sample(rfdag.simulate.linear_sem(DAG, rng=1), 300, rng=2)
    result = rfdag.learn(rows)
    np.testing.assert_array_equal(result.to_lingam().adjacency_matrix_, result.coefficients.T)


def test_sparse_results_are_written_too():
    result = rfdag.learn(csr_array(DAG), input="dag", names=NAMES)
    dense = rfdag.learn(result.dag.toarray(), input="dag", names=NAMES)
    assert result.to_dagitty() == result.to_dagitty("dag")
    assert_same(exchange.from_dagitty(result.to_dagitty("cpdag")), dense.named_graph("cpdag"))
    matrix = result.to_lingam().adjacency_matrix_
    assert isinstance(matrix, np.ndarray)
    np.testing.assert_array_equal(matrix, result.dag.toarray().T)
    with pytest.raises(GraphError, match="full matrix"):
        result.to_pcalg()


def test_names_that_are_not_text_come_back():
    names = (3, ("a", 1), 2.5)
    graph = NamedGraph.of_edges(names, [(3, 2.5)])
    assert_same(exchange.from_dagitty(exchange.to_dagitty(graph)).arranged(names), graph)
    with pytest.raises(GraphError, match=r"no node 4.*lack '3'"):
        exchange.from_dagitty(exchange.to_dagitty(graph)).arranged([4, ("a", 1), 2.5])


@pytest.mark.parametrize(
    ("text", "directed", "undirected"),
    [
        # Examples in the manner of dagitty's manual.
        ("dag { X [exposure] ; Y [outcome] ; X <- A -> M <- B -> Y ; X -> Y }", "AX AM BM BY XY", ""),
        ("dag{ {a b} -> c }", "ac bc", ""),
        ("pdag { a -- b -> c }", "bc", "ab"),
        ('dag { bb="0,0,1,1" a [pos="0.1,-2"] a -> b [beta=.4] }', "ab", ""),
        ("a -> b\n// a comment\nb -> c", "ab bc", ""),
        ("digraph G { /* more */ a -> b }", "ab", ""),
        ('dag { "a"->"b"; "a"->"b" }', "ab", ""),
        ('dag { a [label="l", u=0.5, other=latent] a -> b }', "ab", ""),
    ],
)
def test_dagitty_grammar(text, directed, undirected):
    found = exchange.from_dagitty(text)
    assert set(found.directed) == {tuple(pair) for pair in directed.split()}
    assert set(found.undirected) == {tuple(pair) for pair in undirected.split()}


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (exchange.from_dagitty, "dag { a <-> b }", "'a' <-> 'b' stands for an unmeasured common cause"),
        (exchange.from_dagitty, "dag { u [latent] u -> a }", "'u' is latent"),
        (exchange.from_dagitty, "pag { a @-> b }", "Found a pag"),
        (exchange.from_dagitty, "dag { a -> }", "name belongs"),
        (exchange.from_dagitty, "dag { a -> b", "cut short"),
        (exchange.from_dagitty, "dag { a [pos=", "square brackets"),
        (exchange.from_dagitty, "dag { x [u, label=y] }", "'x' is latent"),
        (exchange.from_dagitty, "a =", "value of 'a' belongs"),
        (exchange.from_dagitty, "dag { a -> b bb = }", "value of 'bb' belongs"),
        (exchange.from_dagitty, "dag { a } b", "continues after its end"),
        (exchange.from_dagitty, "dag { ä -> b }", "in quotes"),
        (exchange.from_dagitty, "dag { a -> b -> a }", "several edges between 'b' and 'a'"),
        (exchange.from_dagitty, "dag { a -> b -> c -> a }", "cycle"),
        (exchange.from_tetrad, "a --> b", "no line of nodes"),
        (exchange.from_tetrad, "Graph Nodes:\na;b\n\nGraph Edges:\n1. a o-> b", "o->, as in a PAG"),
        (exchange.from_tetrad, "Graph Nodes:\na;b\n\nGraph Edges:\n1. a b", "not an edge in Tetrad"),
        (exchange.from_tetrad, "Graph Nodes:\na;b\n\nGraph Edges:\n1. a --> c", "'c' is not a node"),
        (exchange.from_tetrad, "Graph Nodes:\na;(L)\n", "latent"),
        (exchange.from_csv, "a,b\n", "begins with the columns"),
        (exchange.from_csv, "source,target\na\n", "Line 2 has one cell"),
        (exchange.from_csv, "source,target\na,b\nb,a\n", "several edges between 'b' and 'a'"),
        (exchange.from_pcalg_csv, '"","a","b"\n"b",0,0\n"a",0,0\n', "same variables"),
        (exchange.from_pcalg_csv, '"","a","b"\n"a",0,x\n"b",0,0\n', "not a matrix of 0 and 1"),
        (exchange.from_pcalg_csv, '"","a","b"\n"a",0,2\n"b",3,0\n', "amat.pag"),
        (exchange.from_endpoints, [[0, 1], [1, 0]], "two arrowheads"),
        (exchange.from_endpoints, [[0, 2], [1, 0]], "circle"),
        (exchange.from_lingam, [[0, np.nan], [np.nan, 0]], "hidden common"),
        (exchange.from_lingam, [[0, 1], [1, 0]], "cycle 0 → 1 → 0"),
        (exchange.from_networkx, nx.DiGraph([("a", "a")]), "to itself"),
        (exchange.from_networkx, nx.MultiDiGraph([("a", "b")]), "multigraph"),
        (exchange.from_networkx, nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")]), "cycle"),
        (exchange.to_lingam, NamedGraph.of_edges("ab", undirected=["ab"]), "'a' – 'b'"),
        (exchange.to_dowhy, NamedGraph.of_edges("ab", undirected=["ab"]), "DoWhy holds DAGs only"),
    ],
)
def test_what_cannot_be_a_graph_here(read, text, words):
    with pytest.raises(RfdagError, match=words):
        read(text)


@pytest.mark.parametrize(
    ("names", "matrix", "words"),
    [
        ("aa", np.zeros((2, 2)), "named more than once"),
        ("ab", np.zeros((3, 3)), "2 names and an array of shape"),
        ("ab", [[0, 2], [0, 0]], "2 in both places"),
        ("ab", [[0, 3], [0, 0]], "holds a 1 for"),
        ("ab", [[1, 0], [0, 0]], "to itself"),
        ("ab", [[0, 1], [1, 0]], "cycle 'a' → 'b' → 'a'"),
        ("abc", [[0, 1, 0], [0, 0, 1], [1, 0, 0]], "cycle"),
    ],
)
def test_named_graphs_are_checked(names, matrix, words):
    for made in (np.array, csr_array):
        with pytest.raises(GraphError, match=words):
            NamedGraph(tuple(names), made(matrix))


def test_large_sparse_graphs_are_no_matrix_of_lingam(monkeypatch):
    monkeypatch.setattr("rfdag.exchange.lingam.MOST_NODES", 2)
    with pytest.raises(GraphError, match="3 × 3 is too large"):
        exchange.to_lingam(NamedGraph(tuple("abc"), csr_array((3, 3), dtype=np.int8)))


def test_cpdag_needs_its_column():
    with pytest.raises(FileError, match="no column 'directed'"):
        exchange.from_csv("source,target\na,b\n", graph="cpdag")
    with pytest.raises(FileError, match="holds true or false"):
        exchange.from_csv("source,target,directed\na,b,maybe\n", graph="cpdag")
    with pytest.raises(OptionError, match="not 'pag'"):
        exchange.from_csv("source,target,directed\na,b,true\n", graph="pag")


def test_older_tetrad_text():
    found = exchange.from_tetrad(
        "Graph Nodes:\na,b,c\n\nGraph Edges:\n1. a --> b dd nl\n2. b <-- c\n3. a --- c\n\n"
        "Graph Attributes:\nBIC: -3.5\n"
    )
    assert found.directed == [("a", "b"), ("c", "b")]
    assert found.undirected == [("a", "c")]
    assert exchange.from_tetrad("Graph Nodes:\na; b ;c;\n\nGraph Edges:\n1. a --> b\n").names == ("a", "b", "c")


def test_r_text_says_the_matrix_entry_by_entry():
    graph = NamedGraph.of_edges(['q"\\', "é\n", "c"], [('q"\\', "é\n")], [("é\n", "c")])
    text = exchange.to_r(graph)
    assert 'variables <- c("q\\"\\\\", "\\U{e9}\\U{a}", "c")' in text
    rows, columns = (
        [int(number) for number in part.replace("L", "").split(",")] for part in re.findall(r"c\(([0-9L, ]+)\)", text)
    )
    filled = np.zeros((3, 3), int)
    filled[np.array(rows) - 1, np.array(columns) - 1] = 1
    np.testing.assert_array_equal(filled, exchange.to_pcalg(graph))
    assert text.isascii()
    assert "cbind" not in exchange.to_r(NamedGraph.of_edges("ab"))


def test_frames_of_pcalg_bring_their_names():
    frame = pd.DataFrame([[0, 0], [1, 0]], index=["a", "b"], columns=["a", "b"])
    assert exchange.from_pcalg(frame).directed == [("a", "b")]
    assert exchange.from_pcalg_csv('"","a","b"\n"a",FALSE,FALSE\n"b",TRUE,FALSE\n').directed == [("a", "b")]


@pytest.mark.parametrize(("form", "module"), [("pgmpy", "pgmpy.base"), ("causallearn", "causallearn.graph.Edge")])
def test_missing_packages_say_how_to_install_them(form, module, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'rfdag\["):
        getattr(exchange, f"to_{form}")(named(DAG))


def test_networkx_itself(package):
    package("networkx", "networkx")
    for matrix in (DAG, cpdag(DAG)):
        graph = NamedGraph(NAMES, matrix)
        made = exchange.to_networkx(graph)
        assert_same(exchange.from_networkx(nx.parse_graphml("\n".join(nx.generate_graphml(made)))), graph)
    assert nx.ancestors(exchange.to_networkx(NamedGraph(NAMES, DAG)), "d") == {"age", "blood pressure", "c"}
    assert_same(exchange.from_networkx(nx.Graph([("a", "b")])), NamedGraph.of_edges("ab", undirected=["ab"]))


def test_pgmpy_itself(package):
    base = package("pgmpy", "pgmpy.base")
    for matrix in (DAG, cpdag(DAG)):
        graph = NamedGraph(NAMES, matrix)
        assert_same(exchange.from_pgmpy(exchange.to_pgmpy(graph)).arranged(NAMES), graph)
    dag = exchange.to_pgmpy(NamedGraph(NAMES, DAG))
    assert isinstance(dag, base.DAG)
    assert set(dag.get_parents("c")) == {"age", "blood pressure"}
    pdag = exchange.to_pgmpy(NamedGraph(NAMES, cpdag(DAG)))
    assert isinstance(pdag, base.PDAG)
    assert {frozenset(edge) for edge in pdag.undirected_edges} == {frozenset("ef")}
    assert set(pdag.directed_edges) == {("age", "c"), ("blood pressure", "c"), ("c", "d")}
    # pgmpy's own equivalence class of the DAG is ours.
    assert_same(exchange.from_pgmpy(dag.to_pdag()).arranged(NAMES), NamedGraph(NAMES, cpdag(DAG)))
    hostile = NamedGraph.of_edges(HOSTILE, [(HOSTILE[0], HOSTILE[1])], [(HOSTILE[2], HOSTILE[3])])
    assert_same(exchange.from_pgmpy(exchange.to_pgmpy(hostile)).arranged(HOSTILE), hostile)


def test_dowhy_itself(package):
    dowhy = package("dowhy", "dowhy")
    gcm = package("dowhy", "dowhy.gcm")
    rows = rfdag.simulate.sample(rfdag.simulate.linear_sem(DAG, rng=1), 200, rng=2)
    graph = NamedGraph(NAMES, DAG)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(rows, columns=NAMES)
        model = dowhy.CausalModel(frame, treatment="c", outcome="d", graph=exchange.to_dowhy(graph))
        estimand = model.identify_effect(proceed_when_unidentifiable=True)
    assert estimand.get_backdoor_variables() == []
    assert_same(exchange.from_dowhy(model).arranged(NAMES), graph)
    structural = gcm.StructuralCausalModel(exchange.to_dowhy(graph))
    assert_same(exchange.from_dowhy(structural).arranged(NAMES), graph)


def test_causallearn_itself(package, tmp_path):
    package("causal-learn", "causallearn")
    from causallearn.utils.DAG2CPDAG import dag2cpdag
    from causallearn.utils.TXT2GeneralGraph import txt2generalgraph

    names = tuple(name.replace(" ", "_") for name in NAMES)
    for matrix in (DAG, cpdag(DAG)):
        graph = NamedGraph(names, matrix)
        made = exchange.to_causallearn(graph)
        np.testing.assert_array_equal(made.graph, exchange.to_endpoints(graph))
        assert_same(exchange.from_causallearn(made), graph)
        # It writes and reads Tetrad's text.
        assert_same(exchange.from_tetrad(str(made)), graph)
        (tmp_path / "graph.txt").write_text(exchange.to_tetrad(graph))
        assert_same(exchange.from_causallearn(txt2generalgraph(str(tmp_path / "graph.txt"))), graph)
    dag = exchange.to_causallearn(NamedGraph(names, DAG))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(exchange.from_causallearn({"G": dag2cpdag(dag)}), NamedGraph(names, cpdag(DAG)))
    hostile = NamedGraph.of_edges(HOSTILE, [(HOSTILE[0], HOSTILE[1])], [(HOSTILE[2], HOSTILE[3])])
    assert_same(exchange.from_causallearn(exchange.to_causallearn(hostile)), hostile)


def test_lingam_itself(package):
    lingam = package("lingam", "lingam")
    generator = np.random.default_rng(1)
    rows = generator.uniform(-1, 1, (2000, 3))
    rows[:, 0] += 2 * rows[:, 2]
    rows[:, 1] += 2 * rows[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lingam.DirectLiNGAM().fit(rows)
    graph = exchange.from_lingam(model, "abc")
    assert {("c", "a"), ("a", "b")} <= set(graph.directed)
    again = exchange.to_lingam(graph, model.adjacency_matrix_.T, model.causal_order_)
    np.testing.assert_array_equal(again.adjacency_matrix_, model.adjacency_matrix_)
    assert again.causal_order_ == model.causal_order_


def test_causallearn_reads_our_text_in_its_own_environment(peer, tmp_path):
    graph = NamedGraph(tuple(name.replace(" ", "_") for name in NAMES), cpdag(DAG))
    (tmp_path / "graph.txt").write_text(exchange.to_tetrad(graph))
    script = """
        import json, sys
        from causallearn.utils.TXT2GeneralGraph import txt2generalgraph
        graph = txt2generalgraph(json.load(sys.stdin))
        print(json.dumps([[node.get_name() for node in graph.get_nodes()], graph.graph.tolist(), str(graph)]))
    """
    names, marks, text = peer("causal-learn", script, str(tmp_path / "graph.txt"))
    assert_same(exchange.from_endpoints(marks, names), graph)
    assert_same(exchange.from_tetrad(text), graph)


def test_lingam_gives_its_matrix_in_its_own_environment(peer):
    generator = np.random.default_rng(1)
    rows = generator.uniform(-1, 1, (1000, 3))
    rows[:, 0] += 2 * rows[:, 2]
    rows[:, 1] += 2 * rows[:, 0]
    script = """
        import json, sys
        import lingam, numpy
        model = lingam.DirectLiNGAM().fit(numpy.array(json.load(sys.stdin)))
        print(json.dumps([model.adjacency_matrix_.tolist(), [int(at) for at in model.causal_order_]]))
    """
    matrix, order = peer("lingam", script, rows.tolist())
    graph = exchange.from_lingam(matrix, "abc")
    assert {("c", "a"), ("a", "b")} <= set(graph.directed)
    assert order == [2, 0, 1]
    assert exchange.to_lingam(graph).causal_order_ == order
