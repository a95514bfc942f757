"""The sections of docs/scaling.md about problems too large for the dense engine or one CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scaling_figures as figures
from measurement import Row
from scaling_text import NOTHING, Check, Section, at_most, measured, number, table, verdict

SPARSE_SECONDS = {100_000: 5.0, 1_000_000: 60.0}
SPARSE_MEMORY = 8.0
"""Limits of time and memory, in seconds and gigabytes, for ordering oracle DAGs of these sizes."""

GPU_SECONDS = {10_000: 3.0, 20_000: 12.0}
GPU_WHOLE = 1.3
"""Limit of time of an elimination on a GPU, in seconds, and its multiple with correlation and inverse."""

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
        {"graph": row["kind"], "p": row["p"], "n": row["n"], "program": row["contender"]}
        | {name: NOTHING if row.get(name) is None else row[name] for name in names}
        | {"F1": f"{row['F1']:.4f}", "SHD": NOTHING if row["SHD"] is None else row["SHD"]}
        for row in rows
    ]
    figures.wide([row for row in rows if row["contender"] == "rfdag"], folder)
    text = f"""## Few rows, many columns

`rfdag.learn(X)` with its defaults where rows are few: [clusters](method.md#clusters) of columns, then refinement over
all. Graphs have average degree 4 and are one connected component or nearly so; scale-free ones have hubs. The floor is
one product of matrices, the correlations of all pairs. "whole" is the same search with `clusters=False`, "network"
takes the pairs with clear correlations (false discovery rate 1 %) for edges; it has no directions. FLOP 0.3.0 stops
with an error where there are fewer rows than columns. F1 is that of skeletons, SHD that of CPDAGs.

![Seconds and gigabytes against the number of columns](figures/scaling_wide.svg)

{table(lines)}
{measured(part)}"""
    return Section(text, checks)


OF_WHOLE_CALLS = """The whole call `learn(X, device="cuda", beam=1, refine=False, parents="threshold")` tries three
settings of the cost (from 3000 variables on a single one), scores each by BIC and records the steps of the best
elimination. The scores and the trace are computed on the host and take most of the time, so there is more to gain here
than on the device."""


def gpu(content: dict[str, Any], folder: Path) -> Section:
    """Eliminate on a GPU."""
    about, rows = content["about"], content["rows"]
    by_part = sorted((row for row in rows if "ratio of lazy" in row), key=lambda row: row["p"])
    checks: list[Check] = []
    lines: list[Row] = []
    for row in by_part:
        line: Row = {name: row[name] for name in ("p", "n", "transfer", "moments", "inverse", "lazy", "exact")}
        line["all, lazy"] = row["lazy, with moments and inverse"]
        bound = GPU_SECONDS.get(row["p"])
        if bound is not None:
            alone = at_most(f"GPU, p = {number(row['p'])}, lazy", row["lazy"], bound, " s")
            whole = at_most(f"GPU, p = {number(row['p'])}, with correlation and inverse", line["all, lazy"],
                            round(GPU_WHOLE * bound, 3), " s")  # fmt: skip
            checks += [alone, whole]
            line["target: lazy, all"] = f"{alone.target}, {whole.target}"
            line["met"] = "yes" if alone.met and whole.met else "**no**"
        lines.append(line)
    columns = {
        "p": "p", "exact (s)": "exact", "exact floor (s)": "floor of exact", "exact / floor": "ratio of exact",
        "steps per batch": "steps between scores", "lazy (s)": "lazy", "lazy floor (s)": "floor of lazy",
        "lazy / floor": "ratio of lazy",
    }  # fmt: skip
    floors = [{title: row.get(name) for title, name in columns.items()} for row in by_part]
    others = [
        {"what": row["what"] if row.get("width", 1) == 1 else f"soft, lazy, B = {row['width']}", "p": row["p"],
         "time (s)": row.get("seconds", row.get("lazy"))}
        for row in rows
        if row not in by_part and "same order" not in row and row["what"] != "learn"
    ]  # fmt: skip
    called = [
        {"p": row["p"], "learn (s)": row["seconds"], "moments and inverse (s)": row["moments"] + row["precision"],
         "elimination, scores and trace (s)": row["elimination"]}
        for row in rows
        if row["what"] == "learn"
    ]  # fmt: skip
    agreement = [
        {"elimination": row["what"], "p": row["p"], "same order as the CPU": "yes" if row["same order"] else "**no**"}
        for row in rows
        if "same order" in row
    ]
    if by_part:
        figures.gpu(by_part, GPU_SECONDS, folder)
    same = f"Orders compared with those of the CPU, on the same data:\n\n{table(agreement)}\n" if agreement else ""
    calls = f"{OF_WHOLE_CALLS}\n\n{table(called)}\n" if called else ""
    rest = f"Other rules, elimination only:\n\n{table(others)}\n" if others else ""
    bandwidth = number(about["copy bandwidth, TB/s"])
    cuda = f"{about['cuda'] // 1000}.{about['cuda'] % 1000 // 10}"
    tests = f" Tests on that machine: {about['tests']}." if "tests" in about else ""
    text = f"""## GPU

Times in seconds with `device="cuda"`, double precision, degree 8 and n = 2p, from rows on the host to an order, by
part. "All" is correlation, inverse and lazy elimination; "moments" includes the transfer of the rows. Exact
eliminations above p = 10 000, other rules and wider beams were run once; all other times are medians.

Measured on {about["date"]}: {about["device"]}, CUDA {cuda}, CuPy {about["cupy"]}.{tests}

![Seconds on a GPU against the number of variables](figures/scaling_gpu.svg)

{table(lines)}
The floor is the number of bytes moved divided by the bandwidth of a copy within the device, {bandwidth} TB/s in the
same run. Each exact step reads and writes the remaining part of one triangle, 8p³/3 bytes in total; lazy scoring does
so once per batch of steps, whose size is in the table.

{table(floors)}
{calls}{rest}{same}"""
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
