"""All kernels compiled at once, by small runs of everything that calls them: for images, and for clusters.

A kernel is compiled for the types it is called with, so it is called as users call it. `left_out` finds the kernels
that no run has reached.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import rfdag
from rfdag.eliminate import RULES, Tolerance
from rfdag.eliminate.engines.sparse import ListEngine, SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.errors import DataWarning, NumericalWarning
from rfdag.evidence.moments import Moments
from rfdag.methods.catalogue import BUILT_IN
from rfdag.orders.candidates import Candidates
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.compilation import KERNELS, counting
from rfdag.simulate import linear_sem, random_dag, sample

Run = Callable[[], object]


def runs() -> dict[str, Run]:
    """Return small runs that call every kernel, by what is learnt from what."""
    dag = random_dag(8, degree=3, rng=1)
    model = linear_sem(dag, rng=2)
    rows = sample(model, 200, rng=3)
    loose, close = (sample(linear_sem(random_dag(8, density, rng=4), rng=5), 2000, rng=6) for density in (0.1, 1.0))
    codes = np.hstack([np.digitize(rows[:, :4], [-0.5, 0.5]), rows[:, 4:]])
    holed = np.where(np.arange(200)[:, None] % 20 == np.arange(8), np.nan, codes)
    three: dict[str, Any] = {"categorical": range(3)}
    thin, thin_dag = sparse.csr_array(model.precision()), sparse.csr_array(dag)
    found: dict[str, Run] = {f"{method}, rows": partial(_learn, rows, method) for method in BUILT_IN}
    found |= {f"{method}, a DAG": partial(_learn, dag, method, input="dag") for method in BUILT_IN}
    for rule in ("rfd", *(rule for rule in RULES if rule in BUILT_IN)):
        found[f"{rule}, a sparse DAG"] = partial(_learn, thin_dag, rule, input="dag")
        found[f"{rule}, a sparse matrix"] = partial(_learn, thin, rule, input="precision", n_samples=200)
    return found | {
        "rfd, rows, pairs of neighbours": partial(_learn, rows, "rfd", pairs="neighbours"),
        "rfd, rows, tests": partial(_learn, rows, "rfd", test="fisher-z"),
        "rfd, a DAG, tests": partial(_learn, dag, "rfd", input="dag", test="d-separation"),
        "soft, rows, beams and a proof": partial(_learn, loose, "soft", beam=2, exact=True),
        "soft, rows of a dense graph": partial(_learn, close, "soft", beam=2),
        "soft, rows, clusters": partial(_learn, rows, "soft", clusters=True),
        "soft, categories and gaps": partial(_learn, holed, "soft", **three),
        "soft, categories alone": partial(_learn, codes[:, :3], "soft", **three),
        "soft, categories, a search": partial(_learn, codes[:, :3], "soft", exact=False, **three),
        "soft, categories by their BIC": partial(_learn, codes[:, :3], "soft", score="multinomial", **three),
        "rfd, categories, tests": partial(_learn, codes[:, :3], "rfd", test="g2", **three),
        "soft, curves": partial(_learn, rows, "soft", basis=3),
        "soft, environments": partial(_learn, [rows, rows[:50] + 1], "soft", targets=[[], [0]]),
        "soft, ranks": partial(_learn, rows, "soft", correlation="kendall"),
        "an order, few candidates": partial(_among_few, rows),
        "a sparse DAG, again": partial(_repeat, SparseOracleEngine(thin_dag)),
        "a sparse matrix, again": partial(_repeat, SparseEngine(thin, Tolerance())),
    }


def _learn(*data: Any, **options: Any) -> None:
    rfdag.learn(*data, **options, progress=False).cpdag  # noqa: B018


def _among_few(rows: NDArray[np.float64]) -> None:
    """Choose parents as over many columns: each has few candidates, and a matrix of its own."""
    columns = range(rows.shape[1])
    next_to = Candidates.among(np.array([[abs(x - y) == 1 for x in columns] for y in columns]))
    ScoredOrder(Moments.from_data(rows).local(), np.array(columns), candidates=next_to)


def _repeat(engine: ListEngine) -> None:
    """Do what engines on lists do step by step, out of room, and after a pivot that is zero by chance."""
    engine._make_room(0)
    engine.remove(0)
    engine.repeat(engine.remaining[:1])


def compile_all(report: Callable[[str, float], None]) -> dict[str, Any]:
    """Compile all kernels; return how many functions that were, the seconds, and the kernels that were left out.

    ``report`` is called with what comes next, and the share of the runs done.
    """
    every = runs()
    begun = time.perf_counter()
    with warnings.catch_warnings(), counting() as compiled:
        for category in (DataWarning, NumericalWarning):
            warnings.simplefilter("ignore", category)
        for number, (name, run) in enumerate(every.items()):
            report(name, number / len(every))
            run()
    return {"functions": compiled(), "seconds": time.perf_counter() - begun, "left_out": sorted(left_out())}


def left_out() -> Iterator[str]:
    """Yield the names of the kernels that this process has neither compiled nor loaded."""
    import_kernels()
    for kernel in KERNELS:
        if not kernel.signatures:
            yield f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"


def import_kernels() -> list[Any]:
    """Import all modules with kernels, and return these."""
    for module in walk_packages(rfdag.__path__, "rfdag."):
        if "kernels" in module.name.split(".")[-2:]:
            import_module(module.name)
    return KERNELS
