"""What an edge costs in the score of a result, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfdag.wording import bic_explained, edge_price

if TYPE_CHECKING:
    from rfdag.result.result import Result


def price_in_words(result: Result) -> str:
    """Return what an edge costs, in a few words.

    >>> import rfdag
    >>> price_in_words(rfdag.learn([[1, 0.5], [0.5, 1]], input="correlation", n_samples=100))
    '2 ln n'
    """
    if result.score_name in (None, "environments"):
        return edge_price(result.penalty, result.gamma)
    more = edge_price(0.0, result.gamma).removeprefix("0 ln n + ") if result.gamma else ""
    if result.score_name == "bdeu":
        return (
            f"{more}, and what its probabilities cost in evidence"
            if more
            else "what its probabilities cost in evidence"
        )
    if result.score_name == "multinomial":
        each = edge_price(result.penalty / 2)
        return f"{each} for each probability{f', and {more}' if more else ''}"
    powers = result.mixed is not None and result.mixed.one_equation
    of_freedom = result.penalty if powers else min(result.penalty, 1.0)
    each, extra = edge_price(of_freedom), edge_price(result.penalty - of_freedom, result.gamma)
    extra = extra.removeprefix("0 ln n + ")
    return f"{each} for each degree of freedom" + ("" if extra == "0 ln n" else f", and {extra}")


def score_explained(result: Result) -> str:
    """Return a sentence or two that state which score is meant."""
    if result.score_name is None:
        return bic_explained(result.penalty, result.gamma)
    if result.score_name == "bdeu":
        prior = f" An edge costs {price_in_words(result)}."
        return f"This score is −2 ln of the marginal likelihood of the counts (BDeu).{prior}"
    if result.score_name == "environments":
        return (
            f"This BIC is that of {result.judged_by}: an edge costs {price_in_words(result)}, and each number that "
            "describes what an environment does to a target ln n."
        )
    return f"This BIC is that of {result.judged_by}: an edge costs {price_in_words(result)}."
