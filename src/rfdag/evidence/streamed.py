"""Evidence of rows that come in pieces and have categories, gaps, or powers of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.arrangement import products_of
from rfdag.evidence.compact import Compact
from rfdag.evidence.expansion import Expansion
from rfdag.evidence.gaps import Bridged, bridged, filled_from_others, moments_of
from rfdag.evidence.mixed import Counts, MixedMoments
from rfdag.evidence.mixing import Complete, Gaps, about_levels, assembled, expansion_of
from rfdag.evidence.moments import Moments
from rfdag.evidence.pair_rows import Bridging
from rfdag.evidence.profile import ALL, Kinds, Look, Profile, Spread
from rfdag.evidence.spread import Range, check_spread, powers_of_two, range_of
from rfdag.evidence.summary import Summary
from rfdag.input.checks import check_complete, check_some_values
from rfdag.input.files import require_memory
from rfdag.input.table import Stream
from rfdag.input.weights import whole_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Fold = Callable[[Callable[[Floats], Any], Callable[[Any, Any], Any]], Any]
"""Reads all rows once: what a block becomes, and how two are joined."""
Report = Callable[[float], None]

FEWER = "Codes of categories are counted in memory: read fewer rows, or pass score='gaussian'."
"""What to do if the codes do not fit."""


class _Seen(NamedTuple):
    """Expanded columns of some rows, and the codes of all variables where they are counted."""

    compact: Compact
    codes: tuple[Codes, ...]

    def joined(self, other: _Seen) -> _Seen:
        """Return both together."""
        return _Seen(self.compact.joined(other.compact), self.codes + other.codes)


def moments_of_stream(
    fold: Fold,
    stream: Stream,
    way: Bridging,
    kinds: Kinds,
    check: Callable[[Summary], None],
    report: Report,
    moments: type[Moments] = Moments,
) -> Moments:
    """Return the moments of numbers some of which may be missing, read once.

    ``check`` raises where the summary of complete rows shows that they cannot be used.
    """
    compact: Compact = fold(partial(_of_numbers, None, stream.weighted), Compact.joined)
    if not compact.gappy:
        check(compact.whole)
        return moments.from_summary(compact.whole, stream.names)
    _, seen = _looked_at(stream.names, compact, kinds)
    rows, weights = compact.as_rows()
    units = powers_of_two(np.nanmax(np.abs(rows), axis=0))
    found = bridged(rows / units, stream.names, way, weights, report=report).in_units(units)
    return moments_of(found, stream.names, "pearson", compact.missing.tolist(), compact.rows, way, seen)


def mixed_of_stream(
    fold: Fold,
    stream: Stream,
    way: Bridging,
    *,
    basis: int | Literal["auto"] = 1,
    highest: int = 3,
    report: Report = lambda share: None,
) -> MixedMoments:
    """Return the evidence of rows in pieces whose variables may be several columns each.

    The numbers are read once for their means and spread, and all columns once more as they are expanded.
    """
    names, levels = stream.names, stream.levels
    numbers = [at for at in range(len(names)) if at not in levels]
    found, seen = range_of(np.empty((1, 0))), Profile()
    if numbers:
        compact: Compact = fold(partial(_of_numbers, numbers, stream.weighted), Compact.joined)
        some = tuple(names[at] for at in numbers)
        found, seen = _looked_at(some, compact, ALL - {"pairs"} if basis != 1 else ALL)
    degree = highest if basis == "auto" else basis
    expansion = expansion_of(names, levels, stream.level_counts, found, degree)
    read: _Seen = fold(partial(_of_columns, expansion, stream.weighted, not numbers), _Seen.joined)
    compact = read.compact
    missing = compact.missing[expansion.starts[:-1]].tolist()
    if compact.gappy:
        rows, weights = compact.as_rows()
        estimate: Bridged | Complete = bridged(rows, expansion.owners, way, weights, report=report)
    else:
        factor = compact.whole.factor * compact.whole.units
        count = compact.whole.count
        estimate = Complete(compact.whole.means * compact.whole.units, products_of(factor) / count, whole_rows(count))
    counts = None
    if read.codes and not compact.gappy and not stream.weighted:
        codes = np.concatenate(read.codes, axis=1)
        counts = Counts(codes, expansion.widths + 1, np.ones(codes.shape[1], np.int32)).compressed()
    of_numbers = dict(zip(numbers, seen.columns, strict=True))
    columns = (of_numbers.get(at) or about_levels(name, levels[at]) for at, name in enumerate(names))
    profile = Profile(tuple(columns), seen.notes)
    return assembled(expansion, estimate, counts, profile, Gaps(missing, compact.rows, way), basis=basis)


def _of_numbers(places: list[int] | None, weighted: bool, block: Floats) -> Compact:
    """Return what there is in some columns of a block, the last of which may hold weights."""
    weights = block[:, -1].copy() if weighted else None
    numbers = block[:, :-1] if weighted else block
    return Compact.of(np.asfortranarray(numbers if places is None else numbers[:, places]), weights)


def _of_columns(expansion: Expansion, weighted: bool, counted: bool, block: Floats) -> _Seen:
    """Return what there is in the expanded columns of a block, and its codes where they are counted."""
    weights = block[:, -1].copy() if weighted else None
    variables = block[:, :-1] if weighted else block
    codes: tuple[Codes, ...] = ()
    if counted and not np.isnan(variables).any():
        require_memory("The next codes", float(variables.size), FEWER)
        every = range(len(expansion.names))
        codes = (np.array([expansion.level_of(at, variables[:, at]) for at in every], np.uint8),)
    return _Seen(Compact.of(expansion.columns(variables), weights), codes)


def _looked_at(names: tuple[Hashable, ...], compact: Compact, kinds: Kinds) -> tuple[Range, Profile]:
    """Return the range and the profile of numbers; raise for those that do not vary, or cannot be used."""
    whole = compact.whole
    check_some_values(names, compact.missing.tolist(), compact.rows)
    infinite = whole.infinite + sum((np.isinf(rows).sum(axis=0) for rows in compact.broken), np.zeros(len(names), int))
    check_complete(names, [0] * len(names), infinite.tolist())
    rows, weights = compact.as_rows()
    known = np.isfinite(rows)
    counts = weights @ known
    units = powers_of_two(np.nanmax(np.abs(rows), axis=0))
    rows = rows / units
    means = weights @ np.where(known, rows, 0.0) / counts
    squares = weights @ np.where(known, (rows - means) ** 2, 0.0)
    means, deviations = means * units, np.sqrt(squares / counts) * units
    ends = [whole.lowest, whole.highest] if whole.count else [np.full(len(names), at) for at in (np.inf, -np.inf)]
    for each in compact.broken:
        lowest, highest = _kept(each, np.inf).min(axis=0), _kept(each, -np.inf).max(axis=0)
        ends = [np.minimum(ends[0], lowest), np.maximum(ends[1], highest)]
    of_sample = deviations * np.sqrt(counts / np.maximum(counts - 1, 1))
    check_spread(names, ends[0], ends[1], of_sample)
    spread = Spread(means, of_sample)
    sample = whole.sample.rows if whole.count else np.concatenate(compact.broken)
    seen = Look(filled_from_others(sample), whole=False).profile(names, compact.rows, (ends[0], ends[1]), spread, kinds)
    return Range(ends[0], ends[1], means, deviations), seen


def _kept(rows: Floats, instead: float) -> Floats:
    """Return rows with a number in place of missing values."""
    return np.where(np.isnan(rows), instead, rows)
