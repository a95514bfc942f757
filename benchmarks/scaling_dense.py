"""The sections of docs/scaling.md about the dense engine on a CPU, from the rows of dense.py."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median
from typing import Any

import scaling_figures as figures
from measurement import Row, exponent
from scaling_text import NOTHING, Check, Section, at_most, measured, number, signed, table, verdict

FASTER = 0.1
"""Share of FLOP's time that `learn` may take."""

POWER = 3.0
"""Power of p with which elimination and refinement may grow."""

GROWTH_SECONDS = {2000: 12.0, 5000: 90.0, 10_000: 480.0}
"""Seconds that `learn` may take for so many variables of degree 8."""

GROWTH_MEMORY = {10_000: 8.0}
"""Gigabytes that it may take beside the rows themselves."""

LOSS = -0.005
"""How much F1 automatic scores may lose compared with exact ones."""


WHY_EXACT_IS_SLOW = """Exact scores miss their target, and a bound that skips candidates without losing exactness would
not reach it. Each step has to update the matrix and to weigh what is left of it anew, several passes over memory that
no bound saves. And the bounds are too loose: by Cauchy and Schwarz a removal changes D̃ of the median candidate by at
most 17 at p = 1000, where the median candidate is 31 above the best, so that 30 % of all candidates would have to be
scored at every step, before the bound on R̃ − F̃ is added (`python benchmarks/rescoring_bound.py`). What really changes
is far less: with the smallest bound there can be, one candidate in a thousand would do. That is why lazy scores are
nearly as good."""


def floor(part: dict[str, Any], folder: Path) -> Section:
    """Eliminations beside correlation and inverse."""
    names = {"lazy": "soft, lazy", "exact": "soft, exact", "rfd": "rfd"}
    rows = sorted(part["rows"], key=lambda row: row["p"])
    checks: list[Check] = []
    checks_of_beams: list[Check] = []
    greedy: list[Row] = []
    beams: list[Row] = []
    for row in rows:
        check = None
        beam = row["against"] != "floor"
        name = f"{names[row['contender'].removeprefix('beam ')]}{', B = 10' if beam else ''}"
        if row["target"] is not None:
            reference = "greedy" if beam else "the floor"
            check = at_most(f"{name}, p = {number(row['p'])}, against {reference}", row["ratio"], row["target"], "×")
            (checks_of_beams if beam else checks).append(check)
        line: Row = {"p": row["p"], "n": row["n"], "elimination": name, "time (s)": row["time (s)"]}
        line |= {"greedy (s)" if beam else "floor (s)": row["of that (s)"], "ratio": row["ratio"], **verdict(check)}
        (beams if beam else greedy).append(line)
    figures.floor(rows, folder)
    text = f"""## The floor of a CPU

A Gaussian method first has to correlate the columns (BLAS) and invert the matrix (LAPACK). This is the floor.
Everything in this section runs on {rows[0]["threads"]} threads. An elimination removes one variable after another, each
with a rank-one update of the remaining matrix, and scores the candidates. Lazy scoring updates only the scores of the
neighbours of a removed variable and applies many updates at once; exact scoring recomputes all scores at every step.
The times of eliminations do not include correlation and inverse. Rule `rfd` with `pairs="all"` is shown for comparison.

![Time of eliminations as multiples of the floor](figures/scaling_floor.svg)

{table(greedy)}
{WHY_EXACT_IS_SLOW}

A beam of ten eliminations (`beam=10`) compared with one. States with the same parent state share its matrix:

{table(beams) if beams else ""}
{measured(part)}"""
    return Section(text, [*checks, *checks_of_beams])


def learn(part: dict[str, Any], folder: Path) -> Section:
    """`learn` compared with FLOP."""
    lines: list[Row] = []
    checks: list[Check] = []
    unfinished: list[str] = []
    for p in sorted({row["p"] for row in part["rows"]}):
        rows = [row for row in part["rows"] if row["p"] == p and "rfdag (s)" in row]
        both = [row for row in rows if "flop-0 (s)" in row]
        unfinished += [f"p = {p}, graph {row['graph']}: {row['flop-0 failure']}" for row in rows if row not in both]
        if not both:
            continue
        mean = {name: fmean(row[name] for row in both) for name in ("rfdag SHD", "flop-0 SHD", "rfdag F1", "flop-0 F1")}
        times = {name: median(row[f"{name} (s)"] for row in both) for name in ("rfdag", "flop-0")}
        faster = at_most(f"learn, p = {p}: time / FLOP's", times["rfdag"] / times["flop-0"], FASTER)
        closer = at_most(f"learn, p = {p}: SHD, at most FLOP's", mean["rfdag SHD"], mean["flop-0 SHD"])
        checks += [faster, closer]
        lines.append(
            {"p": p, "n": rows[0]["n"], "graphs": len(both), "rfdag (s)": times["rfdag"], "FLOP (s)": times["flop-0"],
             "time / FLOP's": times["rfdag"] / times["flop-0"], "target": faster.target,
             "SHD": mean["rfdag SHD"], "FLOP's SHD (target)": mean["flop-0 SHD"],
             "F1": f"{mean['rfdag F1']:.4f}", "FLOP's F1": f"{mean['flop-0 F1']:.4f}",
             "met": "yes" if faster.met and closer.met else "**no**"}
        )  # fmt: skip
    late = f"FLOP did not finish: {'; '.join(unfinished)}.\n\n" if unfinished else ""
    text = f"""## `learn` compared with FLOP

`rfdag.learn(X)` with its defaults (a portfolio of beams, refinement with restarts) is compared with FLOP without
restarts, the unit of time in [the comparison of accuracy](accuracy.md). Each call runs in its own process and
environment and is timed after imports and a warm-up. SHD compares the CPDAGs, F1 the skeletons. Targets: a tenth of the
time and no larger SHD.

{table(lines) if lines else ""}
{late}{measured(part)}"""
    return Section(text, checks)


def growth(part: dict[str, Any], folder: Path) -> Section:
    """Time and memory of `learn` by size and density."""
    by_size = sorted((row for row in part["rows"] if row["density"] is None), key=lambda row: row["p"])
    dense = sorted(
        (row for row in part["rows"] if row["density"] is not None), key=lambda row: (row["p"], row["density"])
    )
    checks: list[Check] = []
    lines: list[Row] = []
    for at, row in enumerate(by_size):
        both = "elimination + refinement (s)"
        steps = [by_size[at - 1], row] if at else []
        beyond = (row["peak memory (GB)"] - row["before memory (GB)"]) * 1e9 / (8 * row["p"] ** 2)
        lines.append(
            {"p": row["p"], "n": row["n"], "elimination (s)": row["elimination (s)"],
             "refinement (s)": row["refinement (s)"], "learn (s)": row["learn (s)"],
             "power since the row above": exponent([each["p"] for each in steps], [each[both] for each in steps])
             if steps else NOTHING,
             "peak memory (GB)": row["peak memory (GB)"], "beyond data and libraries (p × p doubles)": beyond,
             "F1": f"{row['F1']:.4f}", "SHD": row["SHD"]}
        )  # fmt: skip
        size = f"learn, p = {number(row['p'])}, n = {number(row['n'])}"
        if row["p"] in GROWTH_SECONDS:
            checks.append(at_most(size, row["learn (s)"], GROWTH_SECONDS[row["p"]], " s"))
        if row["p"] in GROWTH_MEMORY:
            beside = row["peak memory (GB)"] - 8e-9 * row["p"] * row["n"]
            checks.append(at_most(f"{size}, beside the rows", beside, GROWTH_MEMORY[row["p"]], " GB"))
    fitted = ""
    if len(by_size) > 1:
        power = exponent([row["p"] for row in by_size], [row["elimination + refinement (s)"] for row in by_size])
        check = at_most("power of p with which elimination and refinement grow", power, POWER)
        checks.append(check)
        words = "met" if check.met else "**missed**"
        fitted = (
            f"Fitted over all sizes, elimination and refinement together grow with p to the power {power:.2f} "
            f"(target {check.target}: {words}).\n"
        )
    names = ("p", "n", "density", "elimination (s)", "refinement (s)", "learn (s)", "peak memory (GB)", "F1", "SHD")
    shown = [row | {"F1": f"{row['F1']:.4f}"} for row in dense]
    against_density = (
        f"By density, with n = 20p rows, because 2p rows are too few for dense graphs:\n\n{table(shown, names)}\n"
        if dense
        else ""
    )
    figures.growth(part["rows"], folder)
    text = f"""## Growth

`rfdag.learn(X)` with its defaults: three settings of the soft cost, each with a beam of eight states or more (fewer
from 1000 variables on), and a refinement with restarts, which from 1000 variables on keeps a few candidates for each
variable and recombines parts of orders. Each run has its own process and graph. The time of learn includes correlation
and inverse.

![Seconds against the number of variables, and against density](figures/scaling_growth.svg)

{table(lines) if lines else ""}
{fitted}
{against_density}{measured(part)}"""
    return Section(text, checks)


def small(part: dict[str, Any], folder: Path) -> Section:
    """Small problems and the import."""
    lines: list[Row] = []
    checks: list[Check] = []
    for row in part["rows"]:
        check = None if row["target"] is None else at_most(row["what"], row["time"], row["target"], f" {row['unit']}")
        checks += [check] if check else []
        lines.append({"what": f"`{row['what']}`", "median": f"{number(row['time'])} {row['unit']}", **verdict(check)})
    text = f"""## Small problems

The first rows time a warm call on 20 variables and 40 rows, at density ½ and 2/p, without refinement. The last rows
time the import in a fresh interpreter, minus the start of the interpreter. Heavy libraries are loaded when a name is
first used, so the time with the first use is listed separately.

{table(lines)}
{measured(part)}"""
    return Section(text, checks)


def rescoring(part: dict[str, Any], folder: Path) -> Section:
    """F1 of exact and lazy scores."""
    names = list(dict.fromkeys(row["workload"] for row in part["rows"]))
    lines: list[Row] = []
    for name in names:
        of_name = {row["refine"]: row for row in part["rows"] if row["workload"] == name}
        line: Row = {"workload": name}
        for refine, words in ((False, ""), (True, ", refined")):
            if refine in of_name:
                row = of_name[refine]
                line |= {f"{kind}{words}": f"{row[kind]:.4f}" for kind in ("exact", "lazy", "auto")}
                line[f"auto − exact{words}"] = signed(row["auto − exact"])
        lines.append(line)
    worst = min(part["rows"], key=lambda row: row["auto − exact"])
    check = Check(
        f"F1 of auto − exact scores, worst workload ({worst['workload']})",
        f"≥ {signed(LOSS, 3)}",
        signed(worst["auto − exact"], 5),
        worst["auto − exact"] >= LOSS,
    )
    figures.rescoring(part["rows"], LOSS, folder)
    graphs = max(row["graphs"] for row in part["rows"])
    verdict_of_all = (
        f"The worst is {check.reached}, on {worst['workload']} {'with' if worst['refine'] else 'without'} refinement: "
        f"{'met' if check.met else '**missed**'}."
    )
    text = f"""## Exact and lazy scores

F1 of the skeleton with `rescoring="exact"`, `"lazy"` and `"auto"`, which is lazy on sparse graphs and exact on dense
ones. The numbers are means over up to {graphs} graphs of seed {worst["seed"]} for each workload of [the comparison of
accuracy](accuracy.md), with and without refinement (`refine=False`). Target: auto is nowhere more than .005 below
exact.
{verdict_of_all}

![F1 of auto minus F1 of exact, by workload](figures/scaling_rescoring.svg)

{table(lines)}
{measured(part)}"""
    return Section(text, [check])
