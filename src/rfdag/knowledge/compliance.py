"""Whether a result obeys the knowledge it was learnt with, constraint by constraint."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rfdag.knowledge.knowledge import Knowledge
from rfdag.wording import counted


class Compliance(NamedTuple):
    """One constraint: its ``kind``, what it ``asked`` for, whether it ``holds``, and the evidence (``shown``).

    Kinds are "tiers" (one for each boundary), "within" (no edges inside a tier), "required", "forbidden", "root" and
    "leaf".
    """

    kind: str
    asked: str
    holds: bool
    shown: str


def compliance(
    knowledge: Knowledge, names: Sequence[Hashable], order: Sequence[Hashable], dag: Any
) -> tuple[Compliance, ...]:
    """Return one record per constraint, read off the order and the DAG alone.

    >>> known = Knowledge(tiers=[["a"], ["b"]], forbidden=[("b", "a")])
    >>> for record in compliance(known, ["b", "a"], ["a", "b"], np.array([[0, 0], [1, 0]])):
    ...     print(record.asked, record.holds, record.shown, sep=" | ")
    tier 1 before tier 2 | True | 'a' at place 1 is the last of tier 1, 'b' at place 2 the first of tier 2; no edge back
    no edge 'b' → 'a' | True | 'b' → 'a' is not in the DAG
    """
    column = {name: at for at, name in enumerate(names)}
    place = {name: at for at, name in enumerate(order, start=1)}
    sources, targets = dag.nonzero()
    edges = set(zip(sources.tolist(), targets.tolist(), strict=True))
    number = np.full(len(names), -1)
    for tier, members in enumerate(knowledge.tiers):
        number[[column[name] for name in members]] = tier
    records: list[Compliance] = []

    def arrow(cause: Hashable, effect: Hashable) -> str:
        return f"{cause!r} → {effect!r}"

    def named(found: Any) -> str:
        return "; ".join(arrow(names[i], names[j]) for i, j in found[:3])

    def put(kind: str, asked: str, holds: Any, shown: str) -> None:
        records.append(Compliance(kind, asked, bool(holds), shown))

    filled = [tier for tier, members in enumerate(knowledge.tiers) if members]
    for early, late in pairwise(filled):
        last = max(knowledge.tiers[early], key=place.__getitem__)
        first = min(knowledge.tiers[late], key=place.__getitem__)
        ends = np.column_stack([number[sources], number[targets]])
        back = np.flatnonzero((ends[:, 0] >= late) & (ends[:, 1] >= 0) & (ends[:, 1] <= early))
        found = [(sources[at], targets[at]) for at in back]
        put(
            "tiers",
            f"tier {early + 1} before tier {late + 1}",
            place[last] < place[first] and not found,
            f"{last!r} at place {place[last]} is the last of tier {early + 1}, {first!r} at place {place[first]} the "
            f"first of tier {late + 1}; {named(found) or 'no edge back'}",
        )
    for tier in knowledge.forbidden_within:
        inside = [(i, j) for i, j in edges if number[i] == number[j] == tier - 1]
        pairs = len(knowledge.tiers[tier - 1]) * (len(knowledge.tiers[tier - 1]) - 1) // 2
        shown = named(inside) or f"none of its {pairs} pairs adjacent"
        put("within", f"no edges inside tier {tier}", not inside, shown)
    for cause, effect in knowledge.required:
        there = (column[cause], column[effect]) in edges
        verdict = f"{arrow(cause, effect)} is {'' if there else 'not '}in the DAG"
        put("required", f"an edge {arrow(cause, effect)}", there, verdict)
    for cause, effect in knowledge.forbidden:
        there = (column[cause], column[effect]) in edges
        verdict = f"{arrow(cause, effect)} is {'' if there else 'not '}in the DAG"
        put("forbidden", f"no edge {arrow(cause, effect)}", not there, verdict)
    for root in knowledge.roots:
        into = [(i, j) for i, j in edges if j == column[root]]
        put("root", f"no parents of {root!r}", not into, named(into) or f"{root!r} has no parents")
    for leaf in knowledge.leaves:
        out = [(i, j) for i, j in edges if i == column[leaf]]
        put("leaf", f"no children of {leaf!r}", not out, named(out) or f"{leaf!r} has no children")
    return tuple(records)


def summed_up(records: Sequence[Compliance]) -> str:
    """Return one line: how many constraints hold, and the first that does not.

    >>> summed_up([Compliance("root", "no parents of 'a'", True, "'a' has no parents")])
    'the one constraint holds'
    """
    broken = [record for record in records if not record.holds]
    if not broken:
        return "the one constraint holds" if len(records) == 1 else f"all {len(records)} constraints hold"
    verb = "does" if len(broken) == 1 else "do"
    of_all = f"{len(broken)} of {counted(len(records), 'constraint')}"
    return f"{of_all} {verb} not hold; the first: {broken[0].asked} ({broken[0].shown})"
