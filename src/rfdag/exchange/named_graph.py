"""A graph with the names of its nodes: the form that every exchange goes through."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from rfdag.errors import GraphError, OptionError, listed
from rfdag.graphs.dag import Graph, find_cycle, square
from rfdag.graphs.sparse import canonical, freeze, issparse
from rfdag.result.exporting import Kind
from rfdag.values import entries, is_iterable, one_of, shown

if TYPE_CHECKING:
    from rfdag.result import Result

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A DAG or a partially directed graph, with the names of its nodes.

    Attributes
    ----------
    names
        One hashable name per node; row and column i of the matrix belong to the i-th.
    matrix
        In the encoding of `rfdag.graphs`: 1 at [i, j] for i → j, 2 at [i, j] and [j, i] for i – j.

    Examples
    --------
    >>> graph = NamedGraph.of_edges("abc", directed=[("a", "b")], undirected=[("b", "c")])
    >>> graph.matrix
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 2, 0]], dtype=int8)
    >>> graph.is_dag
    False
    """

    names: tuple[Hashable, ...]
    matrix: Graph

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", entries("names", self.names))
        if len(set(self.names)) < len(self.names):
            twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
            raise GraphError(f"The nodes {listed(twice)} are named more than once; give every node a name of its own.")
        object.__setattr__(self, "matrix", self._checked())
        freeze(self.matrix)

    @classmethod
    def of(cls, result: Result, graph: str = "dag") -> Self:
        """Return the DAG of a result or, for "cpdag" and "icpdag", its equivalence class."""
        one_of("graph", graph, get_args(Kind))
        if not hasattr(result, "icpdag"):
            raise OptionError(f"result is an rfdag.Result, as rfdag.learn returns it, not {shown(result)}.")
        return cls(result.names, getattr(result, graph))

    @classmethod
    def of_edges(
        cls, names: Iterable[Hashable], directed: Iterable[Pair] = (), undirected: Iterable[Pair] = ()
    ) -> Self:
        """Return the graph with these nodes, the directed edges first → second, and the undirected ones."""
        nodes = entries("names", names)
        place = {name: at for at, name in enumerate(nodes)}
        matrix = np.zeros((len(nodes), len(nodes)), np.int8)
        for pairs, mark in ((directed, 1), (undirected, 2)):
            for first, second in _pairs_of(pairs):
                unknown = [name for name in (first, second) if name not in place]
                if unknown:
                    raise GraphError(
                        f"There is an edge between {first!r} and {second!r}, but {listed(unknown)} is not a node."
                    )
                i, j = place[first], place[second]
                if matrix[i, j] or matrix[j, i]:
                    raise GraphError(f"There are several edges between {first!r} and {second!r}; keep one of them.")
                matrix[i, j] = mark
                if mark == 2:
                    matrix[j, i] = mark
        return cls(nodes, matrix)

    @property
    def is_dag(self) -> bool:
        """Whether every edge has a direction."""
        return not bool((self.matrix == 2).sum())

    @property
    def directed(self) -> list[Pair]:
        """The edges i → j as pairs (i, j) of names."""
        return self._pairs(self.matrix == 1)

    @property
    def undirected(self) -> list[Pair]:
        """The edges i – j, each once, as pairs of names."""
        place = self._place
        return [(i, j) for i, j in self._pairs(self.matrix == 2) if place[i] < place[j]]

    def arranged(self, names: Iterable[Hashable]) -> NamedGraph:
        """Return the same graph with its nodes in the order of ``names``.

        A name that is not text, such as the column number 3, also stands for the node called "3": formats that only
        have text return names in this form.

        >>> NamedGraph.of_edges(["0", "1"], [("0", "1")]).arranged([1, 0]).matrix
        array([[0, 0],
               [1, 0]], dtype=int8)
        """
        names = entries("names", names)
        found = {name: self._place.get(name, self._place.get(str(name))) for name in names}
        lacking = [name for name, at in found.items() if at is None]
        left = [name for name, at in self._place.items() if at not in set(found.values())]
        if lacking or left:
            unknown = f"it has no node {listed(lacking)}" if lacking else ""
            unnamed = f"the names lack {listed(left)}" if left else ""
            both = " and ".join(filter(None, [unknown, unnamed]))
            raise GraphError(f"The names do not fit the graph: {both}. Pass every node's name once.")
        places = np.array([found[name] for name in names], np.int64)
        return NamedGraph(names, self.matrix[np.ix_(places, places)])

    def texts(self, form: str, refused: str | None = None, why: str = "") -> dict[Hashable, str]:
        """Return each name as text; raise if two read the same, or if the format cannot hold one."""
        texts = {name: str(name) for name in self.names}
        if len(set(texts.values())) < len(texts):
            values = list(texts.values())
            alike = [name for name, text in texts.items() if values.count(text) > 1]
            raise OptionError(f"Names in {form} are text, where {listed(alike)} read the same; rename one of them.")
        bad = [name for name, text in texts.items() if refused and re.search(refused, text)]
        if bad:
            raise OptionError(f"{form} cannot hold the name {listed(bad)}: {why}. Rename these columns.")
        return texts

    def require_dag(self, form: str) -> None:
        """Raise if there are undirected edges, and name some of them."""
        if not self.is_dag:
            shown = "; ".join(f"{i!r} – {j!r}" for i, j in self.undirected[:3])
            raise GraphError(
                f"{form} holds DAGs only, and this graph has undirected edges: {shown}. Pass a DAG, such as the member "
                "of the equivalence class that rfdag.graphs.consistent_extension returns."
            )

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {name: at for at, name in enumerate(self.names)}

    def _pairs(self, mask: Any) -> list[Pair]:
        sources, targets = mask.nonzero()
        return [(self.names[i], self.names[j]) for i, j in zip(sources.tolist(), targets.tolist(), strict=True)]

    def _checked(self) -> Graph:
        matrix: Any = self.matrix if issparse(self.matrix) else square(self.matrix)
        p = len(self.names)
        if matrix.shape != (p, p):
            raise GraphError(f"Found {p} names and an array of shape {matrix.shape}; a graph of them is {p} × {p}.")
        if issparse(matrix):
            matrix = canonical(matrix, self.names)
        entries, undirected = matrix.data if issparse(matrix) else matrix, matrix == 2
        if not np.isin(entries, (0, 1, 2)).all() or (undirected != undirected.T).sum():
            raise GraphError("A graph holds a 1 for i → j, a 2 in both places for i – j, and 0 elsewhere.")
        loops = np.flatnonzero(matrix.diagonal())
        if loops.size:
            raise GraphError(f"There are edges from {listed(self.names[at] for at in loops)} to itself; remove them.")
        cycle = find_cycle(matrix == 1)
        if cycle:
            arrows = " → ".join(repr(self.names[node]) for node in cycle)
            raise GraphError(f"The graph has the cycle {arrows}. Remove or reverse one of these edges.")
        return matrix.astype(np.int8)


def named(graph: NamedGraph) -> NamedGraph:
    """Return a graph that is one with names; raise for anything else."""
    if isinstance(graph, NamedGraph):
        return graph
    raise GraphError(
        f"Found {shown(graph)}; pass an rfdag.exchange.NamedGraph, such as NamedGraph.of(result). A result has the "
        "same functions as methods."
    )


def _pairs_of(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs of names in a list of them."""
    if not is_iterable(pairs):
        raise GraphError(f"Edges are a list of pairs of names, not {shown(pairs)}.")
    for pair in pairs:
        ends = entries("edge", pair)
        if len(ends) != 2:
            raise GraphError(f"An edge is a pair of names, not {shown(pair)}.")
        yield ends[0], ends[1]
