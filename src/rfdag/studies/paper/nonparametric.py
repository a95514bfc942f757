"""Elimination by kernel tests on nonlinear data, beside PC with the same tests."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rfdag
from rfdag import metrics
from rfdag.eliminate import rules, search
from rfdag.eliminate.engines import independence as engine
from rfdag.errors import DataWarning, NumericalWarning
from rfdag.graphs.dag import Graph
from rfdag.independence import TESTS, Questions, answers, by_tests, first_graph, fisher_z, kernel_tests, questions
from rfdag.runtime.threads import one_blas_thread
from rfdag.studies.bench import additive
from rfdag.studies.bench.additive import CURVES, Floats
from rfdag.studies.bench.workloads import WORKLOADS
from rfdag.studies.paper.look import canvas, style
from rfdag.studies.paper.statistics import mean_band, rounded
from rfdag.studies.paper.study import Claim, Key, Record, Row, Scope, Study, revision
from rfdag.version import own_version

ALPHA = 0.01
SIZES = (10, 15)
QUICK = (10,)
ROWS = 500
KERNELS = {"KCI": "kci", "RCIT": "rcit"}
"""The kernel tests: as figures call them, and as the catalogue does."""
LINEAR = "Fisher z"
NAMED = {**KERNELS, LINEAR: "fisher-z"}
DEFAULT = "soft + refinement"
METHODS = (*(f"{method} + {test}" for test in NAMED for method in ("RFD", "PC")), DEFAULT)
SECONDS = {"PC + KCI": 40.0, "RFD + KCI": 12.0, "PC + RCIT": 9.0, "RFD + RCIT": 4.0}
"""About how long a cell takes at ten variables."""
MEASURES = ("f1", "tpr", "false", "tests", "seconds")


def plan(scope: Scope) -> list[Key]:
    """List the cells: one method on one data set, cheap ones first."""
    methods = [method for method in METHODS if _version() or method in (f"RFD + {LINEAR}", DEFAULT)]
    return [
        {"curve": curve, "p": p, "graph": graph, "method": method, "alpha": ALPHA, "n": ROWS, "seed": scope.seed}
        | dict(_made_by(method))
        for method in sorted(methods, key=lambda method: SECONDS.get(method, 0.0))
        for graph in range(scope.count(10, 2))
        for p in (QUICK if scope.quick else SIZES)
        for curve in CURVES
    ]


@functools.cache
def _made_by(method: str) -> Key:
    """Return what made a method's numbers: the sources of all it asks and does, or versions."""
    if method == DEFAULT:
        return {"version": own_version(), "revision": revision(measure, found_by_rfd, additive)}
    tests = (measure, additive, fisher_z, kernel_tests, questions)
    if method.startswith("PC"):
        return {"causal-learn": _version(), "revision": revision(found_by_pc, *tests)}
    steps = (engine, first_graph, answers, by_tests, rules, search)
    return {"causal-learn": _version(), "revision": revision(found_by_rfd, *tests, *steps)}


def _version() -> str:
    """Return the version of causal-learn in this environment; nothing where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("causal-learn")
    except PackageNotFoundError:
        return ""


def measure(key: Key, scope: Scope) -> list[Record]:
    """Draw a data set and let one method find a graph of it."""
    workload = WORKLOADS[f"{key['curve']}-p{key['p']}-n{key['n']}"]
    true, rows = workload.draw(key["seed"], key["graph"])
    assert true is not None
    method, _, test = key["method"].partition(" + ")
    find: Callable[..., tuple[Graph, int | None]] = found_by_pc if method == "PC" else found_by_rfd
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        warnings.simplefilter("ignore", DataWarning)
        # What a test imports is no part of its time.
        find(rows[:60, :3], NAMED.get(test), key["alpha"])
        began = time.perf_counter()
        graph, tests = find(rows, NAMED.get(test), key["alpha"])
        seconds = time.perf_counter() - began
    skeleton = metrics.skeleton(true, graph)
    false = int(np.triu(((graph + graph.T) != 0) & ((true + true.T) == 0)).sum())
    place = {name: key[name] for name in ("curve", "p", "graph", "method")}
    return [{**place, "f1": skeleton.f1, "tpr": skeleton.tpr, "false": false, "tests": tests, "seconds": seconds}]


def found_by_rfd(rows: Floats, test: str | None, alpha: float) -> tuple[Graph, int | None]:
    """Return the DAG of rfdag, and the number of its tests; without a test that of its default, by BIC."""
    options: dict[str, Any] = {} if test is None else {"test": test, "alpha": alpha}
    found = rfdag.learn(rows, n_jobs=1, progress=False, **options)
    return found.dag, sum(found.tests.values()) or None


def found_by_pc(rows: Floats, test: str, alpha: float) -> tuple[Graph, int | None]:
    """Return the graph of causal-learn's PC with the very same test, and the number of its tests."""
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.utils.cit import CIT_Base, register_ci_test

    asked = Questions(TESTS[test](rows, (), 0), range(rows.shape[1]), test)

    class Counted(CIT_Base):  # type: ignore[misc]
        def __init__(self, data: Any, **options: Any) -> None:
            super().__init__(data)
            self.check_cache_method_consistent("counted", "")

        def __call__(self, X: int, Y: int, condition_set: Sequence[int] | None = None) -> float:
            value = asked.p_value(X, Y, condition_set or ())
            assert value is not None
            return value

    register_ci_test("counted", Counted)
    found = pc(rows, alpha=alpha, indep_test="counted", stable=True, show_progress=False).G.graph
    return ((found != 0) | (found.T != 0)).astype(np.int8), asked.counts.total()


def table(records: Sequence[Record]) -> list[Row]:
    """Sum up the graphs of each setting and method."""
    rows: list[Row] = []
    for p in SIZES:
        for curve in CURVES:
            for method in METHODS:
                group = [each for each in records if (each["p"], each["curve"], each["method"]) == (p, curve, method)]
                if group:
                    rows.append({"curve": curve, "p": p, "method": method, "graphs": len(group), **_summed_up(group)})
    return rows


def _summed_up(records: Sequence[Record]) -> dict[str, float | None]:
    summed: dict[str, float | None] = {}
    for name in MEASURES:
        values = [record[name] for record in records if record[name] is not None]
        band = mean_band(values)
        ends = {name: band.mean, f"{name}_low": band.low, f"{name}_high": band.high}
        summed |= {key: rounded(value, 4) if values else None for key, value in ends.items()}
    return summed


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """Draw F1, number of tests and time of every method, a column of panels for each setting."""
    settings = list(dict.fromkeys((row["curve"], row["p"]) for row in rows))
    shown = {"f1": "skeleton F1", "tests": "tests", "seconds": "seconds"}
    figure, axes = canvas(len(shown), max(len(settings), 1), width=10.0, height=2.4, sharex=True, sharey="row")
    for column, setting in enumerate(settings):
        here = [row for row in rows if (row["curve"], row["p"]) == setting]
        axes[0][column].set_title(f"{setting[0]}, p = {setting[1]}")
        for line, (name, label) in enumerate(shown.items()):
            panel = axes[line][column]
            for place, row in enumerate(here):
                if row[name] is None:
                    continue
                color, marker, _ = style(row["method"])
                spread = [[row[name] - row[f"{name}_low"]], [row[f"{name}_high"] - row[name]]]
                panel.errorbar([place], [row[name]], spread, color=color, marker=marker, capsize=2, linestyle="none")
            panel.set_xticks(range(len(here)), [row["method"] for row in here], rotation=90)
            if name != "f1":
                panel.set_yscale("log")
            if column == 0:
                panel.set_ylabel(label)
    return {"nonparametric": figure}


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge the kernel tests against partial correlations, and against PC with the same test."""
    by_place = {(row["curve"], row["p"], row["method"]): row for row in rows}
    settings = list(dict.fromkeys((row["curve"], row["p"]) for row in rows))
    complete = [
        setting
        for setting in settings
        if all((*setting, f"{m} + {t}") in by_place for m in ("RFD", "PC") for t in NAMED)
    ]
    if not complete:
        return []

    def of(setting: tuple[str, int], method: str, name: str) -> float:
        return float(by_place[(*setting, method)][name])

    def better(setting: tuple[str, int]) -> str:
        return max(KERNELS, key=lambda test: of(setting, f"RFD + {test}", "f1"))

    above, beside, half, each_half = [], [], [], []
    numbers: dict[str, list[str]] = {"above": [], "beside": [], "half": [], "each": []}
    for setting in complete:
        test = better(setting)
        where = f"{setting[0]}, p = {setting[1]}"
        own, linear, peer = (
            of(setting, method, "f1") for method in (f"RFD + {test}", f"RFD + {LINEAR}", f"PC + {test}")
        )
        above.append(own > linear)
        beside.append(own >= peer)
        numbers["above"].append(f"{where}: {own:.3f} ({test}) against {linear:.3f}")
        numbers["beside"].append(f"{where}: {own:.3f} against {peer:.3f} ({test})")
        shares = {
            each: of(setting, f"RFD + {each}", "tests") / of(setting, f"PC + {each}", "tests") for each in KERNELS
        }
        half.append(shares[test] <= 0.5)
        each_half.append(max(shares.values()) <= 0.5)
        counts = of(setting, f"RFD + {test}", "tests"), of(setting, f"PC + {test}", "tests")
        numbers["half"].append(f"{where}: {counts[0]:.0f} of {counts[1]:.0f} ({test})")
        numbers["each"].append(f"{where}: " + ", ".join(f"{share:.2f} ({each})" for each, share in shares.items()))
    said = "beyond the paper: on nonlinear data, RFD given blankets with the better of KCI and RCIT "
    return [
        Claim(f"{said}has a higher F1 than with partial correlations", all(above), "; ".join(numbers["above"])),
        Claim(f"{said}has at least the F1 of PC with the same test", all(beside), "; ".join(numbers["beside"])),
        Claim(f"{said}needs at most half of PC's tests", all(half), "; ".join(numbers["half"])),
        Claim(
            "beyond the paper: with either kernel test, RFD needs at most half of PC's tests",
            all(each_half),
            "; ".join(numbers["each"]),
        ),
    ]


def highlights(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without their bands."""
    return [{name: value for name, value in row.items() if not name.endswith(("_low", "_high"))} for row in rows]


def cost(key: Key) -> float:
    """Return about how many seconds a cell takes."""
    return SECONDS.get(key["method"], 0.5) * (key["p"] / 10) ** 2


ABOUT = (
    f"Skeleton F1, number of tests and time on additive models with nonlinear effects: n = {ROWS}, random DAGs of "
    "three neighbours a node, each variable a sum of curves of its parents (sigmoids or parabolas with random "
    "vertices, unit variance times ±[.7, 1.5]) and Gaussian noise, standardised before its children are drawn; columns "
    "are shuffled. RFD conditions on blankets. PC is causal-learn's, stable, with the very same test functions; all "
    f"tests are at level {ALPHA}. A question that is asked again counts once. Bars are 95 % intervals over graphs; "
    "times are of one thread. The level and the way to the first graph were chosen on other seeds."
)

STUDIES = (
    Study(
        name="nonparametric",
        title="Kernel tests on nonlinear data",
        source="Beyond the paper: elimination by any test of conditional independence",
        about=ABOUT,
        plan=plan,
        measure=measure,
        table=table,
        draw=draw,
        claims=claims,
        highlights=highlights,
        cost=cost,
    ),
)
