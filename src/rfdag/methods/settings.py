"""All that a run was asked for, and that can change its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from rfdag.errors import OptionError, keyword, listed
from rfdag.evidence.environments import without_environments
from rfdag.evidence.evidence import Evidence
from rfdag.input.description import MATRICES, Description
from rfdag.methods.catalogue import METHODS, class_of, method_named, method_names
from rfdag.methods.method import Method
from rfdag.methods.rfd import Rfd
from rfdag.methods.soft import Soft
from rfdag.methods.tested import refuse_beside_test
from rfdag.options import Options, option, options
from rfdag.precision.estimation import Estimation
from rfdag.wording import with_nearest


@options
class Running(Options):
    """What a run may use: time, chance, a device."""

    time_limit: float | None = option(
        default=None,
        meaning=(
            "Seconds within which a run returns: at the end of its search, or with the best order that it has found "
            "by then and a warning. If it has none yet, an error names a limit that is enough. Compiling kernels does "
            "not count. What cannot be interrupted, such as one call of your own test or estimator, may take longer."
        ),
        above=0,
    )
    search_for: float | None = option(
        default=None,
        meaning=(
            "Seconds for which a search goes on at least: after its own restarts, refinement is repeated from the best "
            "order until then. For methods that refine, on data."
        ),
        above=0,
    )
    random_state: int | None = option(
        default=None,
        meaning=(
            'Seed of everything random: ties of method "rfd" and the baselines, the order in which refinement '
            "tries variables, and its restarts. With None, ties go to the leftmost column, which is removed "
            "first and so comes later in the order, and the rest uses seed 0."
        ),
        least=0,
        flag="seed",
    )
    device: Literal["cpu", "cuda"] = option(
        default="cpu",
        meaning=(
            '"cuda" computes moments, scores and eliminations on a GPU through CuPy (the extra ``cuda``), in '
            "double precision like the CPU; refinement and graphs stay on the CPU. Orders are the CPU's, ties "
            "aside. A missing device or too little memory on it is reported before the work starts."
        ),
    )


@dataclass(frozen=True)
class Settings:
    """All that a run was asked for, and that can change its answer.

    Attributes
    ----------
    method
        The method with its options.
    description
        What the input is, and how it is written.
    estimation
        How partial correlations are estimated.
    running
        Time, seed and device.
    """

    method: Method = field(default_factory=Soft)
    description: Description = field(default_factory=Description)
    estimation: Estimation = field(default_factory=Estimation)
    running: Running = field(default_factory=Running)

    def __post_init__(self) -> None:
        refuse_beside_test(self.method, self.description, self.estimation, self.running.device)
        self._check_search_for()
        if self.running.device == "cuda" and self.estimation.blocks is True:
            raise OptionError(
                f"Blocks are learnt on the CPU; with {keyword('blocks', True)} leave {keyword('device', 'cuda')} out."
            )
        if self.running.device == "cuda" and self.estimation.by_columns and self.method.by_columns:
            raise OptionError(
                f"Columns of {keyword('precision', self.estimation.precision)} are estimated on the CPU; leave "
                f"{keyword('device', 'cuda')} out."
            )
        if self.description.by_environment and self.estimation.test is not None:
            raise OptionError(
                f"{keyword('test')} decides in rows of one environment; leave it out, or {without_environments()}."
            )
        if self.description.by_environment and self.running.device == "cuda":
            raise OptionError(f"Several environments are compared on the CPU; leave {keyword('device', 'cuda')} out.")
        if self.estimation.by_ranks and self.description.input != "data":
            raise OptionError(
                f"{keyword('correlation', self.estimation.correlation)} ranks rows, and "
                f"{keyword('input', self.description.input)} has none. Pass data, one row per sample, or leave it out."
            )
        if self.estimation.basis != 1 and (self.description.input != "data" or self.estimation.test is not None):
            name = "input" if self.estimation.test is None else "test"
            raise OptionError(
                f"{keyword('basis', self.estimation.basis)} takes powers of the numbers in rows, for which "
                f"{keyword(name)} has no use here. Leave one of the two out."
            )
        if self.estimation.blocks is True and self.description.input != "data":
            raise OptionError(
                f"Blocks are found in data; with {keyword('input', self.description.input)} leave "
                f"{keyword('blocks', True)} out."
            )

    def _check_search_for(self) -> None:
        """Raise where a search cannot go on for as long as the user asks."""
        seconds, limit = self.running.search_for, self.running.time_limit
        if seconds is None:
            return
        if not self.method.refining or self.estimation.test is not None:
            refinable = "refine" in self.method.declared() and self.estimation.test is None
            cure = f"pass {keyword('refine', True)} with it" if refinable else f"use {keyword('method', 'soft')}"
            raise OptionError(
                f"{keyword('search_for')} repeats a refinement, and method {self.method.name!r} has none here: {cure}, "
                "or leave it out."
            )
        if getattr(self.method, "restarts", "auto") != "auto":
            raise OptionError(
                f"{keyword('restarts', getattr(self.method, 'restarts', 0))} is how often refinement is repeated, and "
                f"{keyword('search_for', seconds)} for how long: leave one of them out."
            )
        if limit is not None and seconds > limit:
            raise OptionError(
                f"{keyword('search_for', seconds)} is longer than {keyword('time_limit', limit)} allows: lower the "
                "first, or raise the second."
            )

    @classmethod
    def gathered(
        cls,
        method: str | Method | None,
        *,
        description: Description | None = None,
        estimation: Estimation | None = None,
        running: Running | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the settings of objects and of flat options, each of which goes where it is declared."""
        flat = dict(options or {})
        shares = {}
        for share, given in (("description", description), ("estimation", estimation)):
            kind: type[Options] = {"description": Description, "estimation": Estimation}[share]
            own = {name: flat.pop(name) for name in list(flat) if name in kind.declared()}
            if given is not None and not isinstance(given, kind):
                raise OptionError(f"{keyword(share)} is an rfdag.{kind.__name__}, not {given!r}.")
            if own and given is not None:
                raise OptionError(f"Found {listed(own)} beside {keyword(share)}; put them into that object.")
            shares[share] = kind(**own) if given is None else given
        if method is None:
            method = usual_method(shares["estimation"])  # type: ignore[arg-type]
        return cls(method=_with_options(method, flat), running=running or Running(), **shares)  # type: ignore[arg-type]

    def about(self, evidence: Evidence) -> Self:
        """Return the same settings with the description that evidence has of itself, where the user gave it ready."""
        description = self.description
        kind: Any = evidence.kind
        if description.input != kind:
            rows = evidence.n_samples if kind in MATRICES else None
            description = replace(description, input=kind, n_samples=rows)
        if description.input == "precision" and evidence.exact:
            description = replace(description, tolerance=evidence.tolerance)
        estimation = self.estimation
        if evidence.correlated not in ("pearson", estimation.correlation):
            estimation = replace(estimation, correlation=evidence.correlated)  # type: ignore[arg-type]
        if (description, estimation) == (self.description, self.estimation):
            return self
        return replace(self, description=description, estimation=estimation)

    def parts(self) -> dict[str, Options]:
        """Return the classes of options that make up the settings, by name."""
        return {
            "method": self.method,
            "description": self.description,
            "estimation": self.estimation,
            "running": self.running,
        }

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, as `rfdag.learn` takes them."""
        usual = self.method.name == usual_method(self.estimation)
        flat: dict[str, Any] = {} if usual else {"method": self.method.name}
        for part in self.parts().values():
            flat |= part.given()
        flat.pop("rule", None)
        return flat

    def to_dict(self) -> dict[str, Any]:
        """Return all options, by the part they belong to."""
        content = {name: part.to_dict() for name, part in self.parts().items()}
        content["method"] = {"name": self.method.name} | content["method"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the settings that `to_dict` returned, perhaps by way of JSON."""
        method = {name: value for name, value in content["method"].items() if name not in ("name", "rule")}
        return cls(
            method=method_named(content["method"]["name"], method),
            description=Description.from_dict(content["description"]),
            estimation=Estimation.from_dict(content["estimation"]),
            running=Running.from_dict(content["running"]),
        )


def usual_method(estimation: Estimation) -> str:
    """Return the name of the method that is used unless the user names one: "rfd" where tests decide.

    >>> usual_method(Estimation())
    'soft'
    """
    return Soft.name if estimation.test is None else Rfd.name


def _with_options(method: str | Method, flat: Mapping[str, Any]) -> Method:
    """Return a method with flat options; refuse those it does not have, and say which methods do."""
    if isinstance(method, Method):
        if flat:
            raise OptionError(
                f"Found {listed(flat)} beside a method object; put them into it, as in {type(method).__name__}"
                f"({next(iter(flat))}=…)."
            )
        return method
    known = class_of(method).declared()
    for name in flat:
        if name in known and name != "rule":
            continue
        holders = [repr(other) for other in method_names() if name in class_of(other).declared()]
        if name == "rule":
            raise OptionError(f"There is no option rule; choose a method, as in {keyword('method', 'rfd')}.")
        if holders:
            raise OptionError(
                f"Method {method!r} has no option {keyword(name)}; {_methods(holders)} it. Leave it out, or choose "
                "another method."
            )
        kinds: tuple[type[Options], ...] = (*METHODS.values(), Description, Estimation, Running)
        every = {other for kind in kinds for other in kind.declared()}
        raise OptionError(f"There is no option {with_nearest([name], every)}.")
    return method_named(method, flat)


def _methods(names: Sequence[str]) -> str:
    """Return the names of methods, as the subject of a sentence.

    >>> _methods(["'rfd'"]), _methods(["'rfd'", "'gsp'", "'sp'"])
    ("method 'rfd' has", "methods 'rfd', 'gsp' and 'sp' have")
    """
    if len(names) == 1:
        return f"method {names[0]} has"
    return f"methods {', '.join(names[:-1])} and {names[-1]} have"
