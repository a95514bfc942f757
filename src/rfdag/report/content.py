"""What the page shows, as one object that JSON can hold: variables are numbers into ``names``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfdag.graphs.comparison import VERDICTS
from rfdag.graphs.sparse import entries_at
from rfdag.input.description import Description
from rfdag.knowledge.compliance import summed_up
from rfdag.report.downloads import downloads
from rfdag.report.drawing import drawing
from rfdag.report.environments import environments
from rfdag.report.frequencies import frequencies
from rfdag.report.health import health
from rfdag.report.markov import local_markov
from rfdag.report.playback import playback
from rfdag.report.rerun import Given
from rfdag.report.rounding import rounded
from rfdag.report.rows import Rows
from rfdag.report.run import run_facts
from rfdag.report.verdicts import against_truth
from rfdag.result.remarks import MARK_EXPLAINED, advice_on_directions, close_calls_in_words, marked

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

DRAWN_UP_TO = 100
"""Number of variables up to which the graph is drawn; above, its heat map."""
MOST_EDGES = 40_000
"""Edges on the page; of more, the strongest, or some spread evenly where strengths are not known."""


def content_of(
    result: Result,
    *,
    truth: Any = None,
    data: Any = None,
    form: Description | None = None,
    given: Given | None = None,
    bootstrap: Bootstrap | None = None,
) -> dict[str, Any]:
    """Return all that the page shows of a result.

    >>> import rfdag
    >>> content = content_of(rfdag.learn([[0, 0, 1], [0, 0, 1], [0, 0, 0]], input="dag", names=["a", "b", "c"]))
    >>> content["names"], sorted(content["edges"]["source"]), content["edges"]["target"], content["edges"]["directed"]
    (['a', 'b', 'c'], [0, 1], [2, 2], [1, 1])
    """
    rows = None if data is None else Rows.of(data, result, form)
    compared = None if truth is None else against_truth(result, truth)
    edges = _edges(result)
    ends = edges["source"], edges["target"]
    resampled = None if bootstrap is None else frequencies(result, bootstrap, *ends)
    drawn = len(result.names) <= DRAWN_UP_TO
    missing = [] if compared is None else compared["missing"]
    return {
        "names": list(map(str, result.names)),
        "order": result.causal_order.tolist(),
        "run": run_facts(result, data, rows, given, bootstrap),
        "health": health(result, rows),
        "edges": edges,
        "edges_in_all": int(result.dag.sum()),
        "compelled_next": (entries_at(result.icpdag, result.causal_order[:-1], result.causal_order[1:]) == 1).tolist(),
        "close_calls": close_calls_in_words(result),
        "close_explained": MARK_EXPLAINED,
        "advice": advice_on_directions(result),
        "undirected_in_all": int((result.icpdag == 2).sum()) // 2,
        "drawing": drawing(result, *ends, missing, labelled=bootstrap is not None) if drawn else None,
        "bootstrap": resampled,
        "playback": playback(result),
        "knowledge": _knowledge(result),
        "environments": environments(result),
        "markov": local_markov(result),
        "truth": compared,
        "verdicts": list(VERDICTS),
        "downloads": downloads(result),
    }


def _edges(result: Result) -> dict[str, Any]:
    """Return the edges column by column, by place of source and target in the order."""
    sources, targets = result.dag.nonzero()
    partial = None if result.partial_correlations is None else entries_at(result.partial_correlations, sources, targets)
    weights = None if result.coefficients is None else entries_at(result.coefficients, sources, targets)
    gains = [edge.gain for edge in result.edges]
    directed = (entries_at(result.icpdag, sources, targets) == 1).astype(int)
    place = np.argsort(result.causal_order)
    order = np.lexsort((place[targets], place[sources]))
    if len(order) > MOST_EDGES:
        strength = next((np.abs(values) for values in (partial, weights) if values is not None), None)
        if strength is None:
            order = order[np.linspace(0, len(order) - 1, MOST_EDGES).astype(int)]
        else:
            order = order[np.isin(order, np.argsort(-strength, kind="stable")[:MOST_EDGES])]
    return {
        "source": sources[order].tolist(),
        "target": targets[order].tolist(),
        "coefficient": None if weights is None else rounded(weights[order]),
        "partial": None if partial is None else rounded(partial[order]),
        "gain": None if not gains or gains[0] is None else rounded(np.array(gains)[order]),
        "directed": directed[order].tolist(),
        "close": _close(result, sources[order], targets[order]),
    }


def _close(result: Result, sources: NDArray[Any], targets: NDArray[Any]) -> list[list[Any] | None] | None:
    """Return what is close about each edge, a change and its cost; None where no edge is a close call."""
    marks = marked(result)
    calls = [
        marks.get((result.names[i], result.names[j])) for i, j in zip(sources.tolist(), targets.tolist(), strict=True)
    ]
    return [call and [call.change, round(call.cost, 2)] for call in calls] if marks else None


def _knowledge(result: Result) -> dict[str, Any] | None:
    if result.knowledge is None:
        return None
    return {
        "summary": summed_up(result.compliance),
        "constraints": [record._asdict() for record in result.compliance[:1000]],
    }
