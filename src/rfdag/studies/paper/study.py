"""A study: what is run for one figure, how it is drawn, and which of the paper's statements it bears on."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from rfdag.studies.bench import environments

Key = Mapping[str, Any]
"""What identifies a cell, in text, numbers and lists of them: all that its outcome depends on, versions included."""

Record = Mapping[str, Any]
"""One outcome: text and numbers; None where there is none."""

Row = Mapping[str, Any]
"""A line of a figure's CSV."""


@dataclass(frozen=True)
class Scope:
    """How much is run, and with what."""

    quick: bool = False
    """Whether to run a small version of everything, in minutes."""
    graphs: int | None = None
    """Graphs a point; None leaves it to the study."""
    seed: int = 2021
    limit: float | None = None
    """Seconds for one call; None leaves it to the study."""
    peers: Path = environments.FOLDER
    """Folder of the peers' environments."""

    def count(self, full: int, quick: int) -> int:
        """Return how many graphs a point has, where the study has its own two numbers.

        >>> Scope().count(100, 5), Scope(quick=True).count(100, 5), Scope(graphs=7).count(100, 5)
        (100, 5, 7)
        """
        return self.graphs or (quick if self.quick else full)

    def allowed(self, full: float, quick: float) -> float:
        """Return the seconds that a call may take, where the study has its own two numbers."""
        return self.limit or (quick if self.quick else full)


@dataclass(frozen=True)
class Claim:
    """A statement, whether the measurements support it, and their numbers."""

    statement: str
    held: bool | None
    """None where the measurements cannot decide."""
    numbers: str


def _nothing(rows: Sequence[Row]) -> list[Claim]:
    return []


def _alike(key: Key) -> float:
    return 1.0


def _never(key: Key, records: Sequence[Record]) -> bool:
    return False


@dataclass(frozen=True)
class Study:
    """Everything about one figure. The functions live in the study's own module."""

    name: str
    """What `rfdag reproduce` is given."""
    title: str
    source: str
    """The place in the paper, as in "Section 5.1, noiseless setting"; or that it goes beyond."""
    about: str
    """What is run and how to read the picture, in Markdown."""
    plan: Callable[[Scope], list[Key]]
    """All cells, those first that others may make pointless."""
    measure: Callable[[Key, Scope], list[Record]]
    """Run one cell. It happens in another process, so this is a function of a module, and depends on the key alone;
    the scope only says where peers are."""
    table: Callable[[Sequence[Record]], list[Row]]
    """Sum up the records of all cells, in any order, in the rows of the figure's CSV."""
    draw: Callable[[Sequence[Row]], Mapping[str, Any]]
    """Return matplotlib figures by file name without ending."""
    claims: Callable[[Sequence[Row]], list[Claim]] = _nothing
    highlights: Callable[[Sequence[Row]], list[Row]] = lambda rows: list(rows)
    """The rows that its page shows as a table."""
    runs: str = ""
    """Name of the cells; studies that draw the same runs share it. The study's own unless given."""
    cost: Callable[[Key], float] = _alike
    """About how long a cell takes, in any unit: for the time left."""
    pointless: Callable[[Key, Sequence[Record]], bool] = _never
    """Whether the records so far show that a cell need not be run."""
    homes: Sequence[str] = field(default=())
    """Environments of the peers that take part, as `rfdag bench` names them."""

    @property
    def cells(self) -> str:
        """The name under which cells are kept."""
        return self.runs or self.name


def revision(*sources: Callable[..., Any] | ModuleType) -> str:
    """Return a digest of the functions and modules that make a study's numbers; it belongs into the keys of the cells.

    So a run that is taken up after they were edited does not mix old numbers with new ones.
    """
    text = "".join(inspect.getsource(source) for source in sources)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
