"""The sections of docs/scaling.md about problems too large for the dense engine, or for memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scaling_figures as figures
from measurement import Row
from scaling_text import NOTHING, Check, Section, at_most, measured, number, table, verdict

SPARSE_SECONDS = {100_000: 5.0, 1_000_000: 60.0}
SPARSE_MEMORY = 8.0
"""Limits of time and memory, in seconds and gigabytes, for ordering oracle DAGs of these sizes."""

STREAM_MEMORY = 1.0
"""Limit of memory for reading and summarising a Parquet file of any length, in gigabytes."""


def sparse(content: dict[str, Any], folder: Path) -> Section:
    """Order sparse DAGs and precision matrices."""
    parts: dict[str, list[Row]] = {name: content[name]["rows"] for name in ("oracle", "precision") if name in content}
    checks: list[Check] = []
    tables = []
    titles = {
        "oracle": "DAGs with average degree 4 as exact oracles",
        "precision": "Exact precision matrices of such DAGs",
    }
    for name, rows in parts.items():
        lines = []
        for row in rows:
            line = {column: entry for column, entry in row.items() if column != "kind"}
            bound = SPARSE_SECONDS.get(row["p"]) if name == "oracle" else None
            if bound is not None:
                in_time = at_most(f"sparse DAG, p = {number(row['p'])}", row["learn (s)"], bound, " s")
                within = at_most(f"sparse DAG, p = {number(row['p'])}", row["peak memory (GB)"], SPARSE_MEMORY, " GB")
                checks += [in_time, within]
                line["target"] = f"{in_time.target}, {within.target}"
                line["met"] = "yes" if in_time.met and within.met else "**no**"
            lines.append(line)
        power = content[name].get("exponent")
        grows = f" Time grows with p to the power {power}." if power is not None else ""
        tables.append(f"{titles[name]}.{grows}\n\n{table(lines, digits=5)}\n{measured(content[name])}")
    figures.sparse(parts, SPARSE_SECONDS, folder)
    text = """## Sparse input

`rfdag.learn` on SciPy sparse arrays, including checks and the result, never allocates a p × p array. Removing a
variable affects only pairs of its neighbours, so the cost depends on the size of neighbourhoods, not on p. The floor
for a DAG is the time that SciPy takes to moralise it, A + Aᵀ + A Aᵀ. "Before" is the memory in use before the call.

![Seconds and gigabytes against the number of variables](figures/scaling_sparse.svg)

"""
    return Section(text + "\n".join(tables), checks)


def blocks(content: dict[str, Any], folder: Path) -> Section:
    """Learn data of many columns in blocks."""
    part = content["blocks"]
    lines = [{column: entry for column, entry in row.items() if column != "kind"} for row in part["rows"]]
    text = f"""## Many columns in blocks

`blocks=True` screens correlations tile by tile, takes the connected components as blocks and learns each with
the dense engine (here `beam=1, restarts=0`). The data have independent blocks of 1 to 500 columns, each an Erdős–Rényi
graph with average degree 4, weights ±[.25, 1] and unit noise. The order error is the share of compelled true edges that
the order reverses. Blocks that are correlated by chance are learned as one. There is no target for the time.

{table(lines, digits=5)}
{measured(part)}"""
    return Section(text)


WIDE_TARGETS = {(2000, 300): (15.0, None), (5000, 500): (60.0, None), (20_000, 500): (900.0, 12.0)}
"""Seconds, and gigabytes, that data of so many columns and rows may take."""

WIDE_F1 = 0.93
"""F1 that is to be reached with 20 000 columns."""


def wide(content: dict[str, Any], folder: Path) -> Section:
    """Learn data with few rows for their columns, from clusters on."""
    part = content["wide"]
    rows = sorted(part["rows"], key=lambda row: (row["kind"], row["p"], row["contender"] != "rfdag", row["contender"]))
    checks: list[Check] = []
    for row in rows:
        if row["contender"] != "rfdag" or row["kind"] != "random":
            continue
        size = f"few rows, p = {number(row['p'])}, n = {row['n']}"
        seconds, most = WIDE_TARGETS.get((row["p"], row["n"]), (None, None))
        checks += [] if seconds is None else [at_most(size, row["time (s)"], seconds, " s")]
        checks += [] if most is None else [at_most(size, row["peak memory (GB)"], most, " GB")]
        if row["p"] == 20_000:
            checks.append(Check(f"{size}: F1", f"≥ {WIDE_F1}", f"{row['F1']:.3f}", row["F1"] >= WIDE_F1))
    names = ("time (s)", "floor (s)", "time / floor", "elimination (s)", "refinement (s)", "peak memory (GB)")
    lines = [
        {
            "graph": row["kind"],
            "p": row["p"],
            "n": row["n"],
            "program": f"{row['contender']}, interrupted" if row.get("interrupted") else row["contender"],
        }
        | {name: NOTHING if row.get(name) is None else row[name] for name in names}
        | {"F1": f"{row['F1']:.4f}", "SHD": NOTHING if row["SHD"] is None else row["SHD"]}
        for row in rows
    ]
    ended = [row for row in rows if row.get("interrupted")]
    interrupted = "".join(
        f"With {number(row['p'])} columns the run was interrupted by Ctrl-C in the refinement, while other work ran\n"
        "on the machine, and returned its best DAG so far.\n"
        for row in ended
    )
    figures.wide([row for row in rows if row["contender"] == "rfdag"], folder)
    text = f"""## Few rows, many columns

`rfdag.learn(X)` with its defaults where rows are few: [clusters](method.md#clusters) of columns, then refinement over
all. Graphs have average degree 4 and are one connected component or nearly so; scale-free ones have hubs. The floor is
one product of matrices, the correlations of all pairs. "whole" is the same search with `clusters=False`. What genomics
uses has no directions: "network" takes the pairs with clear correlations (false discovery rate 1 %), "lasso" those of
a graphical lasso, "forests" those that matter to random forests, one for each column (as GENIE3, Huynh-Thu et al.,
2010). Of the latter two the strongest pairs are taken, as many as the graph has edges: with real data one cannot know.
FLOP 0.3.0 stops with an error where there are fewer rows than columns. F1 is that of skeletons, SHD that of CPDAGs.
{interrupted}
![Seconds and gigabytes against the number of columns](figures/scaling_wide.svg)

{table(lines)}
{measured(part)}"""
    return Section(text, checks)


def streaming(content: dict[str, Any], folder: Path) -> Section:
    """Read data larger than memory."""
    checks: list[Check] = []
    lines: list[Row] = []
    for row in content["rows"]:
        check = None
        if row["source"] == "Parquet":
            words = f"{number(row['rows'])} rows of Parquet, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
            check = at_most(words, row["peak memory (GB)"], STREAM_MEMORY, " GB")
            checks.append(check)
        lines.append({**row, **verdict(check)})
    text = f"""## Data larger than memory

Correlations of {content["columns"]} columns, read once in batches and accumulated as merged triangular factors. Every
run has its own process. Where the table gives an address space, the process is limited to that, less than the size of
the file. The floor is reading the same file with pyarrow (or Dask) and doing nothing else. All columns have a mean of a
million times their scale; the largest error is the maximum over all correlations. Target: at most 1 GB of memory for
Parquet.

{table(lines)}
*{content["about"].strip("*")}*
"""
    return Section(text, checks)


def memory(sources: dict[str, dict[str, Any]]) -> Section:
    """Collect the peak memory of all measurements."""
    lines: list[Row] = []

    def add(what: str, size: str, row: Row, peak: str, before: str | None = None) -> None:
        started = NOTHING if before is None else row.get(before, NOTHING)
        lines.append({"what": what, "size": size, "peak (GB)": row[peak], "of which before the call (GB)": started})

    grown = sources.get("dense", {}).get("growth", {}).get("rows", [])
    for row in sorted(grown, key=lambda row: row["p"]):
        if row["density"] is None:
            size = f"p = {number(row['p'])}, n = {number(row['n'])}"
            add("`learn(X)`", size, row, "peak memory (GB)", "before memory (GB)")
    names = {"oracle": "sparse DAG", "precision": "sparse precision", "blocks": "data in blocks"}
    for kind, what in names.items():
        for row in sources.get("sparse", {}).get(kind, {}).get("rows", []):
            add(what, f"p = {number(row['p'])}", row, "peak memory (GB)", "before (GB)")
    for row in sources.get("streaming", {}).get("rows", []):
        size = f"{number(row['rows'])} rows, file of {row['file (GB)']} GB, threads: {row['threads']}"
        add(f"moments of {row['source']}", size, row, "peak memory (GB)")
    if not lines:
        return Section("")
    text = f"""## Memory

Peak memory of whole processes, including libraries. Memory in use before the call holds the data, the interpreter and
compiled kernels. A beam of width B over p variables holds up to 2 B p² doubles.

{table(lines)}"""
    return Section(text)
