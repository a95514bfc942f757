"""Ways to correlate columns: Pearson's, and three by ranks, of a table or of rows that come in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from rfdag.errors import OptionError, keyword
from rfdag.evidence.arrangement import by_entries, in_arrangement, products_of
from rfdag.evidence.awkward import COPY, RANKS, awkward_error, copies_among
from rfdag.evidence.kendall import kendall
from rfdag.evidence.moments import Floats, Moments
from rfdag.evidence.nearest import floor_for, repaired
from rfdag.evidence.profile import ALL, BY_RANKS, Look, profile_of
from rfdag.evidence.ranks import behind_kendall, behind_spearman, normal_scores, shares_below
from rfdag.evidence.row_sample import RowSample, rows_kept
from rfdag.evidence.spread import check_spread
from rfdag.evidence.summary import Summary

Names = tuple[Hashable, ...]
Report = Callable[[float], None]
Fold = Callable[[Callable[[Floats], Any], Callable[[Any, Any], Any], Report], Any]
"""Reads all rows once: what a block becomes, how two are joined, what is called with the share done."""
Check = Callable[[Any], None]
"""Raises where a summary of all rows shows that they cannot be used."""


def _silent(share: float) -> None:
    """Show nothing of the share done."""


class Correlation(ABC):
    """A way to correlate columns."""

    name: ClassVar[str]
    weighs: ClassVar[bool] = False
    """Whether rows may count differently often without being repeated."""
    passes: ClassVar[int] = 1
    """How many times rows are read that come in pieces; 0 if all of them are needed at once."""
    kinds: ClassVar[frozenset[str]] = BY_RANKS
    """What is looked for in the columns."""

    @abstractmethod
    def of_table(
        self,
        values: NDArray[Any],
        names: Names,
        moments: type[Moments],
        threads: int = 1,
        report: Report = _silent,
        *,
        looked_at: bool = True,
    ) -> Moments:
        """Return the moments of rows in memory, and what these look like if they are ``looked_at``."""

    def of_stream(self, fold: Fold, names: Names, moments: type[Moments], check: Check, report: Report) -> Moments:
        """Return the moments of rows that are read in pieces."""
        raise NotImplementedError(f"{self.name} needs all rows at once")

    @abstractmethod
    def for_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the rows whose ordinary correlations are these, or raise: blocks are found and learnt by them."""


class Pearson(Correlation):
    """The ordinary correlation of the values themselves."""

    name = "pearson"
    weighs = True
    kinds = ALL

    def of_table(
        self,
        values: NDArray[Any],
        names: Names,
        moments: type[Moments],
        threads: int = 1,
        report: Report = _silent,
        *,
        looked_at: bool = True,
    ) -> Moments:
        """Return the moments of the values."""
        return moments.from_data(values, names, report, looked_at=looked_at)

    def of_stream(self, fold: Fold, names: Names, moments: type[Moments], check: Check, report: Report) -> Moments:
        """Return the moments of the values, read once."""
        summary = fold(Summary.of, Summary.joined, report)
        check(summary)
        return moments.from_summary(summary, names)

    def for_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values."""
        return values


class _Ranks(Correlation):
    """What the rank correlations that are read in pieces have in common."""

    passes = 2

    def of_stream(self, fold: Fold, names: Names, moments: type[Moments], check: Check, report: Report) -> Moments:
        """Return the moments of ranks in a sample of the rows, which the first pass draws; exact if that holds all."""
        draw = partial(RowSample.of, rows_kept(len(names)))
        sample = fold(draw, RowSample.joined, lambda share: report(share / 2))
        check(sample)
        if sample.whole:
            return self.of_table(sample.rows, names, moments, report=report)
        summary = fold(sample.scoring(self.transform), Summary.joined, lambda share: report((1 + share) / 2))
        seen = Look(sample.rows, whole=False).profile(
            names, sample.count, (sample.rows.min(axis=0), sample.rows.max(axis=0)), kinds=self.kinds
        )
        return self.of_summary(summary, names, moments).with_profile(seen)

    @staticmethod
    @abstractmethod
    def transform(shares: Floats) -> Floats:
        """Return what is correlated, given rank / (n + 1); may overwrite it."""

    @abstractmethod
    def of_summary(self, summary: Summary, names: Names, moments: type[Moments]) -> Moments:
        """Return the moments behind transformed ranks that were summed up."""


class NormalScores(_Ranks):
    """The ordinary correlation of normal scores: of the normal quantiles of the ranks."""

    name = "normal-scores"
    transform = staticmethod(normal_scores)

    def of_table(
        self,
        values: NDArray[Any],
        names: Names,
        moments: type[Moments],
        threads: int = 1,
        report: Report = _silent,
        *,
        looked_at: bool = True,
    ) -> Moments:
        """Return the moments of normal scores, in standard units."""
        scores = moments.from_data(normal_scores(shares_below(values, report)), names, looked_at=False)
        found = self._standard(scores)
        return found.with_profile(profile_of(values, names, self.kinds)) if looked_at else found

    def of_summary(self, summary: Summary, names: Names, moments: type[Moments]) -> Moments:
        """Return the moments of normal scores that were summed up, in standard units."""
        return self._standard(moments.from_summary(summary, names, looked_at=False))

    def _standard(self, scores: Moments) -> Moments:
        refuse_same_ranks(scores.correlation, scores.names)
        return in_standard_units(scores, self.name)

    def for_blocks(self, values: NDArray[Any]) -> Floats:
        """Return the normal scores, with a standard deviation of 1."""
        scores = normal_scores(shares_below(values))
        spreads = scores.std(axis=0)
        # A constant column is reported where blocks are looked for.
        scores /= np.where(spreads > 0, spreads, 1.0)
        return scores


class Spearman(_Ranks):
    """The Gaussian correlation behind Spearman's ρ."""

    name = "spearman"

    @staticmethod
    def transform(shares: Floats) -> Floats:
        """Return the ranks as they are."""
        return shares

    def of_table(
        self,
        values: NDArray[Any],
        names: Names,
        moments: type[Moments],
        threads: int = 1,
        report: Report = _silent,
        *,
        looked_at: bool = True,
    ) -> Moments:
        """Return the moments behind Spearman's ρ of the rows."""
        found = self._behind(Moments.from_data(shares_below(values, report), names, looked_at=False))
        return found.with_profile(profile_of(values, names, self.kinds)) if looked_at else found

    def of_summary(self, summary: Summary, names: Names, moments: type[Moments]) -> Moments:
        """Return the moments behind Spearman's ρ of ranks that were summed up."""
        return self._behind(Moments.from_summary(summary, names, looked_at=False))

    def _behind(self, ranks: Moments) -> Moments:
        assert ranks.n_samples is not None
        what = "Spearman's rank correlations"
        return _of_matrix(behind_spearman(products_of(ranks.factor)), ranks.names, ranks.n_samples, self.name, what)

    def for_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Raise: the correlation behind ρ is that of no rows."""
        raise _no_blocks(self.name)


class Kendall(Correlation):
    """The Gaussian correlation behind Kendall's τ."""

    name = "kendall"
    passes = 0

    def of_table(
        self,
        values: NDArray[Any],
        names: Names,
        moments: type[Moments],
        threads: int = 1,
        report: Report = _silent,
        *,
        looked_at: bool = True,
    ) -> Moments:
        """Return the moments behind Kendall's τ of the rows."""
        check_spread(names, values.min(axis=0), values.max(axis=0), np.full(len(names), np.inf))
        matrix = behind_kendall(kendall(values, threads, report))
        found = _of_matrix(matrix, names, len(values), self.name, "Kendall's rank correlations")
        return found.with_profile(profile_of(values, names, self.kinds)) if looked_at else found

    def for_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Raise: the correlation behind τ is that of no rows."""
        raise _no_blocks(self.name)


CORRELATIONS: dict[str, Correlation] = {each.name: each for each in (Pearson(), NormalScores(), Spearman(), Kendall())}
"""The ways to correlate columns, by name."""


def in_standard_units(moments: Moments, correlated: str) -> Moments:
    """Return moments that are known by ranks: of variables with mean 0 and standard deviation 1."""
    p = len(moments.names)
    return replace(moments, means=np.zeros(p), scales=np.ones(p), ddof=0, correlated=correlated)


def refuse_same_ranks(correlation: Floats, names: Names) -> None:
    """Raise if two columns order the rows alike, or in reverse: by ranks one is a copy of the other.

    >>> same = np.array([[1.0, -1.0, 0.1], [-1.0, 1.0, -0.1], [0.1, -0.1, 1.0]])
    >>> refuse_same_ranks(same, ("celsius", "cold", "rain"))
    Traceback (most recent call last):
        ...
    rfdag.errors.AwkwardError: By ranks, columns are copies of each other: 'cold' orders the rows as 'celsius' does, or
    in reverse. Pass awkward='keep-one' to leave out 'cold'.
    """
    pairs = np.argwhere(np.triu(np.abs(correlation) > 1 - COPY, 1))
    copies = copies_among(pairs, names, RANKS)
    if copies:
        raise awkward_error(copies, len(names))


def _of_matrix(correlation: Floats, names: Names, n: int, correlated: str, what: str) -> Moments:
    """Return the moments of Gaussian correlations behind ranks, repaired where they are not positive definite."""
    np.fill_diagonal(correlation, 1.0)
    refuse_same_ranks(correlation, names)
    repair = repaired(correlation, floor_for(n, len(names)))
    notes = () if repair is None else (repair.warning(what),)
    matrix = correlation if repair is None else repair.correlation
    places = by_entries(matrix)
    factor = cholesky(in_arrangement(matrix, places))[:, np.argsort(places)]
    p = len(names)
    return Moments(names, n, factor, np.zeros(p), np.ones(p), ddof=0, correlated=correlated, notes=notes)


def _no_blocks(name: str) -> OptionError:
    return OptionError(
        f"Blocks of columns are found and learnt from rows, and {keyword('correlation', name)} corrects correlations "
        f"instead. Pass {keyword('correlation', 'normal-scores')}, or {keyword('blocks', False)} if a matrix of all "
        "columns fits into memory."
    )
