"""The same search on rows drawn anew, many times: how much of a result is the data's, and how much the draw's."""

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
from numpy.typing import NDArray

from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.bootstrapping.resampling import DRAWS, Sampling, drawn_moments, standardised
from rfdag.errors import DataError, FileError, MatrixError, NumericalError, NumericalWarning, OptionError, keyword
from rfdag.evidence.gpu import placed
from rfdag.evidence.moments import Floats, Moments
from rfdag.graphs.dag import Graph
from rfdag.input.description import Description
from rfdag.input.reading import in_memory
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.knowledge.constraints import Constraints
from rfdag.knowledge.orientation import oriented_class
from rfdag.learning import learn
from rfdag.methods.found import Found as Learnt
from rfdag.methods.method import Method
from rfdag.methods.run import Run
from rfdag.methods.settings import Running, Settings
from rfdag.methods.warnings import naming_lost_precision
from rfdag.options import documented_by
from rfdag.precision.estimation import Estimation
from rfdag.result import Result
from rfdag.runtime.compilation import announce
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.device import reporting_problems
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress
from rfdag.runtime.randomness import seed_from
from rfdag.runtime.threads import thread_count

UNFIT = (DataError, MatrixError, NumericalError)
"""Errors that rows may be the cause of, and other rows the cure."""

JOURNAL = "runs.jsonl"
"""The file in a folder that keeps the runs."""

Found = dict[str, Any]
"""What a run found, as JSON holds it: ``directed`` and ``undirected`` edges of its equivalence class, ``order``."""


@documented_by(Sampling)
def bootstrap(
    data: Any,
    runs: int = 200,
    *,
    method: str | Method = "soft",
    sampling: Literal["resample", "subsample"] = "resample",
    share: float | None = None,
    corrected: bool = True,
    names: Sequence[Hashable] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    description: Description | None = None,
    estimation: Estimation | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    device: Literal["cpu", "cuda"] = "cpu",
    out: str | Path | None = None,
    progress: bool | Callable[[float], None] | None = None,
    **options: Any,
) -> Bootstrap:
    """Learn again from rows drawn anew, and count how often each edge, direction and ancestor is found.

    Parameters
    ----------
    data
        Rows × columns, as `rfdag.learn` takes them with input="data"; they are held in memory.
    runs
        How many times rows are drawn.
    method
        As in `rfdag.learn`, for the plain run and all others. Unless ``beam`` or a method object is given, the runs of
        method "soft" but the plain one have beams of width 8 only: once orders are refined, wider ones seldom find
        better, and this saves half of the time.
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
    n_jobs
        How many runs at once, each with one thread; None or −1 is one per core. With None inside
        ``joblib.parallel_config`` for more than one job, that decides, as in ``with parallel_config("dask"):`` for a
        cluster.
    random_state
        Seed of all runs, each of which has its own: they depend neither on how many there are nor on which process runs
        them. None is 0 for the draws. The plain run gets it as `rfdag.learn` does.
    device
        As in `rfdag.learn`.
    out
        A folder that keeps every run as soon as it is complete. The same call goes on from there, with more runs if you
        ask for more; runs of other data, options or versions stay there and are not used.
    progress
        As in `rfdag.learn`.
    **options
        Options of the method, the description and the estimation, flat, as in `rfdag.learn`. (``runs`` of method "gsp"
        goes into the method: ``method=rfdag.Gsp(runs=5)``.)

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
    running = Running(time_limit=time_limit, random_state=seed_from(random_state), device=device)
    plain = _of_rows(
        Settings.gathered(method, description=description, estimation=estimation, running=running, options=options)
    )
    as_given = isinstance(method, Method) or "beam" in options
    settings = plain if as_given else _with_narrow_beams(plain)
    jobs = thread_count(n_jobs)
    table = in_memory(data, names, plain.description)
    rows, columns = table.values.shape
    drawn.require(rows, columns, settings)
    with Progress(progress) as bar:
        announce(Moments.kernel, bar.compiling)
        bar.stage("Learning from all rows")
        result = learn(
            table,
            plain.method,
            knowledge=knowledge,
            estimation=plain.estimation,
            time_limit=time_limit,
            n_jobs=jobs,
            random_state=running.random_state,
            device=device,
            progress=False,
        )
        _go_on_unless_interrupted(result)
        assert result.moments is not None
        plan = _Plan(table.names, drawn, running.random_state or 0, settings, result.knowledge)
        todo = _Todo.of(plan, table, int(runs), out)
        report = bar.stage("Learning from rows drawn anew")
        report(len(todo.found) / runs)
        for number, found in _found(plan, standardised(table.values, result.moments), todo.numbers, n_jobs):
            todo.keep(number, found)
            report(len(todo.found) / runs)
    return _counted([todo.found[number] for number in range(runs)], plan, result)


def _of_rows(settings: Settings) -> Settings:
    """Return the settings of the plain run; all go with data in memory, and frequencies are p × p matrices."""
    kind = settings.description.input
    if kind != "data":
        raise OptionError(
            f"A bootstrap draws rows, which {keyword('input', kind)} has none of; pass data, one row per sample."
        )
    if settings.estimation.blocks is True:
        raise OptionError(f"A bootstrap counts all pairs of columns; leave {keyword('blocks', True)} out.")
    return replace(settings, estimation=replace(settings.estimation, blocks=False))


def _with_narrow_beams(settings: Settings) -> Settings:
    """Return the settings of the runs: like those of the plain one, with narrow beams."""
    return replace(settings, method=settings.method.with_beam(settings.method.beam_width))


@dataclass(frozen=True)
class _Plan:
    """What all runs share, but for the rows."""

    names: tuple[Hashable, ...]
    sampling: Sampling
    seed: int
    settings: Settings
    knowledge: Knowledge | None

    def run(self, values: Floats, number: int) -> Found:
        """Draw rows, learn from them, and return what was found.

        Columns are shuffled, so that what ties are decided by is chance, in every run another, and not the place of a
        column in the table.
        """
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        columns = generator.permutation(len(self.names))
        demands = (self.knowledge or Knowledge()).constraints([self.names[at] for at in columns])
        constraints = demands if self.knowledge else None
        for draw in range(DRAWS):
            moments = drawn_moments(values, self.names, columns, self.sampling, generator)
            try:
                learnt = self._learn(moments, constraints, generator)
                break
            except UNFIT:
                # The plain run went well, so it is these rows that do not do: too few different ones, say.
                if draw == DRAWS - 1:
                    raise
        place = np.argsort(columns)
        classes = oriented_class(learnt.dag, constraints)
        classes = classes[np.ix_(place, place)]
        # Some order that fits the DAG and what is known, so that a place nothing decides is anywhere.
        wish = generator.permutation(len(self.names))
        order = columns[demands.arrange(place[wish], learnt.dag)]
        return {
            "directed": np.argwhere(classes == 1).tolist(),
            "undirected": np.argwhere(np.triu(classes == 2)).tolist(),
            "order": order.tolist(),
        }

    def _learn(self, moments: Moments, constraints: Constraints | None, generator: np.random.Generator) -> Learnt:
        method, running = self.settings.method, self.settings.running
        run = Run(
            estimation=self.settings.estimation,
            knowledge=self.knowledge,
            constraints=constraints,
            random_state=int(generator.integers(2**31)),
            device=running.device,
            deadline=Deadline.after(running.time_limit),
        )
        assert moments.n_samples is not None
        method.require_rows(moments.n_samples, len(moments.names), run.estimation)
        with reporting_problems(running.device), naming_lost_precision(moments):
            learnt = placed(moments, running.device).learn(method, run)
        _go_on_unless_interrupted(learnt)
        return learnt


def _go_on_unless_interrupted(found: Learnt | Result) -> None:
    """Raise if a search was interrupted: it returns the best it has, which must not be counted or gone on from."""
    if found.interrupted:
        raise KeyboardInterrupt


def _found(plan: _Plan, values: Floats, numbers: Sequence[int], n_jobs: int | None) -> Iterator[tuple[int, Found]]:
    """Run these numbers of a plan, side by side, and yield each with what it found, as they complete."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    if not numbers:
        return
    configured = n_jobs is None and get_active_backend()[1] not in (None, 1)
    side_by_side = Parallel(
        n_jobs=None if configured else thread_count(n_jobs),
        return_as="generator_unordered",
        # A batch of one: a run is to be kept when it completes, not when its neighbours do.
        batch_size=1,
        # Bytes from which processes share the rows in a file, rather than get them anew with every run.
        max_nbytes=10_000,
    )
    yield from side_by_side(delayed(_run)(plan, values, number) for number in numbers)


def _run(plan: _Plan, values: Floats, number: int) -> tuple[int, Found]:
    from threadpoolctl import threadpool_limits

    # As many runs go on at once as there are cores.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        try:
            return number, plan.run(values, number)
        except UNFIT as problem:
            raise type(problem)(
                f"{problem.message.template} This happened in run {number} of a bootstrap, with the rows that it "
                f"drew; a larger share of the rows ({keyword('sampling', 'subsample')}), or fewer columns, may help."
            ) from None


@dataclass(frozen=True)
class _Todo:
    """The runs that are known, those that are not, and the journal that keeps them, if there is one."""

    found: dict[int, Found]
    numbers: list[int]
    mark: str = ""
    journal: Journal | None = None

    @classmethod
    def of(cls, plan: _Plan, table: Table, runs: int, out: str | Path | None) -> _Todo:
        """Return what a folder does not hold yet of so many runs of a plan."""
        if out is None:
            return cls({}, list(range(runs)))
        about = _about(plan, table)
        mark = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        journal = Journal(Path(out).expanduser() / JOURNAL)
        entries = list(journal)
        for entry in entries:
            if not isinstance(entry.get("of"), str) or not ("about" in entry or "run" in entry):
                raise FileError(f"{journal.path} has lines that are no runs of a bootstrap; choose another folder.")
        mine = [entry for entry in entries if entry["of"] == mark]
        if not mine:
            journal.write({"of": mark, "about": about})
        found = {entry["run"]: entry["found"] for entry in mine if "run" in entry and entry["run"] < runs}
        return cls(found, [number for number in range(runs) if number not in found], mark, journal)

    def keep(self, number: int, found: Found) -> None:
        """Take in what a run has found."""
        self.found[number] = found
        if self.journal is not None:
            self.journal.write({"of": self.mark, "run": number, "found": found})


def _about(plan: _Plan, table: Table) -> dict[str, Any]:
    """Return all that the outcome of a run depends on, beside its number."""
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
        arrows = _matrix(each["directed"], p)
        directed += arrows
        lines = _matrix(each["undirected"], p)
        undirected += lines + lines.T
        ancestors += _reached(arrows, each["order"])
        places[at, each["order"]] = np.arange(1, p + 1)
    return Bootstrap(result, len(found), plan.sampling, plan.seed, directed, undirected, ancestors, places)


def _matrix(pairs: Sequence[Sequence[int]], p: int) -> Graph:
    matrix = np.zeros((p, p), np.int8)
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    matrix[sources, targets] = 1
    return matrix


def _reached(arrows: Graph, order: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether arrows lead from i to j, at (i, j), given an order that they follow."""
    reached = arrows.astype(bool)
    for node in reversed(order):
        reached[node] |= reached[arrows[node] == 1].any(axis=0)
    return reached
