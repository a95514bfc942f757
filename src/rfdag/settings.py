"""The options of a run, checked once and kept with its result."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from rfdag.eliminate.rules import find_rule
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import OptionError

SEARCHES = ("soft", "sp")
"""Rules that search over whole orders rather than choose one removal after the other."""

PAIRS = ("all", "neighbours")
PARENTS = ("auto", "bic", "threshold")


@dataclass(frozen=True)
class Settings:
    """Every option that can change the answer; `rfdag.learn` says what each means."""

    rule: str = "soft"
    beam: int | Literal["auto"] = "auto"
    depth: int = 1
    alpha: float = 1e-3
    pairs: Literal["all", "neighbours"] = "all"
    tolerance: float = 1e-8
    max_paths: int = 1000
    parents: Literal["auto", "bic", "threshold"] = "auto"
    refine: bool | Literal["auto"] = "auto"
    penalty: float = 2.0
    restarts: int = 0
    time_limit: float | None = None
    random_state: int | None = None

    @classmethod
    def checked(cls, **options: Any) -> Self:
        """Return settings with NumPy numbers turned into Python's, which files can hold."""
        return cls(
            **{name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
        )

    def __post_init__(self) -> None:
        if self.rule not in SEARCHES:
            find_rule(self.rule)
        FisherZ(n_samples=1, alpha=self.alpha)
        Tolerance(self.tolerance)
        _require_whole("depth", self.depth)
        _require_whole("max_paths", self.max_paths)
        if self.depth > 1 and self.rule not in ("rfd", "soft"):
            raise OptionError(
                f"Only rule 'rfd' looks ahead; with rule={self.rule!r} leave depth at 1, not {self.depth}."
            )
        self._check_search()
        if self.random_state is not None:
            _require_whole("random_state", self.random_state, least=0)
        if self.pairs not in PAIRS:
            raise OptionError(f"pairs is 'all' or 'neighbours', not {self.pairs!r}.")

    def _check_search(self) -> None:
        if self.beam != "auto":
            _require_whole("beam", self.beam)
            if self.rule != "soft":
                raise OptionError(f"A beam belongs to rule 'soft'; with rule={self.rule!r} leave beam at 'auto'.")
        if self.parents not in PARENTS:
            raise OptionError(f"parents is 'auto', 'bic' or 'threshold', not {self.parents!r}.")
        if self.refine not in (True, False, "auto"):
            raise OptionError(f"refine is True, False or 'auto', not {self.refine!r}.")
        if self.refined and self.parents == "threshold":
            raise OptionError(
                "An order is refined by the BIC of its parents; with parents='threshold' pass refine=False."
            )
        if not (isinstance(self.penalty, Real) and 0 <= self.penalty <= 1e6):
            raise OptionError(
                f"penalty is the price of an edge in units of ln n, between 0 and a million, not {self.penalty!r}."
            )
        _require_whole("restarts", self.restarts, least=0)
        if self.restarts and not self.refined:
            raise OptionError("restarts repeat a refinement; pass refine=True with them, or leave them at 0.")
        if self.time_limit is not None:
            if not (isinstance(self.time_limit, Real) and 0 < self.time_limit < math.inf):
                raise OptionError(f"time_limit is a number of seconds above 0, or None, not {self.time_limit!r}.")
            if self.rule != "soft" and not self.refined:
                raise OptionError(
                    f"rule={self.rule!r} without refine=True always runs to its end; leave time_limit out."
                )

    @property
    def refined(self) -> bool:
        """Whether the order is polished: by default that of rule "soft" only."""
        return self.rule == "soft" if self.refine == "auto" else bool(self.refine)

    @property
    def by_bic(self) -> bool:
        """Whether parents are chosen by BIC: by default where the order was, or was refined, by it."""
        return self.rule in SEARCHES or self.refined if self.parents == "auto" else self.parents == "bic"

    def generator(self) -> np.random.Generator | None:
        """Return the generator that breaks ties, or None to break them by lowest index."""
        return None if self.random_state is None else np.random.default_rng(self.random_state)

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def _require_whole(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name} is a whole number of at least {least}, not {value!r}.")
