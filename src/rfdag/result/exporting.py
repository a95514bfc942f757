"""Conversions to the formats of other packages, as methods of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx

    from rfdag.exchange.lingam import LingamGraph
    from rfdag.exchange.named_graph import NamedGraph

Kind = Literal["dag", "cpdag", "icpdag"]
"""A graph of a result by name: its DAG, or its equivalence class, by observation or by all environments."""


class Exporting:
    """Methods `to_…` of a result; ``graph`` selects its DAG or its equivalence class, "cpdag" or "icpdag"."""

    def named_graph(self, graph: Kind = "dag") -> NamedGraph:
        """Return the DAG or a class with the names of its nodes, which `rfdag.exchange` converts to other formats."""
        from rfdag.exchange.named_graph import NamedGraph

        return NamedGraph.of(self, graph)  # type: ignore[arg-type]

    def to_dowhy(self) -> networkx.DiGraph:
        """Return the DAG for dowhy.CausalModel and dowhy.gcm; an edge (i, j) is i → j, names become text."""
        from rfdag.exchange.dowhy import to_dowhy

        return to_dowhy(self.named_graph())

    def to_pgmpy(self, graph: Kind = "dag") -> Any:
        """Return a pgmpy.base.DAG, or PDAG for a CPDAG with undirected edges; an edge (i, j) is i → j."""
        from rfdag.exchange.pgmpy import to_pgmpy

        return to_pgmpy(self.named_graph(graph))

    def to_causallearn(self, graph: Kind = "dag") -> Any:
        """Return a GeneralGraph of causal-learn; names become text."""
        from rfdag.exchange.causallearn import to_causallearn

        return to_causallearn(self.named_graph(graph))

    def to_endpoints(self, graph: Kind = "dag") -> NDArray[np.int64]:
        """Return causal-learn's matrix of endpoints: −1 at [i, j] and 1 at [j, i] for i → j, −1 in both for i – j."""
        from rfdag.exchange.causallearn import to_endpoints

        return to_endpoints(self.named_graph(graph))

    def to_pcalg(self, graph: Kind = "dag") -> NDArray[np.int64]:
        """Return pcalg's amat.cpdag, in which i → j has its 1 at [j, i] and i – j in both places."""
        from rfdag.exchange.pcalg import to_pcalg

        return to_pcalg(self.named_graph(graph))

    def to_pcalg_csv(self, graph: Kind = "dag") -> str:
        """Return pcalg's amat.cpdag as CSV with names, for R's read.csv(…, row.names = 1, check.names = FALSE)."""
        from rfdag.exchange.pcalg import to_pcalg_csv

        return to_pcalg_csv(self.named_graph(graph))

    def to_r(self, graph: Kind = "dag") -> str:
        """Return R code that makes the matrix ``amat`` in pcalg's coding amat.cpdag."""
        from rfdag.exchange.pcalg import to_r

        return to_r(self.named_graph(graph))

    def to_lingam(self) -> LingamGraph:
        """Return ``adjacency_matrix_`` ([i, j] is the coefficient of j → i) and ``causal_order_``, as lingam has them.

        Where coefficients are unknown, as for an oracle, an edge has the coefficient 1.
        """
        from rfdag.exchange.lingam import to_lingam

        return to_lingam(self.named_graph(), self.coefficients, self.causal_order)  # type: ignore[attr-defined]

    def to_dagitty(self, graph: Kind = "dag") -> str:
        """Return the graph in dagitty's language: "a" -> "b", and "a" -- "b" for an undirected edge."""
        from rfdag.exchange.dagitty import to_dagitty

        return to_dagitty(self.named_graph(graph))

    def to_tetrad(self, graph: Kind = "dag") -> str:
        """Return the graph as Tetrad's text: a --> b, and a --- b for an undirected edge."""
        from rfdag.exchange.tetrad import to_tetrad

        return to_tetrad(self.named_graph(graph))
