"""Results compared with frozen ones: a change that moves an answer has to say so, by freezing it again.

``python tests/test_golden.py`` writes ``golden.json``. Rounding on another machine must not decide, so the cases are
ordinary ones, with clear margins.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from rfdag import simulate

FROZEN = Path(__file__).with_name("golden.json")
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
EXACT = ("soft", "rfd", "gsp", "min-degree", "min-fill", "max-remove")


def described(result):
    dag = result.dag.toarray() if hasattr(result.dag, "toarray") else result.dag
    classes = result.cpdag.toarray() if hasattr(result.cpdag, "toarray") else result.cpdag
    return {
        "order": list(result.causal_order.tolist()),
        "edges": np.argwhere(dag).tolist(),
        "undirected": np.argwhere(np.triu(classes == 2)).tolist(),
        "score": result.score,
    }


def found(name):
    """Return what a case finds now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rfdag.errors.NumericalWarning)
        if name in CASES:
            data, method, options = CASES[name]
            return described(rfdag.learn(rows_of(**data), method, **options))
        kind, method = name.split(": ")
        sem = sem_of(14, 5, degree=4)
        given = {"dag": sem.dag, "precision": sem.precision()}[kind.removeprefix("sparse ")]
        given = csr_array(given) if kind.startswith("sparse") else given
        return described(rfdag.learn(given, method, input=kind.removeprefix("sparse ")))


NAMES = [
    *CASES,
    *(f"{kind}: {method}" for kind in ("dag", "precision") for method in EXACT),
    *(f"sparse {kind}: {method}" for kind in ("dag", "precision") for method in ("soft", "rfd", "min-degree")),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_the_frozen_one(name):
    frozen, now = json.loads(FROZEN.read_text())[name], found(name)
    assert now.pop("score") == pytest.approx(frozen.pop("score"), abs=1e-4)
    assert now == frozen


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(found(name))}" for name in NAMES)
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.stdout.write(f"{len(NAMES)} results are frozen in {FROZEN.name}.\n")
