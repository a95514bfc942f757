"""From evidence to an order and a DAG: which engine, which search, which refinement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
from rfdag.eliminate.beams.counts import EngineStates, beam_search
from rfdag.eliminate.engines.gpu import GpuEngine, bytes_of_engine
from rfdag.eliminate.engines.gpu_oracle import GpuOracleEngine, bytes_of_oracle
from rfdag.eliminate.engines.sparse import SparseEngine, SparseOracleEngine
from rfdag.eliminate.kernels import dense as dense_kernels
from rfdag.eliminate.kernels import oracle as oracle_kernels
from rfdag.eliminate.kernels import sparse as sparse_kernels
from rfdag.errors import OptionError
from rfdag.evidence.gpu import DeviceMoments
from rfdag.evidence.independence import ExactIndependence, GraphIndependence, Independence, SampleIndependence
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments, Regressions
from rfdag.evidence.sparse import Sparse, eliminate_evidence, refuse_options
from rfdag.graphs.dag import Graph
from rfdag.input.reading import Oracle
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.settings import Settings
from rfdag.orders.covered_edges import covered_edge_search, gsp
from rfdag.orders.margin import GAMMA, noise_at_the_margin
from rfdag.orders.parents import amend
from rfdag.orders.path import PathPoint, compare, follow_path
from rfdag.orders.portfolio import Attempt, search_orders
from rfdag.orders.reinsertion import descend, iterate
from rfdag.orders.scores import ScoredOrder, best_dag, price_of_edge
from rfdag.orders.sp import sparsest_order
from rfdag.precision.averaged import averaged_partial_correlations
from rfdag.runtime.compilation import announce
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.device import require_memory
from rfdag.runtime.progress import Progress

MOST_IN_VAIN = 20_000
"""Families or DAGs that a covered-edge search looks at in vain before it gives up."""

MOST_FOR_SP = 16
"""Variables up to which rule "sp" looks at every set of them."""

INTERRUPTED = "The search was interrupted; this is the best order found until then."
CUT_SHORT = "The covered-edge search was ended before it had seen all; a sparser DAG may exist."


@dataclass(frozen=True)
class Found:
    """An order and DAG on their way to a result."""

    order: NDArray[np.int64]
    dag: Graph
    elimination: Elimination
    scored: ScoredOrder | None = None
    attempts: tuple[Attempt, ...] = ()
    path: tuple[PathPoint, ...] = ()
    notes: tuple[str, ...] = ()
    regressions: Regressions | None = None

    @property
    def score(self) -> float | None:
        """The BIC, where parents were chosen by it."""
        return None if self.scored is None else self.scored.total

    @property
    def gamma(self) -> float:
        """γ of that BIC."""
        return 0.0 if self.scored is None else self.scored.gamma


def choose_engine(
    evidence: Moments | Oracle | Sparse,
    settings: Settings,
    threads: int,
    bar: Progress,
    constraints: Constraints | None = None,
) -> Engine:
    """Return the engine that fits the evidence, ready to eliminate."""
    if isinstance(evidence, Sparse):
        refuse_options(settings)
        announce(sparse_kernels.run, bar.compiling)
        return evidence.engine(settings)
    on_gpu = settings.device == "cuda"
    if isinstance(evidence, Oracle):
        if on_gpu:
            require_memory(len(evidence.names), 0, lambda p, _: bytes_of_oracle(p))
            return GpuOracleEngine(evidence.dag)
        announce(oracle_kernels.score, bar.compiling)
        return OracleEngine(evidence.dag, threads=threads)
    announce(dense_kernels.marginalise, bar.compiling)
    n = evidence.n_samples
    engine = GpuEngine if on_gpu else partial(DenseEngine, threads=threads)
    if few_rows(evidence, settings):
        assert n is not None
        evidence.refuse_copies()
        bar.stage("Averaging models")
        averaged = averaged_partial_correlations(
            evidence.correlation,
            n,
            penalty=settings.penalties[settings.searched],
            gamma=settings.extension(n, len(evidence.names)),
            threads=threads,
            generator=settings.generator(),
            constraints=constraints,
        )
        return engine(averaged, FisherZ(n + len(averaged), settings.alpha), pairs=settings.pairs)
    if on_gpu:
        require_memory(len(evidence.names), 0, lambda p, _: bytes_of_engine(p))
        evidence = DeviceMoments.of(evidence)
    return engine(
        evidence.partial_on_device() if isinstance(evidence, DeviceMoments) else evidence.partial_correlations(),
        Tolerance(settings.tolerance) if n is None else FisherZ(n, settings.alpha),
        # Without noise both scopes agree (Proposition 1), and the pairs of neighbours are far fewer.
        pairs="neighbours" if n is None else settings.pairs,
        recompute=None if n is None else evidence.partial_correlations,
        settled=max(1e-10, 1e-15 * evidence.condition()),
    )


def few_rows(evidence: Moments | Oracle, settings: Settings) -> bool:
    """Return whether the elimination must do without the sample's own partial correlations."""
    if isinstance(evidence, Oracle) or evidence.n_samples is None:
        return False
    return settings.few(evidence.n_samples, len(evidence.names))


def find_order(
    evidence: Moments | Oracle | Sparse,
    engine: Engine,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
    constraints: Constraints | None = None,
) -> Found:
    """Find an order as the rule says: by a search over whole orders, or by choosing one removal after the other."""
    report = bar.stage("Eliminating")
    if isinstance(evidence, Sparse):
        assert isinstance(engine, SparseEngine | SparseOracleEngine)
        elimination, regressions = eliminate_evidence(evidence, engine, settings, report, constraints)
        return Found(elimination.order, elimination.dag, elimination, regressions=regressions)
    exact = isinstance(evidence, Oracle) or evidence.n_samples is None
    if settings.rule == "sp":
        found = _sparsest(evidence, engine, settings, report, constraints)
    elif settings.rule == "gsp":
        found = _greedy_sparsest(evidence, engine, settings, deadline, report, constraints)
    elif settings.rule == "soft" and not exact:
        found = _search_by_bic(evidence, engine, settings, threads, deadline, report, constraints)
    else:
        spare = engine.copy() if exact and settings.refined else None
        elimination = eliminate(engine, **settings.by_counts(), report=report, constraints=constraints)
        found = Found(elimination.order, elimination.dag, elimination)
        if spare is not None:
            found = _sparser(elimination, evidence, spare, settings, deadline, report, constraints)
    if constraints is None or found.scored is not None:
        return found
    return replace(found, dag=amend(found.dag, found.order, _tests(evidence, settings), constraints))


def _search_by_bic(
    evidence: Moments | Oracle,
    engine: Engine,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    report: Callable[[float], None],
    constraints: Constraints | None,
) -> Found:
    """Rule "soft" on data: the best order, by BIC, of a portfolio of beams."""
    if settings.depth is not None and settings.depth > 1:
        raise OptionError("On data only rules 'rfd' and 'gsp' look ahead by depth; rule 'soft' does so by its beam.")
    assert isinstance(evidence, Moments)
    assert evidence.n_samples is not None
    assert isinstance(engine, DenseEngine | GpuEngine)
    outcome = search_orders(
        engine.on_device if isinstance(engine, GpuEngine) else engine.partial,
        evidence.correlation,
        evidence.n_samples,
        worth=evidence.n_samples + len(evidence.names) if few_rows(evidence, settings) else None,
        width=settings.beam,
        rescoring=settings.rescoring,
        penalty=settings.penalties[settings.searched],
        gamma=settings.extension(evidence.n_samples, len(evidence.names)),
        refine=settings.refined,
        threads=threads,
        generator=settings.generator(),
        deadline=deadline,
        report=report,
        device=settings.device,
        constraints=constraints,
    )
    elimination = replay(engine, outcome.eliminated)
    notes = (INTERRUPTED,) if outcome.interrupted else ()
    if settings.by_bic:
        return Found(outcome.best.order, outcome.best.dag, elimination, outcome.best, outcome.attempts, notes=notes)
    return Found(elimination.order, elimination.dag, elimination, attempts=outcome.attempts, notes=notes)


def _greedy_sparsest(
    evidence: Moments | Oracle,
    engine: Engine,
    settings: Settings,
    deadline: Deadline,
    report: Callable[[float], None],
    constraints: Constraints | None,
) -> Found:
    """Rule "gsp": covered-edge searches from the orders of another rule."""
    generator = settings.generator() or np.random.default_rng(0)
    # The first run starts from the rule's own order; the others break its ties at random.
    orders = [
        eliminate(
            engine.copy(),
            settings.initial,
            generator=generator if run else settings.generator(),
            constraints=constraints,
        ).order
        for run in range(settings.runs)
    ]
    outcome = gsp(
        orders,
        _tests(evidence, settings),
        depth=settings.depth,
        generator=generator,
        deadline=deadline,
        report=report,
        most_visited=MOST_IN_VAIN,
        constraints=constraints,
    )
    notes = (INTERRUPTED,) if outcome.interrupted else () if outcome.complete else (CUT_SHORT,)
    return Found(outcome.order, outcome.dag, replay(engine, outcome.order), notes=notes)


def _sparser(
    elimination: Elimination,
    evidence: Moments | Oracle,
    engine: Engine,
    settings: Settings,
    deadline: Deadline,
    report: Callable[[float], None],
    constraints: Constraints | None,
) -> Found:
    """Return the sparsest DAG that an exact elimination leads to: by a beam if asked for, then by covered edges."""
    tests = _tests(evidence, settings)

    def read(elimination: Elimination) -> Graph:
        dag = elimination.dag
        return dag if constraints is None else amend(dag, elimination.order, tests, constraints)

    if settings.beam != "auto":
        found = beam_search(EngineStates(engine), settings.beam, mu=0.5, report=report, constraints=constraints)
        # What a beam paid is the number of edges, unless parents are forbidden or required.
        if constraints is not None or found.costs[0] < elimination.dag.sum():
            other = replay(engine.copy(), found.orders[0])
            elimination = min(elimination, other, key=lambda each: int(read(each).sum()))
    dag = read(elimination)
    outcome = covered_edge_search(
        dag,
        tests,
        depth=None,
        generator=settings.generator(),
        deadline=deadline,
        report=report,
        most_visited=MOST_IN_VAIN,
        constraints=constraints,
    )
    notes = (INTERRUPTED,) if outcome.interrupted else ()
    if outcome.dag.sum() < dag.sum():
        elimination = replay(engine, outcome.order)
    return Found(elimination.order, elimination.dag, elimination, notes=notes)


def _tests(evidence: Moments | Oracle, settings: Settings) -> Independence:
    """Return the evidence as one who answers questions of conditional independence."""
    if isinstance(evidence, Oracle):
        return GraphIndependence(evidence.dag)
    if evidence.n_samples is None:
        return ExactIndependence(evidence.factor, settings.tolerance)
    return SampleIndependence(evidence.correlation, evidence.n_samples, settings.alpha)


def _sparsest(
    evidence: Moments | Oracle,
    engine: Engine,
    settings: Settings,
    report: Callable[[float], None],
    constraints: Constraints | None,
) -> Found:
    """Rule "sp": the best of all DAGs by BIC, or of all orders by edges where there is no BIC or they are asked for."""
    p = len(evidence.names)
    if p > MOST_FOR_SP:
        raise OptionError(
            f"Rule 'sp' looks at all sets of variables, of which {p} have {2.0**p:.0e}; it takes up to {MOST_FOR_SP}. "
            "Use rule='soft' with restarts."
        )
    if isinstance(evidence, Moments) and evidence.n_samples is not None and settings.by_bic:
        scored = _optimum(evidence, settings, settings.penalties[settings.searched], constraints)
        return Found(scored.order, scored.dag, replay(engine, scored.order), scored)
    if constraints is None:
        # A beam as wide as there are sets keeps the cheapest elimination of each.
        order = beam_search(EngineStates(engine), 2**p, mu=0.0, report=report).orders[0]
    else:
        order = sparsest_order(_tests(evidence, settings), constraints)
    elimination = replay(engine, order)
    return Found(order, elimination.dag, elimination)


def _without_noise(
    scored: ScoredOrder, evidence: Moments, penalty: float, polish: Callable[[ScoredOrder], ScoredOrder]
) -> ScoredOrder:
    """Return the order polished at a higher price, if its weakest edges are mostly noise."""
    price = price_of_edge(scored.n_samples, len(scored.order), penalty, scored.gamma)
    required = None if scored.constraints is None else scored.constraints.required
    if scored.gamma >= GAMMA or not noise_at_the_margin(evidence, scored.dag, price, required):
        return scored
    return polish(scored.at_price(penalty, GAMMA))


def _optimum(evidence: Moments, settings: Settings, penalty: float, constraints: Constraints | None) -> ScoredOrder:
    n = evidence.n_samples
    assert n is not None
    gamma = settings.extension(n, len(evidence.names))
    order, dag = best_dag(SharedMoments(evidence.correlation, n), penalty, gamma, constraints)
    return ScoredOrder(evidence.correlation, n, order, penalty, gamma, dag, constraints)


def refine_order(
    found: Found,
    evidence: Moments | Oracle | Sparse,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
    constraints: Constraints | None = None,
) -> Found:
    """Choose parents by BIC and polish the order where asked, and compare penalties where several were given."""
    if not isinstance(evidence, Moments) or evidence.n_samples is None or not settings.by_bic:
        return found
    report = bar.stage("Refining")
    penalties, at = settings.penalties, settings.searched
    # The thresholded DAG is a good start for a refinement; where every order was scored from scratch, so is this one.
    known = found.dag if settings.refined else None
    gamma = settings.extension(evidence.n_samples, len(evidence.names))
    scored = found.scored or ScoredOrder(
        evidence.correlation, evidence.n_samples, found.order, penalties[at], gamma, known, constraints
    )
    interrupted = INTERRUPTED in found.notes
    generator = settings.generator() or np.random.default_rng(0)

    def polish(scored: ScoredOrder, restarts: int | Literal["auto"] = settings.restarts) -> ScoredOrder:
        nonlocal interrupted
        if not settings.refined or interrupted:
            return scored
        try:
            descend(scored, generator, deadline, report)
            scored, interrupted = iterate(scored, generator, restarts, deadline, report, threads=threads)
        except KeyboardInterrupt:
            interrupted = True
        return scored

    if settings.rule == "sp":
        # That of the penalty searched at is known.
        orders = [
            scored if place == at else _optimum(evidence, settings, penalties[place], constraints)
            for place in range(len(penalties))
        ]
    else:
        orders = follow_path(polish(scored), penalties, at, polish)
    if settings.refined and settings.gamma == "auto" and len(penalties) == 1:
        orders = [_without_noise(orders[0], evidence, penalties[0], lambda scored: polish(scored, restarts=0))]
    best, points = compare(orders, penalties)
    return replace(
        found,
        order=orders[best].order,
        dag=orders[best].dag,
        scored=orders[best],
        path=points if isinstance(settings.penalty, tuple) else (),
        notes=tuple(dict.fromkeys((*found.notes, INTERRUPTED) if interrupted else found.notes)),
    )
