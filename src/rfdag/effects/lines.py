"""Effects as lines of text, for `print` and the command line."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfdag.effects.estimates import Effect, EffectRange

CAVEAT = "The graph is taken as given: errors are those of the regression alone."
OF_RANKS = "Effects are those of the Gaussian variables behind the ranks, in standard deviations."
ROWS = 20
"""Sets of parents that are printed; the rest are counted."""


def effect_text(effect: Effect) -> str:
    """Return an effect as a few lines.

    >>> from rfdag.effects.estimates import Effect
    >>> print(effect_text(Effect("skill", "wage", 1.5, 0.1, 1.3, 1.7, 0.95, ("age", "sex"))))
    Total effect of skill on wage
    adjusted for  effect  standard error   95% interval
    age, sex        +1.5             0.1  +1.3 to +1.7
    The graph is taken as given: errors are those of the regression alone.
    """
    title = f"Total effect of {effect.cause} on {effect.outcome}"
    if effect.estimate == 0 and effect.standard_error == 0:
        lines, notes = [f"{title}: 0, as the graph has no directed path from the one to the other."], []
    else:
        table = _aligned(headings("adjusted for", effect.level), [_row(effect.adjustment, effect)])
        lines, notes = [title, *table], caveats(effect)
    if effect.possible is not None:
        lines += [f"{in_one_dag(effect.possible)}:", *_range_lines(effect.possible)]
        notes = caveats(effect.possible.possible[0].effect)
    return "\n".join([*lines, *notes])


def in_one_dag(possible: EffectRange) -> str:
    """Return what stands beside a single effect where the class leaves others possible."""
    return (
        f"This holds in the DAG that was found; over its equivalence class it is {span_of(possible)}, adjusted for the "
        "parents of the cause"
    )


def span_of(possible: EffectRange) -> str:
    """Return the smallest and the largest estimate.

    >>> from rfdag.effects.estimates import Effect, EffectRange, PossibleEffect
    >>> each = [PossibleEffect((), Effect("a", "b", size, None, None, None, 0.95, ())) for size in (0.5, 0.0)]
    >>> span_of(EffectRange("a", "b", tuple(each)))
    '0 to +0.5'
    """
    return f"{signed(possible.low)} to {signed(possible.high)}"


def range_text(found: EffectRange) -> str:
    """Return the effects of an equivalence class as a few lines, one for each set of parents."""
    title = f"Total effect of {found.cause} on {found.outcome}, over the equivalence class"
    return "\n".join([title, *_range_lines(found), *caveats(found.possible[0].effect)])


def _range_lines(found: EffectRange) -> list[str]:
    rows = [_row(each.parents, each.effect) for each in found.possible[:ROWS]]
    lines = _aligned(headings(f"parents of {found.cause}", found.possible[0].effect.level), rows)
    left = len(found.possible) - ROWS
    return [*lines, *([f"… and {left} more"] if left > 0 else []), *together(found)]


def together(found: EffectRange) -> list[str]:
    """Return the union of the intervals, where there are several."""
    several = len(found.possible) > 1 and any(each.effect.standard_error for each in found.possible)
    return [f"All intervals together: {signed(found.lowest)} to {signed(found.highest)}"] if several else []


def signed(number: float) -> str:
    """Return a number with its sign, 0 without.

    >>> signed(1.5), signed(0.0)
    ('+1.5', '0')
    """
    return f"{number:+.4g}" if number else "0"


def headings(first: str, level: float) -> tuple[str, str, str, str]:
    """Return the headings of a table of effects."""
    return first, "effect", "standard error", f"{level:.0%} interval"


def figures(effect: Effect) -> tuple[str, str, str]:
    """Return estimate, standard error and interval as text."""
    if effect.standard_error is None or effect.low is None or effect.high is None:
        return signed(effect.estimate), "exact input", ""
    return signed(effect.estimate), f"{effect.standard_error:.2g}", f"{signed(effect.low)} to {signed(effect.high)}"


def caveats(effect: Effect) -> list[str]:
    """Return the units where they are not those of the data, and what the standard errors leave out, if any."""
    units = [OF_RANKS] if effect.units == "ranks" else []
    return units if effect.standard_error is None else [*units, CAVEAT]


def _row(names: Sequence[Hashable], effect: Effect) -> tuple[str, ...]:
    return ", ".join(map(str, names)) or "nothing", *figures(effect)


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in (titles, *rows)
    ]
