"""What may be wrong with the numbers of a result, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

from rfdag.eliminate import LostPrecision
from rfdag.errors import NumericalError, as_column, as_columns
from rfdag.evidence.moments import DOUBTFUL, Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.sparse import Sparse
from rfdag.methods.searching import Found, few_rows
from rfdag.methods.settings import Settings


def doubts_about(
    evidence: Moments | Oracle | Sparse, found: Found, settled: float, settings: Settings
) -> tuple[str, ...]:
    """Return what the user should know about conditioning, exhausted variances and decisions near a threshold."""
    if isinstance(evidence, Oracle):
        return ()
    margin = found.elimination.trace.smallest_margin
    # Where parents were chosen by BIC the thresholds of the trace decided nothing.
    near = _near_threshold(margin, settled) if margin < settled and found.scored is None else ()
    if isinstance(evidence, Sparse):
        return near
    doubts = []
    tolerance = settings.tolerance
    exhausted = [] if found.scored is None else found.scored.exhausted.tolist()
    if exhausted:
        doubts.append(
            f"Given their parents, {as_columns([evidence.names[at] for at in exhausted])} vary by no more than "
            "rounding, so the BIC cannot choose among further parents. Consider parents='threshold' with refine=False."
        )
    condition = evidence.condition()
    if few_rows(evidence, settings):
        doubts.append(
            f"{evidence.n_samples} rows are few for {len(evidence.names)} columns: the search began from an average of "
            "sparse models instead of the sample's partial correlations, and its order is far from certain."
        )
    elif evidence.n_samples is None:
        # Elimination in doubles loses as many digits as the covariance has, which is the square.
        if 1e-16 * condition**2 > tolerance:
            doubts.append(
                f"The precision matrix is ill-conditioned ({condition**2:.0e}): rounding of about "
                f"{1e-16 * condition**2:.0e} may pass for edges at tolerance {tolerance:.0e}. If it comes from a "
                "known DAG, learn(dag, input='dag') is exact."
            )
    elif condition > DOUBTFUL:
        doubts.append(
            f"The columns are nearly dependent (condition number {condition:.1e}): partial correlations may be off "
            f"by about {condition * 1e-16:.0e}. Consider dropping or combining the most similar columns."
        )
    return (*doubts, *near)


def _near_threshold(margin: float, settled: float) -> tuple[str]:
    return (
        f"A partial correlation lies within {margin:.0e} of its threshold, closer than the {settled:.0e} that "
        "rounding may take: another machine might decide that edge differently.",
    )


@contextmanager
def naming_lost_precision(names: Sequence[Hashable]) -> Iterator[None]:
    """Turn an engine's numbers of spoilt variables into an error that names them."""
    try:
        yield
    except LostPrecision as lost:
        pair = " and ".join(as_column(names[at]) for at in lost.variables)
        raise NumericalError(
            f"{pair} became deterministic functions of each other during the elimination: the columns are too nearly "
            "dependent for double precision. Drop one of the two, or combine them."
        ) from None
