"""The same search on resampled rows, many times: how much of a result is due to the sample."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rfdag.bootstrapping.drawing import Drawable, drawable
from rfdag.bootstrapping.edge_lists import edge_matrix, reached
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.bootstrapping.resampling import DRAWS, Sampling, unfit_error
from rfdag.errors import (
    DataError,
    FileError,
    MatrixError,
    NumericalError,
    NumericalWarning,
    OptionError,
    keyword,
)
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.gpu import placed
from rfdag.evidence.moments import Moments
from rfdag.input.description import Description
from rfdag.input.reading import in_memory
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.knowledge.constraints import Constraints
from rfdag.knowledge.orientation import oriented_class
from rfdag.learning import learn
from rfdag.methods.found import OUT_OF_TIME
from rfdag.methods.found import Found as Learnt
from rfdag.methods.method import Method
from rfdag.methods.run import Run
from rfdag.methods.settings import Running, Settings
from rfdag.methods.timing import Schedule
from rfdag.methods.warnings import naming_lost_precision
from rfdag.options import documented_by
from rfdag.orders import tuning
from rfdag.precision.estimation import Estimation
from rfdag.result import Result
from rfdag.runtime.compilation import announce
from rfdag.runtime.device import reporting_problems
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress
from rfdag.runtime.randomness import seed_from
from rfdag.runtime.threads import thread_count
from rfdag.runtime.workers import outcomes
from rfdag.values import path_of

UNFIT = (DataError, MatrixError, NumericalError)
"""Errors that the drawn rows may cause, and that another draw may avoid."""

JOURNAL = "runs.jsonl"
"""The file in a folder that keeps the runs."""

Found = dict[str, Any]
"""What a run found, as JSON holds it: ``directed`` and ``undirected`` edges of its equivalence class, ``order``."""


@documented_by(Sampling)
def bootstrap(
    data: Any,
    runs: int = 200,
    *,
    method: str | Method | None = None,
    sampling: Literal["resample", "subsample"] = "resample",
    share: float | None = None,
    corrected: bool = True,
    names: Sequence[Hashable] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    description: Description | None = None,
    estimation: Estimation | None = None,
    time_limit: float | None = None,
    search_for: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    device: Literal["cpu", "cuda"] = "cpu",
    out: str | Path | None = None,
    progress: bool | Callable[[float], None] | None = None,
    **options: Any,
) -> Bootstrap:
    """Learn again from resampled rows, and count how often each edge, direction and ancestor is found.

    Parameters
    ----------
    data
        Rows × columns, as `rfdag.learn` takes them with input="data"; they are held in memory.
    runs
        How many times rows are drawn.
    method
        As in `rfdag.learn`, for the plain run and all others. Unless ``beam`` or a method object is given, method
        "soft" uses beams of width 8 in all runs but the plain one: as orders are refined afterwards, wider beams seldom
        find better ones, and this halves the time.
    sampling
        {sampling}
    share
        {share}
    corrected
        {corrected}
    names
        As in `rfdag.learn`.
    knowledge
        As in `rfdag.learn`.
    description
        As in `rfdag.learn`; data only.
    estimation
        As in `rfdag.learn`.
    time_limit
        As in `rfdag.learn`, for each run; answers then vary.
    search_for
        As in `rfdag.learn`, for each run; answers then vary.
    n_jobs
        How many runs are computed at once, each with one thread; None or −1 is one per core. With None, an active
        ``joblib.parallel_config`` for more than one job takes precedence, as in ``with parallel_config("dask"):`` for
        a cluster.
    random_state
        Seed from which each run derives its own: a run depends neither on the number of runs nor on the process that
        computes it. None is 0 for the draws. The plain run uses it as `rfdag.learn` does.
    device
        As in `rfdag.learn`.
    out
        A folder in which every run is saved as soon as it is complete. The same call resumes from there, with more runs
        if you ask for more; runs of other data, options or versions stay there and are not used.
    progress
        As in `rfdag.learn`.
    **options
        Options of the method, the description and the estimation, as in `rfdag.learn`. (Pass ``runs`` of method "gsp"
        in the method: ``method=rfdag.Gsp(runs=5)``.)

    Returns
    -------
    Bootstrap
        Frequencies of edges, directions and ancestors, the place of each variable, and a consensus DAG.

    Examples
    --------
    >>> import rfdag
    >>> sem = rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1)
    >>> rows = rfdag.simulate.sample(sem, 300, rng=2)
    >>> found = rfdag.bootstrap(rows, runs=20, n_jobs=1, names=["rain", "sprinkler", "wet"])
    >>> float(found.edge_frequency[0, 2])
    1.0
    >>> found.consensus(threshold=0.5)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)

    References
    ----------
    N. Friedman, M. Goldszmidt, A. Wyner: Data analysis with Bayesian networks: a bootstrap approach, 1999.
    H. Steck, T. Jaakkola: Bias-corrected bootstrap and model uncertainty, 2003.
    N. Meinshausen, P. Bühlmann: Stability selection, 2010.
    """
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < 1:
        raise OptionError(
            f"{keyword('runs')} is how many times rows are drawn, a whole number of at least 1, not {runs!r}."
        )
    drawn = Sampling(sampling=sampling, share=share, corrected=corrected)
    running = Running(time_limit=time_limit, search_for=search_for, random_state=seed_from(random_state), device=device)
    asked = Settings.gathered(method, description=description, estimation=estimation, running=running, options=options)
    plain = _of_rows(asked)
    as_given = isinstance(method, Method) or "beam" in options
    jobs = thread_count(n_jobs)
    table = in_memory(data, names, plain.description, gaps=True)
    rows, columns = table.values.shape
    # The best DAG of few variables takes no longer than narrow beams.
    solved = plain.method.solves(columns) and columns <= tuning.LARGEST_P_FOR_EXACT_RUNS
    settings = plain if as_given or solved else _with_narrow_beams(plain)
    drawn.require(rows, columns, settings)
    with Progress(progress) as bar:
        announce((Moments.kernel, *plain.method.own_kernels(columns).kernels), bar.compiling)
        bar.stage("Learning from all rows")
        result = learn(
            table,
            plain.method,
            description=plain.description.once_read(),
            knowledge=knowledge,
            estimation=plain.estimation,
            time_limit=time_limit,
            search_for=search_for,
            n_jobs=jobs,
            random_state=running.random_state,
            device=device,
            progress=False,
        )
        _raise_if_interrupted(result)
        table = table.only([table.names.index(name) for name in result.names])
        # The table was read already; the result says how.
        rows_of_runs = drawable(table, result, settings)
        result = replace(result, settings=asked, regressions=result._regressions)
        plan = _Plan(table.names, drawn, running.random_state or 0, settings, result.knowledge)
        todo = _Todo.of(plan, table, int(runs), out)
        report = bar.stage("Learning from resampled rows", done=len(todo.found) / runs)
        report(len(todo.found) / runs)
        for number, found in _found(plan, rows_of_runs, todo.numbers, n_jobs):
            todo.keep(number, found)
            report(len(todo.found) / runs)
    return _counted([todo.found[number] for number in range(runs)], plan, result)


def _of_rows(settings: Settings) -> Settings:
    """Return the settings of the plain run; raise for input without rows, and for blocks: frequencies are p × p."""
    kind = settings.description.input
    if kind != "data":
        raise OptionError(
            f"A bootstrap draws rows, and {keyword('input', kind)} has none. Pass data, one row per sample."
        )
    if settings.estimation.test is not None:
        raise OptionError(
            f"A bootstrap learns from moments of drawn rows, and a test needs the rows themselves: leave "
            f"{keyword('test')} out, or draw rows yourself and learn from each draw."
        )
    if settings.estimation.blocks is True:
        raise OptionError(f"A bootstrap counts all pairs of columns; leave {keyword('blocks', True)} out.")
    return replace(settings, estimation=replace(settings.estimation, blocks=False))


def _with_narrow_beams(settings: Settings) -> Settings:
    """Return the settings of the resampled runs: those of the plain run with narrow beams."""
    return replace(settings, method=settings.method.with_beam(settings.method.beam_width))


@dataclass(frozen=True)
class _Plan:
    """Everything that the runs have in common, except the rows."""

    names: tuple[Hashable, ...]
    sampling: Sampling
    seed: int
    settings: Settings
    knowledge: Knowledge | None

    def run(self, rows: Drawable, number: int) -> Found:
        """Draw rows, learn from them, and return what was found.

        Columns are shuffled, so that ties are broken at random in every run, and not by the place of a column in the
        table.
        """
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        columns = generator.permutation(len(self.names))
        known = (self.knowledge or Knowledge()).constraints([self.names[at] for at in columns])
        constraints = known if self.knowledge else None
        for draw in range(DRAWS):
            try:
                evidence = rows.drawn(columns, self.sampling, generator)
                learnt = self._learn(evidence, constraints, generator)
                break
            except UNFIT:
                # The plain run succeeded, so these rows are the problem: too few distinct ones, for example.
                if draw == DRAWS - 1:
                    raise
        place = np.argsort(columns)
        names = [self.names[at] for at in columns]
        revealed = [] if learnt.interventions is None else learnt.interventions.revealed_edges(learnt.dag, names)
        classes = oriented_class(learnt.dag, constraints, revealed)
        classes = classes[np.ix_(place, place)]
        # A random order that fits the DAG and the knowledge, so that undetermined places are spread evenly.
        preferred = generator.permutation(len(self.names))
        order = columns[known.arrange(place[preferred], learnt.dag)]
        return {
            "directed": np.argwhere(classes == 1).tolist(),
            "undirected": np.argwhere(np.triu(classes == 2)).tolist(),
            "order": order.tolist(),
        }

    def _learn(self, moments: Evidence, constraints: Constraints | None, generator: np.random.Generator) -> Learnt:
        method, running = self.settings.method, self.settings.running
        bar = Progress(False)
        schedule = Schedule(self.settings, 1, bar)
        schedule.learn_size(moments.n_samples, len(moments.names))
        run = Run(
            estimation=self.settings.estimation,
            knowledge=self.knowledge,
            constraints=constraints,
            random_state=int(generator.integers(2**31)),
            device=running.device,
            deadline=schedule.limit,
            limit=schedule.limit,
            until=schedule.until,
            bar=bar,
        )
        assert moments.n_samples is not None
        method.require_rows(moments.n_samples, len(moments.names), run.estimation)
        with reporting_problems(running.device), naming_lost_precision(moments), schedule.kept():
            learnt = placed(moments, running.device).learn(method, run)
        _raise_if_interrupted(learnt)
        return learnt


def _raise_if_interrupted(found: Learnt | Result) -> None:
    """Raise if the user interrupted a search: its best result so far must not be counted or built on."""
    if found.interrupted and OUT_OF_TIME not in found.warnings:
        raise KeyboardInterrupt


def _found(plan: _Plan, rows: Drawable, numbers: Sequence[int], n_jobs: int | None) -> Iterator[tuple[int, Found]]:
    """Compute these runs of a plan in parallel, and yield each with what it found, as they complete."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    if not numbers:
        return
    configured = n_jobs is None and get_active_backend()[1] not in (None, 1)
    parallel = Parallel(
        n_jobs=None if configured else thread_count(n_jobs),
        return_as="generator_unordered",
        # A batch of one: a run is saved when it completes, not when others of its batch do.
        batch_size=1,
        # Bytes from which processes share the rows in a file instead of receiving them with every run.
        max_nbytes=10_000,
    )
    yield from outcomes(parallel(delayed(_run)(plan, rows, number) for number in numbers))


def _run(plan: _Plan, rows: Drawable, number: int) -> tuple[int, Found]:
    from threadpoolctl import threadpool_limits

    # There are already as many runs at once as cores.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        try:
            return number, plan.run(rows, number)
        except UNFIT as problem:
            raise unfit_error(problem, number) from None


@dataclass(frozen=True)
class _Todo:
    """The runs already done, those still to do, and the journal that saves them, if there is one."""

    found: dict[int, Found]
    numbers: list[int]
    mark: str = ""
    journal: Journal | None = None

    @classmethod
    def of(cls, plan: _Plan, table: Table, runs: int, out: str | Path | None) -> _Todo:
        """Return what is left to do of this many runs of a plan, given those saved in a folder."""
        if out is None:
            return cls({}, list(range(runs)))
        about = _about(plan, table)
        mark = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        journal = Journal(path_of(out) / JOURNAL)
        entries = list(journal)
        for entry in entries:
            if not isinstance(entry.get("of"), str) or not ("about" in entry or "run" in entry):
                raise FileError(f"{journal.path} has lines that are not runs of a bootstrap; choose another folder.")
        mine = [entry for entry in entries if entry["of"] == mark]
        if not mine:
            journal.write({"of": mark, "about": about})
        found = {entry["run"]: entry["found"] for entry in mine if "run" in entry and entry["run"] < runs}
        return cls(found, [number for number in range(runs) if number not in found], mark, journal)

    def keep(self, number: int, found: Found) -> None:
        """Store what a run has found."""
        self.found[number] = found
        if self.journal is not None:
            self.journal.write({"of": self.mark, "run": number, "found": found})


def _about(plan: _Plan, table: Table) -> dict[str, Any]:
    """Return everything that the outcome of a run depends on, except its number."""
    from rfdag.version import own_version

    values = np.ascontiguousarray(table.values, np.float64)
    return {
        "data": hashlib.sha256(values.tobytes()).hexdigest(),
        "rows": len(values),
        "names": [repr(name) for name in table.names],
        "sampling": plan.sampling.to_dict(),
        "seed": plan.seed,
        "settings": plan.settings.to_dict(),
        "knowledge": repr(plan.knowledge),
        "version": own_version(),
        "packages": {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }


def _counted(found: Sequence[Found], plan: _Plan, result: Any) -> Bootstrap:
    """Count what the runs found."""
    p = len(plan.names)
    directed, undirected, ancestors = (np.zeros((p, p), np.int64) for _ in range(3))
    places = np.empty((len(found), p), np.int64)
    for at, each in enumerate(found):
        arrows = edge_matrix(each["directed"], p)
        directed += arrows
        lines = edge_matrix(each["undirected"], p)
        undirected += lines + lines.T
        ancestors += reached(arrows, each["order"])
        places[at, each["order"]] = np.arange(1, p + 1)
    return Bootstrap(result, len(found), plan.sampling, plan.seed, directed, undirected, ancestors, places)
