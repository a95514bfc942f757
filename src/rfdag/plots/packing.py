"""Rectangles of unequal size packed into a compact frame: how the parts of an unconnected graph share a drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

NARROWEST, FLATTEST = 1.2, 2.6
"""Width of the frame in parts of its height, between which only its area counts: shapes of a page, or of a window."""
FEWEST_WIDTHS, MOST_WIDTHS = 8, 64
"""How many widths of the frame are tried: fewer where there are many rectangles."""
PLACED = 4000
"""About how many rectangles are placed in all these attempts."""


def packed(sizes: Numbers, gutter: tuple[float, float]) -> Numbers:
    """Return the left and upper corner of each rectangle, so that none overlaps and little room is lost.

    The tallest come first, each as high up as there is room for it, and then as far left; of several widths the one
    whose frame has the smallest area is taken, among those that are neither narrow nor flat.

    Parameters
    ----------
    sizes
        (n, 2) widths and heights.
    gutter
        The least distance of two rectangles, side by side and one below the other.

    Examples
    --------
    >>> packed(np.array([[4.0, 4.0], [3.0, 2.0], [3.0, 2.0]]), gutter=(0, 0)).tolist()
    [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0]]
    """
    room = sizes + np.array(gutter)
    order = np.lexsort((np.arange(len(room)), -room[:, 0], -room[:, 1]))
    widest, all_beside = float(room[:, 0].max()), float(room[:, 0].sum())
    # Wider frames than this are too flat, however badly they are filled.
    flattest = widest + 2 * float(np.sqrt(FLATTEST * room.prod(axis=1).sum()))
    attempts = int(np.clip(PLACED / len(room), FEWEST_WIDTHS, MOST_WIDTHS))
    best, smallest = np.zeros_like(room), np.inf
    for width in np.geomspace(widest, min(all_beside, flattest), attempts):
        corners = _within(room, order, float(width))
        wide, tall = (corners + sizes).max(axis=0)
        area = wide * tall * max(1.0, NARROWEST * tall / wide, wide / (FLATTEST * tall))
        if area < smallest * (1 - 1e-9):
            best, smallest = corners, area
    return best


def _within(room: Numbers, order: NDArray[np.int64], width: float) -> Numbers:
    """Return the corners in a frame of this width, by its skyline: from where on it is free, piece by piece."""
    corners = np.zeros_like(room)
    # Each piece begins at x and is free below y; the last reaches the right side.
    skyline = [(0.0, 0.0)]
    for at in order.tolist():
        wide, tall = room[at].tolist()
        x, y = min(_places(skyline, wide, width), key=lambda place: (place[1], place[0]))
        corners[at] = x, y
        skyline = _raised(skyline, x, x + wide, y + tall)
    return corners


def _places(skyline: list[tuple[float, float]], wide: float, width: float) -> list[tuple[float, float]]:
    """Return the corners at which a rectangle may stand: at the beginning of a piece, below all that it spans."""
    places = []
    for start, (x, _) in enumerate(skyline):
        # Widths are sums in another order, and may differ in the last digit.
        if start and x + wide > width * (1 + 1e-9):
            break
        spanned = [y for left, y in skyline[start:] if left < x + wide * (1 - 1e-9)]
        places.append((x, max(spanned)))
    return places


def _raised(skyline: list[tuple[float, float]], left: float, right: float, y: float) -> list[tuple[float, float]]:
    """Return the skyline with everything between left and right taken down to y."""
    beyond = [level for x, level in skyline if x <= right]
    kept = [piece for piece in skyline if piece[0] < left]
    after = [piece for piece in skyline if piece[0] > right]
    return [*kept, (left, y), (right, beyond[-1]), *after]
