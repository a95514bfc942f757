"""What data decide of a DAG: its equivalence class; of several environments also targets and tests of invariance."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError, listed
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.interventions import Interventions, Invariance
from rfdag.evidence.mechanisms import Fitted, fitted, invariance_of
from rfdag.graphs.dag import Graph, as_dag
from rfdag.graphs.equivalence import encoded, equivalence_class
from rfdag.graphs.interventional import icpdag
from rfdag.graphs.sparse import freeze, full
from rfdag.knowledge.orientation import oriented_class
from rfdag.result.exporting import Kind
from rfdag.wording import with_nearest

if TYPE_CHECKING:
    from rfdag.knowledge import Knowledge


class Intervened:
    """Equivalence classes of a result, and what rows from several environments tell."""

    if TYPE_CHECKING:
        names: tuple[Hashable, ...]
        dag: Graph
        knowledge: Knowledge | None
        means: NDArray[np.float64] | None
        by_environment: EnvironmentMoments | None
        interventions: Interventions | None

    @cached_property
    def cpdag(self) -> Graph:
        """The Markov equivalence class: 1 at (i, j) for i → j, 2 at (i, j) and (j, i) for i – j.

        With knowledge it describes the members of the class that obey it: an edge is directed if it points the same way
        in all of them.
        """
        known = self.knowledge
        matrix = oriented_class(self.dag, known.constraints(self.names) if known else None)
        freeze(matrix)
        return matrix

    @cached_property
    def icpdag(self) -> Graph:
        """The interventional equivalence class, in the encoding of `cpdag`: what the data of all environments decide.

        An edge is directed beyond the CPDAG if two environments show that one of its ends behaves differently there and
        the other does not (see `rfdag.graphs.icpdag`), or if its direction follows from these. Where rows come from one
        environment it is the CPDAG.
        """
        if self.interventions is None:
            return self.cpdag
        known = self.knowledge
        constraints = known.constraints(self.names) if known else None
        matrix = oriented_class(self.dag, constraints, self.revealed_by_targets(self.dag))
        freeze(matrix)
        return matrix

    def alike(self, truth: Any, graph: Kind) -> Graph:
        """Return a true graph as this result has its own: the DAG, or the class to which the same data lead.

        A graph with undirected edges is taken for a class, and returned as it is.
        """
        if graph == "dag":
            return as_dag(truth)
        if graph == "cpdag" or self.interventions is None:
            return equivalence_class(truth)
        matrix = encoded(truth)
        if (matrix == 2).sum():
            return matrix
        sets = self.interventions.target_sets(self.names)
        return icpdag(matrix, sets, hard=self.interventions.hard)

    def revealed_by_targets(self, dag: Graph) -> list[tuple[int, int]]:
        """Return the edges of a DAG that the environments direct by themselves."""
        if self.interventions is None:
            return []
        return self.interventions.revealed_edges(dag, self.names)

    @property
    def targets(self) -> dict[str, tuple[Hashable, ...]]:
        """The targets of each environment by its label, as given or found; empty where rows come from one.

        `interventions` has what each target does there, and the evidence.
        """
        if self.interventions is None:
            return {}
        return {
            each.label: tuple(target.variable for target in each.targets) for each in self.interventions.environments
        }

    def invariance(self, label: str) -> tuple[Invariance, ...]:
        """Return a test for every variable that an environment does not target: of whether it is there as elsewhere.

        Each is a likelihood ratio test of a mechanism of its own in that environment, given its parents; the smallest
        p-value comes first. A small one speaks of a target that is missing, or of a model that does not fit.
        """
        if self.by_environment is None or self.interventions is None:
            raise OptionError(
                "This result has no moments by environment: it was learnt from rows of one, or saved without them. "
                "Save it with save(path, moments=True)."
            )
        if not isinstance(label, str) or label not in self.interventions.labels:
            raise OptionError(
                f"There is no environment {with_nearest([label], self.interventions.labels)}; the labels are "
                f"{listed(self.interventions.labels, 20)}."
            )
        centred = self.interventions.intercepts == "environment"
        at = self.interventions.labels.index(label)
        return invariance_of(
            self.by_environment, full(self.dag), self.interventions.target_sets(self.names), at, centred=centred
        )

    @cached_property
    def _fitted_by_environment(self) -> Fitted:
        assert self.by_environment is not None
        assert self.interventions is not None
        centred = self.interventions.intercepts == "environment"
        sets = self.interventions.target_sets(self.names)
        return fitted(self.by_environment, full(self.dag), sets, centred=centred)

    @property
    def natural_means(self) -> NDArray[np.float64] | None:
        """The means of the variables without intervention; None where nothing is known of them."""
        return self.means if self.by_environment is None else self._fitted_by_environment.means
