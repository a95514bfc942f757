"""The loop of Algorithm 1 over a sparse engine, without any p × p array."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rfdag.eliminate.elimination import Elimination
from rfdag.eliminate.engines.sparse import RULES, SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.search import choose
from rfdag.eliminate.trace import Trace
from rfdag.knowledge.constraints import Constraints


def eliminate_sparse(
    engine: SparseEngine | SparseOracleEngine,
    rule: str = "rfd",
    *,
    depth: int = 1,
    max_paths: int = 1000,
    generator: np.random.Generator | None = None,
    report: Callable[[float], None] = lambda share: None,
    constraints: Constraints | None = None,
) -> Elimination:
    """Remove all variables and return the order, the minimal I-MAP (a sparse array) and the trace.

    This is `eliminate` without a p × p matrix; the trace lists no edges. With a depth above 1, or a rule that has no
    kernel here, each step visits all variables, so that p variables take time of order p².
    """
    if rule == "random" and generator is None:
        generator = np.random.default_rng(0)
    if constraints is not None:
        engine.obey(constraints)
    size = engine.size
    searches, ties, capped = np.arange(size), None, 0
    if depth == 1 and rule in RULES:
        engine.run(rule, generator=generator, report=report)
        ties = engine._state.record[4].copy()
    else:
        chosen: list[tuple[int, int]] = []
        while engine.left:
            done = 1 - engine.left / size
            choice = choose(engine, rule, depth, max_paths, generator, constraints, partial(report, done))
            capped += choice.capped
            search = chosen[-1][0] + 1 if chosen else 0
            for variable in choice.variables:
                engine.remove(int(np.searchsorted(engine.remaining, variable)))
                chosen.append((search, choice.ties))
            report(1 - engine.left / size)
        searches, ties = np.array(chosen).T.copy()
    record = engine._state.record
    trace = Trace(
        node=record[0].copy(),
        removal=record[1].copy(),
        fill=record[2].copy(),
        degree=record[3].copy(),
        ties=ties,
        threshold=engine._taus[:0:-1].copy(),
        search=searches,
        removed_edges=None,
        filled_edges=None,
        smallest_margin=engine.margin,
        capped=capped,
    )
    return Elimination(record[0, ::-1].copy(), engine.dag(), trace)
