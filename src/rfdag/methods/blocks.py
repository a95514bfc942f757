"""Data with more columns than a p × p matrix allows: learnt block by block, and the answers joined.

Blocks are the connected components of the clear correlations (`rfdag.evidence.screening`). Columns of different blocks
are taken as independent, so that each block can be learnt alone, on the same way as any other data.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfdag.eliminate import Elimination, LostPrecision, Trace
from rfdag.errors import OptionError
from rfdag.evidence.moments import Moments, Regressions
from rfdag.evidence.screening import find_blocks
from rfdag.graphs.sparse import same_pattern
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.searching import Found
from rfdag.methods.settings import Settings
from rfdag.methods.whole import learn_whole
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.memory import TRIFLE, available_memory
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread

Integers = NDArray[np.int64]

MATRICES = 8
"""Matrices of p × p doubles that must fit into the free memory for data to be learnt in one piece."""

WARNINGS_SHOWN = 5


@dataclass(frozen=True)
class Joined(Found):
    """What the blocks gave, put together: the BIC is their sum, γ the largest used."""

    total: float | None = None
    extension: float = 0.0

    @property
    def score(self) -> float | None:
        """The sum of the blocks' BICs, where parents were chosen by it."""
        return self.total

    @property
    def gamma(self) -> float:
        """The largest γ of a block."""
        return self.extension


@dataclass(frozen=True)
class _Part:
    """One block: its columns, what was found (None for a column that is alone), and how its parents explain it."""

    columns: Integers
    found: Found | None
    variances: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    partial: NDArray[np.float64] | None = None


def in_blocks(settings: Settings, input: str) -> Callable[[int], bool]:
    """Return a function that tells, for a number of columns, whether data are to be learnt in blocks."""
    if settings.precision == "blocks" and input != "data":
        raise OptionError(f"Blocks are found in data; with input={input!r} leave precision='blocks' out.")
    if settings.precision == "auto" and settings.device == "cpu":
        return lambda columns: not _fits(columns)
    return lambda columns: settings.precision == "blocks"


def learn_blocks(
    table: Table,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
    lap: Callable[[str], None],
    knowledge: Knowledge | None = None,
) -> Joined:
    """Find the blocks, learn each, and join what they give.

    Required edges join the blocks of their ends. Each block obeys what is known of its columns, and the blocks' orders
    are put together so that the whole obeys.

    Each block gets a share of the time until the deadline. Where there are many, they are shared over threads, one for
    each; else the threads serve within a block.
    """
    if isinstance(settings.penalty, tuple):
        raise OptionError("Blocks would each choose another penalty; pass a single one, or precision='dense'.")
    values, names = table
    constraints = knowledge.constraints(names) if knowledge else None
    blocks = find_blocks(
        values,
        names,
        report=bar.stage("Screening correlations"),
        check=_require_fit,
        joined=None if constraints is None else constraints.required_edges,
    )
    lap("screening")
    largest = max(map(len, blocks))
    settings.require_rows(len(values), largest)
    parts = _learn_all(table, blocks, settings, threads, deadline, bar.stage("Learning blocks"), knowledge)
    lap("blocks")
    note = (
        f"{len(names)} columns are more than fit into memory as one matrix; they were learnt in {len(blocks)} blocks "
        f"of up to {largest} columns that hardly correlate with each other. precision='blocks' asks for this."
    )
    return _join(parts, len(names), (note,) if settings.precision == "auto" else (), constraints)


def _fits(columns: int) -> bool:
    needed = MATRICES * 8.0 * columns**2
    return needed < TRIFLE or needed <= available_memory()


def _require_fit(largest: int) -> None:
    if not _fits(largest):
        most = int(math.sqrt(available_memory() / (8 * MATRICES)))
        raise OptionError(
            f"One block of correlated columns has {largest} of them, and up to {most} fit into the free memory. Drop "
            "columns that correlate with everything, pass fewer columns, or estimate a sparse precision matrix "
            "elsewhere and pass it with input='precision'."
        )


def _learn_all(
    table: Table,
    blocks: Sequence[Integers],
    settings: Settings,
    threads: int,
    deadline: Deadline,
    report: Callable[[float], None],
    knowledge: Knowledge | None,
) -> list[_Part]:
    """Learn the blocks, the largest first, and return them in the order given."""
    costs = np.array([float(len(block)) ** 2 for block in blocks])
    apart = threads if len(blocks) >= 2 * threads else 1
    stop = threading.Event()
    open_cost = float(costs.sum())
    lock = threading.Lock()

    def learn(at: int) -> _Part:
        nonlocal open_cost
        with lock:
            share = min(costs[at] * apart / open_cost, 1.0)
            open_cost -= costs[at]
        moment = deadline.moment
        if moment is not None:
            moment = time.monotonic() + max(moment - time.monotonic(), 0.0) * share
        return _learn_one(table, blocks[at], settings, threads // apart, Deadline(moment, stop.is_set), knowledge)

    parts: dict[int, _Part] = {}
    done = 0.0
    # Matrices of a block are small: threads of BLAS itself would only get into each other's way.
    with one_blas_thread(), ThreadPoolExecutor(apart) as pool:
        waiting: dict[Future[_Part], int] = {
            pool.submit(learn, int(at)): int(at) for at in np.argsort(-costs, kind="stable")
        }
        try:
            for finished in as_completed(waiting):
                at = waiting[finished]
                parts[at] = finished.result()
                done += costs[at]
                report(done / costs.sum())
        except BaseException:
            # Leaving the pool waits for its workers; let them end soon.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [parts[at] for at in range(len(blocks))]


def _learn_one(
    table: Table,
    columns: Integers,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    knowledge: Knowledge | None,
) -> _Part:
    """Learn one block as if it were all there is."""
    if len(columns) == 1:
        return _Part(columns, None, np.var(table.values[:, columns], axis=0, dtype=np.float64))
    moments = Moments.from_data(table.values[:, columns], tuple(table.names[at] for at in columns))
    known = knowledge.among(moments.names) if knowledge else None
    constraints = known.constraints(moments.names) if known else None
    try:
        found = learn_whole(moments, settings, threads, deadline, Progress(False), constraints)
    except LostPrecision as lost:
        raise LostPrecision(*(int(columns[at]) for at in lost.variables)) from None
    fitted = moments.regressions(found.dag)
    return _Part(columns, found, fitted.variances, fitted.coefficients, fitted.partial_correlations)


def _join(parts: Sequence[_Part], p: int, notes: tuple[str, ...], constraints: Constraints | None = None) -> Joined:
    variances = np.empty(p)
    for part in parts:
        variances[part.columns] = part.variances
    found = [(part.columns, part.found) for part in parts if part.found is not None]
    scores = [each.score for _, each in found]
    order = np.concatenate([part.columns if part.found is None else part.columns[part.found.order] for part in parts])
    if constraints is not None:
        order = constraints.arrange(order, _chains(parts, p))
    dag, weights, partial = _edges(parts, p)
    return Joined(
        order,
        dag,
        Elimination(order, dag, _trace(parts)),
        attempts=tuple(attempt for _, each in found for attempt in each.attempts),
        notes=(*notes, *_summary(parts)),
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
    traces = [(part.columns, None if part.found is None else part.found.elimination.trace) for part in reversed(parts)]
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


def _summary(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Return the blocks' doubts, each sentence once, and not more than a few."""
    notes = [part.found.notes for part in parts if part.found is not None]
    doubts = list(dict.fromkeys(doubt for each in notes for doubt in each))
    if len(doubts) <= WARNINGS_SHOWN:
        return tuple(doubts)
    concerned = sum(map(bool, notes))
    return (*doubts[:WARNINGS_SHOWN], f"{concerned} of {len(parts)} blocks have warnings of this kind.")
