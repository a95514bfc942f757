"""Results whose files are damaged in one entry: what JSON can hold, and rfdag would never write."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import rfdag
from readers import SHORTEST
from rfdag.errors import RfdagError
from rfdag.simulate import draw_targets, interventions, linear_sem, random_dag, sample

ENTRIES = (
    None, 0, -1, 1, 2, 1e308, -0.5, 10**20, "", "a", "nan", "2", [], {}, [1], [[1]], True, False,
)  # fmt: skip
"""What entries are replaced by."""
FACTORS = (-1.0, 0.5, 2.0, 1e10, 1e-300)
"""What numbers are multiplied by."""
DEEPEST = 5
"""So deep lies what is changed, at most."""


def results() -> dict[str, rfdag.Result]:
    """Return a result of each kind of data that files hold otherwise."""
    generator = np.random.default_rng(3)

    def drawn(p: int, n: int) -> np.ndarray:
        return sample(linear_sem(random_dag(p, degree=2, rng=generator), generator), n, generator)

    rows = drawn(5, 60)
    holed = rows.copy()
    holed[::9, 1] = np.nan
    model = linear_sem(random_dag(5, degree=2, rng=generator), generator)
    disturbed = interventions(model, 40, draw_targets(5, 2, 1, generator), 40, rng=generator)
    return {
        "numbers": rfdag.learn(rows),
        "categories": rfdag.learn(np.column_stack([rows[:, :3], rows[:, 3:] > 0]), categorical=[3, 4]),
        "missing values": rfdag.learn(holed),
        "environments": rfdag.learn(disturbed.values, environments=list(disturbed.labels), targets="unknown"),
        "rule": rfdag.learn(rows, "rfd"),
        "few rows": rfdag.learn(drawn(20, 10)),
        "knowledge": rfdag.learn(rows, knowledge=rfdag.Knowledge(tiers=[[0, 1], [2, 3, 4]])),
        "curves": rfdag.learn(rows, basis="auto"),
        "DAG": rfdag.learn(np.triu(np.ones((4, 4)), 1), input="dag"),
        "a level without rows": _with_an_unused_level(rows),
        "powers that determine one another": rfdag.learn(
            np.column_stack([rows, rows[:, 0] ** 2, rows[:, 1] ** 3]), basis=3
        ),
        "names that are tuples and dates": rfdag.learn(
            pandas.DataFrame(rows, columns=[("a", 1), ("a", 2), "b", date(2024, 1, 1), date(2024, 1, 2)]),
            drop=[("a", 1), date(2024, 1, 1)],
        ),
    }


def _with_an_unused_level(rows: np.ndarray) -> rfdag.Result:
    """Return a result whose only rows of a level are left out, since another value is missing there."""
    frame = pandas.DataFrame(rows, columns=list("abcde"))
    frame["kind"] = ["w", *["x", "y", "z"] * 19, "x", "y"]
    frame.loc[0, "b"] = np.nan
    return rfdag.learn(frame, missing="drop")


def contents(folder: Path) -> dict[str, Any]:
    """Return what the files of these results hold."""
    found = {}
    for name, result in results().items():
        result.save(folder / "whole.json")
        found[name] = json.loads((folder / "whole.json").read_text(encoding="utf-8"))
    return found


def damaged(content: Any, generator: np.random.Generator) -> Any:
    """Return a content one entry of which is gone, repeated, multiplied, moved or replaced."""
    found = copy.deepcopy(content)
    deepest = int(generator.integers(1, DEEPEST + 1))
    paths = [path for path in _paths(found) if 0 < len(path) <= deepest]
    *above, last = paths[int(generator.integers(len(paths)))]
    holder = found
    for key in above:
        holder = holder[key]
    entry, kind = holder[last], int(generator.integers(5))
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(entry, list) and entry:
        at = int(generator.integers(len(entry)))
        entry[at:at] = [copy.deepcopy(entry[at])] * int(generator.integers(2))
    elif kind == 2 and type(entry) in (int, float):
        holder[last] = min(entry * float(generator.choice(FACTORS)), 1e308)
    elif kind == 3 and isinstance(holder, list):
        other = int(generator.integers(len(holder)))
        holder[last], holder[other] = holder[other], entry
    else:
        holder[last] = ENTRIES[int(generator.integers(len(ENTRIES)))]
    return found


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield from _paths(tree[key], (*path, key))


def used(result: rfdag.Result, folder: Path) -> None:
    """Ask a result for everything that files of it have to answer; what it does not know it may refuse."""
    first, last = result.names[0], result.names[-1]
    questions: tuple[Callable[[], Any], ...] = (
        lambda: str(result), result._repr_html_, lambda: result.edges, lambda: result.cpdag, lambda: result.icpdag,
        lambda: str(result.model()), lambda: result.effect(first, last), lambda: result.effect_range(first, last),
        lambda: result.close_calls, lambda: [result.invariance(label) for label in result.targets],
        lambda: result.save(folder / "again.json"), lambda: result.report(folder / "report.html"),
        result.to_dot, result.to_graphml, result.to_dagitty, result.to_tetrad, result.to_r,
        lambda: result.model().sample(3, rng=1), lambda: result.model().do({first: 0}).mean(),
    )  # fmt: skip
    refusals = []
    for ask in questions:
        try:
            ask()
        except RfdagError as problem:
            refusals.append(str(problem))
    assert all(len(words) > SHORTEST for words in refusals)
