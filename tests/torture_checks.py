"""What is learnt from strained tables against 50 digits: right, warned about, refused, or silently wrong."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import mpmath
import networkx
import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri

import rfdag
from fifty_digits import (
    Categories,
    Digits,
    Environments,
    cross_products,
    exact,
    exactly,
    indicators,
    inverse,
    least_of,
    likeliest,
    pairwise,
    score_of,
    symmetric,
)
from mixed_reference import worth_literally
from rfdag import errors
from rfdag.errors import category_of
from torture import Strained

ANSWERED, WARNED, REFUSED, WRONG = "answered", "warned", "refused", "silent wrong"

MOST = 0.1
"""Points of BIC by which a score may be off without a warning; an edge costs more than 50 times as much."""


class Verdict(NamedTuple):
    """What became of a case.

    Attributes
    ----------
    outcome
        "answered" within the tolerance, "warned" that numbers may be off, "refused" with an error of rfdag's own, or
        "silent wrong".
    deviation
        By how much the score missed that of 50 digits, of an answer.
    reason
        What was wrong, or what was said.
    """

    outcome: str
    deviation: float = 0.0
    reason: str = ""


def slack(condition: float, rows: int) -> float:
    """Return by how much a score may be off: by rounding of correlations, which their least eigenvalue magnifies."""
    return min(rows * (1e-13 + 2e-16 * condition), MOST)


def judged(case: Strained) -> Verdict:
    """Learn from a case and compare."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = rfdag.learn(case.rows, progress=False, n_jobs=1, **case.options)
            # Whatever a user looks at next must not stumble either.
            read = found.summary(), found.edges, found.cpdag, found.to_json()
        except errors.RfdagError as error:
            if len(str(error)) < 40:
                return Verdict(WRONG, reason=f"no more than {error}")
            found = error
        except Exception as error:
            return Verdict(WRONG, reason=f"{type(error).__name__}: {error}")
    foreign = [each for each in caught if not issubclass(each.category, errors.DataWarning | errors.NumericalWarning)]
    if foreign:
        return Verdict(WRONG, reason=f"{foreign[0].category.__name__}: {foreign[0].message} ({foreign[0].filename})")
    if isinstance(found, errors.RfdagError):
        return Verdict(REFUSED, reason=f"{type(found).__name__}: {found}")
    assert read
    numbers = [
        found.score,
        *(() if case.kind in ("categories", "counts") else (found.residual_variances, found.coefficients)),
    ]
    known = [each.toarray() if issparse(each) else np.asarray(each, float) for each in numbers if each is not None]
    if not all(np.isfinite(each).all() for each in known) and not told(found):
        return Verdict(WRONG, reason="not finite, and no warning")
    return CHECKS[case.kind](case, found)


def told(found: Any) -> bool:
    """Return whether a result comes with a warning that its numbers may be off."""
    return any(category_of(each) is errors.NumericalWarning for each in found.warnings)


def compared(found: Any, expected: float, least: float | None, allowed: float) -> Verdict:
    """Return a verdict on a score, given that of 50 digits, the least of all DAGs, and by how much it may be off."""
    off = abs(found.score - expected)
    behind = 0.0 if least is None else expected - least
    if off <= allowed and behind <= allowed:
        return Verdict(ANSWERED, max(off, behind))
    if told(found):
        return Verdict(WARNED, off)
    if not off <= allowed:
        return Verdict(WRONG, off, f"score {found.score!r}, not {expected!r}")
    return Verdict(WRONG, behind, f"the best score is {least!r}, not {expected!r}")


def price_of(found: Any) -> float:
    """Return the price of an edge."""
    return found.penalty * math.log(found.n_samples) + 2 * found.gamma * math.log(len(found.names))


def numbers(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from rows of numbers, which may have weights."""
    weights = case.options.get("weights")
    total = len(case.rows) if weights is None else math.fsum(weights)
    if abs(found.n_samples - total) > 0.5 + 1e-12 * total:
        return Verdict(WRONG, reason=f"{found.n_samples} rows, not {total}")
    # A half is rounded up, and so is what is a half but for rounding.
    return single_columns(case, found, Digits(cross_products(case.rows, weights), found.n_samples))


def matrix(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from a matrix of moments."""
    given = symmetric(case.rows)
    covariance = inverse(given) if case.options["input"] == "precision" else given
    return single_columns(case, found, Digits(covariance, found.n_samples))


def single_columns(case: Strained, found: Any, digits: Digits) -> Verdict:
    """Judge what was learnt from variables of one column each."""
    if found.score is None:
        return by_tests(found, digits, FisherZ(digits.n, found.method.alpha))
    # With fewer rows than columns correlations have no inverse, and need none: families are small.
    wide = digits.n <= digits.p
    allowed = slack(1e6 if wide else digits.condition, digits.n)
    price = price_of(found)
    searched = case.options.get("method", "soft") in ("soft", "sp") and case.options.get("refine", True)
    try:
        expected = digits.score(found.dag, price)
        least = digits.least(price) if searched and not wide else None
    except ZeroDivisionError:
        return Verdict(WARNED) if told(found) else Verdict(WRONG, reason="exactly dependent, and no warning")
    verdict = compared(found, expected, least, allowed)
    if verdict.outcome != ANSWERED:
        return verdict
    for y in range(digits.p):
        parents = np.flatnonzero(found.dag[:, y])
        slopes = np.array(digits.slopes(y, tuple(parents.tolist())))
        coefficients = found.coefficients[parents, y]
        if not np.allclose(coefficients, slopes, rtol=max(allowed, 1e-9), atol=0):
            if told(found):
                return Verdict(WARNED, verdict.deviation)
            return Verdict(WRONG, verdict.deviation, f"coefficients {coefficients}, not {slopes}")
    return verdict


class FisherZ(NamedTuple):
    """The threshold of a test at a level."""

    n: int
    alpha: float

    def __call__(self, size: int) -> float:
        """Return it for a pair given all others of so many variables."""
        return math.tanh(-float(ndtri(self.alpha / 2)) / math.sqrt(self.n - size - 1))


def by_tests(found: Any, digits: Digits, threshold: Any) -> Verdict:
    """Judge the edges that tests have chosen: i → y if they depend on each other given what else precedes y."""
    dag = found.dag.toarray() if issparse(found.dag) else found.dag
    order = found.causal_order.tolist()
    for place, y in enumerate(order):
        before = order[:place]
        for i in before:
            try:
                size = abs(digits.partial(i, y, [x for x in before if x != i]))
            except ZeroDivisionError:
                return Verdict(WARNED) if told(found) else Verdict(WRONG, reason="exactly dependent, and no warning")
            tau = threshold(place + 1)
            if abs(size - tau) > NEAR and bool(dag[i, y]) != (size > tau):
                what = "an edge" if dag[i, y] else "no edge"
                why = f"{i} → {y} is {what} at {size!r}, threshold {tau!r}"
                return Verdict(WARNED if told(found) else WRONG, abs(size - tau), why)
    return Verdict(ANSWERED)


NEAR = 1e-9
"""Distance of a partial correlation from its threshold up to which rounding may decide."""


def exact_matrix(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from a precision matrix, dense or sparse, whose zeros are exact if it has no rows."""
    given = case.rows.toarray() if issparse(case.rows) else case.rows
    digits = Digits(inverse(symmetric(given)))
    if found.n_samples is None:
        return by_tests(found, digits, lambda size: 1e-8)
    return by_tests(found, digits, FisherZ(found.n_samples, found.method.alpha))


def graph(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from a DAG: a graph of its class, since these are few nodes."""
    given = case.rows.toarray() if issparse(case.rows) else np.asarray(case.rows)
    truth = networkx.from_numpy_array(given != 0, create_using=networkx.DiGraph)
    dag = found.dag.toarray() if issparse(found.dag) else found.dag
    order = found.causal_order.tolist()
    for place, y in enumerate(order):
        before = order[:place]
        for i in before:
            apart = networkx.is_d_separator(truth, {i}, {y}, {x for x in before if x != i})
            if bool(dag[i, y]) == apart:
                return Verdict(WRONG, reason=f"{i} → {y} against d-separation")
    return Verdict(ANSWERED)


def about_overlap(found: Any) -> bool:
    """Return whether a result of mixed columns says that some determine others, whose scores have a floor."""
    return any("determine each other in part" in each for each in found.warnings)


def categories(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from categories beside numbers."""
    reference = Categories(np.asarray(case.rows, float), case.options["categorical"])
    if about_overlap(found):
        return Verdict(WARNED)
    return compared(found, score_of(found.dag, reference.local), None, slack(reference.condition, reference.n))


def counts(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from categories alone."""
    groups = [_codes(case.rows[:, at]) for at in range(case.rows.shape[1])]

    @exactly
    def local(y: int, parents: tuple[int, ...]) -> Any:
        return _bdeu(groups, y, parents, found.method.sample_size) + len(parents) * 2 * found.gamma * mpmath.log(
            len(groups)
        )

    expected, allowed = score_of(found.dag, local), slack(1.0, len(case.rows)) * 100
    return compared(found, expected, least_of(len(groups), local, len(groups)), allowed)


def _codes(column: Any) -> Any:
    """Return the level in use of each row: rare levels pooled."""
    columns = indicators(column)
    return sum((1 + at) * each for at, each in enumerate(columns)) if columns else np.zeros(len(column), int)


def _bdeu(groups: list[Any], y: int, parents: tuple[int, ...], sample_size: float) -> Any:
    levels = [len(np.unique(each)) for each in groups]
    combinations = math.prod(levels[x] for x in parents)
    row, cell = exact(sample_size) / combinations, exact(sample_size) / combinations / levels[y]
    tables: dict[tuple[int, ...], dict[int, int]] = {}
    for at in range(len(groups[y])):
        table = tables.setdefault(tuple(int(groups[x][at]) for x in parents), {})
        table[int(groups[y][at])] = table.get(int(groups[y][at]), 0) + 1
    total = mpmath.mpf(0)
    for table in tables.values():
        total += mpmath.loggamma(row) - mpmath.loggamma(row + sum(table.values()))
        total += mpmath.fsum(mpmath.loggamma(cell + count) - mpmath.loggamma(cell) for count in table.values())
    return -2 * total


def environments(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from several environments."""
    targets = {label: [found.names.index(at) for at in each] for label, each in case.options["targets"].items()}
    reference = Environments(np.asarray(case.rows, float), case.options["environments"], targets, found.penalty)
    expected = reference.score(found.dag, centred=found.interventions.intercepts == "environment")
    # Variances are those of one environment, compared with those of all rows.
    return compared(found, expected, None, slack(reference.condition / reference.least_share, reference.n))


def gaps(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from rows with gaps: the score by the correlations found, and these by the rows."""
    moments = found.moments
    digits = Digits(symmetric(moments.correlation), found.n_samples)
    known = np.isfinite(np.asarray(case.rows, float)).astype(float)
    # Each pair is priced by the rows that it is worth; doubles know these as well as prices need.
    worth = np.maximum(worth_literally(known.T @ known, moments.correlation, "em"), 2.0)
    n = max((known.T @ known)[~np.eye(len(worth), dtype=bool)].mean(), 2.0)
    price = price_of(found) * n / worth * np.log(np.sqrt(worth * max(len(known), 2.0))) / math.log(n)
    allowed = slack(digits.condition, digits.n)
    verdict = compared(found, digits.score(found.dag, price), digits.least(price), allowed)
    if verdict.outcome != ANSWERED:
        return verdict
    if any("nearest correlation matrix" in each for each in found.warnings):
        return Verdict(WARNED)
    rows = np.asarray(case.rows, float)
    if case.options["missing"] == "pairwise":
        right = Digits(pairwise(rows), found.n_samples)
    else:
        right, allowed = (
            Digits(likeliest(rows, moments.means, moments.correlation, moments.scales, EM_STEPS)),
            EM_ALLOWED,
        )
    right.n = found.n_samples
    off = abs(right.score(found.dag, price) - found.score)
    if off <= allowed:
        return Verdict(ANSWERED, off)
    unsettled = any("still changed after" in each for each in found.warnings)
    return Verdict(WARNED if unsettled or told(found) else WRONG, off, f"the rows say {off:.3g} else")


EM_STEPS = 10
"""Steps of EM that are taken after those that rfdag has taken."""

EM_ALLOWED = 0.1
"""Points of BIC that they may change: EM ends where it changes next to nothing."""


CHECKS = {
    "numbers": numbers,
    "matrix": matrix,
    "exact": exact_matrix,
    "graph": graph,
    "categories": categories,
    "counts": counts,
    "environments": environments,
    "gaps": gaps,
}
"""What judges each kind of case."""
