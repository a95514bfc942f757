"""Eliminations of sparse evidence: nothing here makes a p × p array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rfdag.eliminate import Elimination
from rfdag.eliminate.sparse_elimination import eliminate_sparse
from rfdag.evidence.regressions import Regressions
from rfdag.evidence.rounding import about_exact_input
from rfdag.evidence.sparse import Sparse
from rfdag.graphs.sparse import same_pattern
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.found import Found
from rfdag.methods.run import Run
from rfdag.orders.sparse_parents import Family, families_by_marginals, families_by_separation, with_families


def eliminated_sparsely(evidence: Any, engine: Any, run: Run, report: Callable[[float], None], **rule: Any) -> Found:
    """Return the elimination of sparse evidence, and the regressions that come with an exact precision matrix."""
    # Families that constraints change are read off a second way through the same order.
    spare = None if run.constraints is None else engine.copy()
    elimination = eliminate_sparse(
        engine, **rule, generator=run.tie_breaker(), report=report, constraints=run.constraints
    )
    changed: list[Family] = []
    if run.constraints is not None:
        changed = _changed_families(evidence, elimination, spare, run.constraints)
        elimination = replace(elimination, dag=with_families(elimination.dag, changed))
    found = Found.of(elimination)
    if evidence.roots is None or not evidence.exact:
        return found
    slopes, variances = engine.regressions()
    # Where the diagonal of the matrix is 1, these are at least 1, and the largest is about the condition.
    doubts = about_exact_input(float(np.sqrt(variances.max(initial=1.0))), evidence.tolerance)
    return replace(found, regressions=_regressions(evidence, slopes, variances, changed), warnings=doubts)


def _changed_families(
    evidence: Sparse, elimination: Elimination, engine: Any, constraints: Constraints
) -> list[Family]:
    """Return the families that constraints change, asked of the true DAG or of an engine that has not begun."""
    if evidence.dag is not None:
        return list(families_by_separation(elimination.dag, elimination.order, evidence.dag, constraints))
    return list(families_by_marginals(elimination.dag, elimination.order, engine, constraints))


def _regressions(evidence: Any, slopes: Any, variances: Any, changed: list[Family]) -> Regressions:
    """Return every variable's coefficients on its parents, and residual variances, in the units of the input."""
    known = [family for family in changed if family.variance is not None]
    slopes = with_families(slopes, known, values=True)
    for family in known:
        variances[family.child] = family.variance
    children = slopes.indices
    parents = np.repeat(np.arange(len(evidence.roots)), np.diff(slopes.indptr))
    # Of the largest and smallest scales doubles hold no squares, which is reported.
    with np.errstate(over="ignore", divide="ignore"):
        weights = same_pattern(slopes, slopes.data * (evidence.roots[parents] / evidence.roots[children]))
        variances = variances / evidence.roots / evidence.roots
    # Those given the other parents alone would take more than the elimination knows.
    return Regressions(weights, variances, None)  # type: ignore[arg-type]
