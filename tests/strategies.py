"""Hypothesis strategies: graphs first, everything else from them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rfdag.simulate import linear_sem, sample


@st.composite
def dags(draw, min_nodes=2, max_nodes=6):
    """Any DAG, by an order and a choice for every pair."""
    p = draw(st.integers(min_nodes, max_nodes))
    order = draw(st.permutations(range(p)))
    dag = np.zeros((p, p), np.int8)
    for later in range(p):
        for earlier in range(later):
            dag[order[earlier], order[later]] = draw(st.booleans())
    return dag


@st.composite
def dag_pairs(draw, max_nodes=6):
    """Two DAGs on the same nodes."""
    p = draw(st.integers(2, max_nodes))
    return draw(dags(p, p)), draw(dags(p, p))


@st.composite
def dags_and_subsets(draw, min_nodes=2, max_nodes=6):
    dag = draw(dags(min_nodes, max_nodes))
    nodes = draw(st.sets(st.integers(0, len(dag) - 1), min_size=1))
    return dag, sorted(nodes)


@st.composite
def dags_and_orders(draw, min_nodes=2, max_nodes=6):
    dag = draw(dags(min_nodes, max_nodes))
    return dag, draw(st.permutations(range(len(dag))))


@st.composite
def samples(draw, min_nodes=2, max_nodes=6, min_rows=30, max_rows=200):
    """Rows of a linear SEM on any DAG."""
    dag = draw(dags(min_nodes, max_nodes))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    rows = draw(st.integers(min_rows, max_rows))
    return sample(linear_sem(dag, generator), rows, generator)
