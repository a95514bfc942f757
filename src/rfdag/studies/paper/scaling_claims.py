"""What Section 5.2 of the paper says about growing dense graphs, against the rows of the scaling study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rfdag.studies.paper.statistics import growth
from rfdag.studies.paper.study import Claim, Row

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
    """Hold the paper's statements against the rows, and add what goes beyond them."""
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
    points = [row for row in _finished(rows, method) if row["rfd_balance_lead"] is not None]
    if not points:
        return None
    # Below the size at which GES's penalties were chosen, graphs are too small to tell.
    telling = [row for row in points if row["p"] >= SANDWICHED_AT]
    held: bool | None = None
    if any(row["rfd_balance_lead_high"] < -COMPARABLE for row in telling):
        held = False
    elif telling and all(row["rfd_balance_lead_low"] >= -COMPARABLE for row in telling):
        held = True
    listed = ", ".join(
        f"p = {row['p']}: {row['rfd_balance_lead']:+.3f} [{row['rfd_balance_lead_low']:+.3f}, "
        f"{row['rfd_balance_lead_high']:+.3f}]"
        for row in points
    )
    return Claim(
        f"the performance of RFD is comparable to {method}'s (TPR − FPR at most {COMPARABLE:g} behind from p = "
        f"{SANDWICHED_AT} on, with its band)",
        held,
        f"TPR − FPR of RFD less that of {method} on the same graphs: {listed}",
    )


def _far_less_time(rows: Sequence[Row], method: str) -> Claim | None:
    pairs = list(_both(rows, "RFD", method, finished=False))
    if not pairs:
        return None
    ratios = {own["p"]: other["seconds"] / own["seconds"] for own, other in pairs}
    first, last = min(ratios), max(ratios)
    late = bool(pairs[-1][1]["late"])
    bound = "at least " if late else ""
    numbers = f"{method} over RFD: {ratios[first]:.3g} at p = {first}, {bound}{ratios[last]:.3g} at p = {last}"
    whole = [pair for pair in pairs if not pair[1]["late"]]
    if len(whole) > 1:
        own, other = (_exponent([pair[which] for pair in whole]) for which in (0, 1))
        numbers += f"; time grows as p to the {own:.2f} and {other:.2f} up to p = {whole[-1][0]['p']}"
    far = last > first and ratios[last] > ratios[first] and ratios[last] >= FAR
    return Claim(
        f"{method} takes far more time than RFD (at least {FAR:g} times at the largest p) and it grows faster",
        # A call that was ended only has a lower bound of its time.
        True if far else None if late else False,
        numbers,
    )


def _above(rows: Sequence[Row]) -> Claim | None:
    points = [row for row in _finished(rows, "MD") if row["rfd_tpr_lead"] is not None]
    if not points:
        return None
    higher = sum(row["rfd_tpr_lead"] > 0 for row in points)
    lower = sum(row["rfd_fpr_lead"] < 0 for row in points)
    both = sum(row["rfd_tpr_lead"] > 0 and row["rfd_fpr_lead"] < 0 for row in points)
    surely = sum(row["rfd_tpr_lead_low"] > 0 for row in points)
    worse = sum(row["rfd_fpr_lead_low"] > 0 for row in points)
    listed = ", ".join(
        f"p = {row['p']}: {row['rfd_balance_lead']:+.3f} [{row['rfd_balance_lead_low']:+.3f}, "
        f"{row['rfd_balance_lead_high']:+.3f}]"
        for row in points
    )
    return Claim(
        f"RFD beats MD at almost every point (higher TPR and lower FPR at {ALMOST:.0%} of them)",
        both >= ALMOST * len(points),
        f"both at {both} of {len(points)} points; higher TPR at {higher} ({surely} with the whole band), lower FPR at "
        f"{lower} (higher with the whole band at {worse}); lead in TPR − FPR {listed}",
    )


def _faster(rows: Sequence[Row]) -> Claim | None:
    ratios = [own["seconds"] / other["seconds"] for own, other in _both(rows, "RFD", "MD", finished=False)]
    if not ratios:
        return None
    return Claim(
        "MD is slightly faster than RFD (RFD takes 1 to 2 times as long at every point)",
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
        "; ".join(f"p = {p}: {numbers}" for p, (_, numbers) in leads.items()),
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
