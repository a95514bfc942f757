"""The local score of variables in several environments, in some of which interventions target them."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.evidence.arrangement import by_sums
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.graphs.dag import Graph
from rfdag.orders import environment_tuning as tuned
from rfdag.orders.kernels.environments import SPARE_ROWS, scan_environments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

Kind = Literal["auto", "hard", "soft"]
KINDS: dict[str, int] = {"hard": 0, "soft": 1, "auto": 2}
"""How kernels number the kinds of interventions that are allowed."""


def price_of_intercepts(rows: int, variables: int, environments: int) -> float:
    """Return what it costs that every variable has an intercept in each environment, beyond one in all.

    >>> round(price_of_intercepts(1000, 10, 3), 1)
    138.2
    """
    return math.log(rows) * variables * (environments - 1)


class Packs(NamedTuple):
    """What is known of each variable and those on its list, one variable after the other; see `scan_environments`."""

    scatters: Floats
    scatter_starts: Integers
    means: Floats
    mean_starts: Integers
    rows: Floats
    row_starts: Integers
    members: Integers
    member_starts: Integers
    suspects: Integers


class EnvironmentScore:
    """s(y, P) = n_y ln v(y | P) + price of parents + the cost of y's mechanism in each environment that targets it.

    Parameters
    ----------
    evidence
        The moments by environment, and which variables they target.
    candidates
        For each variable what may be its parents, a row that ends with −1; required parents included.
    kind
        Which mechanisms an intervention may bring about: "hard" cuts a variable off its parents, "soft" does not,
        "auto" is either.
    centred
        Whether every variable has an intercept of its own in each environment.
    price_of_parent
        What a parent costs.
    price
        What a number that describes a mechanism costs; ln n unless given.
    """

    def __init__(
        self,
        evidence: EnvironmentMoments,
        candidates: Integers,
        *,
        kind: Kind = "auto",
        centred: bool = False,
        price_of_parent: float,
        price: float | None = None,
    ) -> None:
        self.size = len(evidence.names)
        self.price_of_parent = price_of_parent
        self.price = math.log(evidence.n_samples) if price is None else price
        self.kind = KINDS[kind]
        self.evidence = evidence
        self.packs = packed(evidence, candidates, centred=centred)
        self._groups = int(np.diff(self.packs.row_starts).max())
        largest = float(self.packs.rows[self.packs.row_starts[:-1]].max())
        self.most_parents = max(1, min(self.size - 1, int(largest - 3) // 2))

    def scan(
        self, children: Integers, parents: Integers, sizes: Integers, candidates: Integers
    ) -> tuple[Floats, Floats]:
        """Return the scores of children given parents, and those with each candidate added."""
        return self._scanned(children, parents, sizes, candidates, np.empty((0, 0), np.bool_))

    def _scanned(
        self, children: Integers, parents: Integers, sizes: Integers, candidates: Integers, chosen: Flags
    ) -> tuple[Floats, Floats]:
        own, out = np.empty(len(children)), np.empty((len(children), candidates.shape[1]))
        prices = self.evidence.unknown, self.kind, self.price, self.price_of_parent
        scan_environments(*self.packs, *prices, children, parents, sizes, candidates, own, out, chosen)
        return own, out

    def targets(self, child: int, parents: Integers) -> list[int]:
        """Return the environments that target a child with these parents."""
        if not self.evidence.unknown:
            return self.evidence.targeting(child)
        chosen = np.zeros((1, self._groups), np.bool_)
        listed = np.append(np.asarray(parents, np.int64), 0)[None]
        size = np.array([len(parents)])
        self._scanned(np.array([child]), listed, size, np.full((self.size, 1), -1), chosen)
        groups = self.evidence.groups_of(child)
        return [groups[at - 1] for at in np.flatnonzero(chosen[0]).tolist()]

    def work(self, families: int, parents: int, candidates: int) -> int:
        """Return about how many operations a scan takes."""
        m = parents / max(families, 1) + 1
        groups = self._groups if self.evidence.unknown else self._groups - 1
        a_candidate = (m + 4) * (m + 1) + groups * (3 * m * m + 4)
        first = m**3 + groups * m * m * (8 if self.evidence.unknown else 2)
        return int(families * (first + candidates * a_candidate))


def with_relatives(dag: Graph) -> Integers:
    """Return for each variable what a local change of a DAG may make its parents, a row that ends with −1.

    These are its neighbours and the parents of its children; all others where variables are few.
    """
    p = dag.shape[0]
    if p - 1 <= tuned.MOST_CANDIDATES:
        return np.array([np.delete(np.arange(p), y) for y in range(p)])
    edges = np.asarray(dag) != 0
    lists = []
    for y in range(p):
        near = edges[y] | edges[:, y] | edges[:, edges[y]].any(axis=1) | edges[:, edges[:, y]].any(axis=1)
        near[y] = False
        lists.append(np.flatnonzero(near))
    table = np.full((p, max(1, *map(len, lists))), -1)
    for y, each in enumerate(lists):
        table[y, : len(each)] = each
    return table


def packed(evidence: EnvironmentMoments, candidates: Integers, *, centred: bool) -> Packs:
    """Return what a score needs to know of each variable and its candidates."""
    scatters, means, rows, members, suspects = [], [], [], [], []
    for y in range(len(evidence.names)):
        listed = np.append(y, candidates[y][candidates[y] >= 0])
        groups = evidence.groups_of(y)
        counted, centre, first = evidence.common(listed, [] if evidence.unknown else groups, centred=centred)
        within = evidence.within(listed, groups)
        apart = np.zeros((len(groups), len(listed)))
        if not centred:
            apart = evidence.means[np.ix_(np.array(groups, np.int64), listed)] - centre
        scatters.append(np.concatenate([first.ravel(), within.ravel()]))
        means.append(np.concatenate([np.zeros(len(listed)), apart.ravel()]))
        rows.append(np.append(counted, evidence.rows[groups]))
        members.append(listed)
        suspects.append(_suspects(within, evidence.rows[groups]) if evidence.unknown else np.empty(0, np.int64))

    def joined(parts: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], Integers]:
        return np.concatenate(parts), np.append(0, np.cumsum([len(part) for part in parts]))

    flat_members, member_starts = joined(members)
    lists = flat_members.astype(np.int64), member_starts
    return Packs(*joined(scatters), *joined(means), *joined(rows), *lists, np.concatenate(suspects))


def _suspects(within: Floats, rows: Integers) -> Integers:
    """Return for each of a list the groups, counted from 1, in which the first depends on it otherwise than in all.

    ``within`` are the scatters of the list in each group. There are as many places for each of the list, 0 where there
    are fewer groups.
    """
    crossing, own = within[:, 0], np.maximum(np.diagonal(within, axis1=1, axis2=2), 1e-300)
    excess = crossing - own * (crossing.sum(axis=0) / own.sum(axis=0))
    strength = excess**2 / own * (rows / own[:, 0])[:, None]
    found = np.zeros((within.shape[1], tuned.SUSPECTS), np.int64)
    ranked = np.array([by_sums(-each) for each in strength.T]).T[: tuned.SUSPECTS] + 1
    # A slope of its own needs rows.
    found[:, : len(ranked)] = np.where(rows[ranked - 1] > 2 + SPARE_ROWS, ranked, 0).T
    return found.ravel()
