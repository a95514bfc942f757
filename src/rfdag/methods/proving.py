"""The best DAG of all by BIC: found in place of a search, or proven after one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rfdag.eliminate import Engine, replay
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import sample_of
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.judged import Judged
from rfdag.methods.run import Run
from rfdag.orders import costs, tuning
from rfdag.orders.all_families import AllFamilies
from rfdag.orders.branching import prove
from rfdag.orders.exact import Problem, Proof, best_dag, bytes_of_all_sets
from rfdag.orders.family_scores import FamilyScore
from rfdag.orders.path import criterion
from rfdag.orders.restarts import iterate
from rfdag.orders.reversals import Alternative
from rfdag.orders.rivals import CLOSE, Rivals, rivals_of
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.tree_order import TreeOrder
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.memory import TRIFLE, available_memory

if TYPE_CHECKING:
    from rfdag.methods.soft import Soft


def found_over_all_sets(
    method: Judged, evidence: Evidence, engine: Engine, run: Run, report: Callable[[float], None]
) -> Found:
    """Return the best DAG of all at the method's price of an edge; ``report`` may raise."""
    moments, rows = sample_of(evidence)
    gamma = method.starting_gamma(rows, len(moments.names), run.estimation)
    scored, proof = _best_of_all(evidence, run, method.price, gamma, report)
    return Found(scored.order, scored.dag, replay(engine, scored.order).trace, scored, proof=proof)


def best_by_families(method: Soft, score: FamilyScore, run: Run, price: float) -> TreeOrder | None:
    """Return the best order of all by a score of families; None where that takes too long, or no DAG has a score.

    ``price`` is that of an edge. Unless the user asks for the best order, three quarters of the time are left for a
    search.
    """
    if not method.scores_all_families(score.size):
        return None
    limit = run.limit if method.exact is True else run.limit.share(0.25)
    report = run.bar.stage("Comparing all graphs", limit)
    with suppress(OutOfTime):
        families = AllFamilies(score, run.constraints, run.threads, report)
        best = TreeOrder(families, families.best_order(report), run.constraints, price=price)
        return best if np.isfinite(best.total) else None
    return None


def proof_by_families(total: float, columns: int) -> Proof:
    """Return the proof that a score is the best of all, once those of all families have been compared."""
    return Proof(total, complete=True, sets=1 << columns, exhaustive=True)


def best_of_penalties(method: Judged, found: Found, evidence: Evidence, run: Run) -> Found:
    """Return the best DAG of all at the penalty to choose, and without noise, given that of the price searched at."""
    report = run.bar.stage("Comparing penalties", run.deadline)
    assert found.scored is not None
    assert found.proof is not None
    gamma = found.scored.gamma
    solved = {method.price: (found.scored, found.proof)}

    def solve(number: int, penalty: float, gamma: float) -> None:
        def reported(share: float) -> None:
            report((number + share) / len(method.penalties))

        with suppress(OutOfTime):
            solved[penalty] = _best_of_all(evidence, run, penalty, gamma, reported)

    for number, penalty in enumerate(method.penalties):
        if penalty not in solved:
            solve(number, penalty, gamma)
    if method.sees_noise(found.scored):
        solve(0, method.price, tuning.MARGIN_GAMMA)
    chosen = min(sorted(solved), key=lambda penalty: criterion(solved[penalty][0]))
    best, proof = solved[chosen]
    compared = method.compared(found, {penalty: scored for penalty, (scored, _) in solved.items()})
    return replace(compared, proof=proof, rivals=_rivals_of(best, run))


def _rivals_of(best: ScoredOrder, run: Run) -> tuple[Alternative, ...]:
    """Return DAGs nearly as good as the best of all: all there are, or those that descents from it come across."""
    rivals = Rivals()
    if len(best.order) > tuning.LARGEST_P_FOR_ALL_RIVALS:
        count = tuning.MOST_FRUITLESS_RESTARTS
        iterate(best.copy(), run.generator(), count, run.deadline, threads=run.threads, rivals=rivals)
    return rivals_of(best, rivals)


def proven(method: Judged, found: Found, evidence: Evidence, run: Run, *, asked: bool) -> Found:
    """Return what was found with a proof that it is the best of all, or a better one that is; else as it was.

    Where the user ``asked`` for it, as long as it takes; otherwise within a few seconds. Ctrl-C or the end of time
    leave what was found.
    """
    scored = found.scored
    short = run.deadline.left() < costs.TIME_TO_SPARE * tuning.SECONDS_TO_PROVE
    if scored is None or found.interrupted or (short and not asked):
        return found
    columns = len(scored.order)
    penalty = next((point.penalty for point in found.path if point.chosen), method.price)
    report = run.bar.stage("Proving that nothing is better", run.deadline)
    problem = Problem(scored.moments, penalty, scored.gamma, run.constraints)
    try:
        proof, solution = prove(
            problem, scored.total, most_sets=tuning.SETS_TO_PROVE, most_steps=tuning.STEPS_TO_PROVE, report=report
        )
        if asked and not (proof is not None and proof.complete):
            if columns <= tuning.LARGEST_P_ON_REQUEST and all_sets_fit(columns):
                best, proof = _best_of_all(evidence, run, penalty, scored.gamma, report)
                return _replaced(found, best, proof)
            most = int(min(tuning.SETS_ON_REQUEST, available_memory() / 2 / tuning.BYTES_PER_SET))
            proof, solution = prove(
                problem, scored.total, most_sets=most, most_steps=tuning.STEPS_ON_REQUEST, report=report
            )
    except OutOfTime:
        return found
    except KeyboardInterrupt:
        # The search itself was done; what the user asked for beside it was not.
        warnings = (*found.warnings, INTERRUPTED)
        return replace(found, warnings=warnings, interrupted=True) if asked else found
    if solution is None:
        return replace(found, proof=proof)
    best = ScoredOrder(scored.moments, solution.order, penalty, scored.gamma, solution.dag, run.constraints)
    return _replaced(found, best, proof)


def _replaced(found: Found, best: ScoredOrder, proof: Proof | None) -> Found:
    """Return what was found with the best DAG of all in its place, beside which it is a rival itself."""
    assert found.scored is not None
    worse = found.scored.total - best.total
    known = (Alternative(0.0, found.dag), *found.rivals)
    rivals = tuple(Alternative(cost + worse, dag) for cost, dag in known if 1e-4 < cost + worse < CLOSE)
    return replace(found, order=best.order, dag=best.dag, scored=best, proof=proof, rivals=rivals)


def all_sets_fit(columns: int) -> bool:
    """Return whether the scores of all sets take less than half of the free memory."""
    needed = bytes_of_all_sets(columns)
    return needed < TRIFLE or needed < available_memory() / 2


def _best_of_all(
    evidence: Evidence, run: Run, penalty: float, gamma: float, report: Callable[[float], None]
) -> tuple[ScoredOrder, Proof]:
    """Return the best DAG of all at this price of an edge, and the proof of it."""
    moments, _ = sample_of(evidence)
    problem = Problem(moments.local(), penalty, gamma, run.constraints)
    solution = best_dag(problem, run.threads, report)
    scored = ScoredOrder(moments.local(), solution.order, penalty, gamma, solution.dag, run.constraints)
    return scored, proof_by_families(scored.total, problem.p)
