"""Several beams of growing width, judged by the BIC of the orders they find."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beam import SoftStates, beam_search
from rfdag.errors import OptionError
from rfdag.files import available_memory
from rfdag.refine.bic import ScoredOrder
from rfdag.refine.polish import Deadline, descend

Floats = NDArray[np.float64]
Width = int | Literal["auto"]
Rescoring = Literal["auto", "exact", "lazy"]

# Chosen on Erdős–Rényi graphs with p = 20 … 200 (seeds 20 to 27 of the tuning runs). In dense graphs most weak
# edges are real and a removal must be judged by what it costs now; in sparse ones most are noise, and what
# lies ahead tells more.
DENSE_SETTINGS = ((4.0, 0.4), (3.0, 0.3), (6.0, 0.25))
SPARSE_SETTINGS = ((6.0, 0.5), (9.0, 0.45), (9.0, 0.7))
DENSE_FROM = 0.3
"""Share of pairs with a clear partial correlation from which a graph counts as dense."""

NARROWEST, WIDEST, WIDER = 8, 128, 4
"""Widths that "auto" tries: 8, 32 and 128."""

SMALL, WIDEST_OF_SMALL = 50, 512
"""Number of variables up to which a wide beam costs little: "auto" then goes on to 512, with all settings."""

LAZY_STEPS = 5
"""Steps after which a lazy beam computes all gains anew."""

SCORED_PER_BEAM = 2
"""Orders of each beam whose BIC is computed; the cheapest by the soft cost."""


class _Stopped(Exception):
    """A beam was told to end before it was done."""


@dataclass(frozen=True)
class Attempt:
    """One beam: its setting, its width, and the best score among its orders before refinement."""

    c: float
    mu: float
    width: int
    score: float


@dataclass(frozen=True)
class Outcome:
    """The best order found, what was tried, and the winner's order before refinement.

    ``interrupted`` tells that the user ended the search before it was done.
    """

    best: ScoredOrder
    attempts: tuple[Attempt, ...]
    eliminated: NDArray[np.int64]
    interrupted: bool = False


@dataclass(frozen=True)
class _Trial:
    """What came of one setting: its order and score before refinement, and the order after it."""

    setting: tuple[float, float]
    eliminated: NDArray[np.int64]
    score: float
    scored: ScoredOrder


def search_orders(
    partial: Floats,
    correlation: Floats,
    n_samples: int,
    *,
    worth: int | None = None,
    width: Width = "auto",
    rescoring: Rescoring = "auto",
    penalty: float = 2.0,
    gamma: float = 0.0,
    refine: bool = True,
    threads: int = 1,
    generator: np.random.Generator | None = None,
    deadline: Deadline | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Outcome:
    """Return the order of least BIC that a portfolio of beams finds.

    A fixed width runs every setting once. "auto" starts narrow and goes on four times as wide, with the settings
    that did best, as long as the score improves and the settings disagree.

    Parameters
    ----------
    partial, correlation, n_samples
        Partial and plain correlations of all variables, and the rows behind them.
    worth
        How many rows the partial correlations are worth, where they are not the sample's own.
    width
        Number of states a beam keeps, or "auto".
    rescoring
        "exact" computes every candidate's gain at every step, "lazy" only those of neighbours of what was removed
        (all at every fifth step); "auto" is lazy on sparse graphs, where that loses nothing.
    penalty, gamma
        λ and γ of the BIC: an edge costs λ ln n + 2 γ ln p.
    refine
        Whether orders are polished by reinsertion.
    threads
        How many threads may be used: for beams of different settings, or for the states of one beam.
    generator
        Decides in which order variables are tried for reinsertion; seed 0 unless given.
    deadline
        When to stop; the first round of beams always runs.
    report
        Is told the share done of the beam under way.
    """
    generator = generator or np.random.default_rng(0)
    deadline = deadline or Deadline()
    p = len(partial)
    worth = worth or n_samples
    _require_memory(p, NARROWEST if width == "auto" else width)
    live = settings_for(partial, worth)
    lazy = live == SPARSE_SETTINGS if rescoring == "auto" else rescoring == "lazy"
    # Refinement is cheap on sparse graphs and tells a good order from a promising one; on dense graphs it costs
    # more than the beams, and the best order before it is the best after it.
    each = refine and live == SPARSE_SETTINGS
    now = NARROWEST if width == "auto" else width
    best: _Trial | None = None
    attempts: list[Attempt] = []
    finished: list[_Trial] = []
    stop = threading.Event()
    patient = Deadline(deadline.moment, stop.is_set)

    def watch(share: float) -> None:
        if stop.is_set() or (best is not None and deadline.passed()):
            raise _Stopped
        report(share)

    def attempt(setting: tuple[float, float], generator: np.random.Generator) -> _Trial | None:
        c, mu = setting
        states = SoftStates(
            partial, worth, now, c=c, rescore_every=LAZY_STEPS if lazy else 1, threads=threads // workers
        )
        try:
            orders = beam_search(states, now, mu, report=watch).orders[:SCORED_PER_BEAM]
        except _Stopped:
            return None
        scored = min((ScoredOrder(correlation, n_samples, order, penalty, gamma) for order in orders), key=_total)
        trial = _Trial(setting, scored.order.copy(), _total(scored), scored)
        finished.append(trial)
        if each:
            descend(scored, generator, patient)
        return trial

    interrupted = False
    try:
        while True:
            # Beams side by side where there are several, the states of one beam side by side where there is one.
            workers = min(threads, len(live)) if _fits(p, now * len(live)) else 1
            with ThreadPoolExecutor(workers) as pool:
                try:
                    trials = pool.map(attempt, live, generator.spawn(len(live)))
                    found = [trial for trial in trials if trial is not None]
                except KeyboardInterrupt:
                    # Leaving the pool waits for its workers; let them end at their next step.
                    stop.set()
                    raise
            if not found:
                break
            attempts += [Attempt(*trial.setting, now, trial.score) for trial in found]
            found.sort(key=lambda trial: _total(trial.scored))
            improved = best is None or _total(found[0].scored) < _total(best.scored)
            if improved:
                best = found[0]
            agreed = len(found) > 1 and _total(found[0].scored) == _total(found[-1].scored)
            wider = now * WIDER
            too_wide = wider > (WIDEST_OF_SMALL if p <= SMALL else WIDEST) or not _fits(p, wider)
            if width != "auto" or not improved or agreed or too_wide or deadline.passed():
                break
            if p > SMALL:
                live = tuple(trial.setting for trial in found[: max(1, len(live) - 1)])
            now = wider
        if refine and not each and best is not None:
            descend(best.scored, generator, deadline)
    except KeyboardInterrupt:
        if not finished:
            raise
        interrupted = True
        best = min(finished, key=lambda trial: _total(trial.scored))
    assert best is not None
    return Outcome(best.scored, tuple(attempts), best.eliminated, interrupted)


def settings_for(partial: Floats, n_samples: int) -> tuple[tuple[float, float], ...]:
    """Return the (c, μ) to try: those for dense or for sparse graphs, by the share of clear edges."""
    p = len(partial)
    clear = (n_samples - p + 1) * partial[np.triu_indices(p, 1)] ** 2 > 2.5**2
    return DENSE_SETTINGS if clear.mean() > DENSE_FROM else SPARSE_SETTINGS


def _total(scored: ScoredOrder) -> float:
    # Orders of one equivalence class differ by rounding alone, which must not decide.
    return round(scored.total, 6)


def _bytes(p: int, width: int) -> float:
    return 2.0 * 8 * width * p * p


def _fits(p: int, width: int) -> bool:
    return _bytes(p, width) < available_memory() / 2


def _require_memory(p: int, width: int) -> None:
    if not _fits(p, width):
        largest = int(available_memory() / 2 / _bytes(p, 1))
        raise OptionError(
            f"A beam of width {width} over {p} variables needs {_bytes(p, width) / 1e9:.1f} GB; "
            f"{available_memory() / 1e9:.1f} GB are free. "
            + (f"Use beam={largest} or less." if largest else "Use rule='rfd', which needs no beam.")
        )
