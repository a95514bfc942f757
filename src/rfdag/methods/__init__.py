"""The methods: for each, its options and how it finds an order.

In: evidence and a run. Out: what was found, on its way to a result.
"""

from rfdag.methods.baseline import Baseline
from rfdag.methods.catalogue import METHODS
from rfdag.methods.found import Found
from rfdag.methods.gsp import Gsp
from rfdag.methods.method import Method
from rfdag.methods.rfd import Rfd
from rfdag.methods.run import Run
from rfdag.methods.soft import Soft
from rfdag.methods.sp import Sp

__all__ = ["METHODS", "Baseline", "Found", "Gsp", "Method", "Rfd", "Run", "Soft", "Sp"]
