"""Evidence learnt in one piece: its engine, order and refinement, and the doubts about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rfdag.evidence.moments import Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.sparse import Sparse
from rfdag.knowledge.constraints import Constraints
from rfdag.methods.searching import Found, choose_engine, find_order, refine_order
from rfdag.methods.settings import Settings
from rfdag.methods.warnings import doubts_about
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread


def learn_whole(
    evidence: Moments | Oracle | Sparse,
    settings: Settings,
    threads: int,
    deadline: Deadline,
    bar: Progress,
    constraints: Constraints | None,
    *,
    lap: Callable[[str], None] = lambda name: None,
) -> Found:
    """Choose an engine, eliminate, refine; doubts about the numbers become the first notes.

    ``lap`` is told the name of each part when it is done.
    """
    engine = choose_engine(evidence, settings, threads, bar, constraints)
    lap("precision")
    with one_blas_thread():
        found = find_order(evidence, engine, settings, threads, deadline, bar, constraints)
        lap("elimination")
        found = refine_order(found, evidence, settings, threads, deadline, bar, constraints)
        lap("refinement")
    return replace(found, notes=(*doubts_about(evidence, found, engine.settled, settings), *found.notes))
