"""The whole way from data to a causal order, on one page."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rfdag.errors import category_of
from rfdag.evidence.gpu import placed
from rfdag.input.description import Description
from rfdag.knowledge import Knowledge
from rfdag.methods.gathering import gather
from rfdag.methods.method import Method
from rfdag.methods.run import Run
from rfdag.methods.settings import Running, Settings
from rfdag.methods.timing import Schedule
from rfdag.methods.warnings import naming_lost_precision
from rfdag.options import documented_by
from rfdag.precision.estimation import Estimation
from rfdag.result.result import Result
from rfdag.runtime.deadline import Clock
from rfdag.runtime.device import reporting_problems
from rfdag.runtime.progress import Progress
from rfdag.runtime.randomness import seed_from
from rfdag.runtime.threads import thread_count


@documented_by(Running)
def learn(
    data: Any,
    method: str | Method | None = None,
    *,
    names: Sequence[Hashable] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    description: Description | None = None,
    estimation: Estimation | None = None,
    time_limit: float | None = None,
    search_for: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    device: Literal["cpu", "cuda"] = "cpu",
    progress: bool | Callable[[float], None] | None = None,
    **options: Any,
) -> Result:
    """Find the causal order of the variables, and with it the DAG and its Markov equivalence class.

    Parameters
    ----------
    data
        Rows × columns: a NumPy array, a pandas, polars or Arrow frame, an AnnData (its X), or the path of a CSV, TSV,
        NPY, NPZ, Parquet or Feather file. Larger than memory: a path, a folder or list of such files, an Arrow dataset
        or stream, or a Dask DataFrame or Array, which are read in pieces. With ``input=``, a matrix or a DAG as an
        array, a frame or a file; a DAG also as a networkx.DiGraph. A precision matrix or a DAG may be a SciPy sparse
        array (of any format, or a file written by scipy.sparse.save_npz): p may then be a million, no p × p array is
        made, and the result holds sparse arrays. Or evidence that is known already: `rfdag.Moments`, `rfdag.Oracle`.
        With a ``test`` of your own a frame gives the names alone, whatever it holds, and None leaves them to ``names``.
    method
        How an order is found: by name, or an object with its options, such as ``rfdag.Soft(beam=32)``. "soft", the
        default, weighs edges by their evidence and searches with beams (`rfdag.Soft`). "rfd" is the paper's
        Removal-Fill-Degree algorithm with its hard counts (`rfdag.Rfd`), the default where a ``test`` decides;
        "min-degree", "min-fill", "max-remove" and "random" are the paper's baselines (`rfdag.Baseline`). "gsp" is the
        greedy sparsest permutation search over covered edges (`rfdag.Gsp`), "sp" the sparsest permutation itself, for
        up to 16 variables (`rfdag.Sp`).
    names
        One name per column, where ``data`` has none or others are wanted. Arrays are numbered from 0.
    knowledge
        Prior knowledge: tiers, required and forbidden edges, roots and leaves, as an `rfdag.Knowledge`, a mapping of
        its parts, or the path of a file in JSON or in Tetrad's format. Order, DAG and CPDAG obey it;
        `Result.compliance` shows it, constraint by constraint. Contradictions and unknown names are refused.
    description
        What the input is and how it is written, as an `rfdag.Description`. Its options can be passed flat instead:
        ``input="correlation", n_samples=500``, ``delimiter=";"``.
    estimation
        How partial correlations are estimated, or which ``test`` of conditional independence decides in their place,
        as an `rfdag.Estimation`. Its options can be passed flat instead: ``blocks=True``, ``test="kci"``.
    time_limit
        {time_limit}
    search_for
        {search_for}
    n_jobs
        Threads used; None or −1 for all cores. The answer does not depend on it.
    random_state
        {random_state} A NumPy Generator or RandomState gives one number as the seed.
    device
        {device}
    progress
        None shows a bar on a terminal if the run takes longer than two seconds, True always, False never; a
        function is called with the share done.
    **options
        Options of the method, of the description and of the estimation, flat: ``learn(data, "rfd", alpha=0.01)``.
        An option that the method does not have is refused.

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
    clock = Clock()
    running = Running(time_limit=time_limit, search_for=search_for, random_state=seed_from(random_state), device=device)
    settings = Settings.gathered(
        method, description=description, estimation=estimation, running=running, options=options
    )
    threads = thread_count(n_jobs)
    bar = Progress(progress)
    schedule = Schedule(settings, threads, bar)
    known = Knowledge.of(knowledge) if knowledge is not None else None
    with bar, reporting_problems(device), schedule.kept():
        with bar.until(schedule.limit):
            gathered, account = gather(data, names, settings, threads, bar)
            evidence = placed(gathered, device)
        schedule.learn_size(evidence.n_samples, len(evidence.names))
        clock.lap("moments")
        known = known.spelt_as(evidence.names) if known else known
        run = Run(
            estimation=settings.estimation,
            knowledge=known,
            constraints=known.constraints(evidence.names) if known else None,
            threads=threads,
            random_state=running.random_state,
            device=device,
            deadline=schedule.limit,
            limit=schedule.limit,
            until=schedule.until,
            bar=bar,
            clock=clock,
        )
        with naming_lost_precision(evidence):
            found = evidence.learn(settings.method, run)
    result = Result.of(
        found, found.evidence or evidence, settings, account=account, knowledge=known, timings=clock.laps
    )
    for warning in result.warnings:
        python_warnings.warn(warning, category_of(warning), stacklevel=2)
    return result
