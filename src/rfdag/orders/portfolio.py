"""Several beams of growing width, judged by the BIC of the orders they find."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.gpu import GpuBeam, bytes_of_states
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.reinsertion import descend
from rfdag.orders.scores import ScoredOrder
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.device import free_memory, require_memory
from rfdag.runtime.memory import beam_fits, require_beam

Floats = NDArray[np.float64]
Width = int | Literal["auto"]
Rescoring = Literal["auto", "exact", "lazy"]


class Setting(NamedTuple):
    """One way to weigh edges: their weight rises from 0 at z² = noise to 1 at noise + c; μ is that of the future."""

    c: float
    mu: float
    noise: float = 0.0


# Chosen on Erdős–Rényi graphs with p = 20 … 200 (seeds 20 to 27 of the tuning runs). In dense graphs most weak
# edges are real and a removal must be judged by what it costs now; in sparse ones most are noise, and what
# lies ahead tells more.
DENSE_SETTINGS = (Setting(4.0, 0.4), Setting(3.0, 0.3), Setting(6.0, 0.25))
SPARSE_SETTINGS = (Setting(6.0, 0.5), Setting(9.0, 0.45), Setting(9.0, 0.7))
# Over many variables the sum of all that is noise outweighs the edges, and is better left out: chosen at p = 200, 500
# and 1000 (seeds 20 to 22 and 30 to 34), where it halves the errors of the order.
LARGE_SETTINGS = (Setting(6.0, 0.5, 3.0), Setting(8.0, 0.45, 2.0), Setting(6.0, 0.6, 2.0))

DENSE_FROM = 0.3
"""Share of pairs with a clear partial correlation from which a graph counts as dense."""

LARGE_FROM = 150
"""Number of variables from which a sparse graph counts as large."""

HUGE_FROM = 3000
"""Number of variables from which one setting must do: each takes minutes, and refinement levels their differences."""

MANY, FAR = 500, 2.8
"""Number of variables from which only those with z > 2.8 count as neighbours, instead of 2.5: chance makes enough."""

NARROWEST, WIDEST, WIDER = 8, 128, 4
"""Widths that "auto" tries: 8, 32 and 128."""

SMALL, WIDEST_OF_SMALL = 50, 512
"""Number of variables up to which a wide beam costs little: "auto" then goes on to 512, with all settings."""

MOST_AT_ONCE = 6e6
"""Width times p² up to which "auto" widens a beam."""

WORTH_A_THREAD = 1e6
"""Width times p³ from which it pays to start threads for a beam."""

FEW, MOST_EXACT = 30, 400
"""Numbers of variables up to which refined, and beyond the first unrefined, searches score exactly."""

LAZY_STEPS = ((800, 32), (MOST_EXACT, 16), (FEW, 5), (0, 2))
"""Numbers of variables, and steps after which a lazy beam of more than so many scores everything anew.

Chosen on seed 77 of the workloads, where these came within .003 of the exact rule's F1; 5 instead of 2 lost .012 at
p = 20, n = 40.
"""

SCORED_PER_BEAM = 2
"""Orders of each beam whose BIC is computed; the cheapest by the soft cost."""


class _Stopped(Exception):
    """A beam was told to end before it was done."""


@dataclass(frozen=True)
class Attempt:
    """One beam: its setting, its ``width``, and the best ``score`` (BIC) among its orders before refinement.

    Under the setting the weight of an edge rises from 0 at z² = ``noise`` to 1 at ``noise`` + ``c``, and ``mu`` is the
    weight of what a removal means for later ones.
    """

    c: float
    mu: float
    width: int
    score: float
    noise: float = 0.0


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

    setting: Setting
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
    device: str = "cpu",
    constraints: Constraints | None = None,
) -> Outcome:
    """Return the order of least BIC that a portfolio of beams finds.

    A fixed width runs every setting once. "auto" starts narrow and goes on four times as wide, with the settings
    that did best, as long as the score improves and the settings disagree; on sparse graphs only if orders are refined.

    Parameters
    ----------
    partial, correlation, n_samples
        Partial and plain correlations of all variables, and the rows behind them.
    worth
        How many rows the partial correlations are worth, where they are not the sample's own.
    width
        Number of states a beam keeps, or "auto".
    rescoring
        "exact" scores every candidate at every step, "lazy" only neighbours of what was removed (all at times, see
        `LAZY_STEPS`); "auto" is lazy on sparse graphs where that loses nothing (`may_be_lazy`).
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
    device
        Where beams run: "cpu", or "cuda", where ``partial`` then lies.
    constraints
        What orders and parents must obey.
    """
    generator = generator or np.random.default_rng(0)
    deadline = deadline or Deadline()
    p = len(partial)
    worth = worth or n_samples
    on_gpu = device == "cuda"
    fits = _fits_on_gpu if on_gpu else beam_fits
    if on_gpu:
        require_memory(p, NARROWEST if width == "auto" else width, bytes_of_states)
    else:
        require_beam(p, NARROWEST if width == "auto" else width)
    live = settings_for(partial, worth)
    sparse = live != DENSE_SETTINGS
    lazy = sparse and may_be_lazy(p, refine) if rescoring == "auto" else rescoring == "lazy"
    # Refinement is cheap on sparse graphs and tells a good order from a promising one; on dense graphs it costs
    # more than the beams, and the best order before it is the best after it.
    each = refine and sparse
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

    def attempt(setting: Setting, generator: np.random.Generator) -> _Trial | None:
        kind = GpuBeam if on_gpu else functools.partial(SoftBeam, threads=1 if quick else threads // workers)
        beam = kind(
            partial,
            worth,
            now,
            setting.mu,
            c=setting.c,
            noise=setting.noise,
            z_near=2.5 if p < MANY else FAR,
            rescore_every=steps_between_scores(p) if lazy else 1,
            constraints=constraints,
        )
        try:
            orders = beam.search(watch).orders[:SCORED_PER_BEAM]
        except _Stopped:
            return None
        candidates = (
            ScoredOrder(correlation, n_samples, order, penalty, gamma, constraints=constraints) for order in orders
        )
        scored = min(candidates, key=_total)
        trial = _Trial(setting, scored.order.copy(), _total(scored), scored)
        finished.append(trial)
        if each:
            descend(scored, generator, patient)
        return trial

    interrupted = False
    try:
        while True:
            # Beams side by side where there are several, the states of one beam side by side where there is one.
            workers = min(threads, len(live)) if fits(p, now * len(live)) else 1
            quick = now * p**3 < WORTH_A_THREAD
            with nullcontext() if quick or workers == 1 else ThreadPoolExecutor(workers) as pool:
                try:
                    trials = (pool.map if pool else map)(attempt, live, generator.spawn(len(live)))
                    found = [trial for trial in trials if trial is not None]
                except KeyboardInterrupt:
                    # Leaving the pool waits for its workers; let them end at their next step.
                    stop.set()
                    raise
            if not found:
                break
            attempts += [
                Attempt(trial.setting.c, trial.setting.mu, now, trial.score, trial.setting.noise) for trial in found
            ]
            found.sort(key=lambda trial: _total(trial.scored))
            improved = best is None or _total(found[0].scored) < _total(best.scored)
            if improved:
                best = found[0]
            agreed = len(found) > 1 and _total(found[0].scored) == _total(found[-1].scored)
            wider = now * WIDER
            too_wide = (
                wider > (WIDEST_OF_SMALL if p <= SMALL else WIDEST)
                or wider * p * p > MOST_AT_ONCE
                or not fits(p, wider)
            )
            # Whoever does without refinement wants an answer now; only dense graphs need wide beams for one.
            hurried = sparse and not refine
            if width != "auto" or hurried or not improved or agreed or too_wide or deadline.passed():
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


def may_be_lazy(p: int, refine: bool) -> bool:
    """Return whether lazy scores are as good as exact ones over p variables of a sparse graph.

    Refinement makes up for what they lose, and over many variables nothing is lost. Over few, an unrefined answer is
    wanted at once, and a refined one can wait.

    >>> may_be_lazy(20, refine=True), may_be_lazy(100, refine=True), may_be_lazy(100, refine=False)
    (False, True, False)
    """
    return p > FEW if refine else p <= FEW or p > MOST_EXACT


def steps_between_scores(p: int) -> int:
    """Return after how many steps a lazy beam over p variables scores everything anew.

    >>> steps_between_scores(500)
    16
    """
    return next(steps for most, steps in LAZY_STEPS if p > most)


def settings_for(partial: Floats, n_samples: int) -> tuple[Setting, ...]:
    """Return the settings to try: those for dense, sparse or large sparse graphs, by the share of clear edges."""
    p = len(partial)
    clear = np.count_nonzero(np.abs(partial) > 2.5 / math.sqrt(n_samples - p + 1)) - p
    if clear > DENSE_FROM * p * (p - 1):
        return DENSE_SETTINGS
    if p < LARGE_FROM:
        return SPARSE_SETTINGS
    return LARGE_SETTINGS if p < HUGE_FROM else LARGE_SETTINGS[:1]


def _total(scored: ScoredOrder) -> float:
    # Orders of one equivalence class differ by rounding alone, which must not decide.
    return round(scored.total, 6)


def _fits_on_gpu(p: int, width: int) -> bool:
    return bytes_of_states(p, width) < free_memory() / 2
