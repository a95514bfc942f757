"""How all pictures of the documentation look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from report import ROOT

DARK, WARM, PALE, GREY = "#1f4e79", "#c55a11", "#9aa5b1", "#5f6b76"
FIGURES = ROOT / "docs" / "figures"


def begin() -> None:
    """Set fonts and frames; the salt makes the same picture the same file."""
    mpl.rcParams |= {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "rfdag"}


def save(figure: Any, name: str, folder: Path = FIGURES) -> None:
    """Write a picture as NAME.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
