"""One test, asked over and over: checked, cached and counted, by several threads, until a deadline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from rfdag.eliminate.engines.independence import Query
from rfdag.errors import DataMessage, IndependenceError, RfdagError, as_column, as_columns
from rfdag.runtime.deadline import Deadline
from rfdag.runtime.threads import require_wanted, share
from rfdag.wording import counted

SWAPPED = 20
"""Pairs that are tested a second time with their variables swapped."""

ALIKE = 1e-6
"""Difference of two p-values that passes for rounding."""


class Questions:
    """Answers of one test of conditional independence, each computed once.

    Parameters
    ----------
    test
        The test: ``test(i, j, given)`` returns a p-value. It is called with i < j and a sorted tuple.
    names
        The names of the variables, for messages.
    title
        What the test is called in messages.

    Examples
    --------
    >>> asked = Questions(lambda i, j, given: 0.5 if given else 0.0, ["a", "b", "c"], "mine")
    >>> asked.p_values([(0, 1, ()), (1, 0, (2,)), (0, 1, ())])
    [0.0, 0.5, 0.0]
    >>> dict(asked.counts)
    {0: 1, 1: 1}
    """

    def __init__(self, test: Callable[[int, int, tuple[int, ...]], Any], names: Sequence[Hashable], title: str) -> None:
        self.names = tuple(names)
        self.title = title
        self.interrupted = False
        self.late = False
        self._test = test
        self._known: dict[Query, float] = {}
        self._margins: dict[float, tuple[int, float]] = {}
        self._threads = 1
        self._deadline = Deadline()
        self.report: Callable[[float], None] = lambda share: None

    def renamed(self, names: Sequence[Hashable]) -> Questions:
        """Return the same test under other names of its variables, with the answers so far."""
        other = Questions(self._test, names, self.title)
        other._known = dict(self._known)
        return other

    @property
    def counts(self) -> Counter[int]:
        """How many tests were done, by the number of variables that they condition on."""
        return Counter(dict(sorted(Counter(len(given) for _, _, given in self._known).items())))

    @property
    def stopped(self) -> bool:
        """Whether no more tests are done, since the user or the time limit ended them."""
        return self.interrupted or self.late

    def begin(self, threads: int, deadline: Deadline, report: Callable[[float], None]) -> None:
        """Begin a run with so many threads, until a deadline, with a bar for its first graph."""
        self._threads, self._deadline, self.report = threads, deadline, report
        self.interrupted = self.late = False

    def margin(self, alpha: float) -> float:
        """Return the smallest distance of a p-value from a level so far."""
        seen, smallest = self._margins.get(alpha, (0, math.inf))
        # Answers are kept in the order in which they came: only those since the last time are new.
        fresh = islice(self._known.values(), seen, None)
        smallest = min(smallest, min((abs(value - alpha) for value in fresh), default=math.inf))
        self._margins[alpha] = len(self._known), smallest
        return smallest

    def separated(self, alpha: float) -> set[tuple[int, int]]:
        """Return the pairs that some test so far has found independent at a level."""
        return {(i, j) for (i, j, _), value in self._known.items() if value > alpha}

    def p_value(self, i: int, j: int, given: Iterable[int] = ()) -> float | None:
        """Return the p-value of one question; None if time is over and it is not known."""
        return self.p_values([(i, j, tuple(given))])[0]

    def p_values(
        self, queries: Sequence[Query], report: Callable[[float], None] = lambda share: None
    ) -> list[float | None]:
        """Return the p-value of each question; None for those that time has not allowed.

        Parameters
        ----------
        queries
            Pairs of variables, each with a tuple of others to condition on.
        report
            Called with the share done, from any thread.
        """
        asked = [_ordered(query) for query in queries]
        missing = list(dict.fromkeys(query for query in asked if query not in self._known))
        if missing and not self.stopped:
            self._answer(missing, report)
        return [self._known.get(query) for query in asked]

    def independent(self, queries: Sequence[Query], alpha: float) -> list[bool]:
        """Return whether each pair was found independent at a level: not so where time has not allowed a test."""
        return [value is not None and value > alpha for value in self.p_values(queries)]

    def _answer(self, missing: Sequence[Query], report: Callable[[float], None]) -> None:
        found: dict[Query, float] = {}

        def work(first: int, step: int) -> None:
            for query in missing[first::step]:
                require_wanted()
                if self._deadline.passed():
                    self.late = True
                    return
                found[query] = self._once(*query)
                report(len(found) / len(missing))

        try:
            share(work, min(self._threads, len(missing)))
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self._known.update(dict(found))

    def _once(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the p-value of one call; raise if it is none."""
        try:
            value = self._test(i, j, given)
        except RfdagError as problem:
            raise type(problem)(f"{self._about(i, j, given)}: {problem.message.template}") from problem
        except Exception as problem:
            raise IndependenceError(
                f"{self._about(i, j, given)} raised {type(problem).__name__}: {problem}. A test returns the p-value "
                "of two columns given a tuple of others, all by number."
            ) from problem
        number = value.item() if isinstance(value, np.generic | np.ndarray) and np.size(value) == 1 else value
        if isinstance(number, bool) or not isinstance(number, Real) or not 0 <= float(number) <= 1:
            raise IndependenceError(
                f"{self._about(i, j, given)} returned {value!r}. A p-value is a number between 0 and 1; see what the "
                "function does with these columns."
            )
        return float(number)

    def _about(self, i: int, j: int, given: tuple[int, ...]) -> str:
        pair = f"{as_column(self.names[i])} and {as_column(self.names[j])}"
        others = as_columns([self.names[at] for at in given])
        return f"The test {self.title} of {pair} given {others or 'nothing'}"

    def warnings(self) -> tuple[str, ...]:
        """Return what the test itself has to say of its answers, if it says anything."""
        of_test = getattr(self._test, "warnings", None)
        return tuple(of_test()) if callable(of_test) else ()

    def asymmetry(self, seed: int = 0) -> tuple[str, ...]:
        """Return a warning if p-values change when a pair is swapped, found by asking some questions again."""
        if self.stopped or not self._known:
            return ()
        known = sorted(self._known)
        chosen = np.random.default_rng(seed).choice(len(known), min(SWAPPED, len(known)), replace=False)
        differences: dict[Query, float] = {}
        for at in sorted(chosen.tolist()):
            i, j, given = known[at]
            if self._deadline.passed():
                break
            try:
                differences[known[at]] = abs(self._once(j, i, given) - self._known[known[at]])
            except KeyboardInterrupt:
                self.interrupted = True
                break
        apart = {query: size for query, size in differences.items() if size > ALIKE}
        if not apart:
            return ()
        i, j, given = worst = max(apart, key=lambda query: apart[query])
        return (
            DataMessage(
                f"The test {self.title} is not symmetric: swapping the pair changed the p-value in {len(apart)} of "
                f"{counted(len(differences), 'pair')}, by {apart[worst]:.2g} for {as_column(self.names[i])} and "
                f"{as_column(self.names[j])} given {as_columns([self.names[at] for at in given]) or 'nothing'}. The "
                "answer then depends on the order of the columns."
            ),
        )


def _ordered(query: Query) -> Query:
    """Return a question with i < j, and what it conditions on sorted, all as plain numbers."""
    i, j, given = query
    first, second = sorted((int(i), int(j)))
    return first, second, tuple(sorted(map(int, given)))
