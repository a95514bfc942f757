"""Pictures as files: whether a format can be written, and the bytes of a picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rfdag.errors import OptionError
from rfdag.plots.availability import require_matplotlib
from rfdag.wording import alternatives

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = (".png", ".svg", ".pdf")
"""Formats that messages suggest; matplotlib writes some more."""
NEEDING_MORE = {"pgf"}
"""Formats for which matplotlib needs another program, LaTeX, that may be missing."""
DPI = 150
"""Dots per inch of a picture that is made of dots."""


def require_format(path: Path) -> None:
    """Raise if matplotlib is not installed, or cannot write the format that the ending of a file stands for.

    >>> require_format(Path("graph.svg"))
    >>> require_format(Path("graph.doc"))
    Traceback (most recent call last):
    rfdag.errors.OptionError: graph.doc ends in .doc, which is no format of pictures. End it in .png, .svg or .pdf.
    """
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    ending = path.suffix.lower()
    if ending.removeprefix(".") not in FigureCanvasBase.get_supported_filetypes().keys() - NEEDING_MORE:
        found = f"ends in {path.suffix}, which is no format of pictures" if ending else "has no ending"
        raise OptionError(f"{path} {found}. End it in {alternatives(USUAL)}.")


def picture_bytes(axes: Axes, path: Path) -> bytes:
    """Return the figure of some axes in the format that the ending of a file stands for."""
    buffer = io.BytesIO()
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(buffer, format=path.suffix.lower().removeprefix("."), dpi=DPI)
    return buffer.getvalue()
