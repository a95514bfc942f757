"""What a run needs, found out before it starts: rows, memory, time, a device."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rfdag.eliminate.beams.gpu import MOST_STATES, bytes_of_states
from rfdag.eliminate.engines.gpu import bytes_of_engine
from rfdag.errors import LongRunWarning, Message, OptionError, keyword
from rfdag.evidence.gpu import bytes_of_moments
from rfdag.methods.method import Method
from rfdag.methods.pace import (
    on_this_machine,
    seconds_of_all_sets,
    seconds_of_beams,
    seconds_of_clusters,
    seconds_of_elimination,
    seconds_of_finishing,
    seconds_of_inverse,
    seconds_of_moments,
    seconds_of_narrow_refinement,
    seconds_of_proof,
    seconds_of_refinement,
    until_order,
)
from rfdag.methods.settings import Settings
from rfdag.orders import costs, tuning
from rfdag.orders.beam_settings import first_width
from rfdag.orders.exact import bytes_of_all_sets
from rfdag.precision.estimator import Estimator
from rfdag.precision.nodewise import Nodewise
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.device import require_device, require_memory
from rfdag.runtime.memory import TRIFLE, available_memory, beam_fits, bytes_of_beam, require_beam
from rfdag.wording import spoken

logger = logging.getLogger("rfdag")


@dataclass(frozen=True)
class Part:
    """One part of a run: the memory it takes, its predecessors' included, and its time."""

    name: str
    bytes: float
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to take, beyond the data."""

    parts: tuple[Part, ...]

    @property
    def bytes(self) -> float:
        """The most memory in use at a time."""
        return max(part.bytes for part in self.parts)

    @property
    def seconds(self) -> float:
        """The time of all parts."""
        return sum(part.seconds for part in self.parts)

    def __str__(self) -> str:
        parts = ", ".join(f"{part.name} {spoken(part.seconds)}" for part in self.parts if part.seconds >= 0.5)
        return (
            f"Expected: about {spoken(self.seconds)}{f' ({parts})' if parts else ''} and {self.bytes / 1e9:.2g} GB of "
            "memory."
        )


class Preflight:
    """What a run needs, asked before any costly work; what cannot fit is refused.

    Parameters
    ----------
    settings
        What the run is asked for.
    threads
        How many threads it may use.
    say
        Is told what to expect of a long run.
    """

    def __init__(self, settings: Settings, threads: int = 1, say: Callable[[str], None] = lambda message: None) -> None:
        self._settings = settings
        self._threads = threads
        self._say = say
        if settings.running.device != "cpu":
            require_device()

    def in_blocks(self, rows: int | None, columns: int) -> bool:
        """Return whether data of this size are learnt in blocks: where they must be, and clusters do not fit either."""
        settings = self._settings
        if settings.estimation.blocks != "auto":
            return settings.estimation.blocks
        if settings.running.device != "cpu" or fits(columns, settings.method):
            return False
        return rows is None or not self._in_clusters(rows, columns) or not clusters_fit(rows, columns, self._threads)

    def _in_clusters(self, rows: int, columns: int) -> bool:
        settings = self._settings
        return settings.method.in_clusters(rows, columns, settings.estimation, settings.running.device)

    def check(self, rows: int, columns: int) -> None:
        """Raise unless the rows are enough and the run fits; say what to expect of a long one."""
        settings = self._settings
        settings.method.require_rows(rows, columns, settings.estimation)
        on_device = settings.running.device != "cpu"
        if self._in_clusters(rows, columns):
            require_clusters(rows, columns, self._threads)
            if on_device:
                require_memory(columns, 0, lambda p, _: bytes_of_moments(rows, p))
            self._announce(rows, columns)
            return
        self._require_patience(rows, columns)
        if on_device:
            width = settings.method.beam_width
            if width > MOST_STATES:
                raise OptionError(
                    f"A beam on a GPU follows up to {MOST_STATES} states, and {keyword('beam', width)} asks for more. "
                    f"Pass fewer, or {keyword('device', 'cpu')}."
                )
            require_memory(columns, width, lambda p, width: bytes_on_device(settings.method, rows, p, width))
            return
        require_fit(columns, settings.method)
        limit = settings.running.time_limit
        # A decomposition cannot be interrupted, so one that is bound to outlast the limit does not begin.
        if limit is not None and seconds_of_moments(rows, columns, self._threads) > limit:
            raise OutOfTime
        self._announce(rows, columns)

    def _announce(self, rows: int, columns: int) -> None:
        """Say what to expect of a long run, and warn of one that takes hours."""
        settings, threads = self._settings, self._threads
        expected = estimate(rows, columns, settings, threads)
        if expected.seconds >= costs.SECONDS_WORTH_ANNOUNCING:
            logger.info(str(expected))
            self._say(str(expected))
        running = settings.running
        asked_for = running.time_limit is not None or running.search_for is not None
        if expected.seconds < costs.SECONDS_WORTH_WARNING or asked_for or running.device != "cpu":
            return
        most = columns
        while most > 1 and estimate(rows, most, settings, threads).seconds > costs.SECONDS_WORTH_WARNING:
            most = int(0.95 * most)
        until_first = sum(until_order(settings.method, settings.estimation, rows, columns, threads).values())
        in_time = f"Pass {keyword('time_limit', 3600)} for the best order found within an hour, or choose"
        advice = in_time if until_first < costs.SECONDS_WORTH_WARNING else "Choose"
        warnings.warn(
            Message(
                f"The run is expected to take about {spoken(expected.seconds)}. {advice} {keyword('columns', ...)}: "
                f"about {most} columns take an hour."
            ),
            LongRunWarning,
            stacklevel=2,
        )

    def _require_patience(self, rows: int, columns: int) -> None:
        """Raise for an estimator that would take hours."""
        settings = self._settings
        chosen = settings.estimation.chosen(rows, columns, any_rows=settings.method.any_rows)
        removals = settings.method.by_columns

        def seconds(estimator: Estimator, columns: int) -> float:
            return estimator.seconds(columns, self._threads, removals=removals)

        if seconds(chosen, columns) > tuning.MOST_SECONDS_OF_ESTIMATE:
            most = columns
            while seconds(chosen, most) > tuning.MOST_SECONDS_OF_ESTIMATE:
                most = int(0.9 * most)
            raise OptionError(
                f"{keyword('precision', chosen.name)} would take about {spoken(seconds(chosen, columns))} for "
                f"{columns} columns. Pass {keyword('precision', 'nodewise')}, which takes about "
                f"{spoken(seconds(Nodewise(), columns))}, or at most {most} columns."
            )


def bytes_on_device(method: Method, rows: int, p: int, width: int) -> float:
    """Return the most device memory that is in use at a time: for the moments, or for the elimination.

    The elimination keeps the factor of the data, to start afresh from; a search that looks ahead copies the state.
    """
    engines = 2 if method.looks_ahead else 1
    elimination = 8.0 * p * p + engines * bytes_of_engine(p) + bytes_of_states(p, width)
    return max(bytes_of_moments(rows, p), elimination)


def estimate(rows: int, columns: int, settings: Settings, threads: int = 1) -> Estimate:
    """Return what `rfdag.learn` is expected to take for data of this size, on the CPU; right to a factor of a few.

    How long a search and its refinement last depends on the data. The estimate is for sparse graphs; a dense one takes
    several times as long.

    Examples
    --------
    >>> small = estimate(1000, 100, Settings())
    >>> large = estimate(10_000, 1000, Settings())
    >>> small.seconds < large.seconds and small.bytes < large.bytes
    True
    """
    method = settings.method
    matrix = 8.0 * columns**2
    if method.in_clusters(rows, columns, settings.estimation, settings.running.device):
        return _estimate_of_clusters(rows, columns, settings, threads)
    scoring = matrices_of(method, columns) * matrix
    eliminating = costs.MATRICES_OF_ELIMINATION * matrix
    parts = [
        Part("moments", 4 * matrix, seconds_of_moments(rows, columns, threads)),
        Part("precision", eliminating, seconds_of_inverse(columns, threads)),
    ]
    chosen = settings.estimation.chosen(rows, columns, any_rows=method.any_rows)
    estimating = on_this_machine(chosen.seconds(columns, threads, removals=method.by_columns))
    if estimating:
        parts.append(Part(chosen.name, eliminating, estimating))
    if method.solves(columns):
        parts.append(Part("all sets", bytes_of_all_sets(columns), seconds_of_all_sets(columns, threads)))
    elif method.beam_width:
        states, most = _states(columns, method)
        parts.append(Part("beams", scoring + bytes_of_beam(columns, most), seconds_of_beams(columns, states, threads)))
    else:
        seconds = method.eliminations * seconds_of_elimination(columns, threads)
        parts.append(Part("elimination", eliminating, seconds))
    if method.replays and not method.narrows(columns):
        seconds = seconds_of_finishing(columns, replayed=True, scored=False)
        parts.append(Part("recording", eliminating, seconds))
    match method.proves_by(columns):
        case "all sets":
            parts.append(Part("proof", bytes_of_all_sets(columns), seconds_of_all_sets(columns, threads)))
        case "branch and bound":
            parts.append(Part("proof at most", tuning.SETS_ON_REQUEST * tuning.BYTES_PER_SET, seconds_of_proof()))
    if method.by_bic:
        seconds = (
            seconds_of_narrow_refinement(columns)
            if method.narrows(columns)
            else seconds_of_refinement(columns, method.refinements)
        )
        parts.append(Part("refinement", scoring, seconds))
    return Estimate(_within(parts, settings))


def _estimate_of_clusters(rows: int, columns: int, settings: Settings, threads: int) -> Estimate:
    """Return what a run is expected to take that begins in clusters."""
    taken = bytes_of_clusters(rows, columns, threads)
    parts = [
        Part("moments", 3 * 8.0 * min(rows, columns) * columns, seconds_of_moments(rows, columns, threads)),
        Part("clusters", taken, seconds_of_clusters(rows, columns, threads)),
        Part("refinement", taken, seconds_of_narrow_refinement(columns, min(rows, columns))),
    ]
    return Estimate(_within(parts, settings))


def bytes_of_clusters(rows: int, columns: int, threads: int) -> float:
    """Return the memory of a run that begins in clusters: three factors of the rows, lists and their correlations.

    Besides, each thread that searches clusters takes room of its own, which the process keeps.
    """
    few = columns >= tuning.LEAST_P_FOR_FEWEST_CANDIDATES
    numbers = costs.NUMBERS_PER_NARROWEST_COLUMN if few else costs.NUMBERS_PER_NARROW_COLUMN
    searching = max(1, min(threads, columns // tuning.CORE_OF_CLUSTER))
    return 8.0 * columns * (3 * min(rows, columns) + numbers) + costs.BYTES_PER_CLUSTER_SEARCHED * searching


def clusters_fit(rows: int, columns: int, threads: int) -> bool:
    """Return whether data of this size can be learnt from clusters on within the memory that is free."""
    needed = bytes_of_clusters(rows, columns, threads)
    return needed <= TRIFLE or needed <= available_memory()


def require_clusters(rows: int, columns: int, threads: int) -> None:
    """Raise unless data of this size can be learnt from clusters on."""
    if not clusters_fit(rows, columns, threads):
        free, needed = available_memory(), bytes_of_clusters(rows, columns, threads)
        raise OptionError(
            f"{columns} columns need about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free: enough "
            f"for about {int(columns * free / needed)} columns. Pass fewer columns, or {keyword('blocks', True)} for "
            "columns that fall into groups."
        )


def _within(parts: Sequence[Part], settings: Settings) -> tuple[Part, ...]:
    """Return the parts of a run as they are cut or prolonged by the time that the user asks for."""
    longest = settings.running.search_for or 0.0
    if parts[-1].name == "refinement":
        last = parts[-1]
        rest = longest - sum(part.seconds for part in parts[:-1])
        parts = [*parts[:-1], replace(last, seconds=max(last.seconds, rest))]
    left = math.inf if settings.running.time_limit is None else settings.running.time_limit
    cut = []
    for part in parts:
        cut.append(replace(part, seconds=min(part.seconds, left)))
        left -= cut[-1].seconds
    return tuple(cut)


def matrices_of(method: Method, columns: int) -> int:
    """Return how many matrices of p × p doubles a method needs at least for so many columns."""
    if not method.by_bic:
        return costs.MATRICES_OF_ELIMINATION
    return costs.MATRICES_OF_ELIMINATION + (1 if method.narrows(columns) else costs.MATRICES_OF_SCORED_ORDER)


def fits(columns: int, method: Method) -> bool:
    """Return whether so many columns can be learnt as a whole within the memory that is free."""
    needed = 8.0 * matrices_of(method, columns) * columns**2
    return needed <= TRIFLE or needed <= available_memory()


def most_columns(method: Method, columns: int) -> int:
    """Return how many columns, up to those given, can be learnt as a whole within the memory that is free."""
    return int(math.sqrt(available_memory() / (8.0 * matrices_of(method, columns))))


def require_fit(columns: int, method: Method) -> None:
    """Raise unless so many columns can be learnt within the memory that is free."""
    if not fits(columns, method):
        free, most = available_memory(), most_columns(method, columns)
        needed = 8.0 * matrices_of(method, columns) * columns**2
        cures = [f"{keyword('blocks', True)} for columns that fall into groups", f"at most {most} columns"]
        if method.by_bic and 8.0 * costs.MATRICES_OF_ELIMINATION * columns**2 <= free:
            cures.insert(0, f"{keyword('method', 'rfd')} without refinement")
        raise OptionError(
            f"{columns} columns need about {needed / 1e9:.1f} GB of memory, {matrices_of(method, columns)} matrices of "
            f"all pairs, and {free / 1e9:.1f} GB are free: enough for {most} columns. Use {', '.join(cures)}, or a "
            f"sparse precision matrix with {keyword('input', 'precision')}."
        )
    if method.beam_width:
        require_beam(columns, _first_beam(columns, method))


def _first_beam(columns: int, method: Method) -> int:
    """Return how many states the first beams over so many columns hold."""
    return first_width(columns, stepwise=False) if method.widens else method.beam_width


def _states(columns: int, method: Method) -> tuple[int, int]:
    """Return how many states all beams follow one after the other, and how many are in memory at the same time."""
    side_by_side = len(tuning.DENSE_SETTINGS) if columns < tuning.HUGE_P else 1
    width = _first_beam(columns, method)
    states, most = side_by_side * width, width
    if beam_fits(columns, side_by_side * width):
        most = side_by_side * width
    wider = tuning.BEAM_GROWTH * width
    # "auto" goes on to wider beams; a second round, of all settings but one, is typical.
    if method.widens and wider * columns**2 <= tuning.MOST_BEAM_ENTRIES and beam_fits(columns, wider):
        states += (side_by_side - 1) * wider
        most = max(most, (side_by_side - 1) * wider)
    return states, most
