"""A known DAG as an oracle of conditional independence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.engines.oracle import OracleEngine
from rfdag.eliminate.kernels import oracle as kernels
from rfdag.errors import GraphError
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import GraphIndependence, Independence
from rfdag.graphs.dag import Graph, find_cycle, square
from rfdag.input.checks import checked_names


@dataclass(frozen=True, eq=False)
class Oracle(Evidence):
    """A known DAG, which answers every question about conditional independence.

    Parameters
    ----------
    dag
        A square matrix with an entry other than 0 for every edge, row → column.
    names
        One name per variable; numbers from 0 unless given.

    Examples
    --------
    >>> Oracle([[0.0, 0.7], [0.0, 0.0]], names=["a", "b"]).dag
    array([[0, 1],
           [0, 0]], dtype=int8)
    """

    dag: Graph = field(repr=False)
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]
    n_samples: None = None
    kind: str = "dag"

    kernel: ClassVar[Any] = kernels.score

    def __post_init__(self) -> None:
        values = square(self.dag)
        if not len(values):
            raise GraphError("The DAG has no nodes; it needs at least one.")
        dag = (values != 0).astype(np.int8)
        names = checked_names(tuple(range(len(dag))), self.names)
        cycle = find_cycle(dag)
        if cycle:
            arrows = " → ".join(repr(names[node]) for node in cycle)
            raise GraphError(f"This is not a DAG: it has the cycle {arrows}. Remove or reverse one of these edges.")
        object.__setattr__(self, "dag", dag)
        object.__setattr__(self, "names", names)

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Return the engine, ready to eliminate."""
        return OracleEngine(self.dag, threads=threads)

    def independence(self, alpha: float) -> Independence:
        """Return d-separation in the DAG."""
        return GraphIndependence(self.dag)
