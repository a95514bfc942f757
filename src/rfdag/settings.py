"""The options of a run, checked once and kept with its result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np

from rfdag.eliminate.rules import find_rule
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import OptionError

PAIRS = ("all", "neighbours")


@dataclass(frozen=True)
class Settings:
    """Every option that can change the answer; `rfdag.learn` says what each means."""

    rule: str = "rfd"
    depth: int = 1
    alpha: float = 1e-3
    pairs: Literal["all", "neighbours"] = "all"
    tolerance: float = 1e-8
    max_paths: int = 1000
    random_state: int | None = None

    @classmethod
    def checked(cls, **options: Any) -> Self:
        """Return settings with NumPy numbers turned into Python's, which files can hold."""
        return cls(
            **{name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
        )

    def __post_init__(self) -> None:
        find_rule(self.rule)
        FisherZ(n_samples=1, alpha=self.alpha)
        Tolerance(self.tolerance)
        _require_whole("depth", self.depth)
        _require_whole("max_paths", self.max_paths)
        if self.depth > 1 and self.rule != "rfd":
            raise OptionError(
                f"Only rule 'rfd' looks ahead; with rule={self.rule!r} leave depth at 1, not {self.depth}."
            )
        if self.random_state is not None:
            _require_whole("random_state", self.random_state, least=0)
        if self.pairs not in PAIRS:
            raise OptionError(f"pairs is 'all' or 'neighbours', not {self.pairs!r}.")

    def generator(self) -> np.random.Generator | None:
        """Return the generator that breaks ties, or None to break them by lowest index."""
        return None if self.random_state is None else np.random.default_rng(self.random_state)

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def _require_whole(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name} is a whole number of at least {least}, not {value!r}.")
