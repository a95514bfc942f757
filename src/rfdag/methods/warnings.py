"""What the user should know about the numbers of a result, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from rfdag.eliminate import LostPrecision, Trace
from rfdag.errors import Message, as_columns, keyword
from rfdag.evidence.evidence import Evidence
from rfdag.methods.found import Found
from rfdag.orders.limits import warning_about_cap


def warnings_about(evidence: Evidence, found: Found, settled: float, *, exhaustive: bool = False) -> tuple[str, ...]:
    """Return warnings about variances and numbers of parents, the evidence itself, and decisions near a threshold.

    ``settled`` is the distance to a threshold below which rounding may have decided; ``exhaustive`` tells that the
    search claims to find the best DAG of all.
    """
    warnings: list[str] = []
    exhausted = [] if found.scored is None else found.scored.exhausted.tolist()
    if exhausted:
        warnings.append(
            Message(
                f"The parents of {as_columns([evidence.names[at] for at in exhausted])} explain all of the variance, "
                "up to rounding, so the BIC cannot choose among further parents, and which DAG is the best of all is "
                f"not known. Consider {keyword('parents', 'threshold')} with {keyword('refine', False)}."
            )
        )
    warnings += evidence.notes
    of_evidence = evidence.warnings(scored=found.score is not None)
    warnings += of_evidence
    # Where rows are few that is reported already, and says more.
    exhaustive = exhaustive and not exhausted
    if found.scored is not None and (exhaustive or not of_evidence):
        capped = warning_about_cap(found.scored, evidence.names, exhaustive=exhaustive)
        warnings += [] if capped is None else [capped]
    trace = found.recorded
    # Where parents were chosen by BIC the thresholds of the trace decided nothing.
    margin = trace.smallest_margin if isinstance(trace, Trace) and found.scored is None else math.inf
    if margin < settled:
        warnings.append(
            Message(
                f"A partial correlation lies within {margin:.0e} of its threshold, closer than the "
                f"{settled:.0e} that rounding may change: another machine might decide that edge differently."
            )
        )
    return tuple(warnings)


@contextmanager
def naming_lost_precision(evidence: Evidence) -> Iterator[None]:
    """Turn an engine's numbers of the variables that rounding has spoilt into an error that names them."""
    try:
        yield
    except LostPrecision as lost:
        raise evidence.lost_precision(*lost.variables) from None
