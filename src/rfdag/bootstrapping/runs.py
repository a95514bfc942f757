"""The same search on rows drawn anew, many times: how much of a result is the data's, and how much the draw's."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.bootstrapping.resampling import DRAWS, Method, Sampling, drawn_moments, standardised
from rfdag.eliminate.kernels import dense as dense_kernels
from rfdag.errors import DataError, FileError, MatrixError, NumericalError, NumericalWarning, OptionError
from rfdag.evidence.moments import Floats, Moments
from rfdag.graphs.dag import Graph
from rfdag.input import reading as data_
from rfdag.input.table import Table
from rfdag.input.text import TextFormat
from rfdag.knowledge import Knowledge
from rfdag.knowledge.constraints import Constraints
from rfdag.knowledge.orientation import oriented_class
from rfdag.learning import learn
from rfdag.methods.on_gpu import problems_of
from rfdag.methods.searching import INTERRUPTED
from rfdag.methods.searching import Found as Learnt
from rfdag.methods.settings import Settings
from rfdag.methods.warnings import naming_lost_precision
from rfdag.methods.whole import learn_whole
from rfdag.orders.portfolio import NARROWEST
from rfdag.runtime.compilation import announce
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.journal import Journal
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import thread_count

UNFIT = (DataError, MatrixError, NumericalError)
"""Errors that rows may be the cause of, and other rows the cure."""

JOURNAL = "runs.jsonl"
"""The file in a folder that keeps the runs."""

Found = dict[str, Any]
"""What a run found, as JSON holds it: ``directed`` and ``undirected`` edges of its equivalence class, ``order``."""


def bootstrap(
    data: Any,
    runs: int = 200,
    *,
    method: Method = "resample",
    share: float | None = None,
    corrected: bool = True,
    random_state: int | None = None,
    n_jobs: int | None = None,
    out: str | Path | None = None,
    progress: bool | Callable[[float], None] | None = None,
    names: Sequence[Hashable] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
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
        "resample" draws as many rows as there are, with replacement: the usual bootstrap. "subsample" draws ``share``
        of them without replacement.
    share
        The part of the rows that a subsample has; ½ unless given.
    corrected
        Whether a resample counts for its effective number of rows, about half. False is the usual bootstrap, with which
        the BIC is too generous: rows that come twice look like evidence twice. A subsample has no row twice.
    random_state
        Seed of all runs, each of which has its own: they do not depend on how many there are, nor on who runs them.
        None is 0 for the draws. The plain run gets it as `rfdag.learn` does.
    n_jobs
        How many runs at once, each with one thread; None or −1 is one per core. With None inside
        ``joblib.parallel_config`` for more than one job, that decides, as in ``with parallel_config("dask"):`` for a
        cluster.
    out
        A folder that keeps every run as soon as it is complete. The same call goes on from there, with more runs if so
        wished; runs of other data, options or versions stay there and are not used.
    progress
        As in `rfdag.learn`.
    names
        As in `rfdag.learn`.
    delimiter
        As in `rfdag.learn`.
    decimal
        As in `rfdag.learn`.
    header
        As in `rfdag.learn`.
    **options
        Other options of `rfdag.learn`, for the plain run and all others. (``runs`` of rule "gsp" cannot be given.)
        Unless ``beam`` is given, runs of rule "soft" but the plain one have beams of width 8 only, which wider ones
        seldom better once orders are refined: that saves half of the time.

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
        raise OptionError(f"runs is how many times rows are drawn, a whole number of at least 1, not {runs!r}.")
    sampling = Sampling.of(method, share, corrected)
    settings, options = _checked(options)
    jobs = thread_count(n_jobs)
    table = data_.in_memory(data, names, TextFormat(delimiter, decimal, header))
    rows, columns = table.values.shape
    sampling.require(rows, columns, settings)
    with Progress(progress) as bar:
        announce(dense_kernels.marginalise, bar.compiling)
        bar.stage("Learning from all rows")
        result = learn(table, n_jobs=jobs, random_state=random_state, progress=False, **options)
        _go_on_unless_interrupted(result.warnings)
        assert result.moments is not None
        plan = _Plan(table.names, sampling, result.settings.random_state or 0, settings, result.knowledge)
        todo = _Todo.of(plan, table, int(runs), out)
        report = bar.stage("Learning from rows drawn anew")
        report(len(todo.found) / runs)
        for number, found in _found(plan, standardised(table.values, result.moments), todo.numbers, n_jobs):
            todo.keep(number, found)
            report(len(todo.found) / runs)
    return _counted([todo.found[number] for number in range(runs)], plan, result)


def _checked(options: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Return the settings of the runs and the options of the plain one; all go with data in memory.

    Frequencies are p × p matrices.
    """
    kind = options.get("input", "data")
    if kind != "data":
        raise OptionError(f"A bootstrap draws rows, which input={kind!r} has none of; pass data, one row per sample.")
    if options.get("precision", "auto") == "blocks":
        raise OptionError("A bootstrap counts all pairs of columns; leave precision='blocks' out.")
    if options.get("n_samples") is not None:
        raise OptionError("n_samples goes with a matrix of moments, and a bootstrap draws rows; leave it out.")
    known = {name: value for name, value in options.items() if name not in ("input", "n_samples")} | {
        "precision": "dense"
    }
    of_settings = {field.name for field in fields(Settings)}
    settings = Settings.checked(**{name: value for name, value in known.items() if name in of_settings})
    if settings.rule == "soft" and "beam" not in known:
        settings = replace(settings, beam=NARROWEST)
    return settings, known


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
        settings = replace(self.settings, random_state=int(generator.integers(2**31)))
        assert moments.n_samples is not None
        settings.require_rows(moments.n_samples, len(moments.names))
        deadline = Deadline.after(settings.time_limit)
        with problems_of(settings.device), naming_lost_precision(moments.names):
            learnt = learn_whole(moments, settings, 1, deadline, Progress(False), constraints)
        _go_on_unless_interrupted(learnt.notes)
        return learnt


def _go_on_unless_interrupted(notes: Sequence[str]) -> None:
    """Raise if a search was interrupted: it returns the best it has, which must not be counted or gone on from."""
    if INTERRUPTED in notes:
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
                f"{problem} This happened in run {number} of a bootstrap, with the rows that it drew; a larger share "
                "of the rows (method='subsample'), or fewer columns, may help."
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
        "method": plan.sampling.method,
        "share": plan.sampling.share if plan.sampling.method == "subsample" else None,
        "corrected": plan.sampling.corrected,
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
