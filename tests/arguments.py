"""Arguments for everything public: values that each parameter takes, and hostile ones.

A call begins with values that are taken; then some of them are replaced. See test_hostile_arguments.py and
benchmarks/soak_arguments.py.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
from hypothesis import strategies as st
from scipy import sparse

import rfdag
from rfdag import datasets, effects, errors, exchange, graphs, metrics, simulate
from rfdag.bootstrapping.resampling import Sampling
from rfdag.exchange import NamedGraph
from rfdag.methods.settings import Running
from rfdag.options import Declared, Options
from rfdag.result.mixed_model import MixedModel
from rfdag.result.model import LinearModel

NAMES = ("a", "b", "c d", "é")
DAG = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.int8)
OURS = (errors.DataWarning, errors.NumericalWarning, errors.LongRunWarning, errors.EquivalenceWarning)
SHORTEST = 20
"""Letters of an error that says something."""
LONG = {"restarts", "runs", "max_paths", "search_for", "time_limit", "n_jobs"}
"""Options with which more is asked for than a test can wait for: their numbers stay small."""


# Values that are taken


def rows() -> np.ndarray:
    """Return rows that follow the DAG."""
    generator = np.random.default_rng(7)
    values = generator.normal(size=(40, 4))
    for node in range(4):
        values[:, node] += values[:, :node] @ DAG[:node, node]
    return values.round(6)


@cache
def results() -> tuple[rfdag.Result, ...]:
    """Return results of every kind: of numbers, categories, environments, a DAG, tests, with knowledge."""
    values = rows()
    table = pandas.DataFrame(values, columns=list(NAMES)).assign(kind=["u", "v", "u", "w"] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            rfdag.learn(values, names=NAMES),
            rfdag.learn(values, "rfd", knowledge={"tiers": [[0], [1, 2, 3]]}),
            rfdag.learn(table),
            rfdag.learn(np.vstack([values, values + 1]), environments=[0] * 40 + [1] * 40, targets="unknown"),
            rfdag.learn(DAG, input="dag"),
            rfdag.learn(sparse.csr_array(DAG), input="dag"),
            rfdag.learn(values, test="fisher-z", names=NAMES),
            rfdag.learn(np.corrcoef(values.T), input="correlation", n_samples=40, names=NAMES),
        )


@cache
def boots() -> tuple[rfdag.Bootstrap, ...]:
    """Return a bootstrap."""
    return (rfdag.bootstrap(rows(), 3, names=NAMES, n_jobs=1, progress=False),)


@cache
def models() -> tuple[Any, ...]:
    """Return the model of each result that has one."""
    return tuple(results()[at].model() for at in (0, 2, 3))


def sem() -> simulate.LinearSEM:
    """Return a linear model."""
    return simulate.linear_sem(DAG, rng=1)


def _graphs() -> list[Any]:
    return [DAG, DAG.tolist(), graphs.cpdag(DAG), np.zeros((4, 4)), sparse.csr_array(DAG), np.zeros((1, 1)), DAG > 0]


def _named() -> list[Any]:
    return [NamedGraph(NAMES, DAG), NamedGraph(NAMES, graphs.cpdag(DAG)), NamedGraph((), np.zeros((0, 0)))]


def _write(name: str, content: str) -> Path:
    path = Path(name)
    path.write_text(content, encoding="utf-8")
    return path


BIF = """network n { }
variable r { type discrete [ 2 ] { no, yes }; }
probability ( r ) { table 0.8, 0.2; }"""

TAKEN: dict[str, Callable[[], list[Any]]] = {
    "graph": _graphs,
    "exchange.graph": _named,
    "exchange.from_csv.graph": lambda: ["dag", "cpdag"],
    "exchange.from_networkx.graph": lambda: [networkx.DiGraph([("a", "b")]), networkx.Graph([(0, 1)])],
    "exchange.from_pgmpy.graph": lambda: [networkx.DiGraph([("a", "b")])],
    "exchange.from_causallearn.graph": lambda: [exchange.to_causallearn(_named()[0])],
    "exchange.from_pcalg.matrix": lambda: [exchange.to_pcalg(_named()[0])],
    "exchange.from_dowhy.model": lambda: [networkx.DiGraph([("a", "b")])],
    "exchange.from_lingam.model": lambda: [exchange.to_lingam(_named()[0])],
    "exchange.NamedGraph.names": lambda: [NAMES],
    "exchange.NamedGraph.matrix": lambda: [DAG],
    "NamedGraph.of_edges.names": lambda: [NAMES],
    "NamedGraph.of_edges.directed": lambda: [[("a", "b")], []],
    "NamedGraph.of_edges.undirected": lambda: [[("b", "é")], []],
    "NamedGraph.arranged.names": lambda: [NAMES[::-1]],
    "exchange.to_lingam.coefficients": lambda: [None, DAG * 0.5],
    "exchange.to_lingam.order": lambda: [None, [0, 1, 2, 3]],
    "exchange.names": lambda: [None, list(NAMES)],
    "text": lambda: ["source,target,directed\na,b,true\n", "dag { a -> b }", '"","a","b"\n"a",0,1\n"b",0,0\n'],
    "marks": lambda: [exchange.to_endpoints(_named()[0])],
    "matrix": _graphs,
    "Moments.matrix": lambda: [np.corrcoef(rows().T), np.eye(4)],
    "dag": _graphs,
    "cpdag": _graphs,
    "effects.possible_parents.dag": lambda: [DAG],
    "effects.possible_parents.cpdag": lambda: [graphs.cpdag(DAG)],
    "candidate": _graphs,
    "first": _graphs,
    "second": _graphs,
    "true": _graphs,
    "found": _graphs,
    "target_scores.true": lambda: [{"drug": ["a"]}, {}],
    "target_scores.found": lambda: [{"drug": ["b"], "control": []}],
    "true_targets": lambda: [[[], [1]], {"drug": [0]}],
    "metrics.targets": lambda: [None, [[], [2]]],
    "nodes": lambda: [[0, 1], [3, 1, 0], np.array([2])],
    "node": lambda: [0, 3],
    "i": lambda: [0],
    "j": lambda: [3],
    "given": lambda: [(), [1], [2, 1]],
    "order": lambda: [[0, 1, 2, 3], np.array([3, 2, 1, 0])],
    "targets": lambda: [[[], [1]], [[0, 2]]],
    "hard": lambda: [True, False],
    "compare": lambda: ["classes", "graphs"],
    "strategy": lambda: ["ancestor", "parent", "oset"],
    "p": lambda: [1, 5],
    "density": lambda: [None, 0.5, 1.0],
    "degree": lambda: [None, 1.5, 0],
    "sparse": lambda: [True, False],
    "rng": lambda: [None, 3, np.random.default_rng(1), [1, 2]],
    "m": lambda: [1, 2],
    "sizes": lambda: [[2, 3], np.array([1])],
    "K": lambda: [2, 4],
    "environments": lambda: [3, 0],
    "size": lambda: [1, 2],
    "sem": lambda: [sem()],
    "n": lambda: [2, 10],
    "n_observational": lambda: [0, 5],
    "n_per_environment": lambda: [1, 5],
    "simulate.kind": lambda: ["hard", "soft", "shift"],
    "shift": lambda: [0.0, 2.0],
    "factors": lambda: [(0.5, 2.0)],
    "weights": lambda: [(0.25, 1.0)],
    "variances": lambda: [1.0, [1.0, 2.0, 3.0, 4.0]],
    "categorical": lambda: [0.5, [True, False, False, True]],
    "simulate.mixed.levels": lambda: [(2, 3)],
    "r2": lambda: [None, 0.5],
    "values": lambda: [rows()],
    "Model.values": lambda: [{"a": 1.0}, {}],
    "Model.amounts": lambda: [{"a": 1.0}, {}],
    "Model.name": lambda: ["kind"],
    "Model.given": lambda: [None, {"a": 0.5}],
    "Model.data": lambda: [rows()],
    "share": lambda: [0.1, 0.0],
    "bootstrap.share": lambda: [None, 0.5],
    "mechanism": lambda: ["random", "completely random"],
    "discrete_network.path": lambda: [_write("net.bif", BIF)],
    "raw": lambda: [True, False],
    "cause": lambda: [0, 1],
    "outcome": lambda: [2, 3],
    "Result.cause": lambda: ["a", 0],
    "Result.outcome": lambda: ["é", 3],
    "effects.effect.cause": lambda: ["a"],
    "effects.effect.outcome": lambda: ["é"],
    "effects.effect_range.cause": lambda: ["a"],
    "effects.effect_range.outcome": lambda: ["é"],
    "adjustment": lambda: ["optimal", "parents"],
    "adjustment_set.method": lambda: ["optimal", "parents"],
    "level": lambda: [0.95, 0.5],
    "result": lambda: list(results()),
    "Result.graph": lambda: ["dag", "cpdag", "icpdag"],
    "NamedGraph.of.graph": lambda: ["dag", "cpdag"],
    "limit": lambda: [20, 0],
    "moments": lambda: [None, True, False],
    "backend": lambda: ["pandas", "polars", "pyarrow"],
    "Result.label": lambda: ["0", "1"],
    "Result.dag": lambda: [DAG],
    "truth": lambda: [None, DAG],
    "bootstrap": lambda: [None],
    "data": lambda: [rows(), rows().tolist(), pandas.DataFrame(rows(), columns=list(NAMES))],
    "report.data": lambda: [None, rows()],
    "path": lambda: ["out.json", Path("out.json")],
    "load.path": lambda: [results()[0].save("kept.json")],
    "Bootstrap.load.path": lambda: [boots()[0].save("boots.json")],
    "Knowledge.read.path": lambda: [_write("known.json", '{"tiers": [["a"], ["b"]]}')],
    "plot.kind": lambda: ["auto", "graph", "matrix", "order"],
    "threshold": lambda: [0.5, 0.9],
    "plot.threshold": lambda: [None, 0.5],
    "names": lambda: [None, list(NAMES)],
    "Knowledge.names": lambda: [NAMES],
    "Oracle.names": lambda: [None, NAMES],
    "n_samples": lambda: [40],
    "tolerance": lambda: [1e-8],
    "source": lambda: [{"tiers": [["a"], ["b", "c d"]]}, {"required": [["a", "b"]], "roots": ["a"]}],
    "tiers": lambda: [(), [["a"], ["b"]]],
    "forbidden_within": lambda: [()],
    "required": lambda: [(), [("a", "b")]],
    "forbidden": lambda: [(), [("b", "a")]],
    "roots": lambda: [(), ["a"]],
    "leaves": lambda: [(), ["é"]],
    "knowledge": lambda: [None, {"tiers": [[0], [1, 2, 3]]}],
    "learn.method": lambda: [None, "soft", "rfd", "gsp", "sp", "min-degree", rfdag.Soft(beam=2)],
    "bootstrap.method": lambda: [None, "rfd"],
    "RFD.method": lambda: [None, "rfd", rfdag.Soft(beam=2)],
    "description": lambda: [None, rfdag.Description()],
    "estimation": lambda: [None, rfdag.Estimation()],
    "time_limit": lambda: [None, 5.0],
    "search_for": lambda: [None],
    "n_jobs": lambda: [1, None, 2],
    "random_state": lambda: [None, 3, np.random.default_rng(1)],
    "device": lambda: ["cpu"],
    "progress": lambda: [False],
    "bootstrap.runs": lambda: [2],
    "sampling": lambda: ["resample", "subsample"],
    "corrected": lambda: [True, False],
    "bootstrap.out": lambda: [None],
    "X": lambda: [rows(), pandas.DataFrame(rows(), columns=list(NAMES))],
    "y": lambda: [None],
    "sample_weight": lambda: [None, np.ones(40)],
    "fit.environments": lambda: [None, [0] * 20 + [1] * 20],
    "fit.targets": lambda: [None],
    "Oracle.kind": lambda: ["dag"],
    "Oracle.n_samples": lambda: [None],
    "plot.ax": lambda: [None],
    "plot.ranks": lambda: [None],
}
"""By the name of a parameter, or by that with the end of what stands before it: the longest that fits counts."""


# Hostile values


def hostile_values() -> list[Any]:
    """Return values that something is wrong with, for most parameters at least."""
    values = rows()
    gaps, infinite = values.copy(), values.copy()
    gaps[3, 1], infinite[2, 2] = np.nan, np.inf
    whole = [0, 1, -1, 2, 5, 2**31, 2**63, -(2**63), 10**30]
    numbers = [0.5, -0.5, 1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 1j, np.float32(2), np.int8(-1)]
    texts = ["", "a", "é", "nan", "\ud800", "\0", "a" * 3000, "../..", "~nobody", "*", "auto", "all", b"", b"\xff"]
    empty: list[Any] = [None, (), [], {}, set(), frozenset(), [[]], [[[]]], np.zeros(0), np.zeros((0, 0))]
    nested: list[Any] = [
        [None], ["a"], ["a", "a"], [1, "a"], [[1, 2], [3]], [[0, "x"], ["y", 0]], [[0, 1], [1, 0]], [[0, 2], [0, 0]],
        [(0, 1)], [("a", "b")], [("a", "a")], {"a": 1}, {"a": "b"}, {"a": [1]}, {0: [0]}, {"tiers": "a"}, {None: None},
        {"a": math.nan}, [math.nan], [[math.nan] * 4] * 4, [True, False], [0, 0], [0, 1, 2, 3], [99], [-1], [2**63],
        ["0"],
        [[1e308, -1e308]] * 3, range(3), slice(2), {1, 2}, {"a", "b"},
    ]  # fmt: skip
    arrays: list[Any] = [
        np.array(1.0), np.array("a"), np.zeros((3, 0)), np.zeros((0, 3)), np.ones((4, 4)), np.eye(4),
        np.zeros((2, 2, 2)),
        np.full((4, 4), np.nan), np.full((4, 4), np.inf), np.full((4, 4), 1e300), np.full((4, 4), 1j), DAG * 2,
        DAG.T + DAG,
        DAG.astype(object), DAG.astype(str), np.triu(np.ones((3, 3)), 1), np.array([["a", "b"]] * 2), np.arange(4),
        np.array([None] * 4), np.array(["2020-01-01"] * 4, "datetime64[D]"), np.zeros(4, [("x", "f8"), ("y", "f8")]),
        np.ma.masked_array(DAG, DAG == 1), values, values[:1], values[:3], values[:, :1], gaps, infinite, values * 0,
        values.astype(np.float16), values.astype(object), values.astype(str), values * 1e300, values.astype(complex),
        np.column_stack([values, values[:, 0]]), values[::-1, ::-1], np.asfortranarray(values), values > 0, -DAG,
        np.iinfo(np.int64).max * DAG.astype(np.int64), np.array([[2**63 - 1, 0], [0, 2**63 - 1]]),
    ]  # fmt: skip
    sparses: list[Any] = [
        sparse.csr_array(DAG), sparse.coo_array(DAG * 1.5), sparse.csr_array((0, 0)), sparse.csr_array((3, 4)),
        sparse.csr_array(DAG + DAG.T), sparse.csr_array(np.full((2, 2), np.nan)), sparse.csr_array(DAG * 1j),
        sparse.eye_array(3),
    ]  # fmt: skip
    frames: list[Any] = [
        pandas.DataFrame(), pandas.DataFrame(values, columns=["a", "a", "b", "c"]),
        pandas.DataFrame(DAG, columns=list(NAMES)),
        pandas.DataFrame({"a": ["x", "y"] * 9, "b": range(18)}), pandas.DataFrame({"a": [None] * 9, "b": range(9)}),
        pandas.Series([1.0, 2.0]), pandas.DataFrame({"a": pandas.date_range("2020", periods=9), "b": range(9)}),
        pandas.DataFrame({"a": [[1]] * 9, "b": [{}] * 9}), pandas.DataFrame({0: [1.0, 2.0, 4.0], "0": [3.0, 5.0, 1.0]}),
    ]  # fmt: skip
    others: list[Any] = [
        True, False, object(), int, len, lambda *given, **named: None, ..., NotImplemented, ValueError("x"),
        decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1), Path("nowhere.csv"), Path(),
        networkx.DiGraph([(0, 1)]), networkx.DiGraph([(0, 1), (1, 0), (1, 1)]), networkx.MultiGraph([(0, 1)]),
        np.random.RandomState(1), sem(), NamedGraph(("x",), np.zeros((1, 1))), rfdag.Soft(), rfdag.Description(), rfdag,
        memoryview(b"abcd"), bytearray(b"a"), iter([1, 2]), (number for number in (0, 1)),
    ]  # fmt: skip
    return [*whole, *numbers, *texts, *empty, *nested, *arrays, *sparses, *frames, *others]


def hostile() -> st.SearchStrategy[Any]:
    """Values that something is wrong with: those above, and any nesting of small ones."""
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.text(max_size=3), st.binary(max_size=2)
    )
    nested = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.tuples(inner, inner),
            st.dictionaries(st.text(max_size=2), inner, max_size=3),
        ),
        max_leaves=6,
    )
    # Made anew for each draw: iterators end, and nothing may depend on what another call has changed.
    picked = st.integers(0, len(hostile_values()) - 1).map(lambda at: hostile_values()[at])
    square = st.integers(1, 4).flatmap(
        lambda p: st.lists(
            st.lists(st.sampled_from([0, 1, 2, -1, 0.5, math.nan]), min_size=p, max_size=p), min_size=p, max_size=p
        )
    )
    return st.one_of(picked, picked, square, nested)


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
        NamedGraph: lambda: tuple(_named()),
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
