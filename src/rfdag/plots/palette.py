"""The colours of all pictures: those of Okabe and Ito, which the colour-blind tell apart."""

from __future__ import annotations

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE, GREY = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#b8a800", "#0072b2", "#d55e00", "#cc79a7", "#7a7a7a",
)  # fmt: skip
PALE = "#e4e4e4"
"""Lines and bars in the background."""
BLUE_ON_ANY, RED_ON_ANY = "#3f8fce", "#d9702b"
"""Blue and red that are seen on white and on black, for notebooks of either theme."""
