"""One view for each class of objects, short enough for a cell of a notebook."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import singledispatch
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.effects.estimates import Effect, EffectRange
from rfdag.effects.lines import OF_RANKS, in_one_dag
from rfdag.eliminate.trace import Trace
from rfdag.input.columns import in_words
from rfdag.knowledge import Knowledge
from rfdag.knowledge.compliance import summed_up
from rfdag.notebooks.elements import LONGEST, Labels, bar, cell, escaped, line, listing, number, share, span, table
from rfdag.notebooks.picture import picture
from rfdag.plots.shortening import one_line, shortened
from rfdag.result import Edge, Result
from rfdag.result.close_calls import MARK
from rfdag.result.model import LinearModel
from rfdag.result.ordering import MEANING, order_in_words
from rfdag.result.pricing import score_explained
from rfdag.result.remarks import advice_on_directions, close_calls_in_words, marked
from rfdag.wording import counted

ROWS = 12
"""Rows of a table."""
NAMES = 40
"""Names in a line."""
TERMS = 6
"""Parents in an equation."""
DETAILED_UP_TO = 2000
"""Number of variables up to which edges are looked at one by one; above, that takes longer than a glance may."""


@singledispatch
def view(thing: object) -> str:
    """Return an object as HTML for a notebook.

    >>> view(Knowledge(roots=["age"])).count("<bdi>age</bdi>")
    1
    """
    raise TypeError(f"Notebooks have no view of an object of type {type(thing).__name__}.")


@view.register
def _result(result: Result) -> str:
    """Return order, graph, strongest edges, knowledge and warnings of a result."""
    n_edges, labels = int(result.dag.sum()), Labels(result.names)
    rows = "exact input" if result.n_samples is None else counted(result.n_samples, "row")
    title = f"Causal order of {counted(len(result.names), 'variable')}"
    facts = f"{rows}, method {escaped(result.method.name)}, {sum(result.timings.values()):.2g} s"
    if len(result.names) > DETAILED_UP_TO:
        parts = [line(facts, quiet=True), line(f"Causes first: {listing(labels, result.order, NAMES)}")]
        parts.append(line(f"{counted(n_edges, 'edge')}; <code>.edges</code> and <code>.to_frame()</code> have them."))
    else:
        more = f" … and {len(result.names) - NAMES} more" if len(result.names) > NAMES else ""
        parts = [line(f"{facts}; order: {MEANING}", quiet=True), line(order_in_words(result, NAMES, labels) + more)]
        parts += [_edge_line(result, n_edges), *_remarks(result), picture(result), _edge_table(result, labels)]
    if result.columns:
        parts.append(line(f"Columns: {escaped(in_words(result.columns))}.", quiet=True))
    if result.reading:
        parts.append(line(f"Read: {escaped('; '.join(result.reading))}.", quiet=True))
    if result.path:
        parts.append(line(f"Penalty {number(result.penalty)}, chosen of {len(result.path)}."))
    if result.compliance:
        parts.append(line(f"Prior knowledge: {escaped(summed_up(result.compliance))}."))
    parts += [line(f"<strong>Warning:</strong> {escaped(warning)}") for warning in result.warnings]
    return cell(title, *parts)


def _edge_line(result: Result, n_edges: int) -> str:
    undecided = int((result.icpdag == 2).sum()) // 2
    if not n_edges:
        return line("No edges.")
    return line(f"{counted(n_edges, 'edge')}, {undecided} of which could point either way (–).")


def _remarks(result: Result) -> list[str]:
    """Return what is close, and what may direct edges."""
    calls, advice = close_calls_in_words(result, _short), advice_on_directions(result)
    return [
        *([line(f"Close calls ({MARK}, dotted): {escaped(calls)}.")] if calls else []),
        *([line(escaped(advice))] if advice else []),
    ]


def _edge_table(result: Result, labels: Labels) -> str:
    """Return the strongest edges, or the first ones of the order where strengths are not known."""
    if not result.edges:
        return ""
    known, priced = (getattr(result.edges[0], field) is not None for field in ("partial_correlation", "gain"))
    place = {name: at for at, name in enumerate(result.order)}

    def rank(edge: Edge) -> Any:
        return -abs(edge.partial_correlation or 0.0) if known else (place[edge.source], place[edge.target])

    shown = sorted(result.edges, key=rank)[:ROWS]
    marks = marked(result)
    rows = [
        [
            labels(edge.source),
            ("→" if edge.directed else "–") + (f" {MARK}" if (edge.source, edge.target) in marks else ""),
            labels(edge.target),
        ]
        for edge in shown
    ]
    headings = ["cause", "", "effect"]
    if known:
        headings += ["", "partial correlation", "coefficient", "BIC gain"]
        for row, edge in zip(rows, shown, strict=True):
            strength = edge.partial_correlation or 0.0
            row += [bar(abs(strength)), number(strength), number(edge.coefficient), number(edge.gain)]
    left = len(result.edges) - len(shown)
    which = "The strongest edges" if known else "The first edges"
    more = line(f"{which}; {left} more are in <code>.to_frame()</code>.", quiet=True) if left else ""
    gain = "BIC gain: by how much the BIC would be worse without the edge."
    bic = line(f"{gain} {score_explained(result)}", quiet=True) if priced else ""
    return table(headings, rows, numbers=3 if known else 0) + more + bic


@view.register
def _bootstrap(bootstrap: Bootstrap) -> str:
    """Return the most frequent pairs, and where each variable stood."""
    title = f"{counted(bootstrap.runs, 'run')} on {counted(len(bootstrap.names), 'variable')}"
    pairs, labels = bootstrap.pairs, Labels(bootstrap.names)
    rows = [
        [
            labels(pair.source),
            "→" if pair.forward >= pair.frequency / 2 else "–",
            labels(pair.target),
            bar(pair.frequency),
            *map(share, (pair.frequency, pair.forward, pair.backward, pair.undirected)),
        ]
        for pair in pairs[:ROWS]
    ]
    headings = ["", "", "", "", "adjacent", "this way", "other way", "undirected"]
    left = len(pairs) - len(rows)
    more = f"The most frequent pairs; {left} more are in <code>.to_frame()</code>." if left > 0 else ""
    return cell(
        title,
        line(f"{escaped(bootstrap.drawn)}; shares of the runs:", quiet=True),
        table(headings, rows, numbers=4) if rows else line("No two variables were adjacent in any run."),
        line(more, quiet=True) if more else "",
        _places(bootstrap, labels),
    )


def _places(bootstrap: Bootstrap, labels: Labels) -> str:
    room = max(len(bootstrap.names) - 1, 1)
    ranks = sorted(bootstrap.ranks, key=lambda rank: (rank.median, rank.mean))
    rows = [
        [
            labels(rank.variable),
            span((rank.lower - 1) / room, (rank.upper - 1) / room, (rank.median - 1) / room),
            number(rank.median),
            f"{number(rank.lower)} to {number(rank.upper)}",
        ]
        for rank in ranks[: 2 * ROWS]
    ]
    left = len(ranks) - len(rows)
    more = line(f"The first of them; {left} more are in <code>.ranks</code>.", quiet=True) if left else ""
    return table(["variable", "", "median place", "in 90% of the runs"], rows, numbers=2) + more


@view.register
def _knowledge(knowledge: Knowledge) -> str:
    """Return tiers, edges, roots and leaves of knowledge."""
    rows, labels = [], Labels(knowledge.variables)
    for at, tier in enumerate(knowledge.tiers, start=1):
        inside = " (no edges inside)" if at in knowledge.forbidden_within else ""
        rows.append([f"tier {at}{inside}", listing(labels, tier, NAMES)])
    for kind, edges in (("required", knowledge.required), ("forbidden", knowledge.forbidden)):
        arrows = [f"{labels(cause)} → {labels(effect)}" for cause, effect in edges[:ROWS]]
        arrows += [f"… and {len(edges) - ROWS} more"] if len(edges) > ROWS else []
        rows += [[kind, "<br>".join(arrows)]] if arrows else []
    for kind, names in (("roots", knowledge.roots), ("leaves", knowledge.leaves)):
        rows += [[kind, listing(labels, names, NAMES)]] if names else []
    title = f"Prior knowledge of {counted(len(knowledge.variables), 'variable')}"
    return cell(title, table(["", ""], rows) if rows else line("Nothing is known."))


@view.register
def _model(model: LinearModel) -> str:
    """Return the equations of a linear model."""
    weights, labels = csc_array(model.sem.weights), Labels(model.names)
    rows = [[labels(name), "=", *_equation(model, labels, weights, at)] for at, name in enumerate(model.names[:ROWS])]
    left = len(model.names) - len(rows)
    units = {
        "data": "in the units of the data",
        "centred": "in the units of the data, around 0",
        "standardised": "standardised, around 0",
        "ranks": "of the Gaussian variables behind the ranks, standardised",
    }
    return cell(
        f"Linear Gaussian model of {counted(len(model.names), 'variable')}",
        line(f"{units[model.units]}; {counted(int(weights.count_nonzero()), 'weight')}", quiet=True),
        table(["", "", "", "noise, standard deviation"], rows, numbers=1),
        line(f"… and {counted(left, 'equation')} more", quiet=True) if left else "",
    )


def _equation(model: LinearModel, labels: Labels, weights: Any, at: int) -> tuple[str, str]:
    """Return the right side of one equation, and the deviation of its noise."""
    own = slice(weights.indptr[at], weights.indptr[at + 1])
    parents, values = weights.indices[own], weights.data[own]
    strongest = np.argsort(-np.abs(values), kind="stable")[:TERMS]
    terms = [_term(float(values[one]), labels(model.names[parents[one]])) for one in strongest]
    terms += [f"+ … {len(parents) - TERMS} more"] if len(parents) > TERMS else []
    intercept = float(model.intercepts[at])
    first = [number(intercept)] if intercept or not terms else []
    return " ".join([*first, *terms]).removeprefix("+ "), number(float(np.sqrt(model.sem.variances[at])))


def _term(weight: float, parent: str) -> str:
    return f"{'+' if weight >= 0 else '−'} {number(abs(weight))} · {parent}"


@view.register
def _effect(effect: Effect) -> str:
    """Return the estimate of an effect in words."""
    labels = Labels((effect.cause, effect.outcome, *effect.adjustment))
    title = f"Total effect of {labels(effect.cause)} on {labels(effect.outcome)}: {number(effect.estimate)}"
    if effect.estimate == 0 and effect.standard_error == 0:
        parts = [line("The graph has no directed path from the one to the other.", quiet=True)]
    else:
        adjusted = line(f"{_accuracy(effect)}adjusted for {_set(labels, effect.adjustment)}", quiet=True)
        parts = [adjusted, _units(effect)]
    if effect.possible is None:
        return cell(title, *parts)
    return cell(
        f"{title} in this DAG",
        *parts,
        line(f"{in_one_dag(effect.possible)}.".replace("-", "−")),
        *_range(effect.possible),
    )


@view.register
def _effect_range(found: EffectRange) -> str:
    """Return every effect that the equivalence class leaves possible."""
    labels = Labels((found.cause, found.outcome))
    title = f"Possible total effects of {labels(found.cause)} on {labels(found.outcome)}: {number(found.low)}"
    if found.high > found.low:
        title += f" to {number(found.high)}"
    return cell(title, *_range(found))


def _range(found: EffectRange) -> list[str]:
    """Return the table of possible effects, and what they amount to."""
    adjusted = (name for each in found.possible for name in each.parents)
    labels = Labels(dict.fromkeys((found.cause, found.outcome, *adjusted)))
    rows = [
        [
            _set(labels, each.parents),
            number(each.effect.estimate),
            number(each.effect.standard_error),
            "" if each.effect.low is None else f"{number(each.effect.low)} to {number(each.effect.high)}",
        ]
        for each in found.possible[:ROWS]
    ]
    left = len(found.possible) - len(rows)
    level = found.possible[0].effect.level
    headings = [f"if the parents of {labels(found.cause)} are", "estimate", "standard error", f"{level:.0%} interval"]
    more = line(f"… and {left} more in <code>.possible</code>", quiet=True) if left else ""
    together = line(f"All intervals together: {number(found.lowest)} to {number(found.highest)}, given the class")
    several = len(found.possible) > 1 and any(each.effect.standard_error for each in found.possible)
    return [table(headings, rows, numbers=3), more, together if several else "", _units(found.possible[0].effect)]


def _units(effect: Effect) -> str:
    return line(OF_RANKS, quiet=True) if effect.units == "ranks" else ""


def _accuracy(effect: Effect) -> str:
    if effect.standard_error is None:
        return ""
    interval = f"{effect.level:.0%} interval {number(effect.low)} to {number(effect.high)}"
    return f"standard error {number(effect.standard_error)}, {interval}, given the graph; "


def _set(labels: Labels, names: tuple[Any, ...]) -> str:
    return listing(labels, names, NAMES) if names else "nothing"


@view.register
def _trace(trace: Trace) -> str:
    """Return the first steps of an elimination, with names where a result has set them, else with column numbers."""
    names = trace.names
    label: Callable[[int], str] = str if names is None else _by_column(names)
    rows = [
        [str(at), label(step.node), *map(str, (step.removal, step.fill, step.degree, step.ties))]
        for at, step in enumerate(islice(trace, ROWS), start=1)
    ]
    left = len(trace) - len(rows)
    headings = [
        "step",
        "column removed" if names is None else "removed",
        "R, edges removed",
        "F, edges filled in",
        "D, neighbours",
        "ties",
    ]
    return cell(
        f"Elimination in {counted(len(trace), 'step')}, a sink first",
        table(headings, rows, numbers=4) if rows else "",
        line(f"… and {left} more", quiet=True) if left else "",
    )


def _by_column(names: tuple[Hashable, ...]) -> Callable[[int], str]:
    labels = Labels(names)
    return lambda column: labels(names[column])


def _short(name: Hashable) -> str:
    """Return a name in a sentence."""
    return shortened([one_line(name)], LONGEST)[0]
