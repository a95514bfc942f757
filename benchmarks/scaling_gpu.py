"""The section of docs/scaling.md about a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import scaling_figures as figures
from measurement import Row
from scaling_text import NOTHING, Check, Section, at_most, number, table, verdict

GPU_SECONDS = {10_000: 3.0, 20_000: 12.0}
GPU_WHOLE = 1.3
"""Limit of time of an elimination on a GPU, in seconds, and its multiple with correlation and inverse."""

GPU_LEARN = {
    (5000, "defaults"): 15.0,
    (10_000, "defaults"): 40.0,
    (20_000, "beam 1"): 120.0,
    (20_000, "few rows"): 120.0,
}
"""Seconds that `learn` may take on an H200, by columns and kind."""

WIDEST_BEAM_SECONDS = 5.0
"""Seconds that the widest beam may take."""

WIDER_BEAM = 4.0
"""Times longer that a beam of 64 may take than one of 8."""

OF_WHOLE_CALLS = """The whole call, `learn(X, device="cuda")` with all defaults, from rows on the host to the result,
beside the CPU of the same machine. Correlations, eliminations and screenings are the device's, where the matrices of
all pairs stay; choosing parents and reinsertions are the host's. "Loading" is what the first call takes longer than the
second: libraries and kernels, once in a process. "Few rows" are the data of [many columns](#few-rows-many-columns)."""


def gpu(content: dict[str, Any], folder: Path) -> Section:
    """Eliminate and learn on a GPU."""
    about, parts = content["about"], content["parts"]
    by_part = sorted(parts["eliminations"], key=lambda row: row["p"])
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
    called, met = _called(parts["learn"])
    checks += met
    searched, met = _searched(parts["beams"])
    checks += met
    others = [{"what": row["what"], "p": row["p"], "time (s)": row["seconds"]} for row in parts["others"]]
    agreement = [
        {"elimination": row["what"], "p": row["p"], "same order as the CPU": "yes" if row["same order"] else "**no**"}
        for row in parts["agreement"]
    ]
    if by_part:
        figures.gpu(by_part, GPU_SECONDS, folder)
    same = f"{OF_ORDERS}\n\n{table(agreement)}\n"
    calls = f"{OF_WHOLE_CALLS}\n\n{table(called)}\n"
    wide = f"Beams of several widths, the last one on a graph of density ½:\n\n{table(searched)}\n"
    rest = f"Other rules, elimination only:\n\n{table(others)}\n"
    bandwidth = number(about["copy bandwidth, TB/s"])
    cuda = f"{about['cuda'] // 1000}.{about['cuda'] % 1000 // 10}"
    tests = f" Tests on that machine: {about['tests']}." if "tests" in about else ""
    text = f"""## GPU

Times in seconds with `device="cuda"`, double precision, degree 8 and n = 2p, from rows on the host to an order, by
part. "All" is correlation, inverse and lazy elimination; "moments" includes the transfer of the rows. Exact
eliminations above p = 10 000, other rules and whole calls were run once; all other times are medians.

Measured on {about["date"]}: {about["device"]}, CUDA {cuda}, CuPy {about["cupy"]}.{tests}

![Seconds on a GPU against the number of variables](figures/scaling_gpu.svg)

{table(lines)}
The floor is the number of bytes moved divided by the bandwidth of a copy within the device, {bandwidth} TB/s in the
same run. Each exact step reads and writes the remaining part of one triangle, 8p³/3 bytes in total; lazy scoring does
so once per batch of steps, whose size is in the table.

{table(floors)}
{calls}{wide}{rest}{same}"""
    return Section(text, checks)


OF_ORDERS = """Orders of single eliminations compared with those of the CPU, on the same data. In a beam, removals that
have nothing to do with each other cost the same in either order, and rounding may decide which is followed."""


def _called(rows: Sequence[Row]) -> tuple[list[Row], list[Check]]:
    """Return a line for each whole call, and its targets."""
    lines, checks = [], []
    for row in rows:
        time, of_cpu = row["seconds, cuda"], row.get("seconds, cpu")
        what = f"GPU, learn, p = {number(row['p'])}" + ("" if row["kind"] == "defaults" else f", {row['kind']}")
        check = None
        if (row["p"], row["kind"]) in GPU_LEARN:
            check = at_most(what, time, GPU_LEARN[row["p"], row["kind"]], " s")
        elif row["p"] == 1000 and of_cpu is not None:
            check = at_most(f"{what}: time / the CPU's", time / of_cpu, 1.0, "")
        checks += [] if check is None else [check]
        timings = row["timings"]
        lines.append(
            {"p": row["p"], "n": row["n"], "kind": row["kind"], "learn (s)": time, "of this, moments (s)":
             timings["moments"] + timings.get("precision", 0.0) + timings.get("clusters", 0.0),
             "elimination (s)": timings["elimination"], "refinement (s)": timings["refinement"],
             "loading (s)": NOTHING if row["loading, cuda"] is None else row["loading, cuda"],
             "on the CPU (s)": NOTHING if of_cpu is None else of_cpu,
             "same order": {True: "yes", False: "**no**", None: NOTHING}[row.get("same order")],
             "peak memory of the host (GB)": row["peak memory"], **verdict(check)}
        )  # fmt: skip
    return lines, checks


def _searched(rows: Sequence[Row]) -> tuple[list[Row], list[Check]]:
    """Return a line for each beam, and its targets."""
    narrow = {(row["p"], row["n"]): row["seconds"] for row in reversed(rows)}
    lines, checks = [], []
    for row in rows:
        ratio = row["seconds"] / narrow[row["p"], row["n"]]
        check = None
        if row["width"] == 64:
            check = at_most(f"GPU, beam of 64, p = {number(row['p'])}, against 8", ratio, WIDER_BEAM, "×")
        elif row["width"] > 1000:
            words = f"GPU, beam of {number(row['width'])}, p = {row['p']}"
            check = at_most(words, row["seconds"], WIDEST_BEAM_SECONDS, " s")
        checks += [] if check is None else [check]
        lines.append(
            {"p": row["p"], "n": row["n"], "width": row["width"], "time (s)": row["seconds"],
             "time / that of the narrowest": ratio, **verdict(check)}
        )  # fmt: skip
    return lines, checks
