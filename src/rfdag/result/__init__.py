"""What a run returns: the result, its JSON form, its fitted model.

In: an order, a DAG and how they were found. Out: `Result`, saved and loaded.
"""

from rfdag.result.edge import Edge
from rfdag.result.result import Result, load

__all__ = ["Edge", "Result", "load"]
