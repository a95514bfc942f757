"""The whole way from data to a causal order, on one page."""

from __future__ import annotations

import time
import warnings as python_warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rfdag import data as data_
from rfdag.compilation import announce
from rfdag.eliminate import (
    DenseEngine,
    Elimination,
    Engine,
    FisherZ,
    LostPrecision,
    OracleEngine,
    Tolerance,
    eliminate,
    replay,
)
from rfdag.eliminate import _dense_kernels as dense_kernels
from rfdag.eliminate import _oracle_kernels as oracle_kernels
from rfdag.eliminate.beam import EngineStates, beam_search
from rfdag.eliminate.threads import thread_count
from rfdag.errors import NumericalError, NumericalWarning, OptionError, listed
from rfdag.files import TextFormat
from rfdag.graphs.dag import Graph
from rfdag.moments import DOUBTFUL, Moments
from rfdag.progress import Progress
from rfdag.refine.bic import ScoredOrder, best_order
from rfdag.refine.polish import Deadline, descend, iterate
from rfdag.refine.portfolio import Attempt, search_orders
from rfdag.result import Result
from rfdag.settings import Settings

EXACT_WIDTH = 16
"""Width of the beam on exact input, enough for every graph of benchmarks/noiseless.py."""

MOST_FOR_EXACT_BEAM = 200
"""Variables up to which exact input is searched with a beam unless one is asked for."""

MOST_FOR_SP = 16
"""Variables up to which rule "sp" looks at every set of them."""

INTERRUPTED = "The search was interrupted; this is the best order found until then."


def learn(
    data: Any,
    *,
    input: data_.Input = "data",
    n_samples: int | None = None,
    names: Sequence[Hashable] | None = None,
    rule: str = "soft",
    beam: int | Literal["auto"] = "auto",
    depth: int = 1,
    alpha: float = 1e-3,
    pairs: Literal["all", "neighbours"] = "all",
    tolerance: float = 1e-8,
    max_paths: int = 1000,
    parents: Literal["auto", "bic", "threshold"] = "auto",
    refine: bool | Literal["auto"] = "auto",
    penalty: float = 2.0,
    restarts: int = 0,
    time_limit: float | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Result:
    """Find the causal order of the variables, and with it the DAG and its Markov equivalence class.

    Parameters
    ----------
    data
        Rows × columns: a NumPy array, a pandas, polars or Arrow frame, or the path of a CSV, TSV, NPY or NPZ
        file. With ``input``, a matrix or a DAG in any of these forms; a DAG also as a networkx.DiGraph.
    input
        What ``data`` is: "data"; "correlation", "covariance" or "precision" matrix; or "dag", which plays an
        exact oracle of conditional independence.
    n_samples
        Number of rows behind a matrix. A precision matrix without it is taken as exact.
    names
        One name per column, where ``data`` has none or others are wanted. Arrays are numbered from 0.
    rule
        How variables are chosen for removal: "soft" weighs edges by their evidence and searches with a beam; "rfd"
        is the paper's Removal-Fill-Degree algorithm with its hard counts; "min-degree", "min-fill", "max-remove"
        and "random" are the paper's baselines. On exact input "soft" is "rfd", and then a beam over the same counts
        in case that finds a sparser order. "sp" is the sparsest permutation
        itself, the best of all orders, for up to 16 variables: by BIC (of parents grown and shrunk) on data, by edges
        with parents="threshold" and on exact input.
    beam
        How many partial eliminations rule "soft" follows at once. "auto" widens from 8 to 128 while the score
        improves; on exact input it is 16 up to 200 variables. A beam of width B over p variables holds about
        2 · B · p² doubles.
    depth
        How many removals "rfd" looks ahead while no candidate is certified: the paper's w.
    alpha
        Level of the test that decides whether a partial correlation is an edge. Unused on exact input.
    pairs
        Which pairs count as removed or filled on data: "all", the paper's definition, or "neighbours" of the
        candidate only, which is the same in the population and less noisy. Exact input always uses the latter.
    tolerance
        Size of a partial correlation that counts as zero in an exact precision matrix.
    max_paths
        How many paths a search of depth > 1 follows at once; ``result.trace.capped`` tells if that bit.
    parents
        How a variable's parents are chosen among its predecessors: "bic" grows and shrinks them by the Gaussian
        BIC; "threshold" takes its neighbours at its removal, the paper's D_π at level alpha. "auto" is "bic" for
        rule "soft" and for refined orders, else "threshold".
    refine
        Whether the order is polished by taking variables out and putting them back where the BIC is best. "auto"
        does so for rule "soft". On exact input it is the beam that is left out without it.
    penalty
        Price of an edge in the BIC, in units of ln n.
    restarts
        How often refinement is repeated from the best order, disturbed a little.
    time_limit
        Seconds after which rule "soft" or a refinement returns the best order so far; with restarts=0, refinement is
        repeated until then. The first, narrow beams always finish.
    delimiter, decimal, header
        How a text file is written: the character between its cells (a comma for CSV and a tab for TSV unless
        given), its decimal sign, and whether the first line names the columns (it does, unless it holds only
        numbers: then say which).
    n_jobs
        Threads used; None or −1 for all cores. The answer does not depend on it.
    random_state
        Seed of everything random: ties of rule "rfd" and the baselines, the order in which refinement tries variables,
        and its restarts. With None, ties go to the leftmost column, which is removed first and so comes later in the
        order, and the rest uses seed 0.
    progress
        None shows a bar on a terminal if the run takes longer than two seconds, True always, False never; a
        function is called with the share done.

    Returns
    -------
    Result
        The order (a source first), DAG, CPDAG, coefficients, and the trace of every step.

    Examples
    --------
    >>> import rfdag
    >>> collider = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> sem = rfdag.simulate.linear_sem(collider, rng=1)
    >>> result = rfdag.learn(rfdag.simulate.sample(sem, 500, rng=2), names=["rain", "sprinkler", "wet"])
    >>> result.order[-1]
    'wet'
    >>> [(edge.source, edge.target) for edge in result.edges]
    [('rain', 'wet'), ('sprinkler', 'wet')]

    References
    ----------
    C. Squires, J. Amaniampong, C. Uhler: Efficient Permutation Discovery in Causal DAGs, 2020.
    """
    clock = _Clock()
    settings = Settings.checked(
        rule=rule,
        beam=beam,
        depth=depth,
        alpha=alpha,
        pairs=pairs,
        tolerance=tolerance,
        max_paths=max_paths,
        parents=parents,
        refine=refine,
        penalty=penalty,
        restarts=restarts,
        time_limit=time_limit,
        random_state=random_state,
    )
    deadline = Deadline.after(time_limit)
    threads = thread_count(n_jobs)
    with Progress(progress) as bar:
        bar.stage("Reading")
        evidence = data_.read(
            data,
            input=input,
            n_samples=n_samples,
            names=names,
            form=TextFormat(delimiter, decimal, header),
            check_size=lambda rows, columns: FisherZ(rows, alpha).require(columns),
        )
        clock.lap("moments")
        engine = _engine(evidence, settings, threads, bar)
        clock.lap("precision")
        with _naming(evidence.names):
            found = _search(evidence, engine, settings, threads, deadline, bar)
            clock.lap("elimination")
            found = _refine(found, evidence, settings, deadline, bar)
        clock.lap("refinement")
    result = Result(
        names=evidence.names,
        order=tuple(evidence.names[at] for at in found.order),
        dag=found.dag,
        trace=found.elimination.trace,
        moments=evidence if isinstance(evidence, Moments) else None,
        n_samples=evidence.n_samples if isinstance(evidence, Moments) else None,
        score=found.score,
        attempts=found.attempts,
        settings=settings,
        input=input,
        timings=clock.laps,
        warnings=(
            *_doubts(evidence, found, engine.settled, settings),
            *found.notes,
        ),
    )
    for warning in result.warnings:
        python_warnings.warn(warning, NumericalWarning, stacklevel=2)
    return result


@dataclass(frozen=True)
class _Found:
    """An order and DAG on their way to a result."""

    order: NDArray[np.int64]
    dag: Graph
    elimination: Elimination
    scored: ScoredOrder | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        return None if self.scored is None else self.scored.total


def _search(
    evidence: Moments | data_.Oracle,
    engine: Engine,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
) -> _Found:
    """Find an order: by a portfolio of beams for rule "soft" on data, by the rule's own elimination otherwise."""
    report = bar.stage("Eliminating")
    if settings.rule == "sp":
        order = _sparsest_order(evidence, engine, settings, report)
        elimination = replay(engine, order)
        return _Found(order, elimination.dag, elimination)
    if settings.rule != "soft" or isinstance(evidence, data_.Oracle) or evidence.n_samples is None:
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
        return _Found(elimination.order, elimination.dag, elimination)
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
        return _Found(outcome.best.order, outcome.best.dag, elimination, outcome.best, outcome.attempts, notes)
    return _Found(elimination.order, elimination.dag, elimination, attempts=outcome.attempts, notes=notes)


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
    evidence: Moments | data_.Oracle, engine: Engine, settings: Settings, report: Callable[[float], None]
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


def _refine(
    found: _Found, evidence: Moments | data_.Oracle, settings: Settings, deadline: Deadline, bar: Progress
) -> _Found:
    """Choose parents by BIC where asked, and polish the order where asked."""
    if isinstance(evidence, data_.Oracle) or evidence.n_samples is None or not settings.by_bic:
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


@contextmanager
def _naming(names: tuple[Hashable, ...]) -> Iterator[None]:
    """Turn an engine's numbers of spoilt variables into an error that names them."""
    try:
        yield
    except LostPrecision as lost:
        pair = " and ".join(repr(names[at]) for at in lost.variables)
        raise NumericalError(
            f"{pair} became deterministic functions of each other during the elimination: the columns are too nearly "
            "dependent for double precision. Drop one of the two, or combine them."
        ) from None


def _engine(evidence: Moments | data_.Oracle, settings: Settings, threads: int, bar: Progress) -> Engine:
    if isinstance(evidence, data_.Oracle):
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


def _doubts(evidence: Moments | data_.Oracle, found: _Found, settled: float, settings: Settings) -> tuple[str, ...]:
    if isinstance(evidence, data_.Oracle):
        return ()
    doubts = []
    tolerance = settings.tolerance
    margin = found.elimination.trace.smallest_margin
    exhausted = [] if found.scored is None else found.scored.exhausted.tolist()
    if exhausted:
        doubts.append(
            f"Given their parents, {listed([evidence.names[at] for at in exhausted])} vary by no more than rounding, "
            "so the BIC cannot choose among further parents. Consider parents='threshold' with refine=False."
        )
    condition = evidence.condition()
    if evidence.n_samples is None:
        # Elimination in doubles loses as many digits as the covariance has, which is the square.
        if 1e-16 * condition**2 > tolerance:
            doubts.append(
                f"The precision matrix is ill-conditioned ({condition**2:.0e}): rounding of about "
                f"{1e-16 * condition**2:.0e} may pass for edges at tolerance {tolerance:.0e}. If it comes from a "
                "known DAG, learn(dag, input='dag') is exact."
            )
    elif condition > DOUBTFUL:
        doubts.append(
            f"The columns are nearly dependent (condition number {condition:.1e}): partial correlations may be off "
            f"by about {condition * 1e-16:.0e}. Consider dropping or combining the most similar columns."
        )
    # Where parents were chosen by BIC the thresholds of the trace decided nothing.
    if margin < settled and found.scored is None:
        doubts.append(
            f"A partial correlation lies within {margin:.0e} of its threshold, closer than the {settled:.0e} that "
            "rounding may take: another machine might decide that edge differently."
        )
    return tuple(doubts)


class _Clock:
    """Seconds spent in each part of the way."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
