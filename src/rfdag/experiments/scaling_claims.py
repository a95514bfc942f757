"""What Section 5.2 of the paper says about growing dense graphs, against the rows of the scaling study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rfdag.experiments.statistics import growth
from rfdag.experiments.study import Claim, Row

COMPARED = (
    "RFD",
    "MD",
    "GES1 (causal-learn)",
    "GES2 (causal-learn)",
    "FGES1 (tetrad-port)",
    "FGES2 (tetrad-port)",
)
"""The methods of the paper's figure."""

PAIRS = (COMPARED[2:4], COMPARED[4:6])
SANDWICHED_AT = 20
"""Variables at which GES's two penalties are chosen."""

COMPARABLE = 0.1
"""By how much TPR − FPR may fall behind for two methods to count as comparable."""

FAR = 10.0
"""Ratio of times from which on one is far less than the other."""

ALMOST = 0.8
"""Share of points that is almost every one."""

BEYOND = "soft + refinement"


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Hold the paper's statements against the rows, and say how what is beyond them does."""
    found: list[Claim | None] = [_sandwiched(rows, *PAIRS[0])]
    for pair in PAIRS:
        for method in pair:
            found += [_comparable(rows, method), _far_less_time(rows, method)]
    found += [_above(rows), _faster(rows), _ahead(rows)]
    return [claim for claim in found if claim is not None]


def _sandwiched(rows: Sequence[Row], dense: str, sparse: str) -> Claim | None:
    at = {row["method"]: row for row in rows if row["p"] == SANDWICHED_AT and row["tpr"] is not None}
    if not {"RFD", dense, sparse} <= at.keys():
        return None
    inside = all(at[sparse][rate] <= at["RFD"][rate] <= at[dense][rate] for rate in ("tpr", "fpr"))
    return Claim(
        f"{dense} and {sparse} sandwich the TPR and the FPR of RFD at p = {SANDWICHED_AT}",
        inside,
        "; ".join(
            f"{method} TPR {at[method]['tpr']:.3f}, FPR {at[method]['fpr']:.3f}" for method in (sparse, "RFD", dense)
        ),
    )


def _comparable(rows: Sequence[Row], method: str) -> Claim | None:
    pairs = list(_both(rows, "RFD", method))
    if not pairs:
        return None
    leads = {own["p"]: _balance(own) - _balance(other) for own, other in pairs}
    told = ", ".join(f"p = {p}: {lead:+.3f}" for p, lead in leads.items())
    return Claim(
        f"the performance of RFD is comparable to {method}'s (TPR − FPR at most {COMPARABLE:g} behind)",
        min(leads.values()) >= -COMPARABLE,
        f"TPR − FPR of RFD less that of {method}: {told}",
    )


def _far_less_time(rows: Sequence[Row], method: str) -> Claim | None:
    pairs = list(_both(rows, "RFD", method, finished=False))
    if not pairs:
        return None
    ratios = {own["p"]: other["seconds"] / own["seconds"] for own, other in pairs}
    first, last = min(ratios), max(ratios)
    bound = "at least " if pairs[-1][1]["late"] else ""
    numbers = f"{method} over RFD: {ratios[first]:.3g} at p = {first}, {bound}{ratios[last]:.3g} at p = {last}"
    grows = last > first and ratios[last] > ratios[first]
    if len(pairs) > 1:
        own, other = (_exponent([pair[which] for pair in pairs]) for which in (0, 1))
        numbers += f"; time grows as p to the {own:.2f} and {other:.2f} there"
    return Claim(
        f"{method} takes far more time than RFD (at least {FAR:g} times at the largest p) and it grows faster",
        grows and ratios[last] >= FAR,
        numbers,
    )


def _above(rows: Sequence[Row]) -> Claim | None:
    pairs = list(_both(rows, "RFD", "MD"))
    if not pairs:
        return None
    higher = sum(own["tpr"] > other["tpr"] for own, other in pairs)
    lower = sum(own["fpr"] < other["fpr"] for own, other in pairs)
    both = sum(own["tpr"] > other["tpr"] and own["fpr"] < other["fpr"] for own, other in pairs)
    told = ", ".join(f"p = {own['p']}: {_balance(own):.3f} and {_balance(other):.3f}" for own, other in pairs)
    return Claim(
        f"RFD beats MD at almost every point (higher TPR and lower FPR at {ALMOST:.0%} of them)",
        both >= ALMOST * len(pairs),
        f"both at {both} of {len(pairs)} points, higher TPR at {higher}, lower FPR at {lower}; TPR − FPR {told}",
    )


def _faster(rows: Sequence[Row]) -> Claim | None:
    ratios = [own["seconds"] / other["seconds"] for own, other in _both(rows, "RFD", "MD", finished=False)]
    if not ratios:
        return None
    return Claim(
        "MD is slightly faster than RFD (by less than half of RFD's time at every point)",
        all(1 <= ratio < 2 for ratio in ratios),
        f"RFD's time over MD's {min(ratios):.2f} to {max(ratios):.2f}",
    )


def _ahead(rows: Sequence[Row]) -> Claim | None:
    """Compare what goes beyond the paper with the best of all others, at every size."""
    leads: dict[int, tuple[float, str]] = {}
    for own in _finished(rows, BEYOND):
        others = [row for row in rows if row["p"] == own["p"] and row["method"] != BEYOND and _half(row)]
        if others:
            best = max(others, key=_balance)
            leads[own["p"]] = (
                _balance(own) - _balance(best),
                f"{_balance(own):.3f}, next {best['method']} " + (f"{_balance(best):.3f}"),
            )
    if not leads:
        return None
    return Claim(
        f"beyond the paper: {BEYOND} is nearest to the truth of all (TPR − FPR) at every size",
        all(lead > 0 for lead, _ in leads.values()),
        "; ".join(f"p = {p}: {words}" for p, (_, words) in leads.items()),
    )


def _both(rows: Sequence[Row], first: str, second: str, *, finished: bool = True) -> Iterator[tuple[Row, Row]]:
    """Yield the rows of two methods at the sizes that both have, finished by half at least unless times will do."""
    others = {row["p"]: row for row in rows if row["method"] == second and (_half(row) or not finished)}
    for row in rows:
        if row["method"] == first and row["p"] in others and _half(row):
            yield row, others[row["p"]]


def _finished(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method and _half(row)]


def _half(row: Row) -> bool:
    return bool(2 * row["finished"] >= row["graphs"] and row["tpr"] is not None)


def _balance(row: Row) -> float:
    return float(row["tpr"] - row["fpr"])


def _exponent(points: Sequence[Row]) -> float:
    return growth([row["p"] for row in points], [row["seconds"] for row in points]).exponent
