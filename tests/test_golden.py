"""Results compared with frozen ones: a change that moves an answer has to say so, by freezing it again.

``python tests/test_golden.py`` writes ``golden.json``. Rounding on another machine must not decide, so the cases are
ordinary ones, with clear margins, which are checked.
"""

from __future__ import annotations

import functools
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from rfdag import simulate
from same_answer import UNDECIDED, margins

FROZEN = Path(__file__).with_name("golden.json")
LEAST_MARGIN = 10 * UNDECIDED
"""Least distance of a partial correlation from its threshold."""
LEAST_GAIN = 1e-3
"""Least points of BIC between an answer and the next best, and that an edge is worth."""
TIERS = {"tiers": [list(range(6)), list(range(6, 12))], "forbidden": [[0, 1]]}


def sem_of(p, seed, **size):
    generator = np.random.default_rng([7919, seed, p])
    return simulate.linear_sem(simulate.random_dag(p, rng=generator, **size), rng=generator)


def rows_of(p, n, seed, **size):
    return simulate.sample(sem_of(p, seed, **size), n, rng=np.random.default_rng([104729, seed, p]))


SPARSE = {"p": 12, "n": 500, "seed": 1, "degree": 3}
CASES = {
    "soft": (SPARSE, "soft", {}),
    "soft, other seed": (SPARSE, "soft", {"random_state": 5, "restarts": 7, "beam": 16}),
    "soft, path of penalties": (SPARSE, "soft", {"penalty": [1, 2, 4]}),
    "soft, unrefined": (SPARSE, "soft", {"refine": False}),
    "soft, parents by tests": (SPARSE, "soft", {"refine": False, "parents": "threshold", "alpha": 0.01}),
    "soft, tiers": (SPARSE, "soft", {"knowledge": TIERS}),
    "soft, p = 50": ({"p": 50, "n": 2000, "seed": 2, "degree": 4}, "soft", {}),
    "soft, few rows": ({"p": 30, "n": 25, "seed": 3, "degree": 2}, "soft", {}),
    "soft, dense": ({"p": 16, "n": 1000, "seed": 4, "density": 0.5}, "soft", {}),
    "rfd": (SPARSE, "rfd", {}),
    "rfd, depth 2": (SPARSE, "rfd", {"depth": 2, "pairs": "neighbours", "alpha": 0.02}),
    "rfd, refined": (SPARSE, "rfd", {"refine": True, "penalty": 1.5}),
    "rfd, tiers": (SPARSE, "rfd", {"knowledge": TIERS}),
    "gsp": (SPARSE, "gsp", {"alpha": 0.01}),
    "sp": (SPARSE, "sp", {}),
    "min-degree": (SPARSE, "min-degree", {}),
    "min-fill": (SPARSE, "min-fill", {}),
    "max-remove": (SPARSE, "max-remove", {}),
    "random": (SPARSE, "random", {"random_state": 3}),
}
PREPARED = {
    "mixed": {"categorical": ["1", "4", "7"]},
    "mixed, with gaps": {"categorical": ["1", "4", "7"], "missing": "em"},
    "categories": {"categorical": [*map(str, range(8))]},
    "categories, by multinomial BIC": {"categorical": [*map(str, range(8))], "score": "multinomial"},
    "missing values": {"missing": "em"},
    "missing values, pairwise": {"missing": "pairwise"},
    "environments": {"targets": {"a": [], "b": ["1"], "c": ["2", "5"]}},
    "environments, targets unknown": {"targets": "unknown", "observational": ["a"]},
    "normal scores": {"correlation": "normal-scores"},
    "curves": {"basis": 3},
    "weights": {"weights": 0.5 + np.arange(600) % 4},
}
"""Options of data of other kinds, made from the rows of one model."""
EXACT = ("soft", "rfd", "gsp", "min-degree", "min-fill", "max-remove")


def prepared(name):
    """Return the data of a case of another kind, and the options to learn from them."""
    options = dict(PREPARED[name])
    rows = rows_of(8, 600, 6, degree=3)
    generator = np.random.default_rng(7907)
    for column in map(int, options.get("categorical", ())):
        rows[:, column] = np.searchsorted(np.quantile(rows[:, column], [0.3, 0.7]), rows[:, column])
    if "missing" in options:
        rows[generator.random(rows.shape) < 0.05] = np.nan
    if "targets" in options:
        labels = np.repeat(["a", "b", "c"], 200)
        rows[labels == "b", 1] = 2 + 0.5 * generator.normal(size=200)
        rows[np.ix_(labels == "c", [2, 5])] = [1, -2] + 0.7 * generator.normal(size=(200, 2))
        options["environments"] = labels
    return rows, {"names": [*map(str, range(8))], **options}


def described(result):
    dag = result.dag.toarray() if hasattr(result.dag, "toarray") else result.dag
    classes = result.cpdag.toarray() if hasattr(result.cpdag, "toarray") else result.cpdag
    return {
        "order": list(result.causal_order.tolist()),
        "edges": np.argwhere(dag).tolist(),
        "undirected": np.argwhere(np.triu(classes == 2)).tolist(),
        "score": result.score,
    }


@functools.cache
def found(name):
    """Return what a case finds now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rfdag.errors.NumericalWarning)
        warnings.simplefilter("ignore", rfdag.errors.DataWarning)
        if name in CASES:
            data, method, options = CASES[name]
            return rfdag.learn(rows_of(**data), method, **options)
        if name in PREPARED:
            rows, options = prepared(name)
            return rfdag.learn(rows, **options)
        kind, method = name.split(": ")
        sem = sem_of(14, 5, degree=4)
        given = {"dag": sem.dag, "precision": sem.precision()}[kind.removeprefix("sparse ")]
        given = csr_array(given) if kind.startswith("sparse") else given
        return rfdag.learn(given, method, input=kind.removeprefix("sparse "))


NAMES = [
    *CASES,
    *PREPARED,
    *(f"{kind}: {method}" for kind in ("dag", "precision") for method in EXACT),
    *(f"sparse {kind}: {method}" for kind in ("dag", "precision") for method in ("soft", "rfd", "min-degree")),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_the_frozen_one(name):
    frozen, now = json.loads(FROZEN.read_text())[name], described(found(name))
    assert now.pop("score") == pytest.approx(frozen.pop("score"), abs=1e-4)
    assert now == frozen


@pytest.mark.parametrize("name", NAMES)
def test_rounding_is_far_from_deciding(name):
    margin, gain = margins(found(name))
    assert margin > LEAST_MARGIN
    assert gain > LEAST_GAIN


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(described(found(name)))}" for name in NAMES)
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.stdout.write(f"{len(NAMES)} results are frozen in {FROZEN.name}.\n")
