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
from rfdag import errors
from rfdag.errors import category_of
from torture import Strained

ANSWERED, WARNED, REFUSED, WRONG = "answered", "warned", "refused", "silent wrong"

DOUBTFUL = 1e-3
"""Points of BIC by which rounding may move a score before there must be a warning."""


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
    return rows * (1e-13 + 2e-16 * condition)


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
    numbers = [found.score, found.residual_variances, found.coefficients]
    if case.kind not in ("categories", "counts") and any(
        not np.isfinite(each.toarray() if issparse(each) else np.asarray(each, float)).all()
        for each in numbers
        if each is not None
    ):
        return Verdict(WRONG, reason="not finite")
    return CHECKS[case.kind](case, found)


def told(found: Any) -> bool:
    """Return whether a result comes with a warning that its numbers may be off."""
    return any(category_of(each) is errors.NumericalWarning for each in found.warnings)


def compared(found: Any, expected: float, least: float | None, allowed: float, warned: bool) -> Verdict:
    """Return a verdict on a score, given that of 50 digits, the least of all DAGs, and by how much it may be off."""
    off = abs(found.score - expected)
    if allowed >= DOUBTFUL:
        return Verdict(WARNED, off) if warned else Verdict(WRONG, off, f"may be off by {allowed:.0e}, and no warning")
    if not off <= allowed:
        return Verdict(WRONG, off, f"score {found.score!r}, not {expected!r}")
    if least is not None and expected > least + allowed:
        return Verdict(WRONG, expected - least, f"the best score is {least!r}, not {expected!r}")
    return Verdict(ANSWERED, off)


def price_of(found: Any) -> float:
    """Return the price of an edge."""
    return found.penalty * math.log(found.n_samples) + 2 * found.gamma * math.log(len(found.names))


def numbers(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from rows of numbers, which may have weights."""
    weights = case.options.get("weights")
    total = len(case.rows) if weights is None else round(math.fsum(weights))
    if found.n_samples != total:
        return Verdict(WRONG, reason=f"{found.n_samples} rows, not {total}")
    return single_columns(case, found, Digits(cross_products(case.rows, weights), total))


def matrix(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from a matrix of moments."""
    given = symmetric(case.rows)
    covariance = inverse(given) if case.options["input"] == "precision" else given
    return single_columns(case, found, Digits(covariance, found.n_samples))


def single_columns(case: Strained, found: Any, digits: Digits) -> Verdict:
    """Judge what was learnt from variables of one column each."""
    wide = digits.n <= digits.p
    # No inverse is needed where rows are fewer than columns: families are small.
    condition = _of_families(found, digits) if wide else digits.condition
    allowed = slack(condition, digits.n)
    if found.score is None:
        return by_tests(found, digits, FisherZ(digits.n, found.method.alpha), condition)
    if allowed >= DOUBTFUL:
        return compared(found, math.nan, None, allowed, told(found))
    price = price_of(found)
    searched = case.options.get("method", "soft") in ("soft", "sp") and case.options.get("refine", True)
    least = digits.least(price) if searched and not wide else None
    verdict = compared(found, digits.score(found.dag, price), least, allowed, told(found))
    if verdict.outcome != ANSWERED:
        return verdict
    for y in range(digits.p):
        parents = np.flatnonzero(found.dag[:, y])
        expected = np.array(digits.slopes(y, tuple(parents.tolist())))
        coefficients = found.coefficients[parents, y]
        # Numbers too small or too large for a double lose their digits.
        usual = (np.abs(expected) > 1e-290) & (np.abs(expected) < 1e300)
        if not np.allclose(coefficients[usual], expected[usual], rtol=max(allowed, 1e-9), atol=0):
            return Verdict(WRONG, verdict.deviation, f"coefficients {coefficients}, not {expected}")
    return verdict


def _of_families(found: Any, digits: Digits) -> float:
    """Return the largest condition of a variable and its parents."""
    conditions = [1.0]
    for y in range(digits.p):
        family = [*np.flatnonzero(found.dag[:, y]).tolist(), y]
        block = [[digits.correlation[i][j] for j in family] for i in family]
        conditions.append(Digits(block).condition)
    return max(conditions)


class FisherZ(NamedTuple):
    """The threshold of a test at a level."""

    n: int
    alpha: float

    def __call__(self, size: int) -> float:
        """Return it for a pair given all others of so many variables."""
        return math.tanh(-float(ndtri(self.alpha / 2)) / math.sqrt(self.n - size - 1))


def by_tests(found: Any, digits: Digits, threshold: Any, condition: float) -> Verdict:
    """Judge the edges that tests have chosen: i → y if they depend on each other given what else precedes y."""
    if not condition < 1e26:
        return Verdict(WARNED) if told(found) else Verdict(WRONG, reason=f"condition {condition:.0e}, and no warning")
    allowed = max(1e-10, 1e-14 * math.sqrt(condition))
    dag = found.dag.toarray() if issparse(found.dag) else found.dag
    order = found.causal_order.tolist()
    nearest = math.inf
    for place, y in enumerate(order):
        before = order[:place]
        if place:
            tau = threshold(place + 1)
        for i in before:
            size = abs(digits.partial(i, y, [x for x in before if x != i]))
            nearest = min(nearest, abs(size - tau))
            if abs(size - tau) > allowed and bool(dag[i, y]) != (size > tau):
                what = "is" if dag[i, y] else "is no"
                return Verdict(WRONG, abs(size - tau), f"{i} → {y} {what} edge at {size!r}, threshold {tau!r}")
    if allowed >= DOUBTFUL:
        return Verdict(WARNED) if told(found) else Verdict(WRONG, reason=f"condition {condition:.0e}, and no warning")
    return Verdict(ANSWERED)


def exact_matrix(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from a precision matrix whose zeros are exact, dense or sparse."""
    given = case.rows.toarray() if issparse(case.rows) else case.rows
    digits = Digits(inverse(symmetric(given)))
    alpha = getattr(found.method, "alpha", 0.0)
    threshold = (lambda size: 1e-8) if found.n_samples is None else FisherZ(found.n_samples, alpha)
    condition = digits.condition
    # Elimination in doubles loses as many digits as the covariance has.
    if 2e-16 * condition > 1e-8 and found.n_samples is None:
        return Verdict(WARNED) if told(found) else Verdict(WRONG, reason=f"condition {condition:.0e}, and no warning")
    return by_tests(found, digits, threshold, condition)


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
    if found.score is None or not reference.usable:
        return Verdict(WRONG, reason="no score, or of constants")
    if about_overlap(found):
        return Verdict(WARNED)
    allowed = slack(reference.condition, reference.n)
    if allowed >= DOUBTFUL:
        return compared(found, math.nan, None, allowed, told(found))
    return compared(found, score_of(found.dag, reference.local), None, allowed, told(found))


def counts(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from categories alone."""
    groups = [_codes(case.rows[:, at]) for at in range(case.rows.shape[1])]

    @exactly
    def local(y: int, parents: tuple[int, ...]) -> Any:
        return _bdeu(groups, y, parents, found.method.sample_size) + len(parents) * 2 * found.gamma * mpmath.log(
            len(groups)
        )

    expected, allowed = score_of(found.dag, local), slack(1.0, len(case.rows)) * 100
    return compared(found, expected, least_of(len(groups), local, len(groups)), allowed, warned=False)


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
    centred = found.interventions.intercepts == "environment"
    allowed = slack(reference.condition, reference.n)
    if allowed >= DOUBTFUL:
        return compared(found, math.nan, None, allowed, told(found))
    try:
        expected = reference.score(found.dag, centred=centred)
    except ValueError:
        # The logarithm of 0: a target that is held fixed, which is said, has a floor.
        flat = any("vary" in each for each in found.warnings) or case.name.endswith("held fixed")
        return Verdict(WARNED) if flat else Verdict(WRONG, reason="a variance of 0, and no warning")
    return compared(found, expected, None, allowed, told(found))


def gaps(case: Strained, found: Any) -> Verdict:
    """Judge what was learnt from rows with gaps: the score by the correlations found, and these by the rows."""
    repaired = any("repaired" in each or "nearest" in each for each in found.warnings)
    moments = found.moments
    digits = Digits(symmetric(moments.correlation), found.n_samples)
    allowed = slack(digits.condition, digits.n)
    if allowed >= DOUBTFUL:
        return compared(found, math.nan, None, allowed, told(found))
    price = price_of(found)
    verdict = compared(found, digits.score(found.dag, price), digits.least(price), allowed, told(found))
    if verdict.outcome != ANSWERED or repaired:
        return verdict if verdict.outcome != ANSWERED else Verdict(WARNED)
    if case.options["missing"] == "pairwise":
        right, bound = Digits(pairwise(case.rows), found.n_samples), allowed
    else:
        covariance = moments.correlation * np.outer(moments.scales, moments.scales)
        right = Digits(likeliest(np.asarray(case.rows, float), moments.means, covariance, EM_STEPS), found.n_samples)
        bound = EM_ALLOWED
    off = abs(right.score(found.dag, price) - found.score)
    if off <= bound:
        return Verdict(ANSWERED, off)
    return Verdict(WARNED, off) if told(found) else Verdict(WRONG, off, f"the rows say {off:.3g} else")


EM_STEPS = 20
"""Steps of EM that are taken after those that rfdag has taken."""

EM_ALLOWED = 0.5
"""Points of BIC that they may change: EM ends where it changes correlations by less than 1e-5."""


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
