"""How the figures look: one colour, marker and line for each method in all of them, readable in grey.

Colours are those of Okabe and Ito, which the colour-blind can distinguish; markers and lines repeat the distinction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rfdag.errors import OptionError
from rfdag.plots.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, YELLOW


class Style(NamedTuple):
    """Colour, marker and line of a method."""

    color: str
    marker: str
    line: str


SOLID, DASHED, DOTTED, DASHDOT = "-", "--", ":", "-."
STYLES = {
    "RFD": Style(BLUE, "o", SOLID),
    "RFD w=2": Style(BLUE, "D", DASHED),
    "RFD w=3": Style(BLUE, "p", DOTTED),
    "RFD + covered edges": Style(SKY, "*", DASHED),
    "soft + refinement": Style(BLACK, "*", SOLID),
    "MD": Style(ORANGE, "s", SOLID),
    "MD elimination": Style(ORANGE, "s", DOTTED),
    "MD (causaldag)": Style(ORANGE, "s", DASHED),
    "MMD (SuperLU)": Style(YELLOW, "h", DOTTED),
    "MF": Style(GREEN, "^", SOLID),
    "MF elimination": Style(GREEN, "^", DOTTED),
    "MR": Style(VERMILLION, "v", SOLID),
    "RP": Style(GREY, "x", DASHDOT),
    "SP": Style(BLACK, "+", DASHED),
    "PC (causal-learn)": Style(PURPLE, "P", DASHED),
    "PC (tetrad-port)": Style(PURPLE, "P", SOLID),
    "GES (causal-learn)": Style(VERMILLION, "v", DASHED),
    "GES1 (causal-learn)": Style(VERMILLION, "v", DASHED),
    "GES2 (causal-learn)": Style(VERMILLION, "^", DASHDOT),
    "FGES (tetrad-port)": Style(VERMILLION, "<", SOLID),
    "FGES1 (tetrad-port)": Style(PURPLE, "<", SOLID),
    "FGES2 (tetrad-port)": Style(PURPLE, ">", DASHDOT),
    "GSP (causaldag)": Style(GREEN, "X", DASHED),
    "GSP (rfdag)": Style(GREEN, "X", SOLID),
    "FLOP, 0 restarts": Style(SKY, "d", SOLID),
    "FLOP, 20 restarts": Style(SKY, "d", DASHED),
    "BOSS (tetrad-port)": Style(GREEN, "H", DASHDOT),
    "RFD + KCI": Style(BLUE, "o", DASHED),
    "RFD + RCIT": Style(SKY, "D", SOLID),
    "RFD + Fisher z": Style(GREY, "p", SOLID),
    "PC + KCI": Style(PURPLE, "P", DOTTED),
    "PC + RCIT": Style(VERMILLION, "X", DOTTED),
    "PC + Fisher z": Style(GREY, "x", DOTTED),
    "true order": Style(GREY, "_", DOTTED),
}
"""By name of the method. Names are the same in all studies."""


def style(method: str) -> Style:
    """Return the style of a method.

    >>> style("RFD").marker
    'o'
    """
    if method not in STYLES:
        raise OptionError(f"There is no style for {method!r} in studies/paper/look.py.")
    return STYLES[method]


def canvas(rows: int = 1, columns: int = 1, *, width: float = 9.0, height: float = 3.0, **options: Any) -> Any:
    """Return a figure and a two-dimensional array of its axes; height is that of one row."""
    from matplotlib.figure import Figure

    _begin()
    # No pyplot: nothing is to be shown, and a figure of its own needs no display and no closing.
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def _begin() -> None:
    import matplotlib as mpl

    mpl.rcParams |= {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        # The same picture is the same file.
        "svg.hashsalt": "rfdag",
    }


def curve(
    axes: Any,
    method: str,
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    **options: Any,
) -> None:
    """Draw a method's line with its markers, and the band around it where one is given."""
    color, marker, line = style(method)
    axes.plot(
        x, y, color=color, marker=marker, linestyle=line, linewidth=1.4, markersize=5, label=method, **options
    )  # fmt: skip
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)


def legend(figure: Any, axes: Iterable[Any], *, columns: int = 5) -> None:
    """Put one legend for all axes below the figure, methods in the order of `STYLES`."""
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    known = list(STYLES)
    names = sorted(handles, key=lambda name: known.index(name) if name in STYLES else len(known))
    if names:
        figure.legend(
            [handles[name] for name in names],
            names,
            loc="outside lower center",
            ncols=min(columns, len(names)),
            frameon=False,
            handlelength=3.2,
        )
