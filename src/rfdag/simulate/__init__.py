"""Random DAGs, models on them, and samples: linear, mixed and discrete, complete or with gaps, with interventions.

In: sizes, a DAG or a file of a discrete network, and a seed. Out: DAGs, models, and rows as arrays.
"""

from rfdag.simulate.dags import block_dag, dense_dag, random_dag, scale_free_dag
from rfdag.simulate.dags import sparse_random_dag as sparse_random_dag
from rfdag.simulate.discrete import DiscreteNetwork, discrete_network
from rfdag.simulate.gaps import with_gaps
from rfdag.simulate.interventions import Environments, draw_targets, interventions
from rfdag.simulate.linear import LinearSEM, linear_sem, sample, standardise
from rfdag.simulate.mixture import MixedRows, mixed

__all__ = [
    "DiscreteNetwork",
    "Environments",
    "LinearSEM",
    "MixedRows",
    "block_dag",
    "dense_dag",
    "discrete_network",
    "draw_targets",
    "interventions",
    "linear_sem",
    "mixed",
    "random_dag",
    "sample",
    "scale_free_dag",
    "standardise",
    "with_gaps",
]
