"""A bootstrap beside its result: how often runs on resampled rows have each edge, and where each variable stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfdag.errors import OptionError, listed
from rfdag.report.rounding import rounded

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

OFTEN = 0.5
"""Share of the runs from which a pair is listed that is not adjacent in the graph."""
MOST_PAIRS = 1000


def frequencies(result: Result, bootstrap: Bootstrap, sources: list[int], targets: list[int]) -> dict[str, Any]:
    """Return the shares of the runs for edges given by column numbers, and for pairs that the graph lacks.

    >>> import rfdag
    >>> sem = rfdag.simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1)
    >>> found = rfdag.bootstrap(rfdag.simulate.sample(sem, 300, rng=2), runs=5, n_jobs=1)
    >>> shown = frequencies(found.result, found, [0, 1], [2, 2])
    >>> shown["runs"], shown["adjacent"], shown["absent"]
    (5, [1.0, 1.0], [])
    """
    into = _columns(result, bootstrap)
    often = bootstrap.edge_frequency[np.ix_(into, into)]
    arrows = bootstrap.compelled_frequency[np.ix_(into, into)]
    ranks = [bootstrap.ranks[at] for at in into]
    return {
        "runs": bootstrap.runs,
        "drawn": bootstrap.drawn,
        "adjacent": rounded(often[sources, targets]),
        "this_way": rounded(arrows[sources, targets]),
        "other_way": rounded(arrows[targets, sources]),
        "lower": rounded(rank.lower for rank in ranks),
        "median": rounded(rank.median for rank in ranks),
        "upper": rounded(rank.upper for rank in ranks),
        "often": OFTEN,
        "absent": _absent(result, often, arrows),
    }


def _columns(result: Result, bootstrap: Any) -> list[int]:
    """Return for each variable of the result its number in the bootstrap; raise unless both have the same variables."""
    if not hasattr(bootstrap, "edge_frequency"):
        raise OptionError(
            f"bootstrap= is what rfdag.bootstrap returns, not an object of type {type(bootstrap).__name__}."
        )
    place = {name: at for at, name in enumerate(bootstrap.names)}
    missing = [name for name in result.names if name not in place]
    own = set(result.names)
    strange = [name for name in bootstrap.names if name not in own]
    if missing or strange:
        lacks = [f"lacks {listed(missing)}"] if missing else []
        has = [f"has {listed(strange)}, which this result lacks"] if strange else []
        raise OptionError(
            f"bootstrap= is of other variables: it {' and '.join([*lacks, *has])}. Pass one of the same columns."
        )
    return [place[name] for name in result.names]


def _absent(result: Result, often: Any, arrows: Any) -> list[list[Any]]:
    """Return pairs that many runs have and the graph has not: the ends, and how often they are adjacent, → and ←."""
    dag = np.asarray(result.dag.toarray() if hasattr(result.dag, "toarray") else result.dag) != 0
    place = np.argsort(result.causal_order)
    earlier = place[:, None] < place
    first, second = np.nonzero((often >= OFTEN) & earlier & ~dag & ~dag.T)
    by_share = np.argsort(-often[first, second], kind="stable")[:MOST_PAIRS]
    return [
        [int(i), int(j), *rounded([often[i, j], arrows[i, j], arrows[j, i]])]
        for i, j in zip(first[by_share], second[by_share], strict=True)
    ]
