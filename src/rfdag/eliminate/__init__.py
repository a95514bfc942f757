"""Removing sinks from the moral graph: engines hold the state, rules choose, the search looks ahead.

In: an engine over partial correlations or a DAG, and a rule. Out: `Elimination`, an order with its DAG and trace.
"""

from rfdag.eliminate.elimination import Elimination, eliminate, replay
from rfdag.eliminate.engines.dense import DenseEngine
from rfdag.eliminate.engines.engine import Engine, LostPrecision, Removal
from rfdag.eliminate.engines.independence import IndependenceEngine
from rfdag.eliminate.engines.oracle import OracleEngine
from rfdag.eliminate.engines.sparse import SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.rules import RULES, Candidates
from rfdag.eliminate.sparse_elimination import eliminate_sparse
from rfdag.eliminate.thresholds import FisherZ, Threshold, Tolerance
from rfdag.eliminate.trace import Step, Trace

__all__ = [
    "RULES",
    "Candidates",
    "DenseEngine",
    "Elimination",
    "Engine",
    "FisherZ",
    "IndependenceEngine",
    "LostPrecision",
    "OracleEngine",
    "Removal",
    "SparseEngine",
    "SparseOracleEngine",
    "Step",
    "Threshold",
    "Tolerance",
    "Trace",
    "eliminate",
    "eliminate_sparse",
    "replay",
]
