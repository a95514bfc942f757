"""What keeps a reader from taking a graph for more certain than it is: close calls, and edges without a direction."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from rfdag.errors import Message, keyword
from rfdag.orders.rivals import CLOSE
from rfdag.result.close_calls import MARK, CloseCall
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.result.result import Result

LOOKED_FOR_UP_TO = 500
"""Number of variables up to which summaries and pictures look for close calls; with more, that takes too long.

Measured: 0.4 to 3 s for 500 variables with 1000 to 3000 edges.
"""
NAMED = 3
"""Close calls that a summary names; the rest are counted."""
FEW = 3
"""Undirected edges from which advice is given."""
MARK_EXPLAINED = f"{MARK} close call: a graph with a BIC worse by less than {CLOSE:g} lacks this edge or its direction"


def marked(result: Result) -> dict[tuple[Hashable, Hashable], CloseCall]:
    """Return the close calls by source and target, for marks; none where there are too many variables to look."""
    if len(result.names) > LOOKED_FOR_UP_TO:
        return {}
    return {(call.source, call.target): call for call in result.close_calls}


def close_calls_in_words(result: Result, shown: Callable[[Hashable], str] = str) -> str | None:
    """Return how many edges are close calls, and which are the closest; None if there are none."""
    calls = list(marked(result).values())
    if not calls:
        return None
    directed = {(edge.source, edge.target): edge.directed for edge in result.edges}
    named = [
        f"{shown(call.source)} {'→' if directed[call.source, call.target] else '–'} {shown(call.target)} "
        f"({call.change}, {round(call.cost, 1) + 0.0:.1f})"
        for call in calls[:NAMED]
    ]
    hang = "hangs" if len(calls) == 1 else "hang"
    more = f" and {len(calls) - NAMED} more" if len(calls) > NAMED else ""
    return f"{counted(len(calls), 'edge')} {hang} on less than {CLOSE:g} BIC units: {', '.join(named)}{more}"


def advice_on_directions(result: Result) -> Message | None:
    """Return the advice to state prior knowledge, where most edges are undirected; None elsewhere.

    >>> import rfdag
    >>> chain = rfdag.simulate.linear_sem([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], rng=1).covariance()
    >>> print(advice_on_directions(rfdag.learn(chain, input="covariance", n_samples=1000)))
    3 of 3 edges could point either way. What you know of their directions may decide more: pass knowledge=….
    """
    edges, undirected = int(result.dag.sum()), int((result.icpdag == 2).sum()) // 2
    if undirected < FEW or 2 * undirected <= edges:
        return None
    more = "What else" if result.knowledge else "What"
    return Message(
        f"{undirected} of {edges} edges could point either way. {more} you know of their directions may decide more: "
        f"pass {keyword('knowledge', ...)}."
    )


def remarks(result: Result) -> list[str]:
    """Return the lines of a summary on close calls and directions, where there is something to say."""
    calls, advice = close_calls_in_words(result), advice_on_directions(result)
    return [*([f"close calls: {calls}"] if calls else []), *([f"directions: {advice}"] if advice else [])]
