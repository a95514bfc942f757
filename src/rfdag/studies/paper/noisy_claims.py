"""What Section 5.2 and Appendix B of the paper say about time and accuracy on few rows, against the rows of `noisy`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rfdag.studies.paper.statistics import rounded
from rfdag.studies.paper.study import Claim, Row

GROWS = 2.0
"""Ratio of the times at the densest and at the sparsest point from which on a time grows."""

MOST_FPR = 0.3
"""FPR up to which the area under an ROC curve is taken."""

SIMILAR = 0.1
"""Difference of areas up to which ROC curves count as similar."""

GROWING = (
    "PC (causal-learn)",
    "PC (tetrad-port)",
    "GSP (causaldag)",
    "GSP (rfdag)",
    "GES (causal-learn)",
    "FGES (tetrad-port)",
)
FLAT = ("RFD", "MD", "MD (causaldag)")
BEYOND = "soft + refinement"


def shown(rows: Sequence[Row], name: str, kind: str = "density") -> Iterator[tuple[str, list[Row]]]:
    """Yield the methods with those of their points, from sparse to dense, at which half of the calls were finished."""
    here = [row for row in rows if row[kind] == name and 2 * row["finished"] >= row["graphs"]]
    for method in dict.fromkeys(row["method"] for row in here):
        yield method, [row for row in here if row["method"] == method and row["tpr"] is not None]


def time_claims(rows: Sequence[Row]) -> list[Claim]:
    """Hold the paper's statements on time against the rows."""
    found = [_growth(rows, method) for method in (*GROWING, *FLAT, BEYOND)]
    return [claim for claim in [*found, efficient(rows)] if claim is not None]


def _growth(rows: Sequence[Row], method: str) -> Claim | None:
    """Compare a method's times at its densest and its sparsest value, on graphs of every density."""
    ratios, listed, cut = [], [], []
    for density in dict.fromkeys(row["density"] for row in rows):
        points = [row for row in rows if (row["density"], row["method"]) == (density, method) and row["seconds"]]
        if len(points) > 1:
            ratios.append(points[-1]["seconds"] / points[0]["seconds"])
            listed.append(f"{density}: {_times_of(points, ratios[-1])}")
            # The median is that of the limit only where at least half of the calls were ended by it.
            cut.append(2 * points[-1]["late"] >= points[-1]["graphs"])
    if not ratios:
        return None
    if method in FLAT:
        statement = f"the time of {method} is almost constant (less than {GROWS:g} times from sparsest to densest)"
        holds: bool | None = max(ratios) < GROWS
        if holds and any(cut):
            holds = None
    else:
        beyond = "beyond the paper: " if method == BEYOND else ""
        statement = f"{beyond}the time of {method} grows with the density estimated (at least {GROWS:g} times)"
        # A time that was cut off is a lower bound: it can show growth, and not that there is none.
        short = [was_cut for ratio, was_cut in zip(ratios, cut, strict=True) if ratio < GROWS]
        holds = (None if all(short) else False) if short else True
    return Claim(statement, holds, "; ".join(listed))


def _times_of(points: Sequence[Row], ratio: float) -> str:
    first, last = points[0], points[-1]
    # A late call counts with the limit.
    words = f"{'at least ' if last['late'] else ''}{ratio:.2g} times"
    known = [row for row in points if row["tpr"] is not None]
    if len(known) > 1:
        words += f", {_factor(known):.2f} times per 0.1 of TPR"
    rates = "" if last["tpr"] is None or first["tpr"] is None else f" at TPR {first['tpr']:.2f} and {last['tpr']:.2f}"
    return f"{words} ({first['seconds']:.2g} and {last['seconds']:.2g} s{rates})"


def _factor(points: Sequence[Row]) -> float:
    """Return by what factor the time grows per 0.1 of TPR, by least squares on its logarithm."""
    rates = [row["tpr"] for row in points]
    if len(set(rates)) < 2:
        return math.nan
    slope = np.polynomial.Polynomial.fit(rates, np.log([row["seconds"] for row in points]), 1).convert().coef[1]
    return math.exp(0.1 * float(slope))


def efficient(rows: Sequence[Row], kind: str = "density") -> Claim | None:
    """Compare the longest times over the whole range."""
    longest: dict[tuple[str, str], float] = {}
    for name in dict.fromkeys(row[kind] for row in rows):
        for method, points in shown(rows, name, kind):
            longest[method, name] = max(row["seconds"] for row in points)
    own = {name: seconds for (method, name), seconds in longest.items() if method == "RFD"}
    others = [method for method in GROWING if any(method == other for other, _ in longest)]
    if not own or not others:
        return None
    ratios = {
        method: [longest[method, name] / own[name] for name in own if (method, name) in longest] for method in others
    }
    listed = ", ".join(f"{method} {min(each):.2g} to {max(each):.2g}" for method, each in ratios.items())
    return Claim(
        "RFD is a computationally efficient alternative to PC, GSP and GES (its longest median time is below theirs)",
        all(min(each) > 1 for each in ratios.values()),
        f"longest median time over RFD's ({min(own.values()):.2g} to {max(own.values()):.2g} s): {listed}",
    )


def roc_claims(rows: Sequence[Row], kind: str = "density") -> list[Claim]:
    """Hold the statement of Appendix B against the rows."""
    found = areas(rows, kind)
    if not found:
        return []
    densities = [name for name in found[0] if name != "method"]
    similar, ahead, spreads, leads = True, True, [], []
    for density in densities:
        known = {row["method"]: row[density] for row in found if row[density] is not None}
        own = known.pop(BEYOND, None)
        if len(known) < 2:
            continue
        least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        similar &= known[most] - known[least] <= SIMILAR
        spreads.append(
            f"{density}: RFD {known.get('RFD', math.nan):.3f}, least {known[least]:.3f} ({least}), "
            f"most {known[most]:.3f} ({most})"
        )
        if own is not None:
            ahead &= own > known[most]
            leads.append(f"{density}: {own:.3f} against {known[most]:.3f} ({most})")
    where = f"area up to FPR {MOST_FPR:g}"
    everywhere = "at every density" if kind == "density" else "in every panel"
    return [
        Claim(
            f"all algorithms perform similarly ({where}, of 1, within {SIMILAR:g} {everywhere})",
            similar if spreads else None,
            "; ".join(spreads),
        ),
        Claim(
            f"beyond the paper: {BEYOND} has a larger {where} than all of them {everywhere}",
            ahead if leads else None,
            "; ".join(leads),
        ),
    ]


def areas(rows: Sequence[Row], kind: str = "density") -> list[Row]:
    """Return the area under each method's ROC curve up to `MOST_FPR`, a column a density."""
    densities = list(dict.fromkeys(row[kind] for row in rows))
    curves = {density: dict(shown(rows, density, kind)) for density in densities}
    methods = dict.fromkeys(row["method"] for row in rows)
    return [
        {
            "method": method,
            **{
                density: rounded(area(curves[density][method]), 3) if _whole(curves[density].get(method)) else None
                for density in densities
            },
        }
        for method in methods
    ]


def _whole(points: Sequence[Row] | None) -> bool:
    """Return whether a curve was not cut off by the time limit before it reached `MOST_FPR`."""
    return points is not None and len(points) > 0 and (points[-1]["fpr"] >= MOST_FPR or not points[-1]["late"])


def area(points: Sequence[Row]) -> float:
    """Return the area under the ROC curve through points up to `MOST_FPR`, as a share of what is possible.

    The curve begins at (0, 0) and, after the last point, goes straight to (1, 1), as guessing in between does.
    """
    pairs = sorted((row["fpr"], row["tpr"]) for row in points)
    fpr, tpr = (np.array([0.0, *column, 1.0]) for column in zip(*pairs, strict=True))
    inside = fpr < MOST_FPR
    widths = np.diff(np.append(fpr[inside], MOST_FPR))
    heights = np.append(tpr[inside], np.interp(MOST_FPR, fpr, tpr))
    return float(widths @ (heights[1:] + heights[:-1]) / 2 / MOST_FPR)
