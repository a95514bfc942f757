"""A known DAG, which answers every question about conditional independence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.engines.oracle import OracleEngine
from rfdag.eliminate.kernels import oracle as kernels
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import GraphIndependence, Independence
from rfdag.graphs.dag import Graph


@dataclass(frozen=True, eq=False)
class Oracle(Evidence):
    """A known DAG, which answers every question about conditional independence."""

    names: tuple[Hashable, ...]
    dag: Graph = field(repr=False)
    n_samples: None = None
    kind: str = "dag"

    kernel: ClassVar[Any] = kernels.score

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Return the engine, ready to eliminate."""
        return OracleEngine(self.dag, threads=threads)

    def independence(self, alpha: float) -> Independence:
        """Return d-separation in the DAG."""
        return GraphIndependence(self.dag)
