"""From evidence to an order and a DAG: which engine, which search, which refinement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rfdag.compilation import announce
from rfdag.data import Oracle
from rfdag.eliminate import (
    DenseEngine,
    Elimination,
    Engine,
    FisherZ,
    OracleEngine,
    Tolerance,
    eliminate,
    replay,
)
from rfdag.eliminate import _dense_kernels as dense_kernels
from rfdag.eliminate import _oracle_kernels as oracle_kernels
from rfdag.eliminate.beam import EngineStates, beam_search
from rfdag.errors import OptionError
from rfdag.graphs.dag import Graph
from rfdag.moments import Moments
from rfdag.progress import Progress
from rfdag.refine.bic import ScoredOrder, best_order
from rfdag.refine.polish import Deadline, descend, iterate
from rfdag.refine.portfolio import Attempt, search_orders
from rfdag.settings import Settings

EXACT_WIDTH = 16
"""Width of the beam on exact input, enough for 99 % of the graphs of benchmarks/noiseless.py."""

MOST_FOR_EXACT_BEAM = 200
"""Variables up to which exact input is searched with a beam unless one is asked for."""

MOST_FOR_SP = 16
"""Variables up to which rule "sp" looks at every set of them."""

INTERRUPTED = "The search was interrupted; this is the best order found until then."


@dataclass(frozen=True)
class Found:
    """An order and DAG on their way to a result."""

    order: NDArray[np.int64]
    dag: Graph
    elimination: Elimination
    scored: ScoredOrder | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """The BIC, where parents were chosen by it."""
        return None if self.scored is None else self.scored.total


def choose_engine(evidence: Moments | Oracle, settings: Settings, threads: int, bar: Progress) -> Engine:
    """Return the engine that fits the evidence, ready to eliminate."""
    if isinstance(evidence, Oracle):
        announce(oracle_kernels.score, bar.say)
        return OracleEngine(evidence.dag, threads=threads)
    announce(dense_kernels.marginalise, bar.say)
    n = evidence.n_samples
    return DenseEngine(
        evidence.partial_correlations(),
        Tolerance(settings.tolerance) if n is None else FisherZ(n, settings.alpha),
        # Without noise both scopes agree (Proposition 1), and the pairs of neighbours are far fewer.
        pairs="neighbours" if n is None else settings.pairs,
        threads=threads,
        recompute=None if n is None else evidence.partial_correlations,
        settled=max(1e-10, 1e-15 * evidence.condition()),
    )


def find_order(
    evidence: Moments | Oracle,
    engine: Engine,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
) -> Found:
    """Find an order: by a portfolio of beams for rule "soft" on data, by the rule's own elimination otherwise."""
    report = bar.stage("Eliminating")
    if settings.rule == "sp":
        order = _sparsest_order(evidence, engine, settings, report)
        elimination = replay(engine, order)
        return Found(order, elimination.dag, elimination)
    if settings.rule != "soft" or isinstance(evidence, Oracle) or evidence.n_samples is None:
        spare = engine.copy() if settings.rule == "soft" and settings.refined else None
        elimination = eliminate(
            engine,
            "rfd" if settings.rule == "soft" else settings.rule,
            depth=settings.depth,
            max_paths=settings.max_paths,
            generator=settings.generator(),
            report=report,
        )
        if spare is not None:
            elimination = _sparser(elimination, spare, settings, report)
        return Found(elimination.order, elimination.dag, elimination)
    if settings.depth > 1:
        raise OptionError("On data only rule 'rfd' looks ahead by depth; rule 'soft' does so by its beam.")
    outcome = search_orders(
        evidence.partial_correlations(),
        evidence.correlation,
        evidence.n_samples,
        width=settings.beam,
        penalty=settings.penalty,
        refine=settings.refined,
        threads=threads,
        generator=settings.generator(),
        deadline=deadline,
        report=report,
    )
    elimination = replay(engine, outcome.eliminated)
    notes = (INTERRUPTED,) if outcome.interrupted else ()
    if settings.by_bic:
        return Found(outcome.best.order, outcome.best.dag, elimination, outcome.best, outcome.attempts, notes)
    return Found(elimination.order, elimination.dag, elimination, attempts=outcome.attempts, notes=notes)


def _sparser(
    elimination: Elimination, engine: Engine, settings: Settings, report: Callable[[float], None]
) -> Elimination:
    """Return the sparser of an exact elimination and the best that a beam over the engine's hard counts finds."""
    if settings.beam == "auto" and len(elimination.order) > MOST_FOR_EXACT_BEAM:
        return elimination
    width = EXACT_WIDTH if settings.beam == "auto" else settings.beam
    found = beam_search(EngineStates(engine), width, mu=0.5, report=report)
    return replay(engine, found.orders[0]) if found.costs[0] < elimination.dag.sum() else elimination


def _sparsest_order(
    evidence: Moments | Oracle, engine: Engine, settings: Settings, report: Callable[[float], None]
) -> NDArray[np.int64]:
    """Return the best of all orders: by BIC on data unless edges are asked for, by edges otherwise."""
    p = len(evidence.names)
    if p > MOST_FOR_SP:
        raise OptionError(
            f"Rule 'sp' looks at all sets of variables, of which {p} have {2.0**p:.0e}; it takes up to {MOST_FOR_SP}. "
            "Use rule='soft' with restarts."
        )
    if isinstance(evidence, Moments) and evidence.n_samples is not None and settings.by_bic:
        return best_order(evidence.correlation, evidence.n_samples, settings.penalty)
    # A beam as wide as there are sets keeps the cheapest elimination of each.
    return beam_search(EngineStates(engine), 2**p, mu=0.0, report=report).orders[0]


def refine_order(
    found: Found, evidence: Moments | Oracle, settings: Settings, deadline: Deadline, bar: Progress
) -> Found:
    """Choose parents by BIC where asked, and polish the order where asked."""
    if isinstance(evidence, Oracle) or evidence.n_samples is None or not settings.by_bic:
        return found
    report = bar.stage("Refining")
    # The thresholded DAG is a good start for a refinement; where every order was scored from scratch, so is this one.
    known = found.dag if settings.refined else None
    scored = found.scored or ScoredOrder(evidence.correlation, evidence.n_samples, found.order, settings.penalty, known)
    notes = found.notes
    if settings.refined and not notes:
        generator = settings.generator() or np.random.default_rng(0)
        interrupted = False
        try:
            if found.scored is None:
                descend(scored, generator, deadline, report)
            scored, interrupted = iterate(scored, generator, settings.restarts, deadline, report)
        except KeyboardInterrupt:
            interrupted = True
        notes = (INTERRUPTED,) if interrupted else ()
    return replace(found, order=scored.order, dag=scored.dag, scored=scored, notes=notes)
