"""Background knowledge: what it demands, what is refused, and that every way of learning obeys it."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rfdag import graphs
from rfdag.errors import FileError, GraphError, OptionError
from rfdag.graphs.meek import oriented_class
from rfdag.knowledge import Knowledge

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


@pytest.mark.parametrize(
    ("parts", "error", "words"),
    [
        ({"tiers": [["a"], ["b", "a"]]}, OptionError, "'a' is in tiers 1 and 2"),
        ({"tiers": [["a", "a"]]}, OptionError, "Tier 1 lists 'a' more than once"),
        ({"tiers": ["ab"]}, OptionError, "A tier of knowledge is a list, not 'ab'"),
        ({"tiers": [["a"]], "forbidden_within": [2]}, OptionError, "names tier 2; there are 1"),
        ({"required": [("a", "b"), ("b", "a")]}, GraphError, "'a' → 'b' → 'a'"),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, GraphError, "circle 'a' → 'b' → 'c' → 'a'"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, GraphError, "it is forbidden as well"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "a")]}, GraphError, "'b' is in tier 2 and 'a' in tier 1"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "u"), ("u", "a")]}, GraphError, "circle"),
        ({"tiers": [["a", "b"]], "forbidden_within": True, "required": [("b", "a")]}, GraphError, "no edges inside"),
        ({"roots": ["a"], "required": [("b", "a")]}, GraphError, "'a' is a root"),
        ({"leaves": ["a"], "required": [("a", "b")]}, GraphError, "'a' is a leaf"),
        ({"required": [("a", "a")]}, GraphError, "from 'a' to itself"),
        ({"required": ["ab"]}, OptionError, "pairs"),
        ({"required": [("a", "b", "c")]}, OptionError, "pairs"),
        ({"roots": [["a"]]}, OptionError, "names of columns"),
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
        ("/knowledge\nforbiddengroup\na b\n", "line 2: groups of edges"),
        ("/knowledge\na b\n", "line 2: 'a b' stands before"),
        ("a b\n", "begins neither"),
        ("{broken", "not JSON"),
    ],
)
def test_files_are_refused_with_the_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "known.txt").write_text(text)
    with pytest.raises(FileError, match=words):
        Knowledge.read(tmp_path / "known.txt")


def test_what_tetrad_cannot_say_and_what_is_no_knowledge() -> None:
    with pytest.raises(OptionError, match="no roots or leaves"):
        Knowledge(roots=["a"]).to_tetrad()
    with pytest.raises(OptionError, match="'a b'; write JSON"):
        Knowledge(tiers=[["a b"]]).to_tetrad()
    with pytest.raises(OptionError, match="mapping of its parts"):
        Knowledge.of(3)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="no file"):
        Knowledge.of("nowhere.txt")


def test_unknown_variables_are_named_with_the_nearest_columns() -> None:
    with pytest.raises(OptionError, match=r"names 'wieght'.*nearest columns are 'weight'"):
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
