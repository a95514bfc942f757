"""The pictures of docs/scaling.md, from the rows of the benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from look import DARK, GREY, PALE, WARM, save
from measurement import Row, exponent
from scaling_text import number, signed

GREEN = "#4f7f3f"
MARKED = {"marker": "o", "ms": 5, "lw": 2}


def _logarithmic(ax: Any, sizes: Sequence[float], label: str = "p, the number of variables") -> None:
    """Make both axes logarithmic, with the sizes measured as ticks."""
    ax.set(xscale="log", yscale="log", xlabel=label)
    ax.xaxis.set_major_locator(FixedLocator(sorted(set(sizes))))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda size, _: number(round(size)))
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 100 else (1.0, 2.0, 5.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(color="#e6e9ec", lw=0.8)
    ax.set_axisbelow(True)


def _line(ax: Any, rows: Sequence[Row], x: str, y: str, label: str, color: str, **look: Any) -> None:
    ax.plot([row[x] for row in rows], [row[y] for row in rows], color=color, label=label, **{**MARKED, **look})


def _target(ax: Any, x: float, y: float, words: str) -> None:
    """Mark where a target lies; below it is good."""
    ax.plot([x], [y], marker="v", ms=9, color=WARM, ls="none")
    ax.annotate(words, (x, y), xytext=(-8, 4), textcoords="offset points", color=WARM, ha="right")


def floor(rows: Sequence[Row], folder: Path) -> None:
    """Draw eliminations as multiples of the floor, with their targets."""
    names = {"lazy": "soft, lazy", "exact": "soft, exact", "rfd": "rfd"}
    rows = [row for row in rows if row["against"] == "floor"]
    rows.sort(key=lambda row: (row["p"], list(names).index(row["contender"])))
    figure, ax = plt.subplots(figsize=(8, 0.9 + 0.34 * len(rows)), layout="constrained")
    places = range(len(rows))
    colors = [DARK if row["contender"] == "lazy" else PALE for row in rows]
    ax.barh(places, [row["ratio"] for row in rows], color=colors, height=0.62)
    for place, row in zip(places, rows, strict=True):
        end = max(row["ratio"], row["target"] or 0)
        ax.annotate(f"{row['ratio']:.3g}", (end, place), xytext=(6, 0), textcoords="offset points", va="center",
                    color=GREY, bbox={"fc": "white", "ec": "none", "pad": 0.5})  # fmt: skip
        if row["target"] is not None:
            ax.plot([row["target"]] * 2, [place - 0.42, place + 0.42], color=WARM, lw=2.5)
    ax.axvline(1, color=GREY, lw=0.8, ls=":")
    ax.set_yticks(places, [f"{names[row['contender']]}, p = {row['p']}" for row in rows])
    ax.invert_yaxis()
    ax.set(xlabel="time of the elimination / time of correlation and inverse (orange: at most)", xlim=(0, None))
    save(figure, "scaling_floor", folder)


def growth(rows: Sequence[Row], folder: Path) -> None:
    """Draw the times of `learn` against size, and against density."""
    by_size = sorted((row for row in rows if row["density"] is None), key=lambda row: row["p"])
    dense = [row for row in rows if row["density"] is not None]
    panels = [kind for kind in (by_size, dense) if kind]
    figure, axes = plt.subplots(1, len(panels), figsize=(5.2 * len(panels), 4.2), layout="constrained", squeeze=False)
    for ax, kind in zip(axes[0], panels, strict=True):
        if kind is by_size:
            sizes = [row["p"] for row in by_size]
            _line(ax, by_size, "p", "learn (s)", "learn, whole", GREY)
            _line(ax, by_size, "p", "elimination (s)", "elimination", DARK)
            _line(ax, by_size, "p", "refinement (s)", "refinement", PALE)
            last = by_size[-1]["elimination + refinement (s)"]
            cubic = [last * (p / sizes[-1]) ** 3 for p in sizes]
            ax.plot(sizes, cubic, color=WARM, lw=1.2, ls="--", label="p³")
            power = exponent(sizes, [row["elimination + refinement (s)"] for row in by_size]) if len(sizes) > 1 else 0.0
            ax.set_title(f"Degree 8, n = 2p: p to the power {power:.2f}", fontsize=11)
            _logarithmic(ax, sizes)
        else:
            shades = (DARK, WARM, GREEN, GREY)
            for p, color in zip(sorted({row["p"] for row in dense}), shades, strict=False):
                of_size = sorted((row for row in dense if row["p"] == p), key=lambda row: row["density"])
                _line(ax, of_size, "density", "elimination + refinement (s)", f"p = {p}", color)
            ax.set_title("Against density, n = 20p", fontsize=11)
            _logarithmic(ax, [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2], "density")
            ax.xaxis.set_major_formatter(lambda size, _: f"1/{1 / size:.0f}")
        ax.set_ylabel("seconds")
        ax.legend(frameon=False)
    save(figure, "scaling_growth", folder)


def rescoring(rows: Sequence[Row], bound: float, folder: Path) -> None:
    """Draw what automatic scores gain or lose against exact ones, workload by workload."""
    names = list(dict.fromkeys(row["workload"] for row in rows))
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.21 * len(names)), layout="constrained")
    for refine, color, marker, words in ((False, PALE, "s", "not refined"), (True, DARK, "o", "refined")):
        some = [row for row in rows if row["refine"] is refine]
        places = [names.index(row["workload"]) + (0.12 if refine else -0.12) for row in some]
        ax.plot([row["auto − exact"] for row in some], places, marker, color=color, ms=5.5, label=words)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.axvline(bound, color=WARM, lw=1.5, ls="--", label=f"target {signed(bound, 3)}")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(axis="y", color="#e6e9ec", lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel('F1 of rescoring="auto" − F1 of "exact"')
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
    save(figure, "scaling_rescoring", folder)


def sparse(parts: dict[str, list[Row]], targets: dict[int, float], folder: Path) -> None:
    """Draw time and memory of sparse eliminations."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
    sizes = [row["p"] for rows in parts.values() for row in rows]
    for name, color in (("oracle", DARK), ("precision", GREEN)):
        if parts.get(name):
            _line(left, parts[name], "p", "learn (s)", "DAG" if name == "oracle" else "precision matrix", color)
            _line(right, parts[name], "p", "peak memory (GB)", name, color)
    if parts.get("oracle"):
        _line(left, parts["oracle"], "p", "floor (s)", "floor: moralising the DAG", PALE)
    for p, bound in targets.items():
        if min(sizes) <= p <= max(sizes):
            _target(left, p, bound, f"at most {bound:g} s")
    if max(sizes) >= 1_000_000:
        _target(right, 1_000_000, 8.0, "at most 8 GB")
    for ax, words, unit in ((left, "Time of learn", "seconds"), (right, "Peak memory of the process", "GB")):
        _logarithmic(ax, sizes)
        ax.set_title(words, fontsize=11)
        ax.set_ylabel(unit)
    left.legend(frameon=False)
    save(figure, "scaling_sparse", folder)


def wide(rows: Sequence[Row], folder: Path) -> None:
    """Draw time and memory of `learn` on data with few rows, by the number of columns."""
    sizes = sorted({row["p"] for row in rows})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    for kind, color in (("random", DARK), ("scale-free", GREEN)):
        own = sorted((row for row in rows if row["kind"] == kind), key=lambda row: row["p"])
        slope = (
            f" (power {exponent([row['p'] for row in own], [row['time (s)'] for row in own]):.2f})"
            if len(own) > 1
            else ""
        )
        if own:
            _line(left, own, "p", "time (s)", f"{kind}{slope}", color)
            _line(right, own, "p", "peak memory (GB)", kind, color)
        if kind == "random":
            _line(left, own, "p", "floor (s)", "correlations of all pairs", GREY, lw=1.2, ls="--", marker="")
    for ax, label in ((left, "seconds"), (right, "peak memory (GB)")):
        _logarithmic(ax, sizes, "p, the number of columns")
        ax.set_ylabel(label)
    left.legend(frameon=False)
    save(figure, "scaling_wide", folder)


def gpu(rows: Sequence[Row], targets: dict[int, float], folder: Path) -> None:
    """Draw the elimination on a GPU beside the time that moving its bytes takes."""
    rows = sorted(rows, key=lambda row: row["p"])
    sizes = [row["p"] for row in rows]
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    _line(ax, rows, "p", "exact", "soft, exact", GREEN)
    _line(ax, rows, "p", "floor of exact", "bytes of exact / bandwidth", GREEN, lw=1.2, ls="--", marker="")
    _line(ax, rows, "p", "lazy", "soft, lazy", DARK)
    _line(ax, rows, "p", "floor of lazy", "bytes of lazy / bandwidth", DARK, lw=1.2, ls="--", marker="")
    for p, bound in targets.items():
        if p in sizes:
            _target(ax, p, bound, f"at most {bound:g} s")
    _logarithmic(ax, sizes)
    ax.set_ylabel("seconds")
    ax.legend(frameon=False)
    save(figure, "scaling_gpu", folder)
