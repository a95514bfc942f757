"""Graphs as matrices.

In: DAGs, CPDAGs and undirected graphs as arrays. Out: checks, separation, moral graphs, I-MAPs, equivalence classes.

The encoding of the whole package: node i is row and column i. In a DAG, a non-zero entry at (i, j) means i → j. In a
CPDAG, a 1 at (i, j) means i → j and a 2 at both (i, j) and (j, i) means i – j. An undirected graph is a symmetric
boolean matrix. An order lists the nodes, a source first.
"""

from rfdag.graphs.dag import ancestors, as_dag, descendants, find_cycle, topological_order
from rfdag.graphs.equivalence import consistent_extension, cpdag, equivalence_class, is_cpdag, markov_equivalent
from rfdag.graphs.imap import is_imap, is_minimal_imap, minimal_imap
from rfdag.graphs.interventional import icpdag
from rfdag.graphs.moral import (
    edge_set,
    elimination_graph,
    fill_edges,
    maximal_nodes,
    moral_graph,
    moral_subgraph,
    removed_edges,
)
from rfdag.graphs.separation import d_separated

__all__ = [
    "ancestors",
    "as_dag",
    "consistent_extension",
    "cpdag",
    "d_separated",
    "descendants",
    "edge_set",
    "elimination_graph",
    "equivalence_class",
    "fill_edges",
    "find_cycle",
    "icpdag",
    "is_cpdag",
    "is_imap",
    "is_minimal_imap",
    "markov_equivalent",
    "maximal_nodes",
    "minimal_imap",
    "moral_graph",
    "moral_subgraph",
    "removed_edges",
    "topological_order",
]
