"""Calls of everything public, with values that their parameters take and hostile ones.

A call begins with values that are taken; then some of them are replaced. See test_hostile_arguments.py and
benchmarks/soak_arguments.py.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

import rfdag
from hostile import hostile
from rfdag import datasets, effects, errors, exchange, graphs, metrics, simulate
from rfdag.bootstrapping.resampling import Sampling
from rfdag.exchange import NamedGraph
from rfdag.methods.settings import Running
from rfdag.options import Declared, Options
from rfdag.result.mixed_model import MixedModel
from rfdag.result.model import LinearModel
from taken import NAMES, TAKEN, boots, models, named_graphs, results, rows

OURS = (errors.DataWarning, errors.NumericalWarning, errors.LongRunWarning, errors.EquivalenceWarning)
SHORTEST = 20
"""Letters of an error that says something."""
LONG = {"restarts", "runs", "max_paths", "search_for", "time_limit", "n_jobs"}
"""Options with which more is asked for than a test can wait for: their numbers stay small."""


# Calls


@dataclass(frozen=True)
class Call:
    """Something public that can be called.

    Attributes
    ----------
    name
        Its name, with those of its module or class before it.
    function
        What is called.
    of
        Returns the objects whose method it is; none for functions.
    """

    name: str
    function: Callable[..., Any]
    of: Callable[[], tuple[Any, ...]] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.name

    def outcome(self, given: Mapping[str, Any]) -> str:
        """Make the call; see `outcome`."""
        return outcome(self.function, given, as_scikit_learn=self.name.startswith("RFD."))

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters, without the object of a method and free keywords."""
        known = inspect.signature(self.function).parameters.values()
        names = [each.name for each in known if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
        return [name for name in names if name != "self"]

    def taken(self, parameter: str) -> list[Any]:
        """Return values that a parameter takes."""
        words = f"{self.name}.{parameter}"
        fitting = [key for key in TAKEN if fits(key, words)]
        assert fitting, f"TAKEN says nothing of {words}"
        return TAKEN[max(fitting, key=lambda key: (key.count("."), len(key)))]()


def fits(key: str, words: str) -> bool:
    """Return whether all parts of a key occur in a name, in order, and the last of both agree."""
    rest = iter(words.split("."))
    parts = key.split(".")
    return words.split(".")[-1] == parts[-1] and all(any(part in each for each in rest) for part in parts[:-1])


MODULES = (graphs, metrics, simulate, exchange, datasets, effects)
RECORDS = {
    "Distance", "SkeletonScores", "TargetScores", "Environments", "MixedRows", "LingamGraph", "Effect", "EffectRange",
    "PossibleEffect", "DiscreteNetwork", "LinearSEM", "Column", "Edge", "Result", "Bootstrap", "Moments",
}  # fmt: skip
"""Records that functions return: nothing is checked where they are made by hand."""
INTERNAL = {
    "Result": {"of", "alike", "revealed_by_targets", "named_graph"},
    "Knowledge": {"constraints", "spelt_as", "among"},
    "RFD": {"get_metadata_routing", "set_fit_request", "get_params", "set_params"},
    "LinearModel": {"of", "require_density"},
    "MixedModel": {"of"},
    "NamedGraph": {"texts", "require_dag"},
}
"""Methods that other parts of rfdag, or scikit-learn, call."""


def calls() -> Iterator[Call]:
    """Yield everything public that takes arguments."""
    for module in MODULES:
        for name in module.__all__:
            if name not in RECORDS:
                yield Call(f"{module.__name__.removeprefix('rfdag.')}.{name}", getattr(module, name))
    for name in ("learn", "bootstrap", "load", "Oracle", "RFD"):
        yield Call(name, getattr(rfdag, name))
    yield Call("Knowledge", rfdag.Knowledge)
    for way in ("correlation", "covariance", "precision"):
        yield Call(f"Moments.from_{way}", getattr(rfdag.Moments, f"from_{way}"))
    yield Call("Bootstrap.load", rfdag.Bootstrap.load)
    yield Call("Knowledge.of", rfdag.Knowledge.of)
    yield Call("Knowledge.read", rfdag.Knowledge.read)
    yield Call("NamedGraph.of_edges", NamedGraph.of_edges)
    yield Call("NamedGraph.of", NamedGraph.of)
    holders: dict[type, Callable[[], tuple[Any, ...]]] = {
        rfdag.Result: results,
        rfdag.Bootstrap: boots,
        rfdag.Knowledge: lambda: (rfdag.Knowledge.of({"tiers": [["a"], ["b"]]}),),
        LinearModel: lambda: models()[:1],
        MixedModel: lambda: models()[1:2],
        NamedGraph: lambda: tuple(named_graphs()),
        rfdag.RFD: lambda: (rfdag.RFD().fit(rows()),),
    }
    for kind, of in holders.items():
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and name not in INTERNAL.get(kind.__name__, set()):
                yield Call(f"{kind.__name__}.{name}", member, of)


@st.composite
def arguments(draw: Any, call: Call) -> dict[str, Any]:
    """Arguments of a call, some of which are hostile."""
    found: dict[str, Any] = {}
    if call.of is not None:
        found["self"] = draw(st.sampled_from(range(len(call.of())))) if len(call.of()) > 1 else 0
        found["self"] = call.of()[found["self"]]
    names = call.parameters
    wrong = draw(st.sets(st.sampled_from(names), max_size=2)) if names else set()
    for name in names:
        if name in wrong:
            found[name] = draw(hostile())
        else:
            choices = call.taken(name)
            found[name] = choices[draw(st.integers(0, len(choices) - 1))]
    for name in LONG & set(found):
        found[name] = short(found[name])
    return found


def short(value: Any) -> Any:
    """Return a value without the large numbers that would only take long."""
    return 2 if isinstance(value, int | float) and not isinstance(value, bool) and 4 < value < math.inf else value


# Options of learn


def kinds_of_options() -> tuple[type[Options], ...]:
    """Return the classes that declare options of learn."""
    return (
        rfdag.Soft,
        rfdag.Rfd,
        rfdag.Gsp,
        rfdag.Sp,
        rfdag.Baseline,
        rfdag.Description,
        rfdag.Estimation,
        Running,
        Sampling,
    )


def admitted(declared: Declared) -> st.SearchStrategy[Any]:
    """Values that an option takes by its declaration."""
    found: list[st.SearchStrategy[Any]] = [st.just(declared.default)]
    if declared.words:
        found.append(st.sampled_from(declared.words))
    if bool in declared.kinds:
        found.append(st.booleans())
    least = declared.least if declared.least is not None else declared.above if declared.above is not None else 0
    most = declared.most if declared.most is not None else declared.below if declared.below is not None else least + 4
    if int in declared.kinds:
        found.append(st.integers(math.ceil(least), max(math.ceil(least), math.floor(most))))
    if float in declared.kinds:
        found.append(
            st.floats(
                least,
                most,
                exclude_min=declared.above is not None,
                exclude_max=declared.below is not None,
                allow_nan=False,
            )
        )
    if str in declared.kinds:
        found.append(st.sampled_from(["a", "fisher-z", "auto", "ledoit-wolf", "utf-8", ","]))
    if declared.listing:
        found.append(st.lists(st.sampled_from([*NAMES, 0, 1, "kind", "nothing"]), max_size=3))
    return st.one_of(found)


@st.composite
def options(draw: Any) -> dict[str, Any]:
    """One to four options of learn, most of them as they are declared."""
    every = {name: declared for kind in kinds_of_options()[:-1] for name, declared in kind.declared().items()}
    found = {}
    for name in draw(st.sets(st.sampled_from(sorted(every)), min_size=1, max_size=4)):
        value = draw(st.one_of(admitted(every[name]), admitted(every[name]), hostile()))
        found[name] = short(value) if name in LONG else value
    return found


# What is promised


def outcome(function: Callable[..., Any], given: Mapping[str, Any], *, as_scikit_learn: bool = False) -> str:
    """Return "returned" or "refused"; raise any other error than rfdag promises, and any warning but its own.

    What scikit-learn checks for an estimator is refused in its words.
    """
    allowed = (errors.RfdagError, ImportError, *((TypeError, ValueError) if as_scikit_learn else ()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ours in OURS:
            warnings.simplefilter("ignore", ours)
        if as_scikit_learn:
            warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")
        try:
            found = function(**given)
            if isinstance(found, Iterator):
                found = list(found)
        except allowed as error:
            refusal: Exception = error
        else:
            sound(found)
            return "returned"
    assert len(str(refusal)) >= SHORTEST, refusal
    assert not isinstance(refusal, ImportError) or "pip install" in str(refusal), refusal
    return "refused"


def sound(found: Any) -> None:
    """Check that a result holds an order of its variables, a DAG and a score that is a number."""
    if not isinstance(found, rfdag.Result):
        return
    assert sorted(map(str, found.order)) == sorted(map(str, found.names))
    assert graphs.find_cycle(found.dag) == []
    assert found.score is None or math.isfinite(found.score)
    assert len(str(found)) > 0
