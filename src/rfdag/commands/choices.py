"""What options of the commands can be."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|"}
"""Words for the characters between cells that a shell makes hard to type."""


class Rule(StrEnum):
    """How the next variable is chosen."""

    SOFT = "soft"
    GSP = "gsp"
    SP = "sp"
    RFD = "rfd"
    MIN_DEGREE = "min-degree"
    MIN_FILL = "min-fill"
    MAX_REMOVE = "max-remove"
    RANDOM = "random"


class Input(StrEnum):
    """What the file holds."""

    DATA = "data"
    CORRELATION = "correlation"
    COVARIANCE = "covariance"
    PRECISION = "precision"
    DAG = "dag"


class Pairs(StrEnum):
    """Which pairs count as removed or filled."""

    ALL = "all"
    NEIGHBOURS = "neighbours"


class Rescoring(StrEnum):
    """How often a beam scores candidates anew."""

    AUTO = "auto"
    EXACT = "exact"
    LAZY = "lazy"


class Precision(StrEnum):
    """Whether data are learnt as a whole or in blocks."""

    AUTO = "auto"
    DENSE = "dense"
    BLOCKS = "blocks"


class Device(StrEnum):
    """Where scores and eliminations are computed."""

    CPU = "cpu"
    CUDA = "cuda"


class Initial(StrEnum):
    """Whose order rule gsp starts from."""

    RFD = "rfd"
    MIN_DEGREE = "min-degree"


class Parents(StrEnum):
    """How a variable's parents are chosen among its predecessors."""

    AUTO = "auto"
    BIC = "bic"
    THRESHOLD = "threshold"
