"""Data with more columns than a p × p matrix allows: learnt block by block, and the answers joined.

Blocks are the connected components of the clear correlations (`rfdag.evidence.screening`). Columns of different blocks
are taken as independent, so that each block can be learnt alone, on the same way as any other data.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.eliminate import Engine, LostPrecision, Trace
from rfdag.errors import Message, OptionError, TimeLimitError, keyword
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import Independence
from rfdag.evidence.moments import Moments
from rfdag.evidence.regressions import Regressions
from rfdag.evidence.screening import find_blocks
from rfdag.graphs.sparse import same_pattern
from rfdag.input.columns import Column
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.method import Method
from rfdag.methods.preflight import fits, most_columns
from rfdag.methods.run import Run
from rfdag.runtime.deadline import Clock, OutOfTime
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread

Integers = NDArray[np.int64]

WARNINGS_SHOWN = 5


@dataclass(frozen=True)
class _Part:
    """One block: its columns, what was found (None for one without edges), and how its parents explain it."""

    columns: Integers
    found: Found | None
    variances: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    partial: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Blocks(Evidence):
    """Rows of more columns than fit into memory as one matrix, learnt block by block."""

    values: NDArray[Any] = field(repr=False)
    names: tuple[Hashable, ...]
    asked: bool = True
    """Whether the user asked for blocks."""
    kind: str = "data"
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = field(default=(), repr=False)
    means: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", self.values.mean(axis=0, dtype=np.float64))

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return len(self.values)

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Raise: each block has an engine of its own."""
        raise NotImplementedError("blocks are learnt one by one")

    def independence(self, alpha: float) -> Independence:
        """Raise: each block has tests of its own."""
        raise NotImplementedError("blocks are learnt one by one")

    def learn(self, method: Method, run: Run) -> Found:
        """Find the blocks, learn each, and join what they give.

        Required edges join the blocks of their ends. Each block obeys what is known of its columns, and the blocks'
        orders are put together so that the whole obeys.

        Each block gets a share of the time until the deadline. Where there are many, they are shared over threads, one
        for each; else the threads serve within a block.
        """
        if isinstance(getattr(method, "penalty", None), tuple):
            raise OptionError(
                f"Blocks would each choose another {keyword('penalty')}; pass a single one, or "
                f"{keyword('blocks', False)}."
            )
        constraints = run.constraints
        blocks = find_blocks(
            self.values,
            self.names,
            report=run.stage("Screening correlations"),
            check=lambda largest: _require_fit(largest, method),
            joined=None if constraints is None else constraints.required_edges,
        )
        run.clock.lap("screening")
        largest = max(map(len, blocks))
        method.require_rows(self.n_samples, largest, run.estimation)
        parts, interrupted = _learn_all(self, blocks, method, run)
        run.clock.lap("blocks")
        warning = Message(
            f"{len(self.names)} columns are more than fit into memory as one matrix; they were learnt in {len(blocks)} "
            f"blocks of up to {largest} columns that hardly correlate with each other. {keyword('blocks', True)} asks "
            "for this."
        )
        warnings = (*self.notes, *(() if self.asked else (warning,)), *((INTERRUPTED,) if interrupted else ()))
        return _join(parts, len(self.names), warnings, constraints)


def _require_fit(largest: int, method: Method) -> None:
    if not fits(largest, method):
        raise OptionError(
            f"One block of correlated columns has {largest} of them, and up to {most_columns(method, largest)} fit "
            "into the free memory. Drop columns that correlate with everything, pass fewer columns, or estimate a "
            f"sparse precision matrix elsewhere and pass it with {keyword('input', 'precision')}."
        )


def _learn_all(evidence: Blocks, blocks: Sequence[Integers], method: Method, run: Run) -> tuple[list[_Part], bool]:
    """Learn the blocks, the largest first; return them in the order given, and whether the user interrupted that.

    Where the user interrupts that, blocks that were not learnt are returned without edges, unless none was, or some
    edges are required.
    """
    report = run.bar.stage("Learning blocks")
    costs = np.array([float(len(block)) ** 2 for block in blocks])
    apart = run.threads if len(blocks) >= 2 * run.threads else 1
    stop = threading.Event()
    shares = _Shares(float(costs.sum()), apart)

    def learn(at: int) -> _Part:
        share = shares.of(costs[at])
        own = replace(
            run,
            threads=run.threads // apart,
            deadline=run.deadline.share(share).unless(stop.is_set),
            limit=run.limit.unless(stop.is_set),
            until=None if run.until is None else run.until.share(share),
            bar=Progress(False),
            clock=Clock(),
        )
        return _learn_one(evidence, blocks[at], method, own)

    parts: dict[int, _Part] = {}
    done, interrupted = 0.0, False
    # Matrices of a block are small: threads of BLAS itself would only get into each other's way.
    with one_blas_thread(), ThreadPoolExecutor(apart) as pool:
        waiting: dict[Future[_Part], int] = {}
        try:
            for at in np.argsort(-costs, kind="stable").tolist():
                waiting[pool.submit(learn, at)] = at
            for finished in as_completed(waiting):
                at = waiting[finished]
                parts[at] = finished.result()
                done += costs[at]
                report(done / costs.sum())
        except BaseException as ended:
            # Leaving the pool waits for its workers; let them end soon.
            stop.set()
            by_user = isinstance(ended, KeyboardInterrupt)
            pool.shutdown(wait=by_user, cancel_futures=True)
            if not by_user or (run.constraints is not None and len(run.constraints.required_edges)):
                raise
            interrupted = True
            for each, at in waiting.items():
                if not each.cancelled():
                    with suppress(OutOfTime, TimeLimitError):
                        parts[at] = each.result()
            if not any(part.found is not None for part in parts.values()):
                raise
    return [parts[at] if at in parts else _unlearnt(evidence, block) for at, block in enumerate(blocks)], interrupted


class _Shares:
    """Each block's share, by its cost, of the time that is left when it begins."""

    def __init__(self, cost: float, at_once: int) -> None:
        self._cost = cost
        self._at_once = at_once
        self._lock = threading.Lock()

    def of(self, cost: float) -> float:
        """Return the share of a block that begins now."""
        with self._lock:
            share = min(cost * self._at_once / self._cost, 1.0)
            self._cost -= cost
        return share


def _learn_one(evidence: Blocks, columns: Integers, method: Method, run: Run) -> _Part:
    """Learn one block as if it were all there is."""
    if len(columns) == 1:
        return _unlearnt(evidence, columns)
    names = tuple(evidence.names[at] for at in columns)
    # All columns were looked at together, those that are alone included.
    moments = Moments.from_data(evidence.values[:, columns], names, looked_at=False)
    known = run.knowledge.among(moments.names) if run.knowledge else None
    run = replace(run, constraints=known.constraints(moments.names) if known else None)
    try:
        found = method.learn(moments, run)
    except LostPrecision as lost:
        raise LostPrecision(*(int(columns[at]) for at in lost.variables)) from None
    fitted = moments.regressions(found.dag)
    return _Part(columns, found, fitted.variances, fitted.coefficients, fitted.partial_correlations)


def _unlearnt(evidence: Blocks, columns: Integers) -> _Part:
    """Return a block without edges: of one column, or one that there was no time for."""
    return _Part(columns, None, np.var(evidence.values[:, columns], axis=0, dtype=np.float64))


def _join(parts: Sequence[_Part], p: int, warnings: tuple[str, ...], constraints: Constraints | None = None) -> Found:
    variances = np.empty(p)
    for part in parts:
        variances[part.columns] = part.variances
    found = [(part.columns, part.found) for part in parts if part.found is not None]
    scores = [each.score for _, each in found]
    order = np.concatenate([part.columns if part.found is None else part.columns[part.found.order] for part in parts])
    if constraints is not None:
        order = constraints.arrange(order, _chains(parts, p))
    dag, weights, partial = _edges(parts, p)
    left = sum(part.found is None and len(part.columns) > 1 for part in parts)
    if left:
        warnings = (*warnings, Message(f"Blocks that were not learnt and have no edges: {left} of {len(parts)}."))
    return Found(
        order,
        dag,
        _trace(parts),
        attempts=tuple(attempt for _, each in found for attempt in each.attempts),
        warnings=(*warnings, *_summary(parts)),
        interrupted=INTERRUPTED in warnings or any(each.interrupted for _, each in found),
        regressions=Regressions(weights, variances, partial),
        total=None if None in scores else float(sum(score for score in scores if score is not None)),
        extension=max((each.gamma for _, each in found), default=0.0),
    )


def _chains(parts: Sequence[_Part], p: int) -> csr_array:
    """Return a matrix that joins each variable to the next one in the order of its block."""
    orders = [part.columns[part.found.order] for part in parts if part.found is not None]
    empty = np.empty(0, np.int64)
    sources = np.concatenate([empty, *(order[:-1] for order in orders)])
    targets = np.concatenate([empty, *(order[1:] for order in orders)])
    return csr_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(p, p))


def _edges(parts: Sequence[_Part], p: int) -> tuple[Any, Any, Any]:
    """Return DAG, coefficients and partial correlations over all columns, in the same pattern."""
    empty = np.empty(0, np.int64)
    rows, columns, values = [empty], [empty], [np.empty((2, 0))]
    for part in parts:
        if part.found is not None and part.weights is not None and part.partial is not None:
            i, j = np.nonzero(part.found.dag)
            rows.append(part.columns[i])
            columns.append(part.columns[j])
            values.append(np.array([part.weights[i, j], part.partial[i, j]]))
    source, target = np.concatenate(rows), np.concatenate(columns)
    # A sparse array sorts its entries; numbers in their place tell where each went.
    places = csr_array((np.arange(1, len(source) + 1), (source, target)), shape=(p, p))
    weights, partial = np.concatenate(values, axis=1)[:, places.data - 1]
    dag = same_pattern(places, np.ones(len(source), np.int8))
    return dag, same_pattern(places, weights), same_pattern(places, partial)


def _trace(parts: Sequence[_Part]) -> Trace:
    """Return the traces of all blocks one after the other, the last block first, as the order has it."""
    traces = [(part.columns, None if part.found is None else _recorded(part.found)) for part in reversed(parts)]
    if any((len(columns) > 1) if trace is None else not trace for columns, trace in traces):
        # Blocks that were not learnt, or that began in clusters, have no elimination of their own.
        return Trace.empty()
    searches = np.cumsum([0, *(1 if trace is None else int(trace.search.max()) + 1 for _, trace in traces)])
    known = [trace for _, trace in traces if trace is not None]

    def joined(name: str, alone: float) -> Any:
        return np.concatenate([[alone] if trace is None else getattr(trace, name) for _, trace in traces])

    return Trace(
        node=np.concatenate([columns if trace is None else columns[trace.node] for columns, trace in traces]),
        removal=joined("removal", 0),
        fill=joined("fill", 0),
        degree=joined("degree", 0),
        ties=joined("ties", 1),
        threshold=joined("threshold", 0.0),
        search=np.concatenate(
            [
                [first] if trace is None else trace.search + first
                for first, (_, trace) in zip(searches, traces, strict=False)
            ]
        ),
        removed_edges=None,
        filled_edges=None,
        smallest_margin=min((trace.smallest_margin for trace in known), default=math.inf),
        capped=sum(trace.capped for trace in known),
    )


def _recorded(found: Found) -> Trace:
    """Return the trace of a block, recorded now if it was not."""
    return found.recorded if isinstance(found.recorded, Trace) else found.recorded()


def _summary(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Return the blocks' warnings, each sentence once, and not more than a few."""
    of_blocks = [part.found.warnings for part in parts if part.found is not None]
    warnings = list(dict.fromkeys(warning for each in of_blocks for warning in each))
    if len(warnings) <= WARNINGS_SHOWN:
        return tuple(warnings)
    concerned = sum(map(bool, of_blocks))
    return (*warnings[:WARNINGS_SHOWN], Message(f"{concerned} of {len(parts)} blocks have warnings of this kind."))
