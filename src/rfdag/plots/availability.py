"""Whether figures can be drawn at all."""

from __future__ import annotations

import importlib.util


def require_matplotlib() -> None:
    """Raise with what to install where matplotlib is not."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("Figures are drawn by matplotlib, which is not installed: pip install 'rfdag[plots]'")
