"""Local scores of variables that are more than a column: by the covariance of columns, and by counts of levels."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.mixed import MixedMoments
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.kernels.blocks import scan_blocks
from rfdag.orders.kernels.counts import scan_counts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_CELLS = 2**22
"""Cells of a table of counts up to which a set of parents is looked at."""


class FamilyScore(Protocol):
    """Scores a child given parents, less being better: what a search over orders asks of data.

    Attributes
    ----------
    size
        The number of variables.
    most_parents
        How many parents a variable may have.
    """

    size: int
    most_parents: int

    def scan(
        self, children: Integers, parents: Integers, sizes: Integers, candidates: Integers
    ) -> tuple[Floats, Floats]:
        """Return the score of each child given its parents, and those with each candidate of the child added.

        The parents of the r-th child are the first ``sizes[r]`` entries of ``parents[r]``. ``candidates`` has a row for
        every variable, which ends with −1. A score is infinite where a candidate is a parent already or adds nothing.
        It is called by several threads at the same time.
        """

    def work(self, families: int, parents: int, candidates: int) -> int:
        """Return about how many operations a scan takes of families with so many parents in all."""


def largest_family(score: FamilyScore, constraints: Constraints | None) -> int:
    """Return how many parents any variable may have: as many as the score allows, or as are required of one."""
    required = [0] if constraints is None else [len(constraints.required_of(y)) for y in range(score.size)]
    return max(score.most_parents, *required)


def family_score(
    evidence: MixedMoments,
    *,
    score: str = "gaussian",
    penalty: float = 2.0,
    gamma: float = 0.0,
    sample_size: float | None = None,
) -> FamilyScore:
    """Return the score of a name over evidence: "gaussian", "multinomial" or "bdeu".

    ``penalty`` and ``gamma`` are λ and γ of the price of a parent, ``sample_size`` the equivalent one of BDeu.

    In the Gaussian score each degree of freedom costs ln n, as in the textbooks, and each parent (λ − 1) ln n +
    2 γ ln p more: what λ adds guards against choosing among many parents, and there is one choice for a parent, however
    many levels it has. Between single columns that is λ ln n for an edge, as everywhere. Where numbers explain others
    by their powers, each degree of freedom costs λ ln n.
    """
    if score == "gaussian":
        white, _, starts = evidence.white
        unit = math.log(evidence.n_samples)
        of_freedom = penalty if evidence.one_equation else min(penalty, 1.0)
        per_parent = (penalty - of_freedom) * unit + 2 * gamma * math.log(max(len(evidence.names), 2))
        return BlockScore(white, starts, evidence.widths, evidence.n_samples, of_freedom * unit, per_parent)
    assert evidence.counts is not None
    counted = sample_size if score == "bdeu" else None
    return CountScore(*evidence.counts, penalty=penalty, gamma=gamma, sample_size=counted)


class BlockScore:
    """n ln det S_{Y|P} + price · k_Y · rank(P) + per_parent · |P|, the degenerate Gaussian (Andrews et al., 2019).

    With price = λ ln n and nothing per parent it is that of Tetrad at penalty discount λ, up to sign and a constant.

    Parameters
    ----------
    covariance
        The covariance of all columns, those of one variable uncorrelated and with variance 1.
    starts
        Where the columns of each variable begin, and where the last one's end.
    widths
        How many of its columns a variable has as a child, the first ones; None for all.
    n_samples
        The number of rows behind the covariance.
    price
        What a degree of freedom costs; 2 ln n unless given.
    per_parent
        What a parent costs besides.

    Examples
    --------
    >>> score = BlockScore(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 1, 2]), None, 100)
    >>> alone, _ = score.scan(np.array([1, 1]), np.array([[0], [0]]), np.array([0, 1]), np.array([[-1], [-1]]))
    >>> alone.round(3)
    array([  0.   , -19.558])
    """

    def __init__(
        self,
        covariance: Floats,
        starts: Integers,
        widths: Integers | None,
        n_samples: float,
        price: float | None = None,
        per_parent: float = 0.0,
    ) -> None:
        self.size = len(starts) - 1
        self._starts = np.ascontiguousarray(starts, np.int64)
        self._widths = np.diff(self._starts) if widths is None else np.ascontiguousarray(widths, np.int64)
        self._n = float(n_samples)
        self._price = 2.0 * math.log(n_samples) if price is None else price
        self._per_parent = per_parent
        self._covariance = np.ascontiguousarray(covariance)
        narrowest = max(int(np.diff(self._starts).min()), 1)
        self.most_parents = max(1, min(self.size - 1, int(n_samples - 3) // narrowest))

    def scan(
        self, children: Integers, parents: Integers, sizes: Integers, candidates: Integers
    ) -> tuple[Floats, Floats]:
        """Return the scores of children given parents, and those with each candidate added."""
        own, out = np.empty(len(children)), np.empty((len(children), candidates.shape[1]))
        numbers = self._n, self._price, self._per_parent
        families = children, parents, sizes, candidates
        scan_blocks(self._covariance, self._starts, self._widths, *numbers, *families, own, out)
        return own, out

    def work(self, families: int, parents: int, candidates: int) -> int:
        """Return about how many operations a scan takes."""
        columns = len(self._covariance)
        width = columns / max(self.size, 1)
        rank = parents * width / max(families, 1)
        return int(families * (rank * rank * columns / 2 + candidates * 4 * width * width * (rank + 1)))


class CountScore:
    """The multinomial BIC or BDeu of categories, from counts in the rows.

    The BIC is 2 n H(Y | P) + price · (m_Y − 1) · Π m_P with the entropies in nats; the default penalty λ = 2 of a
    Gaussian edge is the textbook's price here, (λ / 2) ln n for each probability. BDeu is −2 ln of the marginal
    likelihood under Dirichlet priors that are worth ``sample_size`` rows for every table.

    Parameters
    ----------
    codes
        The level of each variable (rows of the array) in each row of the data, from 0 on.
    levels
        How many levels each variable has.
    weights
        How often each row counts.
    share
        What all counts are worth.
    penalty, gamma
        λ and γ of the BIC; a parent costs 2 γ ln p more.
    sample_size
        The equivalent sample size of BDeu; None for the BIC.

    Attributes
    ----------
    logs
        c ln c for every count c.
    bit_starts
        At which of the `bits` the levels of each variable begin.

    Examples
    --------
    >>> same = np.array([[0, 1] * 50, [0, 1] * 50], np.uint8)
    >>> score = CountScore(same, np.array([2, 2]), np.ones(100, np.int32))
    >>> alone, added = score.scan(np.array([1]), np.array([[0]]), np.array([0]), np.array([[-1], [0]]))
    >>> alone.round(2), added.round(2)
    (array([143.23]), array([[9.21]]))
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        levels: Integers,
        weights: NDArray[np.int32],
        share: float = 1.0,
        *,
        penalty: float = 2.0,
        gamma: float = 0.0,
        sample_size: float | None = None,
    ) -> None:
        self.size = len(codes)
        self.most_parents = max(self.size - 1, 1)
        n = int(weights.sum())
        counts = np.arange(n + 1, dtype=np.float64)
        self.logs = counts * np.log(np.maximum(counts, 1.0))
        self.levels = np.ascontiguousarray(levels, np.int64)
        self.bit_starts = np.append(0, np.cumsum(self.levels))
        self._codes, self._weights = codes, weights
        self._bits = _bits_of(codes, self.levels) if (weights == 1).all() else np.empty((0, 0), np.uint64)
        self._sample_size = sample_size or 0.0
        self._share = share
        self._price = penalty / 2 * math.log(max(share * n, 2.0))
        self._per_parent = 2 * gamma * math.log(max(self.size, 2))

    def scan(
        self, children: Integers, parents: Integers, sizes: Integers, candidates: Integers
    ) -> tuple[Floats, Floats]:
        """Return the scores of children given parents, and those with each candidate added."""
        own, out = np.empty(len(children)), np.empty((len(children), candidates.shape[1]))
        data = self._codes, self.levels, self._weights, self._bits, self.bit_starts, self.logs
        prices = self._sample_size, self._share, self._price, self._per_parent, MOST_CELLS
        scan_counts(*data, *prices, children, parents, sizes, candidates, own, out)
        return own, out

    def work(self, families: int, parents: int, candidates: int) -> int:
        """Return about how many operations a scan takes."""
        return (families * (candidates + 1) + parents) * self._codes.shape[1]

    @property
    def bits(self) -> NDArray[np.uint64]:
        """For each level of each variable which rows have it; a row that counts several times is there as often."""
        if self._bits.size:
            return self._bits
        return _bits_of(np.repeat(self._codes, self._weights, axis=1), self.levels)


def _bits_of(codes: NDArray[np.uint8], levels: Integers) -> NDArray[np.uint64]:
    """Return for each level of each variable which rows have it, 64 of them in a word."""
    rows = codes.shape[1]
    words = -(-rows // 64)
    bits = np.zeros((int(levels.sum()), 8 * words), np.uint8)
    at = 0
    for code, count in zip(codes, levels.tolist(), strict=True):
        for level in range(count):
            packed = np.packbits(code == level, bitorder="little")
            bits[at, : len(packed)] = packed
            at += 1
    return bits.view("<u8").astype(np.uint64)
