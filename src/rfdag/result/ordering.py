"""A causal order in words: an arrow only where the equivalence class compels one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from rfdag.graphs.sparse import entries_at

if TYPE_CHECKING:
    from rfdag.result.result import Result

ARROW, COMMA = " → ", ", "
MEANING = "causes first, → where compelled"
"""What an order means, for its title."""


def order_in_words(result: Result, limit: int, shown: Callable[[Hashable], str] = str) -> str:
    """Return the first variables of an order: with an arrow between neighbours where the class compels one.

    Neighbours between which there is a comma may stand in another order in other DAGs of the class, or even of the same
    one. An arrow is in all of them. ``shown`` writes a name.

    >>> import rfdag
    >>> order_in_words(rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag", names=["a", "b", "c"]), 10)
    'b, a → c'
    >>> order_in_words(rfdag.learn([[0, 1], [0, 0]], input="dag", names=["a", "b"]), 10)
    'b, a'
    """
    places = result.causal_order[:limit]
    compelled = entries_at(result.icpdag, places[:-1], places[1:]) == 1
    names = [shown(name) for name in result.order[:limit]]
    joints = [ARROW if arrow else COMMA for arrow in compelled.tolist()]
    return "".join(part for pair in zip(["", *joints][: len(names)], names, strict=True) for part in pair)
