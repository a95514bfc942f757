"""A result's graph laid out for SVG, in pixels: what the report and the notebooks draw.

In: names, the causal order, edges. Out: labels, a layout and the path of every edge. Needs no matplotlib.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.plots.layout import Layout, laid_out
from rfdag.plots.shortening import one_line, shortened

BOX = 24.0
"""Height of a node's box, whose label is 12 pixels high."""
LETTER, PADDING = 7.0, 9.0
"""Width of a letter, large enough for most fonts, and from a label to either end of its box."""
FIRST_WIDE = 0x2000
"""From here on letters are about twice as wide as those of Latin, Greek and Cyrillic script."""


class SvgGraph(NamedTuple):
    """Nodes in the order of the columns, and the paths of the edges and where their labels go, in the order given."""

    labels: list[str]
    layout: Layout
    paths: list[str]
    label_points: NDArray[np.float64]


def svg_graph(
    names: Sequence[Hashable],
    causal_order: NDArray[np.int64],
    sources: Sequence[int],
    targets: Sequence[int],
    *,
    labelled: bool = False,
) -> SvgGraph:
    """Return where to draw variables and edges, given by column numbers; ``labelled`` is that of `laid_out`.

    >>> graph = svg_graph(["rain", "wet"], np.array([0, 1]), [0], [1])
    >>> graph.labels, graph.paths
    (['rain', 'wet'], ['M55.8 12.0H65.7C82.5 12.0 82.5 12.0 99.3 12.0H109.1'])
    """
    labels = shortened([one_line(name) for name in names])
    widths = np.array([_width(label) for label in labels])
    place = np.argsort(causal_order)
    edges = np.stack([place[list(sources)], place[list(targets)]], axis=1) if sources else np.empty((0, 2), np.int64)
    layout = laid_out(widths[causal_order], edges, BOX, labelled=labelled)
    paths = [path_of(route) for route in layout.routes]
    return SvgGraph(labels, layout.numbered(place), paths, layout.label_points(edges))


def path_of(route: NDArray[np.float64]) -> str:
    """Return a route as the data of an SVG path."""
    words = [f"M{_pair(route[0])}"]
    for at in range(1, len(route) - 1, 4):
        begin, *curve = route[at : at + 4]
        words.append(f"H{begin[0]:.1f}C{' '.join(map(_pair, curve))}")
    return "".join([*words, f"H{route[-1][0]:.1f}"])


def _pair(point: NDArray[np.float64]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _width(label: str) -> float:
    letters = sum(2 if ord(letter) >= FIRST_WIDE and letter != "…" else 1 for letter in label)
    return 2 * PADDING + LETTER * letters
