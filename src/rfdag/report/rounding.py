"""Numbers as a page shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

DIGITS = 5


def rounded(values: Any) -> list[float | None]:
    """Return numbers with as many digits as a page shows; None where there is none.

    >>> rounded([0.1234567, 1234567.0, float("nan")])
    [0.12346, 1234600.0, None]
    """
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values]
