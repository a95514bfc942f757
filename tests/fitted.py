"""Results with a given graph and given moments, without a run."""

from __future__ import annotations

import dataclasses

import numpy as np

from rfdag import Result
from rfdag.evidence.moments import Moments
from rfdag.graphs import topological_order
from rfdag.input.description import Description
from rfdag.methods.settings import Settings


def fitted(dag, moments, kind="data"):
    """Return a result with this DAG and these moments, as though it had been learnt from input of that kind."""
    known = {
        "names": moments.names,
        "order": tuple(moments.names[at] for at in topological_order(dag)),
        "dag": np.array(dag, np.int8),
        "moments": moments,
        "n_samples": moments.n_samples,
        "settings": Settings(description=Description(input=kind)),
        "gamma": 0.0,
        "path": (),
        "means": moments.means,
        "warnings": (),
    }
    empty = {entry.name: None for entry in dataclasses.fields(Result)}
    return Result(**(empty | known))


def of_rows(dag, rows, names=None):
    return fitted(dag, Moments.from_data(rows, names))


def exact(sem, names=None):
    """Return the result of a model whose covariance is known exactly."""
    return fitted(sem.dag, Moments.from_covariance(sem.covariance(), None, names), "covariance")
