"""Rows drawn at random from a table, and their moments."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import AwkwardError, DataError, OptionError, RfdagError, as_columns, keyword
from rfdag.evidence.awkward import sentences_about
from rfdag.evidence.correlations import CORRELATIONS, Correlation
from rfdag.evidence.moments import Floats, Moments
from rfdag.evidence.row_factor import RowFactor, rows_at_once
from rfdag.methods.settings import Settings
from rfdag.options import Options, option, options
from rfdag.orders import tuning

HALF = 0.5
"""The default share of the rows in a subsample."""

DRAWS = 100
"""How often rows are drawn for one run before it fails."""

STILL = 1e-10
"""Standard deviation, in units of that of all rows, up to which a column counts as constant."""


@options
class Sampling(Options):
    """How the rows of a run are drawn, and how many they count for.

    When rows are drawn with replacement, a correlation has two sources of error: the data and the draw. Its variance is
    about 2/n, that of n/2 new rows, which is also Kish's effective sample size (Σc)²/Σc² of rows that count c times.
    ``corrected`` uses that number instead of n; a subsample has no row twice and counts in full in any case.
    """

    sampling: Literal["resample", "subsample"] = option(
        default="resample",
        meaning=(
            'Whether rows are drawn with replacement, as many as there are ("resample", the usual bootstrap), or a '
            'share of them without ("subsample").'
        ),
    )
    share: float | None = option(
        default=None, meaning="The part of the rows that a subsample has; ½ unless given.", above=0, below=1
    )
    corrected: bool = option(
        default=True,
        meaning=(
            "Whether a resample counts for its effective number of rows, about half. False is the usual "
            "bootstrap, with which the BIC is too generous: rows that come twice look like evidence twice."
        ),
    )

    def check(self) -> None:
        """Raise if the options contradict each other."""
        if self.share is not None and self.sampling == "resample":
            raise OptionError(
                f"{keyword('share', self.share)} belongs to {keyword('sampling', 'subsample')}; a resample has all "
                "rows."
            )

    def size(self, rows: int) -> int:
        """Return how many rows a run draws from this many."""
        return rows if self.sampling == "resample" else round((self.share or HALF) * rows)

    def counts(self, rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return how often each row is drawn for a run.

        >>> Sampling(sampling="subsample").counts(6, np.random.default_rng(0)).sum()
        np.int64(3)
        """
        again = self.sampling == "resample"
        return np.bincount(generator.choice(rows, self.size(rows), replace=again), minlength=rows)

    def worth(self, counts: NDArray[np.int64]) -> int:
        """Return how many rows a draw counts for."""
        total = int(counts.sum())
        return int(total**2 // int(counts @ counts)) if self.corrected else total

    def require(self, rows: int, columns: int, settings: Settings) -> None:
        """Raise unless the rows of a run will be enough for these settings."""
        worth = rows // 2 if self.corrected and self.sampling == "resample" else self.size(rows)
        method, estimation = settings.method, settings.estimation
        try:
            method.require_rows(worth, columns, estimation)
        except DataError as problem:
            raise DataError(
                f"A run of this bootstrap counts for {worth} of the {rows} rows. {problem.message.template}"
            ) from None
        different = round(rows * (1 - math.exp(-1)))
        inverted = estimation.chosen(worth, columns, any_rows=method.any_rows).name == "sample"
        if self.sampling == "resample" and different < tuning.FEW_ROWS_PER_COLUMN * columns and inverted:
            raise DataError(
                f"Of {rows} rows drawn with replacement about {different} are distinct, too few for partial "
                f"correlations of {columns} columns. Pass {keyword('corrected', True)} or "
                f"{keyword('sampling', 'subsample')}, which count fewer rows, or at most "
                f"{int(different / tuning.FEW_ROWS_PER_COLUMN)} columns."
            )


def standardised(values: NDArray[Any], moments: Moments) -> Floats:
    """Return the rows with mean 0 and variance 1 in every column."""
    result: Floats = (values - moments.means) / moments.scales
    return result


def drawn_moments(
    values: Floats,
    names: Sequence[Hashable],
    columns: NDArray[np.int64],
    sampling: Sampling,
    generator: np.random.Generator,
    correlation: str = "pearson",
) -> Moments:
    """Return the moments of rows drawn from standardised ones, with the columns in the given order.

    A draw in which some column is constant contains no information on that column, and is repeated. Correlations by
    ranks rank the drawn rows.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(50, 2))
    >>> half, generator = Sampling(sampling="subsample"), np.random.default_rng(1)
    >>> moments = drawn_moments(values, "ab", np.array([1, 0]), half, generator)
    >>> moments.names, moments.n_samples
    (('b', 'a'), 25)
    """
    labels = tuple(names[at] for at in columns)
    if correlation != "pearson":
        return _drawn_by_ranks(values[:, columns], labels, sampling, generator, CORRELATIONS[correlation])
    for _ in range(DRAWS):
        counts = sampling.counts(len(values), generator)
        means, factor = _mean_and_factor(values, columns, counts)
        norms = np.sqrt(np.einsum("ij,ij->j", factor, factor))
        total = int(counts.sum())
        still = norms <= STILL * math.sqrt(total)
        if not still.any():
            return Moments(labels, sampling.worth(counts), factor / norms, means, norms / math.sqrt(total - 1))
    raise DataError(
        f"{as_columns(labels[at] for at in np.flatnonzero(still))} did not vary among the rows of {DRAWS} draws. "
        "Drop columns in which nearly all values are equal, or draw a larger share."
    )


def _drawn_by_ranks(
    values: Floats,
    names: tuple[Hashable, ...],
    sampling: Sampling,
    generator: np.random.Generator,
    correlated: Correlation,
) -> Moments:
    """Return the moments of drawn rows by ranks among these rows: of all rows they would be too alike."""
    for draw in range(DRAWS):
        counts = sampling.counts(len(values), generator)
        try:
            moments = correlated.of_table(np.repeat(values, counts, axis=0), names, Moments, looked_at=False)
        except DataError as problem:
            # Drawn rows may agree in a column, or order two columns alike, though not all rows do.
            if draw == DRAWS - 1:
                raise DataError(f"{problem.message.template} This was so in {DRAWS} draws of rows.") from None
        else:
            return replace(moments, n_samples=sampling.worth(counts))
    raise AssertionError("a draw returns or raises")


def _mean_and_factor(values: Floats, columns: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the weighted means, and R of a QR decomposition of the centred rows, each repeated by its count.

    A row that counts c times enters once, times √c: the cross-product is the same, and a third of the work is saved.
    """
    means = (counts @ values / counts.sum())[columns]
    chosen = np.flatnonzero(counts)
    step = rows_at_once(len(chosen), len(columns))
    by_qr = RowFactor(len(columns))
    for start in range(0, len(chosen), step):
        rows = chosen[start : start + step]
        by_qr.add((values[np.ix_(rows, columns)] - means) * np.sqrt(counts[rows])[:, None])
    return means, by_qr.factor


def unfit_error(problem: RfdagError, number: int) -> RfdagError:
    """Return the error for a run whose drawn rows cannot be learnt from, given what went wrong.

    >>> print(unfit_error(DataError("Too few rows."), 7))
    Too few rows. This happened in run 7 of a bootstrap, with the rows drawn for it; a larger share of the rows, as with
    sampling='subsample' and share=0.9, or fewer columns, may help.
    """
    found, kind = problem.message.template, type(problem)
    if isinstance(problem, AwkwardError):
        # What depends on other columns in these rows alone is not left out by an option.
        found, kind = sentences_about(problem.groups), DataError
    return kind(
        f"{found} This happened in run {number} of a bootstrap, with the rows drawn for it; a larger share of the "
        f"rows, as with {keyword('sampling', 'subsample')} and {keyword('share', 0.9)}, or fewer columns, may help."
    )
