"""The harness: every contender on the same data, each call in a process of its own with a time limit."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import OptionError
from rfdag.graphs.dag import Graph
from rfdag.runtime.progress import Progress
from rfdag.simulate.interventions import OBSERVATIONAL
from rfdag.studies.bench import contenders as contenders_
from rfdag.studies.bench import environments, rulers
from rfdag.studies.bench import interventional as interventional_
from rfdag.studies.bench import series as series_
from rfdag.studies.bench import typed as typed_
from rfdag.studies.bench.catalogue import CONTENDERS, AnyContender, AnyDrawn, AnyWorkload, serves
from rfdag.studies.bench.cells import Cell, Key, Ledger, scored, scored_in_environments
from rfdag.studies.bench.contenders import TUNED
from rfdag.studies.bench.interventional import Experiment, InterventionalContender, Targets
from rfdag.studies.bench.interventional_workloads import InterventionalDrawn
from rfdag.studies.bench.processes import LONGEST_START, end_group, running, wait
from rfdag.studies.bench.typed import TypedContender
from rfdag.studies.bench.typed_workloads import TypedDrawn
from rfdag.version import own_version

Floats = NDArray[np.float64]

PROGRAM = Path(contenders_.__file__)
TYPED_PROGRAM = Path(typed_.__file__)
INTERVENTIONAL_PROGRAM = Path(interventional_.__file__)
LONGEST_MESSAGE = 80
GAP = 1e9
"""What stands for a missing value in a digest."""

SERIES = Path(series_.__file__)
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a series: several may run side by side, and a fork keeps only the thread that made it."""


class Late(NamedTuple):
    """A call that was ended by the time limit."""

    reason: str
    run: bool = True
    """Whether it was begun at all; an earlier call of the series may have shown that it would be late."""


class Failed(NamedTuple):
    """A call that ended by itself, without an answer."""

    reason: str


Outcome = tuple[Graph, float] | Late | Failed
"""A graph and the seconds it took, or why there is none."""

ExperimentOutcome = tuple[Graph, float, Targets | None] | Late | Failed
"""The same of a run on several environments, with the targets of a contender that finds them."""


@dataclass(frozen=True)
class Settings:
    """How a comparison is run."""

    limit: float = 120.0
    """Seconds for a call, not counting what comes before it."""
    seed: int = 1000
    graphs: int | None = None
    """Graphs of each workload; None leaves it to the workload."""
    peers: Path = environments.FOLDER
    """Folder of the peers' environments."""
    fresh: bool = True
    """Whether cells that the ledger lacks are run.

    Otherwise they are left out, and peers that are not installed take part with the cells that the ledger has of the
    version that `rfdag bench --setup` would install.
    """


def chosen(names: Iterable[str] | None, group: str = "") -> list[AnyContender]:
    """Return the contenders of that name or environment that are for a group of workloads; all of these for None.

    A contender that is named itself need not be for that group.

    >>> [contender.name for contender in chosen(["flopsearch", "ges"])]
    ['flop-0', 'flop-20', 'ges']
    >>> [contender.name for contender in chosen(["flopsearch"], "small")]
    ['flop-0', 'flop-20', 'flop-20-penalty-1']
    """
    usual = [contender for contender in CONTENDERS.values() if serves(contender, group)]
    if names is None:
        return usual
    found: dict[str, AnyContender] = {}
    homes = {each.home for each in CONTENDERS.values()}
    for name in names:
        of_name = [CONTENDERS[name]] if name in CONTENDERS else [each for each in usual if each.home == name]
        if name not in CONTENDERS and name not in homes:
            raise OptionError(f"There is no contender {name!r}. Known are {', '.join(CONTENDERS)}.")
        found |= {contender.name: contender for contender in of_name}
    return list(found.values())


def missing(contenders: Iterable[AnyContender], peers: Path) -> list[AnyContender]:
    """Return the contenders whose environment has not been made."""
    return [each for each in contenders if environments.version_of(each.package, each.home, peers) is None]


def compare(
    workloads: Sequence[AnyWorkload],
    names: Iterable[str] | None,
    settings: Settings,
    ledger: Ledger,
    progress: Progress,
    done: Callable[[AnyWorkload, list[Cell]], None] = lambda workload, cells: None,
) -> dict[str, list[Cell]]:
    """Run contenders on every graph of every workload; return the cells by workload.

    Without ``names``, all contenders run, those for one group of workloads only there. Those without an environment are
    not run. Cells that the ledger has are not run again. ``done`` is called after each workload.
    """
    found: dict[str, list[Cell]] = {}
    plan = []
    for workload in workloads:
        wanted = chosen(names, workload.group)
        absent = missing(wanted, settings.peers) if settings.fresh else []
        plan.append((workload, [contender for contender in wanted if contender not in absent]))
    total = sum((settings.graphs or workload.graphs) * len(present) for workload, present in plan)
    taken = 0
    for workload, present in plan:
        cells: list[Cell] = []
        # A contender that was too slow once is not waited for again.
        slow: set[str] = set()
        for graph in range(settings.graphs or workload.graphs):
            drawn = workload.draw(settings.seed, graph)
            for contender in present:
                progress.stage(f"{workload.name}: {contender.name}")(taken / total)
                taken += 1
                if contender.name in slow:
                    continue
                cell = _cell(workload, graph, contender, drawn, settings, ledger)
                if cell is not None:
                    cells.append(cell)
                    if cell.late:
                        slow.add(contender.name)
            cells += _ruler_cells(workload, graph, drawn, settings, ledger)
        found[workload.name] = cells
        done(workload, cells)
    return found


def _cell(
    workload: AnyWorkload, graph: int, contender: AnyContender, drawn: AnyDrawn, settings: Settings, ledger: Ledger
) -> Cell | None:
    version = environments.version_of(contender.package, contender.home, settings.peers)
    if version is None:
        version = environments.requirements(contender.home)[contender.package]
    key = Key(workload.name, settings.seed, graph, contender.name, version, digest(drawn.rows))
    cell = ledger.find(key, settings.limit)
    if cell is None and settings.fresh:
        cell = _made(key, contender, drawn, settings)
        ledger.add(cell)
    return cell


def _made(key: Key, contender: AnyContender, drawn: AnyDrawn, settings: Settings) -> Cell:
    """Run a contender; return its cell."""
    python = environments.python_of(contender.home, settings.peers)
    command = [str(python), "-P", *_program(contender, drawn)]
    answer: Outcome | ExperimentOutcome
    if isinstance(contender, InterventionalContender):
        answer = run_on_environments(command, _experiment(drawn), settings.limit)
    else:
        answer = run(command, drawn.rows, settings.limit)
    if isinstance(answer, Late | Failed):
        return Cell(key, settings.limit, failure=answer.reason, late=isinstance(answer, Late))
    graph, seconds, *rest = answer
    if isinstance(drawn, InterventionalDrawn):
        return scored_in_environments(key, settings.limit, graph, rest[0] if rest else None, drawn, seconds)
    return scored(key, settings.limit, graph, _numbers(drawn), drawn.true, seconds)


def _experiment(drawn: AnyDrawn) -> Experiment:
    """Return data as those of several environments; other data are all observational."""
    if isinstance(drawn, InterventionalDrawn):
        return drawn.experiment
    return Experiment(drawn.rows, [OBSERVATIONAL] * len(drawn.rows), {OBSERVATIONAL: ()})


def _program(contender: AnyContender, drawn: AnyDrawn) -> list[str]:
    """Return the program and the words by which it runs a contender; those of typed ones name the categories."""
    if isinstance(contender, InterventionalContender):
        return [str(INTERVENTIONAL_PROGRAM), contender.name]
    if not isinstance(contender, TypedContender):
        return [str(PROGRAM), contender.name]
    columns = np.flatnonzero(drawn.categorical).tolist() if isinstance(drawn, TypedDrawn) else []
    return [str(TYPED_PROGRAM), contender.name, ",".join(map(str, columns))]


def _numbers(drawn: AnyDrawn) -> Floats | None:
    """Return the rows if all columns are numbers and nothing is missing."""
    if isinstance(drawn, TypedDrawn) and (drawn.categorical.any() or np.isnan(drawn.rows).any()):
        return None
    return drawn.rows


def _ruler_cells(workload: AnyWorkload, graph: int, drawn: AnyDrawn, settings: Settings, ledger: Ledger) -> list[Cell]:
    data, rows = digest(drawn.rows), _numbers(drawn)
    if isinstance(drawn, InterventionalDrawn):
        names = rulers.names_in_environments(len(drawn.true))
    else:
        names = rulers.names(drawn.true, numbers=rows is not None)
    keys = {name: Key(workload.name, settings.seed, graph, name, own_version(), data) for name in names}
    cells = {name: ledger.find(key, settings.limit) for name, key in keys.items()}
    if settings.fresh and None in cells.values():
        for name, ruler in _rulers(drawn).items():
            if cells[name] is None:
                if isinstance(drawn, InterventionalDrawn):
                    cell = scored_in_environments(keys[name], settings.limit, ruler, None, drawn, None)
                else:
                    cell = scored(keys[name], settings.limit, ruler, rows, drawn.true, None)
                cells[name] = cell
                ledger.add(cell)
    return [cell for cell in cells.values() if cell is not None]


def _rulers(drawn: AnyDrawn) -> dict[str, Graph]:
    if isinstance(drawn, InterventionalDrawn):
        return rulers.lay_in_environments(drawn.experiment, drawn.true)
    return rulers.lay(drawn.rows, drawn.true, numbers=_numbers(drawn) is not None)


def digest(rows: Floats) -> str:
    """Return a few letters that tell one standardised data set from another, the same ones on every machine.

    Simulated rows differ in their last bits from one BLAS library or processor to another, so they are rounded first.
    """
    filled = np.nan_to_num(np.ascontiguousarray(rows), nan=GAP)
    millionths = np.rint(filled * 1e6).astype(np.int64)
    return hashlib.sha256(millionths.tobytes()).hexdigest()[:12]


def run(
    command: Sequence[str], rows: Floats, limit: float, environment: Mapping[str, str] = MappingProxyType({})
) -> Outcome:
    """Run a program of `contenders` on rows; return its graph and seconds, or what went wrong.

    ``command`` is completed by the files of the rows and of the answer, ``environment`` goes on top of this process's
    own. When time is up, the process and all that it started are ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        ended = _carried_out(command, rows, limit, Path(folder), environment)
        return ended if isinstance(ended, Late | Failed) else _answer(ended)


def run_on_environments(command: Sequence[str], experiment: Experiment, limit: float) -> ExperimentOutcome:
    """Run a program of `interventional` on the rows of several environments, as `run` does."""
    labels = list(experiment.targets)
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / interventional_.BESIDE
        beside.write_text(json.dumps({"labels": experiment.labels, "targets": experiment.targets}), encoding="utf-8")
        ended = _carried_out(command, experiment.rows, limit, Path(folder))
        if isinstance(ended, Late | Failed):
            return ended
        with np.load(ended) as answer:
            found = interventional_.from_pairs(answer["targets"], labels) if "targets" in answer else None
        return *_answer(ended), found


def _carried_out(
    command: Sequence[str],
    rows: Floats,
    limit: float,
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Path | Late | Failed:
    """Run a program in a folder; return the file of its answer, or what went wrong."""
    source, target, log = (folder / name for name in ("rows.npy", "answer.npz", "log.txt"))
    np.save(source, rows)
    with running([*command, str(source), str(target)], log, environment) as process:
        problem = wait(process, Path(f"{target}.started"), limit)
    if problem:
        return Late(problem)
    return target if target.exists() else Failed(_last_line(log, process.returncode))


def series(
    calls: Sequence[tuple[str, float]],
    rows: Floats,
    limit: float,
    peers: Path = environments.FOLDER,
    *,
    stop_when_late: bool = False,
) -> list[Outcome]:
    """Make calls of tuned contenders, by name and value, on the same rows; return their outcomes in that order.

    An environment is started once for all of its calls; each has a process, one thread and a time limit of its own.
    With ``stop_when_late`` a contender that was late is not tried at the values that come after: give them from sparse
    to dense.
    """
    make = _made_in_one_start if hasattr(os, "fork") else _made_one_by_one
    outcomes: dict[int, Outcome] = {}
    for home in dict.fromkeys(TUNED[name].home for name, _ in calls):
        python = environments.python_of(home, peers)
        if python is None:
            raise OptionError(f"{peers} has no environment of {home}; `rfdag bench --setup` makes it.")
        places = [place for place, (name, _) in enumerate(calls) if TUNED[name].home == home]
        found = make(str(python), [calls[place] for place in places], rows, limit, stop_when_late)
        outcomes |= zip(places, found, strict=True)
    return [outcomes[place] for place in range(len(calls))]


def _made_in_one_start(
    python: str, calls: Sequence[tuple[str, float]], rows: Floats, limit: float, stop_when_late: bool
) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        orders, source, log = (folder / name for name in ("calls.json", "rows.npy", "log.txt"))
        np.save(source, rows)
        order = {"calls": calls, "limit": limit, "stop_when_late": stop_when_late, "starter": os.getpid()}
        orders.write_text(json.dumps(order))
        # The limit of the whole is only for a series that hangs.
        longest = len(calls) * (limit + LONGEST_START)
        try:
            with running([python, "-P", str(SERIES), str(orders), str(source), name], log, ONE_THREAD) as process:
                problem = wait(process, folder / "started", longest)
        finally:
            end_group(series_.group_file(folder))
        otherwise = Late(problem) if problem else Failed(_last_line(log, process.returncode))
        return [_outcome(folder / str(number), limit) or otherwise for number in range(len(calls))]


def _made_one_by_one(
    python: str, calls: Sequence[tuple[str, float]], rows: Floats, limit: float, stop_when_late: bool
) -> list[Outcome]:
    """Make the calls where processes cannot fork: each pays for a start."""
    outcomes: list[Outcome] = []
    late: set[str] = set()
    for name, value in calls:
        if stop_when_late and name in late:
            outcomes.append(_not_run(limit))
            continue
        outcomes.append(run([python, "-P", str(PROGRAM), f"{name}={value}"], rows, limit, ONE_THREAD))
        if isinstance(outcomes[-1], Late):
            late.add(name)
    return outcomes


def _outcome(stem: Path, limit: float) -> Outcome | None:
    """Return what a call of a series has left in files of that stem; None if it was never made."""
    status = Path(f"{stem}.status")
    if not status.exists():
        return None
    ended = status.read_text(encoding="utf-8")
    if ended == series_.NOT_RUN:
        return _not_run(limit)
    answer = Path(f"{stem}.npz")
    if answer.exists():
        return _answer(answer)
    return Late(f"over {limit:g} s") if ended == series_.LATE else Failed(_last_line(Path(f"{stem}.txt"), int(ended)))


def _not_run(limit: float) -> Late:
    return Late(f"not run: over {limit:g} s before", run=False)


def _answer(path: Path) -> tuple[Graph, float]:
    with np.load(path) as answer:
        return answer["graph"].astype(np.int8), float(answer["seconds"])


def _last_line(log: Path, status: int) -> str:
    if status < 0:
        return f"ended by signal {-status}"
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    message = lines[-1] if lines else f"ended with status {status}"
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
