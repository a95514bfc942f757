"""How close a result is to the best DAG of all by its BIC, as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.orders.exact import Proof
    from rfdag.result.result import Result


class Bounded:
    """The attributes of a result that follow from its proof."""

    if TYPE_CHECKING:
        proof: Proof | None
        score: float | None

    @property
    def optimal(self) -> bool | None:
        """True if no DAG over these variables has a smaller score; None where that is not known.

        It is said of the score with the result's penalty and γ, of DAGs that obey the knowledge, and of variables with
        at most half as many parents as there are rows. Equivalent DAGs have the same score.

        Examples
        --------
        >>> import rfdag
        >>> sem = rfdag.simulate.linear_sem(rfdag.simulate.random_dag(8, 0.3, rng=1), rng=2)
        >>> result = rfdag.learn(rfdag.simulate.sample(sem, 200, rng=3))
        >>> result.optimal, result.gap
        (True, 0.0)
        """
        return True if self.proof is not None and self.proof.complete else None

    @property
    def lower_bound(self) -> float | None:
        """A BIC below which no DAG can be; None where none is known."""
        return None if self.proof is None else self.proof.lower_bound

    @property
    def gap(self) -> float | None:
        """By how much the BIC can be above that of the best DAG of all: 0 if it is the best, None if not known."""
        if self.proof is None or self.score is None:
            return None
        return 0.0 if self.proof.complete else max(0.0, self.score - self.proof.lower_bound)


def optimality_in_words(result: Result) -> str | None:
    """Return what is known of the best DAG of all; None where nothing is."""
    proof = result.proof
    if proof is None or result.gap is None:
        return None
    if not proof.complete:
        return f"at most {result.gap:.1f} above the best of all DAGs"
    how = (
        f"all {proof.sets} sets of variables" if proof.exhaustive else f"branch and bound, {counted(proof.sets, 'set')}"
    )
    return f"the best of all DAGs ({how})"
