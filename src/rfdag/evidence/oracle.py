"""A known DAG as an oracle of conditional independence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rfdag.errors import GraphError
from rfdag.graphs.dag import Graph, find_cycle
from rfdag.input.table import Table


@dataclass(frozen=True, eq=False)
class Oracle:
    """A known DAG, which answers every question about conditional independence."""

    names: tuple[Hashable, ...]
    dag: Graph
    n_samples: None = None

    @classmethod
    def of(cls, table: Table) -> Oracle:
        """Return the oracle of a square matrix with an entry that is not 0 for every edge, row → column.

        >>> Oracle.of(Table(np.array([[0.0, 0.7], [0.0, 0.0]]), ("a", "b"))).dag
        array([[0, 1],
               [0, 0]], dtype=int8)
        """
        values = table.values
        if values.shape[0] != values.shape[1]:
            raise GraphError(f"Found an array of shape {values.shape}; a DAG is a square matrix.")
        dag = (values != 0).astype(np.int8)
        cycle = find_cycle(dag)
        if cycle:
            arrows = " → ".join(repr(table.names[node]) for node in cycle)
            raise GraphError(f"This is not a DAG: it has the cycle {arrows}. Remove or reverse one of these edges.")
        return cls(table.names, dag)
