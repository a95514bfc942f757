"""Names along an axis: as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rfdag.plots.canvas import size_in_points
from rfdag.plots.labels import PLAIN

SMALLEST, LARGEST = 5.5, 9.0
"""Sizes of names, in points."""


def name_ticks(axis: Any, places: ArrayLike, names: Sequence[str], **options: Any) -> None:
    """Put names at places along an axis, smaller where there are many, and only every n-th where there are too many."""
    along = size_in_points(axis.axes)[axis.axis_name == "y"]
    # Part of the axes' room goes to ticks and titles.
    room = 0.85 * along / max(len(names), 1)
    size = float(np.clip(0.8 * room, SMALLEST, LARGEST))
    step = max(1, int(np.ceil(1.1 * SMALLEST / room)))
    axis.set_ticks(np.asarray(places)[::step], names[::step], fontsize=size, **options, **PLAIN)
    axis.set_tick_params(length=2)
