"""What a search may ask of the input, whatever it was: the one base of all evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import Group, NumericalError, RfdagError, as_column
from rfdag.input.columns import Column

if TYPE_CHECKING:
    from rfdag.eliminate.engines.engine import Engine
    from rfdag.evidence.environments import EnvironmentMoments
    from rfdag.evidence.independence import Independence
    from rfdag.evidence.mixed import MixedMoments
    from rfdag.evidence.moments import Moments
    from rfdag.evidence.profile import Profile

Floats = NDArray[np.float64]
Pairs = Literal["all", "neighbours"]


class Evidence(ABC):
    """What a search may ask: names, rows, an engine, tests, and what may be wrong with the numbers.

    Attributes
    ----------
    names
        One hashable name per variable.
    n_samples
        Number of rows behind the evidence; None where it is exact.
    kind
        What the user passed: "data", "correlation", "covariance", "precision" or "dag".
    means
        The means of the variables; None where nothing is known of them.
    tolerance
        Size of a partial correlation that counts as zero where the evidence is exact.
    sparse
        Whether matrices are SciPy's sparse arrays, and no p × p array is made.
    correlated
        How columns were correlated: "pearson", or one of the ways by ranks.
    notes
        What the user should know of the data themselves.
    columns
        What each column of the input was taken for; empty where there were none, or they were not looked at.
    """

    names: tuple[Hashable, ...]
    kind: str
    means: Floats | None = None
    tolerance: float = 1e-8
    correlated: str = "pearson"
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    sparse: ClassVar[bool] = False
    tested: ClassVar[bool] = False
    """Whether tests of independence decide, and there are no moments."""
    kernel: ClassVar[Any] = None
    """The compiled loop that stands for all that an elimination compiles."""

    if TYPE_CHECKING:

        @property
        def n_samples(self) -> int | None:
            """Number of rows behind the evidence."""

    @property
    def exact(self) -> bool:
        """Whether there is no noise of sampling."""
        return self.n_samples is None

    @property
    def offers(self) -> frozenset[str]:
        """What options may need of evidence: "rows" behind it, dense "matrices"."""
        return frozenset(name for name, there in (("rows", not self.exact), ("matrices", not self.sparse)) if there)

    @property
    def moments(self) -> Moments | None:
        """The moments that a result keeps; None where there are none."""
        return None

    @abstractmethod
    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Return the engine that holds the evidence, ready to eliminate."""

    @abstractmethod
    def independence(self, alpha: float) -> Independence:
        """Return the answers to questions of conditional independence; at level ``alpha`` where there is noise."""

    def warnings(self, *, scored: bool = False) -> tuple[str, ...]:
        """Return what may be wrong with the numbers, in words; ``scored`` tells that parents were chosen by BIC."""
        return ()

    def awkward(self) -> tuple[Group, ...]:
        """Return the groups of columns that cannot all be used, where there are moments that tell."""
        return ()

    def lost_precision(self, removed: int, spoilt: int) -> RfdagError:
        """Return the error for variables that rounding has spoilt during an elimination."""
        pair = " and ".join(as_column(self.names[at]) for at in (removed, spoilt))
        return NumericalError(
            f"{pair} became deterministic functions of each other during the elimination: the columns are too nearly "
            "dependent for double precision. Drop one of the two, or combine them."
        )

    def renamed(self, names: tuple[Hashable, ...]) -> Evidence:
        """Return the same evidence under other names."""
        renamed: Evidence = replace(self, names=names)  # type: ignore[type-var]
        return renamed

    def with_profile(self, profile: Profile) -> Self:
        """Return the same evidence with what its columns look like."""
        known: dict[str, Any] = {"columns": profile.columns, "notes": (*profile.notes, *self.notes)}
        return replace(self, **known)  # type: ignore[type-var]

    def with_categories(self, levels: Mapping[int, Sequence[str]]) -> Self:
        """Return the same evidence, with what is known of columns of 0 and 1 that stand for two levels."""
        columns = [
            column._replace(taken_for="two categories", remarks=(f"0 {levels[at][0]}, 1 {levels[at][1]}",))
            if at in levels
            else column
            for at, column in enumerate(self.columns)
        ]
        known: dict[str, Any] = {"columns": tuple(columns)}
        return replace(self, **known)  # type: ignore[type-var]

    @property
    def mixed(self) -> MixedMoments | None:
        """The moments of variables of several columns; None where each is one."""
        return None

    @property
    def by_environment(self) -> EnvironmentMoments | None:
        """The moments by environment; None where rows come from one."""
        return None

    def learn(self, method: Any, run: Any) -> Any:
        """Return what a method finds in this evidence."""
        return method.learn(self, run)
