"""The whole way from data to a causal order, on one page."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rfdag.errors import NumericalWarning
from rfdag.evidence import reading as data_
from rfdag.evidence.gpu import DeviceMoments, on_host
from rfdag.evidence.moments import Moments
from rfdag.input.table import Table
from rfdag.input.text import TextFormat
from rfdag.knowledge import Knowledge
from rfdag.methods.blocks import in_blocks, learn_blocks
from rfdag.methods.on_gpu import checker, problems_of
from rfdag.methods.preflight import forewarned
from rfdag.methods.searching import Found
from rfdag.methods.settings import Settings
from rfdag.methods.warnings import naming_lost_precision
from rfdag.methods.whole import learn_whole
from rfdag.result import Result
from rfdag.runtime.deadline import Clock, Deadline
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import thread_count


def learn(
    data: Any,
    *,
    input: data_.Input = "data",
    n_samples: int | None = None,
    names: Sequence[Hashable] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    rule: str = "soft",
    beam: int | Literal["auto"] = "auto",
    rescoring: Literal["auto", "exact", "lazy"] = "auto",
    depth: int | None = None,
    initial: Literal["rfd", "min-degree"] = "rfd",
    runs: int = 1,
    alpha: float = 1e-3,
    pairs: Literal["all", "neighbours"] = "all",
    tolerance: float = 1e-8,
    max_paths: int = 1000,
    precision: Literal["auto", "dense", "blocks"] = "auto",
    parents: Literal["auto", "bic", "threshold"] = "auto",
    refine: bool | Literal["auto"] = "auto",
    penalty: float | Sequence[float] = 2.0,
    gamma: float | Literal["auto"] = "auto",
    restarts: int | Literal["auto"] = "auto",
    time_limit: float | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    device: Literal["cpu", "cuda"] = "cpu",
    progress: bool | Callable[[float], None] | None = None,
) -> Result:
    """Find the causal order of the variables, and with it the DAG and its Markov equivalence class.

    Parameters
    ----------
    data
        Rows × columns: a NumPy array, a pandas, polars or Arrow frame, or the path of a CSV, TSV, NPY, NPZ, Parquet or
        Feather file. Larger than memory: a path, a folder or list of such files, an Arrow dataset or stream, or a Dask
        DataFrame or Array, which are read in pieces. With ``input``, a matrix or a DAG as an array, a frame or a file;
        a DAG also as a networkx.DiGraph.
    input
        What ``data`` is: "data"; "correlation", "covariance" or "precision" matrix; or "dag", which plays an
        exact oracle of conditional independence. A precision matrix or a DAG may be a SciPy sparse array (of any
        format, or a file written by scipy.sparse.save_npz): p may then be a million, no p × p array is made, and the
        result holds sparse arrays. Sparse input is eliminated once, by rule "rfd" (which is also what "soft" means
        there) or a baseline: there is no refinement and no search over covered edges.
    n_samples
        Number of rows behind a matrix. A precision matrix without it is taken as exact.
    names
        One name per column, where ``data`` has none or others are wanted. Arrays are numbered from 0.
    knowledge
        Background knowledge: tiers, required and forbidden edges, roots and leaves, as an `rfdag.Knowledge`, a mapping
        of its parts, or the path of a file in JSON or in Tetrad's format. Order, DAG and CPDAG obey it;
        `Result.compliance` shows it, demand by demand. Contradictions and unknown names are refused.
    rule
        How variables are chosen for removal: "soft" weighs edges by their evidence and searches with a beam; "rfd"
        is the paper's Removal-Fill-Degree algorithm with its hard counts; "min-degree", "min-fill", "max-remove"
        and "random" are the paper's baselines. On exact input "soft" is "rfd", followed by a search over covered
        edges in case that finds a sparser DAG. "gsp" is the greedy sparsest permutation search over covered edges,
        on any input. "sp" is the sparsest permutation itself, the best of all orders, for up to 16 variables: by BIC
        (of parents grown and shrunk) on data, by edges with parents="threshold" and on exact input.
    beam
        How many partial eliminations rule "soft" follows at once. "auto" widens from 8 to 128 while the score
        improves and its settings disagree (on sparse graphs only with refinement: without, a quick answer is wanted).
        A beam of width B over p variables holds about 2 · B · p² doubles. On exact input a beam runs only if a width
        is given.
    rescoring
        Whether a beam scores every candidate anew at every step ("exact") or only the neighbours of what was removed,
        and all at times ("lazy"). "auto" is lazy on sparse graphs.
    depth
        How many removals "rfd" looks ahead while no candidate is certified, the paper's w; 1 unless given. For "gsp",
        how many covered edges in a row may be turned without loss of an edge; without bound unless given.
    initial
        Which rule's order "gsp" starts from.
    runs
        How often "gsp" starts: ties are broken at random after the first time.
    alpha
        Level of the test that decides whether a partial correlation is an edge. Unused on exact input.
    pairs
        Which pairs count as removed or filled on data: "all", the paper's definition, or "neighbours" of the
        candidate only, which is the same in the population and less noisy. Exact and sparse input always use the
        latter.
    tolerance
        Size of a partial correlation that counts as zero in an exact precision matrix.
    max_paths
        How many paths a search of depth > 1 follows at once; ``result.trace.capped`` tells if that bit.
    precision
        Whether data are learnt as a whole from a p × p matrix of partial correlations ("dense"), or in blocks of
        columns that hardly correlate with each other ("blocks"), which are found without any p × p array: for 10⁵
        columns and more. The result then holds sparse arrays. "auto" is "dense" where eight such matrices fit into the
        free memory.
    parents
        How a variable's parents are chosen among its predecessors: "bic" grows and shrinks them by the Gaussian
        BIC; "threshold" takes its neighbours at its removal, the paper's D_π at level alpha. "auto" is "bic" for
        rule "soft" and for refined orders, else "threshold".
    refine
        Whether the order is polished by taking variables out and putting them back where the BIC is best. "auto"
        does so for rule "soft". On exact input, where there is no BIC, covered edges are searched instead for a
        sparser DAG.
    penalty
        Price of an edge in the BIC, in units of ln n. Several make a path: the order is refined at each, and the one
        whose DAG has the least extended BIC (γ = ½) is chosen; `Result.path` has them all.
    gamma
        γ of the extended BIC (Chen and Chen, 2008): an edge costs 2 γ ln p more. "auto" is ¼ where rows are few (less
        than 1.25 per column) and where a refined DAG's weakest edges look like noise, else 0, the plain BIC;
        `Result.gamma` tells.
    restarts
        How often refinement is repeated from the best order with some edges turned. A number is exactly so many times.
        "auto" goes on until several in a row have brought nothing: 20, fewer the longer each takes, none on large dense
        graphs. So a small number makes the search shorter than "auto" does; on few variables 1000 cost little.
    time_limit
        Seconds after which rule "soft", "gsp" or a refinement returns the best order so far; with restarts="auto",
        refinement is repeated until then. The first, narrow beams always finish.
    delimiter
        The character between the cells of a text file; a comma for CSV and a tab for TSV unless given.
    decimal
        Its decimal sign.
    header
        Whether its first line names the columns. It does, unless it holds only numbers: then say which.
    n_jobs
        Threads used; None or −1 for all cores. The answer does not depend on it.
    random_state
        Seed of everything random: ties of rule "rfd" and the baselines, the order in which refinement tries variables,
        and its restarts. With None, ties go to the leftmost column, which is removed first and so comes later in the
        order, and the rest uses seed 0.
    device
        "cuda" computes moments (those of data read in pieces from the sums that the CPU makes), scores and eliminations
        on a GPU through CuPy (the extra ``cuda``), in double precision like the CPU; refinement and graphs stay on the
        CPU. Orders are the CPU's, ties aside. No device, an error of its own or too little memory on it are told before
        any work.
    progress
        None shows a bar on a terminal if the run takes longer than two seconds, True always, False never; a
        function is called with the share done.

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
    L. Solus, Y. Wang, C. Uhler: Consistency guarantees for greedy permutation-based causal inference, 2021.
    """
    clock = Clock()
    settings = Settings.checked(
        rule=rule,
        beam=beam,
        rescoring=rescoring,
        depth=depth,
        initial=initial,
        runs=runs,
        alpha=alpha,
        pairs=pairs,
        tolerance=tolerance,
        max_paths=max_paths,
        precision=precision,
        parents=parents,
        refine=refine,
        penalty=penalty,
        gamma=gamma,
        restarts=restarts,
        time_limit=time_limit,
        random_state=random_state,
        device=device,
    )
    known = Knowledge.of(knowledge) if knowledge is not None else None
    deadline = Deadline.after(time_limit)
    threads = thread_count(n_jobs)
    with Progress(progress) as bar, problems_of(device):
        report = bar.stage("Reading")
        evidence = data_.read_evidence(
            data,
            input=input,
            n_samples=n_samples,
            names=names,
            form=TextFormat(delimiter, decimal, header),
            check_size=forewarned(checker(settings), settings, threads, bar.say),
            moments=DeviceMoments if device == "cuda" else Moments,
            threads=threads,
            report=report,
            in_blocks=in_blocks(settings, input),
        )
        clock.lap("moments")
        known = known.spelt_as(evidence.names) if known is not None else None
        with naming_lost_precision(evidence.names):
            if isinstance(evidence, Table):
                found: Found = learn_blocks(evidence, settings, threads, deadline, bar, clock.lap, known)
            else:
                demands = known.constraints(evidence.names) if known else None
                found = learn_whole(evidence, settings, threads, deadline, bar, demands, lap=clock.lap)
    result = Result(
        names=evidence.names,
        order=tuple(evidence.names[at] for at in found.order),
        dag=found.dag,
        trace=found.elimination.trace,
        moments=on_host(evidence) if isinstance(evidence, Moments) else None,
        n_samples=len(evidence.values) if isinstance(evidence, Table) else evidence.n_samples,
        score=found.score,
        gamma=found.gamma,
        attempts=found.attempts,
        path=found.path,
        settings=settings,
        input=input,
        regressions=found.regressions,
        timings=clock.laps,
        warnings=found.notes,
        knowledge=known,
    )
    for warning in result.warnings:
        python_warnings.warn(warning, NumericalWarning, stacklevel=2)
    return result
