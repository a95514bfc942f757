"""Tests of conditional independence as evidence: by name or the user's own; checked, cached, counted.

In: rows, a DAG, or a function (i, j, given) -> p-value. Out: `ByTests`, evidence whose every answer is a test.
"""

from rfdag.eliminate.engines.independence import Query
from rfdag.independence.by_tests import ByTests
from rfdag.independence.catalogue import TESTS
from rfdag.independence.questions import Questions

__all__ = ["TESTS", "ByTests", "Query", "Questions"]
