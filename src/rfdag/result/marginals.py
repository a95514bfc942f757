"""The probabilities of categories, summed over what they depend on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Joint(NamedTuple):
    """The probabilities of some categories together; one axis each."""

    variables: tuple[int, ...]
    table: Floats


def marginals(
    parents: Mapping[int, Sequence[int]], levels: Sequence[int], table: Callable[[int], Floats], most: int
) -> dict[int, Floats]:
    """Return the probabilities of the levels of each category, exact whatever the parents have in common.

    Categories are added one after the other, the smallest joint table first; those that nothing needs any more are
    summed out. Those that would take a table of more than ``most`` probabilities are left out.

    Parameters
    ----------
    parents
        The parents of each category, which are such categories themselves.
    levels
        How many levels each variable has.
    table
        Returns the probabilities of a category's levels (last axis) given those of its parents.
    most
        Probabilities that are held at once.

    Examples
    --------
    >>> tables = [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[[1, 0], [0, 1]]] * 2)]
    >>> marginals({0: [], 1: [0], 2: [0, 1]}, [2, 2, 2], tables.__getitem__, 1000)[2].round(3)
    array([0.5, 0.5])
    """
    found: dict[int, Floats] = {}
    waiting = list(parents)
    joint: list[Joint] = []
    while waiting:
        ready = [at for at in waiting if not any(parent in waiting for parent in parents[at])]
        together = {at: (*_joined_with(joint, parents[at]), at) for at in ready}
        size, at = min((math.prod(levels[other] for other in together[at]), at) for at in ready)
        if size > most:
            break
        waiting.remove(at)
        whole_of = together[at]
        used = [each for each in joint if set(each.variables) & set(parents[at])]
        joint = [each for each in joint if not set(each.variables) & set(parents[at])]
        whole = _product([*used, Joint((*parents[at], at), table(at))], whole_of)
        found[at] = whole.sum(axis=tuple(range(whole.ndim - 1)))
        needed = {parent for other in waiting for parent in parents[other]}
        out = tuple(place for place, other in enumerate(whole_of) if other not in needed)
        if len(out) < len(whole_of):
            joint.append(Joint(tuple(other for other in whole_of if other in needed), whole.sum(axis=out)))
    return found


def _joined_with(joint: Sequence[Joint], parents: Sequence[int]) -> tuple[int, ...]:
    """Return the categories of the tables in which some of these are."""
    return tuple(other for each in joint if set(each.variables) & set(parents) for other in each.variables)


def _product(factors: Sequence[Joint], onto: tuple[int, ...]) -> Floats:
    """Return the product of tables, with axes in this order."""
    axis = {variable: place for place, variable in enumerate(onto)}
    operands: list[Any] = []
    for each in factors:
        operands += [each.table, [axis[variable] for variable in each.variables]]
    return np.asarray(np.einsum(*operands, list(range(len(onto)))), np.float64)
