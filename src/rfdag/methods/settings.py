"""The options of a run, checked once and kept with its result."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, Self, TypeGuard

import numpy as np

from rfdag.eliminate.rules import find_rule
from rfdag.eliminate.thresholds import FisherZ, Tolerance
from rfdag.errors import DataError, OptionError
from rfdag.runtime.device import DEVICES

SEARCHES = ("soft", "gsp", "sp")
"""Rules that search over whole orders rather than choose one removal after the other."""

BY_BIC = ("soft", "sp")
"""Those of them that judge an order by its BIC."""

INITIAL = ("rfd", "min-degree")
RESCORING = ("auto", "exact", "lazy")

ENOUGH_ROWS = 1.25
"""Rows per column from which the sample's own partial correlations serve an elimination best."""

GAMMA_OF_FEW_ROWS = 0.25
"""γ of the extended BIC below that, where the plain one takes in too many of so many candidates."""

FEWEST_ROWS = 3
"""Rows below which not even one parent can be judged by the BIC."""

PAIRS = ("all", "neighbours")
PARENTS = ("auto", "bic", "threshold")
PRECISIONS = ("auto", "dense", "blocks")


@dataclass(frozen=True)
class Settings:
    """Every option that can change the answer; `rfdag.learn` says what each means."""

    rule: str = "soft"
    beam: int | Literal["auto"] = "auto"
    rescoring: Literal["auto", "exact", "lazy"] = "auto"
    depth: int | None = None
    initial: Literal["rfd", "min-degree"] = "rfd"
    runs: int = 1
    alpha: float = 1e-3
    pairs: Literal["all", "neighbours"] = "all"
    tolerance: float = 1e-8
    max_paths: int = 1000
    precision: Literal["auto", "dense", "blocks"] = "auto"
    parents: Literal["auto", "bic", "threshold"] = "auto"
    refine: bool | Literal["auto"] = "auto"
    penalty: float | tuple[float, ...] = 2.0
    gamma: float | Literal["auto"] = "auto"
    restarts: int | Literal["auto"] = "auto"
    time_limit: float | None = None
    random_state: int | None = None
    device: Literal["cpu", "cuda"] = "cpu"

    @classmethod
    def checked(cls, **options: Any) -> Self:
        """Return settings with NumPy numbers turned into Python's, which files can hold."""

        def plain(value: Any) -> Any:
            if isinstance(value, np.generic):
                return value.item()
            if isinstance(value, list | tuple | np.ndarray):
                return tuple(plain(entry) for entry in value)
            return value

        return cls(**{name: plain(value) for name, value in options.items()})

    def __post_init__(self) -> None:
        if self.rule not in SEARCHES:
            find_rule(self.rule)
        FisherZ(n_samples=1, alpha=self.alpha)
        Tolerance(self.tolerance)
        _require_whole("max_paths", self.max_paths)
        if self.depth is not None:
            _require_whole("depth", self.depth)
            if self.depth > 1 and self.rule not in ("rfd", "soft", "gsp"):
                raise OptionError(
                    f"Only rules 'rfd' and 'gsp' look ahead; with rule={self.rule!r} leave depth out, not {self.depth}."
                )
        self._check_gsp()
        self._check_search()
        self._check_refinement()
        if self.random_state is not None:
            _require_whole("random_state", self.random_state, least=0)
        if self.pairs not in PAIRS:
            raise OptionError(f"pairs is 'all' or 'neighbours', not {self.pairs!r}.")
        if self.precision not in PRECISIONS:
            raise OptionError(f"precision is 'auto', 'dense' or 'blocks', not {self.precision!r}.")
        if self.device not in DEVICES:
            raise OptionError(f"device is 'cpu' or 'cuda', not {self.device!r}.")
        if self.device == "cuda" and self.precision == "blocks":
            raise OptionError("Blocks are learnt on the CPU; with precision='blocks' leave device='cuda' out.")

    def _check_search(self) -> None:
        if self.beam != "auto":
            _require_whole("beam", self.beam)
            if self.rule != "soft":
                raise OptionError(f"A beam belongs to rule 'soft'; with rule={self.rule!r} leave beam at 'auto'.")
        if self.rescoring not in RESCORING:
            raise OptionError(f"rescoring is 'auto', 'exact' or 'lazy', not {self.rescoring!r}.")
        if self.parents not in PARENTS:
            raise OptionError(f"parents is 'auto', 'bic' or 'threshold', not {self.parents!r}.")
        if self.refine not in (True, False, "auto"):
            raise OptionError(f"refine is True, False or 'auto', not {self.refine!r}.")
        if self.refined and self.parents == "threshold":
            raise OptionError(
                "An order is refined by the BIC of its parents; with parents='threshold' pass refine=False."
            )
        if self.time_limit is not None:
            if not (isinstance(self.time_limit, Real) and 0 < self.time_limit < math.inf):
                raise OptionError(f"time_limit is a number of seconds above 0, or None, not {self.time_limit!r}.")
            if self.rule not in ("soft", "gsp") and not self.refined:
                raise OptionError(
                    f"rule={self.rule!r} without refine=True always runs to its end; leave time_limit out."
                )

    def _check_refinement(self) -> None:
        if isinstance(self.penalty, tuple) and (not self.penalty or len(set(self.penalty)) < len(self.penalty)):
            raise OptionError(f"A path of penalties has different ones, at least one, not {self.penalty!r}.")
        for penalty in self.penalty if isinstance(self.penalty, tuple) else (self.penalty,):
            if not _is_number(penalty) or not 0 <= penalty <= 1e6:
                raise OptionError(
                    f"penalty is the price of an edge in units of ln n, between 0 and a million, not {penalty!r}."
                )
        if self.gamma != "auto" and not (_is_number(self.gamma) and 0 <= self.gamma <= 1e6):
            raise OptionError(
                f"gamma is that of the extended BIC, 0 or more (1 is large), not {self.gamma!r}; 0 is the plain BIC."
            )
        if isinstance(self.penalty, tuple) and not self.by_bic:
            raise OptionError("A path of penalties is one of BICs; pass parents='bic', or a single penalty.")
        if self.restarts != "auto":
            _require_whole("restarts", self.restarts, least=0)
            if self.restarts and not self.refined:
                raise OptionError("restarts repeat a refinement; pass refine=True with them, or leave them out.")

    def _check_gsp(self) -> None:
        if self.initial not in INITIAL:
            raise OptionError(f"initial is 'rfd' or 'min-degree', not {self.initial!r}.")
        _require_whole("runs", self.runs)
        if self.rule != "gsp" and (self.initial, self.runs) != ("rfd", 1):
            raise OptionError(f"initial and runs belong to rule 'gsp'; with rule={self.rule!r} leave them out.")

    @property
    def refined(self) -> bool:
        """Whether the order is polished: by default that of rule "soft" only."""
        return self.rule == "soft" if self.refine == "auto" else bool(self.refine)

    @property
    def by_bic(self) -> bool:
        """Whether parents are chosen by BIC: by default where the order was, or was refined, by it."""
        return self.rule in BY_BIC or self.refined if self.parents == "auto" else self.parents == "bic"

    @property
    def penalties(self) -> tuple[float, ...]:
        """The penalties to try, ascending."""
        return tuple(sorted(self.penalty)) if isinstance(self.penalty, tuple) else (self.penalty,)

    @property
    def searched(self) -> int:
        """Which of the penalties the search itself uses: the middle one."""
        return len(self.penalties) // 2

    @property
    def any_rows(self) -> bool:
        """Whether these settings get by with fewer rows than columns: those that judge an order by its BIC alone."""
        return self.rule in BY_BIC and self.by_bic

    def few(self, rows: int, columns: int) -> bool:
        """Return whether rows are too few for the sample's own partial correlations, and yet enough for a BIC."""
        return self.any_rows and (rows < ENOUGH_ROWS * columns or rows <= columns + 1)

    def extension(self, rows: int, columns: int) -> float:
        """Return γ of the BIC that a search begins with."""
        if self.gamma == "auto":
            return GAMMA_OF_FEW_ROWS if self.few(rows, columns) else 0.0
        return self.gamma

    def require_rows(self, rows: int, columns: int) -> None:
        """Raise unless there are rows enough for what these settings test."""
        if self.any_rows:
            if rows < FEWEST_ROWS:
                raise DataError(
                    f"Found {rows} rows and {columns} columns (n_samples={rows}); a BIC needs at least {FEWEST_ROWS} "
                    "rows, and far more to mean anything."
                )
        else:
            FisherZ(rows, self.alpha).require(columns)

    def generator(self) -> np.random.Generator | None:
        """Return the generator that breaks ties, or None to break them by lowest index."""
        return None if self.random_state is None else np.random.default_rng(self.random_state)

    def by_counts(self) -> dict[str, Any]:
        """Return the options of an elimination by hard counts, as `eliminate` takes them; "soft" means "rfd" there."""
        return {
            "rule": "rfd" if self.rule == "soft" else self.rule,
            "depth": self.depth or 1,
            "max_paths": self.max_paths,
            "generator": self.generator(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(float(value))


def _require_whole(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name} is a whole number of at least {least}, not {value!r}.")
