"""Evidence whose every answer is a test of conditional independence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from rfdag.eliminate.engines.engine import Engine
from rfdag.eliminate.engines.independence import Conditioning, IndependenceEngine
from rfdag.errors import Message
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.evidence.independence import Independence
from rfdag.independence.answers import PairwiseTests, needed
from rfdag.independence.first_graph import first_graph
from rfdag.independence.questions import Questions
from rfdag.input.columns import Column
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.threads import one_blas_thread
from rfdag.wording import counted

UNTESTED = (
    "pairs that were not tested count as dependent, and the order of what remained follows fill and degree alone."
)


@dataclass(frozen=True, eq=False)
class ByTests(Evidence):
    """What a test of conditional independence says; nothing is known beyond its p-values.

    Parameters
    ----------
    asked
        The test with its answers.
    n_samples
        Number of rows behind the tests, where it is known.
    conditioning
        Whether tests condition on "all" other variables, or on the "blanket" of one of the pair.
    kind
        What the user passed: "data" or "dag".
    own
        Whether the test is a function of the user's, of which nothing is known.

    Examples
    --------
    >>> def test(i, j, given):
    ...     return 0.9 if (i, j, given) == (0, 1, ()) else 0.0
    >>> evidence = ByTests(Questions(test, ["rain", "sprinkler", "wet"], "mine"))
    >>> evidence.engine(alpha=0.01, pairs="all", threads=1).removals()
    array([0, 0, 1])
    """

    tested: ClassVar[bool] = True

    asked: Questions = field(repr=False)
    n_samples: int | None = None
    conditioning: Conditioning = "blanket"
    kind: str = "data"
    own: bool = False
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = field(default=(), repr=False)

    @property
    def names(self) -> tuple[Hashable, ...]:  # type: ignore[override]
        """One hashable name per variable."""
        return self.asked.names

    @property
    def exact(self) -> bool:
        """Whether there is no noise: the answers are those of a DAG."""
        return self.kind == "dag"

    def engine(self, *, alpha: float, pairs: Pairs, threads: int) -> Engine:
        """Return the engine, ready to eliminate: its first graph is tested here."""
        asked = self.asked
        return IndependenceEngine(
            first_graph(asked, alpha, self.conditioning, asked.report),
            lambda queries: asked.independent(queries, alpha),
            conditioning=self.conditioning,
            level=0.0 if self.exact else alpha,
            margin=lambda: np.inf if self.exact else asked.margin(alpha),
        )

    def independence(self, alpha: float) -> Independence:
        """Return the answers to questions of conditional independence, by the same tests."""
        return PairwiseTests(self.asked, alpha, self.conditioning, exact=self.exact)

    def renamed(self, names: tuple[Hashable, ...]) -> ByTests:
        """Return the same evidence under other names."""
        return replace(self, asked=self.asked.renamed(names))

    def learn(self, method: Any, run: Any) -> Any:
        """Return what a method finds, with the number of tests that it took."""
        asked = self.asked
        asked.begin(run.threads, run.deadline, run.bar.stage("Testing"))
        # There is an order whatever time allows: pairs that were not tested count as dependent.
        run = replace(run, limit=Deadline())
        # Threads of our own share the tests.
        with one_blas_thread():
            try:
                found = method.learn(self, run)
            except KeyboardInterrupt:
                # Between two tests; answers are kept, so the way up to here takes no time, and no test follows.
                asked.interrupted = True
                found = method.learn(self, run)
            dag = found.dag
            literal = self.exact or self.conditioning == "all" or getattr(method, "parents", "auto") == "threshold"
            if not literal:
                required = None if run.constraints is None else run.constraints.required
                dag = needed(dag, asked, method.alpha, required)
            # Asked last, so that time and tests go to the order first.
            swapped = asked.asymmetry() if self.own else ()
        interrupted = found.interrupted or asked.interrupted or asked.late
        warnings = (*found.warnings, *swapped, *asked.warnings(), *self._cut_short())
        return replace(found, dag=dag, tests=dict(asked.counts), interrupted=interrupted, warnings=warnings)

    def _cut_short(self) -> tuple[str, ...]:
        """Return what a result says whose tests came to an early end."""
        done = counted(self.asked.counts.total(), "test")
        if self.asked.interrupted:
            return (Message(f"The search was interrupted after {done}: {UNTESTED}"),)
        return (Message(f"The time limit passed after {done}: {UNTESTED}"),) if self.asked.late else ()
