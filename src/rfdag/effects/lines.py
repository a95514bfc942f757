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
        return f"{title}: 0, as the graph has no directed path from the one to the other."
    lines = _aligned(headings("adjusted for", effect.level), [_row(effect.adjustment, effect)])
    return "\n".join([title, *lines, *caveats(effect)])


def range_text(found: EffectRange) -> str:
    """Return the effects of an equivalence class as a few lines, one for each set of parents."""
    effects = [each.effect for each in found.possible]
    rows = [_row(each.parents, each.effect) for each in found.possible[:ROWS]]
    lines = _aligned(headings(f"parents of {found.cause}", effects[0].level), rows)
    more = [f"… and {len(effects) - ROWS} more"] if len(effects) > ROWS else []
    title = f"Total effect of {found.cause} on {found.outcome}, over the equivalence class"
    return "\n".join([title, *lines, *more, *together(found), *caveats(effects[0])])


def together(found: EffectRange) -> list[str]:
    """Return the union of the intervals, where there are several."""
    several = len(found.possible) > 1 and any(each.effect.standard_error for each in found.possible)
    return [f"All intervals together: {found.lowest:+.4g} to {found.highest:+.4g}"] if several else []


def headings(first: str, level: float) -> tuple[str, str, str, str]:
    """Return the headings of a table of effects."""
    return first, "effect", "standard error", f"{level:.0%} interval"


def figures(effect: Effect) -> tuple[str, str, str]:
    """Return estimate, standard error and interval as text."""
    if effect.standard_error is None:
        return f"{effect.estimate:+.4g}", "exact input", ""
    return f"{effect.estimate:+.4g}", f"{effect.standard_error:.2g}", f"{effect.low:+.4g} to {effect.high:+.4g}"


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
