"""Eliminations that choose one removal after the other by a rule, and what follows on exact and sparse evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rfdag.eliminate import Elimination, Engine, Trace, eliminate, replay
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.eliminate.beams.counts import Found as Orders
from rfdag.evidence.evidence import Evidence
from rfdag.graphs.dag import Graph
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.run import Run
from rfdag.methods.sparse import eliminated_sparsely
from rfdag.orders import tuning
from rfdag.orders.covered_edges import covered_edge_search
from rfdag.orders.parents import amend
from rfdag.runtime.deadline import OutOfTime


def found_by_rule(
    evidence: Evidence, engine: Engine, run: Run, *, alpha: float, refine: bool, beam: int | None = None, **rule: Any
) -> Found:
    """Return the order of an elimination; on exact evidence, if ``refine``, that of the sparsest DAG it leads to.

    ``rule`` are the rule's name, depth and so on, as `eliminate` takes them.
    """
    report = run.stage("Eliminating")
    if evidence.sparse:
        return eliminated_sparsely(evidence, engine, run, report, **rule)
    spare = engine.copy() if evidence.exact and refine else None
    elimination = eliminate(engine, **rule, generator=run.tie_breaker(), report=report, constraints=run.constraints)
    found = Found.of(elimination)
    if spare is not None:
        found = _sparser(elimination, evidence, spare, run, alpha, beam)
    return obeying(found, evidence, run, alpha)


def obeying(found: Found, evidence: Evidence, run: Run, alpha: float) -> Found:
    """Return what was found with parents that obey the constraints, where tests chose them."""
    if run.constraints is None or found.scored is not None:
        return found
    tests = evidence.independence(alpha)
    return replace(found, dag=amend(found.dag, found.order, tests, run.constraints, run.limit.require))


def _sparser(
    elimination: Elimination,
    evidence: Evidence,
    engine: Engine,
    run: Run,
    alpha: float,
    beam: int | None,
) -> Found:
    """Return the sparsest DAG that an exact elimination leads to: by a beam if asked for, then by covered edges."""
    tests, constraints = evidence.independence(alpha), run.constraints

    def obedient(elimination: Elimination) -> Graph:
        dag = elimination.dag
        return dag if constraints is None else amend(dag, elimination.order, tests, constraints, run.limit.require)

    found = None if beam is None else _found_by_beam(engine, run, beam)
    # What a beam paid is the number of edges, unless parents are forbidden or required.
    if found is not None and (constraints is not None or found.costs[0] < elimination.dag.sum()):
        other = replay(engine.copy(), found.orders[0])
        elimination = min(elimination, other, key=lambda each: int(obedient(each).sum()))
    dag = obedient(elimination)
    outcome = covered_edge_search(
        dag,
        tests,
        depth=None,
        generator=run.tie_breaker(),
        deadline=run.deadline,
        report=run.bar.stage("Searching for a sparser DAG"),
        most_visited=tuning.MOST_VISITS_IN_VAIN,
        constraints=constraints,
    )
    sparser, interrupted = outcome.dag.sum() < dag.sum(), outcome.interrupted
    best = Found(outcome.order, outcome.dag, Trace.empty()) if sparser else Found.of(elimination)
    if sparser and not interrupted:
        try:
            best = Found.of(replay(engine, outcome.order))
        except KeyboardInterrupt:
            interrupted = True
    return replace(best, warnings=(INTERRUPTED,) if interrupted else (), interrupted=interrupted)


def _found_by_beam(engine: Engine, run: Run, width: int) -> Orders | None:
    """Return the orders of a beam over counts; None if time did not allow it, since there is an order already."""
    try:
        return beam_search(
            EngineStates(engine, run.deadline.require),
            width,
            mu=tuning.COUNTS_MU,
            report=run.bar.stage("Following a beam"),
            constraints=run.constraints,
        )
    except OutOfTime:
        return None
