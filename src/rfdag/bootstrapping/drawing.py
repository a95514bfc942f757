"""Where the rows of a run are drawn from: standardised numbers, or a table with categories, gaps or curves."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rfdag.bootstrapping.resampling import Sampling, drawn_moments, standardised
from rfdag.evidence.by_environment import environment_moments
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.gaps import moments_with_gaps
from rfdag.evidence.mixing import is_mixed, mixed_moments
from rfdag.evidence.moments import Moments
from rfdag.input.description import Description
from rfdag.input.environments import design_of
from rfdag.input.table import Table
from rfdag.input.weights import whole_rows
from rfdag.methods.settings import Settings
from rfdag.result import Result

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Drawable(Protocol):
    """Rows that runs are drawn from."""

    def drawn(self, columns: Integers, sampling: Sampling, generator: np.random.Generator) -> Evidence:
        """Return the evidence of drawn rows, with the variables in the order of ``columns``."""


@dataclass(frozen=True)
class Numbers:
    """Standardised numbers without gaps."""

    values: Floats
    names: tuple[Hashable, ...]
    correlation: str

    def drawn(self, columns: Integers, sampling: Sampling, generator: np.random.Generator) -> Evidence:
        """Return the moments of drawn rows."""
        return drawn_moments(self.values, self.names, columns, sampling, generator, self.correlation)


@dataclass(frozen=True)
class TableRows:
    """Rows of a table some of whose variables are categories, have gaps, or count with their powers."""

    table: Table
    missing: str
    basis: int | Literal["auto"]
    correlation: str

    def drawn(self, columns: Integers, sampling: Sampling, generator: np.random.Generator) -> Evidence:
        """Return the evidence of drawn rows: estimates bridge the gaps of each draw anew."""
        counts = sampling.counts(self.table.rows, generator)
        chosen = self.table.only(columns.tolist())
        table = chosen._replace(values=np.repeat(chosen.values, counts, axis=0))
        share = sampling.worth(counts) / int(counts.sum())
        if is_mixed(table, self.basis):
            found = mixed_moments(table, basis=self.basis, missing=self.missing, correlation=self.correlation)
            return found.worth_a_share(share)
        way: Literal["em", "pairwise"] = "pairwise" if self.missing == "pairwise" else "em"
        moments = moments_with_gaps(table.values, table.names, way, self.correlation, frozenset())
        return replace(moments, n_samples=max(2, whole_rows(share * moments.rows)))


@dataclass(frozen=True)
class EnvironmentRows:
    """Rows of several environments: each keeps its share of a draw."""

    table: Table
    form: Description

    def drawn(self, columns: Integers, sampling: Sampling, generator: np.random.Generator) -> Evidence:
        """Return the moments of rows drawn within every environment."""
        origins = self.table.origins
        assert origins is not None
        counts = np.zeros(self.table.rows, np.int64)
        for e in range(len(origins.labels)):
            at = np.flatnonzero(origins.codes == e)
            counts[at] = sampling.counts(len(at), generator)
        share = sampling.worth(counts) / int(counts.sum())
        table = self.table.only(columns.tolist()).kept(np.repeat(np.arange(self.table.rows), counts))
        assert table.origins is not None
        design = design_of(self.form, table.origins.labels, table.names)
        found = environment_moments(table.values, table.origins.codes, Moments.from_data(*table), design)
        assert isinstance(found, EnvironmentMoments)
        return found.worth_a_share(share)


def drawable(table: Table, result: Result, settings: Settings) -> Drawable:
    """Return what the rows of the runs are drawn from."""
    estimation = settings.estimation
    if result.by_environment is not None:
        return EnvironmentRows(table, settings.description)
    if result.mixed is None and not np.isnan(table.values).any():
        assert result.moments is not None
        return Numbers(standardised(table.values, result.moments), table.names, estimation.correlation)
    basis = estimation.basis
    if basis == "auto" and result.mixed is not None:
        # All runs take what all rows have chosen.
        basis = int(result.mixed.expansion.widths[~result.mixed.categorical].max(initial=1))
    return TableRows(table, settings.description.missing, basis, estimation.correlation)
