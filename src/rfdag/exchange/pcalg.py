"""Matrices of the R package pcalg in its coding amat.cpdag, which holds both DAGs and CPDAGs."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfdag.errors import FileError, GraphError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.graphs.dag import square
from rfdag.graphs.sparse import refuse_sparse
from rfdag.values import csv_rows, entries, text_of

UNWRITABLE = r"\x00"


def to_pcalg(graph: NamedGraph) -> NDArray[np.int64]:
    """Return pcalg's amat.cpdag: a 1 at [i, j] is an arrowhead at i, so that i → j has its 1 at [j, i].

    For i – j there is a 1 in both places. Rows and columns follow ``graph.names``.

    >>> to_pcalg(NamedGraph.of_edges("ab", [("a", "b")]))
    array([[0, 0],
           [1, 0]])
    """
    refuse_sparse(named(graph).matrix, "A matrix of pcalg")
    return (graph.matrix.T != 0).astype(np.int64)


def from_pcalg(matrix: ArrayLike, names: Sequence[Hashable] | None = None) -> NamedGraph:
    """Return the graph of a matrix in pcalg's coding amat.cpdag: [i, j] = 0 and [j, i] = 1 mean i → j, two ones i – j.

    ``matrix`` may be a data frame whose columns have names; otherwise nodes are numbered unless ``names`` are given.

    >>> from_pcalg([[0, 1], [0, 0]], names=["a", "b"]).directed
    [('b', 'a')]
    """
    if names is None:
        names = getattr(matrix, "columns", ())
    names, marks = entries("names", names), square(matrix)
    if not np.isin(marks, (0, 1)).all():
        raise GraphError(
            "pcalg's amat.cpdag is a square matrix of 0 and 1. A matrix with 2 and 3 is the amat.pag of a PAG, which "
            "is neither a DAG nor a CPDAG."
        )
    there = marks.T != 0
    return NamedGraph(names or tuple(range(len(marks))), there.astype(np.int8) + (there & there.T))


def to_pcalg_csv(graph: NamedGraph) -> str:
    """Return pcalg's amat.cpdag as CSV with names, which R reads as follows.

    ``amat <- as.matrix(read.csv("graph.csv", row.names = 1, check.names = FALSE))``. Names become text.

    >>> print(to_pcalg_csv(NamedGraph.of_edges("ab", [("a", "b")])), end="")
    "","a","b"
    "a",0,0
    "b",1,0
    """
    texts = list(named(graph).texts("CSV for R", UNWRITABLE, "text has no NUL").values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["", *texts])
    for name, row in zip(texts, to_pcalg(graph).tolist(), strict=True):
        writer.writerow([name, *row])
    return text.getvalue()


def from_pcalg_csv(text: str) -> NamedGraph:
    r"""Return the graph of an amat.cpdag that R has written: ``write.csv(as(fit, "amat"), "graph.csv")``.

    [i, j] = 0 and [j, i] = 1 mean i → j, two ones i – j.

    >>> from_pcalg_csv('"","a","b"\n"a",0,1\n"b",1,0\n').undirected
    [('a', 'b')]
    """
    rows = csv_rows(text_of(text))
    names = rows[0][1:] if rows else []
    if not names or [row[0] for row in rows[1:]] != names:
        raise FileError(
            "The first line and the first column of an adjacency matrix must name the same variables in the same "
            "order; here they do not. Write it with write.csv(amat, file)."
        )
    try:
        marks = [[_mark(cell) for cell in row[1:]] for row in rows[1:]]
        return from_pcalg(np.array(marks), names)
    except ValueError as problem:
        if isinstance(problem, GraphError):
            raise
        raise FileError(f"This is not a matrix of 0 and 1 ({problem}); write it with write.csv(amat, file).") from None


def to_r(graph: NamedGraph) -> str:
    """Return R code that makes the graph: ``amat`` in pcalg's coding, where i → j has its 1 at [j, i].

    The last lines, commented out, convert it to a graph for pcalg's functions. Names become text.

    >>> print(to_r(NamedGraph.of_edges("ab", [("a", "b")])), end="")
    # Adjacency matrix in pcalg's coding amat.cpdag: amat[i, j] = 0 and amat[j, i] = 1 mean i --> j, two ones i --- j.
    variables <- c("a", "b")
    amat <- matrix(0L, 2, 2, dimnames = list(variables, variables))
    amat[cbind(c(2L), c(1L))] <- 1L
    # For functions of pcalg such as ida(), which take a graphNEL:
    # graph <- as(t(amat), "graphNEL")
    """
    texts = named(graph).texts("R", UNWRITABLE, "text has no NUL").values()
    rows, columns = (to_pcalg(graph).nonzero()[axis] + 1 for axis in (0, 1))
    p = len(graph.names)
    lines = [
        "# Adjacency matrix in pcalg's coding amat.cpdag: amat[i, j] = 0 and amat[j, i] = 1 mean i --> j, two ones "
        "i --- j.",
        f"variables <- c({', '.join(map(_quoted, texts))})",
        f"amat <- matrix(0L, {p}, {p}, dimnames = list(variables, variables))",
    ]
    if len(rows):
        lines.append(f"amat[cbind({_whole(rows)}, {_whole(columns)})] <- 1L")
    lines += [
        "# For functions of pcalg such as ida(), which take a graphNEL:",
        '# graph <- as(t(amat), "graphNEL")',
        "",
    ]
    return "\n".join(lines)


def _whole(numbers: Any) -> str:
    return f"c({', '.join(f'{number}L' for number in numbers.tolist())})"


def _quoted(text: str) -> str:
    """Return an R string literal in ASCII, which is safe in whatever encoding R reads the file."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(letter if " " <= letter <= "~" else f"\\U{{{ord(letter):x}}}" for letter in plain) + '"'


def _mark(cell: str) -> int:
    # R writes whole numbers of a numeric matrix as 1, and logical ones as TRUE.
    return {"TRUE": 1, "FALSE": 0}[cell] if cell in ("TRUE", "FALSE") else int(cell)
