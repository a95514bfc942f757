"""Graphs to and from other packages and formats, with names kept and directions encoded as each of them does.

In: a graph of another package, or a `NamedGraph`. Out: the other one of the two.

Every ``from_…`` returns a `NamedGraph`, and every ``to_…`` takes one, so that graphs can be converted between packages:
``to_tetrad(from_dagitty(text))``. A result has the same functions as methods, ``result.to_dagitty()``.
"""

from rfdag.exchange.causallearn import from_causallearn, from_endpoints, to_causallearn, to_endpoints
from rfdag.exchange.dagitty import from_dagitty, to_dagitty
from rfdag.exchange.dowhy import from_dowhy, to_dowhy
from rfdag.exchange.edges import from_csv, to_csv
from rfdag.exchange.lingam import LingamGraph, from_lingam, to_lingam
from rfdag.exchange.named_graph import NamedGraph
from rfdag.exchange.networkx import from_networkx, to_networkx
from rfdag.exchange.pcalg import from_pcalg, from_pcalg_csv, to_pcalg, to_pcalg_csv, to_r
from rfdag.exchange.pgmpy import from_pgmpy, to_pgmpy
from rfdag.exchange.tetrad import from_tetrad, to_tetrad

__all__ = [
    "LingamGraph",
    "NamedGraph",
    "from_causallearn",
    "from_csv",
    "from_dagitty",
    "from_dowhy",
    "from_endpoints",
    "from_lingam",
    "from_networkx",
    "from_pcalg",
    "from_pcalg_csv",
    "from_pgmpy",
    "from_tetrad",
    "to_causallearn",
    "to_csv",
    "to_dagitty",
    "to_dowhy",
    "to_endpoints",
    "to_lingam",
    "to_networkx",
    "to_pcalg",
    "to_pcalg_csv",
    "to_pgmpy",
    "to_r",
    "to_tetrad",
]
