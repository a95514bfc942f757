"""From rows, a DAG or mere names to evidence by tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from rfdag.eliminate.engines.independence import Conditioning
from rfdag.errors import DataError, Group, OptionError, as_columns, keyword
from rfdag.evidence.awkward import CONSTANT, awkward_error, left_out
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.profile import BY_TESTS, profile_of
from rfdag.evidence.reading import Gathered, read_evidence
from rfdag.independence.by_tests import ByTests
from rfdag.independence.catalogue import D_SEPARATION, TESTS
from rfdag.independence.d_separation import DSeparation
from rfdag.independence.questions import Questions
from rfdag.input.checks import check_columns, check_duplicates, checked_names
from rfdag.input.description import Description
from rfdag.input.frames import is_frame
from rfdag.input.reading import in_memory
from rfdag.input.table import Table
from rfdag.values import name_of

COUNTING = "g2"
"""The test that is for categories."""


def read_tests(
    source: Any,
    test: str | Callable[..., Any],
    *,
    conditioning: str = "auto",
    input: str = "data",
    names: Sequence[Hashable] | None = None,
    form: Description | None = None,
    seed: int = 0,
) -> Gathered:
    """Return the evidence that a test makes of a source, and what was done to the source on the way.

    Parameters
    ----------
    source
        Rows in any form that `rfdag.learn` takes, held in memory; a DAG for "d-separation". For a function of the
        user's own a frame gives the names alone, whatever it holds, and None leaves them to ``names``.
    test, conditioning, input, names
        As in `rfdag.learn`.
    form
        How a text file is written.
    seed
        Seed of tests that draw at random.

    Examples
    --------
    >>> read_tests([[0, 1], [0, 0]], "d-separation", input="dag").evidence.asked.p_value(0, 1)
    0.0
    >>> read_tests(None, lambda i, j, given: 0.5, names=["a", "b"]).evidence.asked.p_value(0, 1)
    0.5
    """
    scope: Conditioning = "all" if conditioning == "all" else "blanket"
    if test == D_SEPARATION:
        oracle, _ = read_evidence(source, input=input, names=names, form=form)
        if not isinstance(oracle, Oracle):
            raise OptionError(f"{keyword('test', test)} needs a dense DAG; pass .toarray().")
        asked = Questions(DSeparation(oracle.dag), oracle.names, repr(test))
        return Gathered(ByTests(asked, None, "blanket" if conditioning == "blanket" else "all", kind="dag"))
    if callable(test):
        found, rows = _named(source, names, form)
        return Gathered(ByTests(Questions(test, found, name_of(test)), rows, scope, own=True))
    if source is None:
        raise DataError(f"Found no data; {keyword('test', test)} is a test on rows. Pass them, one row per sample.")
    table = in_memory(source, names, form)
    _check_numbers(table, test)
    out = {}
    constant = np.flatnonzero((table.values == table.values[0]).all(axis=0))
    if len(constant):
        groups = [Group(CONSTANT, (), (table.names[at],)) for at in constant]
        if form is None or form.awkward == "error":
            raise awkward_error(groups, len(table.names))
        out = left_out(groups, form.awkward)
        table = table.only([at for at, name in enumerate(table.names) if name not in out])
        check_columns(table.names)
    asked = Questions(TESTS[test](table.values, table.names, seed), table.names, repr(test))
    profile = profile_of(table.values, table.names, BY_TESTS)
    return Gathered(ByTests(asked, table.rows, scope).with_profile(profile), table.account.plus(out.values()))


def _check_numbers(table: Table, test: str) -> None:
    """Raise for a test of numbers where a column is categories of three levels or more."""
    several = [table.names[at] for at, levels in sorted(table.levels.items()) if len(levels) > 2]
    if several and test != COUNTING:
        numbers = len(table.names) - len(several)
        cure = "learn without a test."
        if not numbers:
            cure = f"pass {keyword('test', COUNTING)}, or {cure}"
        elif numbers > 1:
            cure = f"leave such columns out with {keyword('drop', several)}, or {cure}"
        raise OptionError(
            f"{keyword('test', test)} is for numbers, and {as_columns(several)} {'is' if len(several) == 1 else 'are'} "
            f"categorical: {cure}"
        )


def _named(
    source: Any, names: Sequence[Hashable] | None, form: Description | None
) -> tuple[tuple[Hashable, ...], int | None]:
    """Return the variables of a user's own test, and the number of rows where there are any."""
    if source is None:
        if names is None:
            raise OptionError(
                f"Found a test of your own without data; pass {keyword('names', ...)}, one for each variable that it "
                "takes, or the data."
            )
        found, rows = checked_names(tuple(names), names), None
    elif is_frame(source) and hasattr(source, "columns"):
        columns = getattr(source, "column_names", None) or list(source.columns)
        check_duplicates(list(columns))
        found, rows = checked_names(tuple(columns), names), len(source) if hasattr(source, "__len__") else None
    else:
        table = in_memory(source, names, form)
        found, rows = table.names, table.rows
    check_columns(found)
    return found, rows or None
