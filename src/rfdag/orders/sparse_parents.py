"""Parents of a sparse elimination under background knowledge, without any p × p array.

Most variables have no neighbour at their removal that may not be their parent. A forbidden predecessor then explains
nothing beside the others, and the neighbours are the parents as without knowledge. The few other variables are tested
again, given the predecessors that may be parents; and required parents are added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from rfdag.eliminate.engines.sparse import SparseEngine
from rfdag.evidence.independence import GraphIndependence
from rfdag.knowledge.constraints import Constraints
from rfdag.orders.parents import needed_parents

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Family(NamedTuple):
    """A variable with its parents; coefficients and the variance left are None where they are unknown."""

    child: int
    parents: Integers
    coefficients: Floats | None = None
    variance: float | None = None


def families_by_separation(
    dag: csr_array, order: Integers, truth: csr_array, constraints: Constraints
) -> Iterator[Family]:
    """Yield the families that knowledge changes, by d-separation in the true DAG."""
    tests = GraphIndependence(truth)
    place = np.argsort(order)
    for child in _touched(dag, constraints):
        yield Family(child, needed_parents(child, order[: place[child]], tests, constraints))
    yield from _required_beside(dag, constraints)


def families_by_marginals(
    dag: csr_array, order: Integers, engine: SparseEngine, constraints: Constraints
) -> Iterator[Family]:
    """Yield the families that knowledge changes, from an engine that has not begun and goes through the order again.

    At the removal of a variable, the predecessors that may not be its parents are marginalised out: those of them, at
    least, that reach it through no other variable, for the others change nothing.
    """
    touched = set(_touched(dag, constraints))
    place = np.argsort(order)
    gone = len(order)
    for child in sorted(touched, key=lambda child: -place[child]):
        engine.repeat(order[place[child] + 1 : gone][::-1])
        gone = place[child] + 1
        before = order[: place[child]]
        allowed = constraints.may_be_parents(before, child)
        parents, slopes, variance = engine.regress_on(child, set(before[allowed].tolist()))
        required = np.setdiff1d(constraints.required_of(child), parents)
        yield Family(child, np.append(parents, required), np.append(slopes, np.zeros(len(required))), variance)
    yield from (family for family in _required_beside(dag, constraints) if family.child not in touched)


def with_families(matrix: csr_array, families: list[Family], *, values: bool = False) -> csr_array:
    """Return a DAG, or coefficients in its pattern, with some columns replaced."""
    columns = csc_array(matrix)
    size = columns.shape[0]
    replaced = {family.child: family for family in families}
    owners = np.repeat(np.arange(size), np.diff(columns.indptr))
    kept = ~np.isin(owners, list(replaced))
    rows, targets, entries = [columns.indices[kept]], [owners[kept]], [columns.data[kept]]
    for child, family in replaced.items():
        rows.append(family.parents)
        targets.append(np.full(len(family.parents), child))
        given = family.coefficients if values else None
        entries.append(np.ones(len(family.parents)) if given is None else given)
    data = np.concatenate(entries).astype(matrix.dtype)
    return csr_array((data, (np.concatenate(rows), np.concatenate(targets))), shape=matrix.shape)


def _touched(dag: csr_array, constraints: Constraints) -> list[int]:
    """Return the variables with a neighbour at their removal that may not be their parent."""
    sources, targets = dag.nonzero()
    found: list[int] = np.unique(targets[~constraints.may_be_edges(sources, targets)]).tolist()
    return found


def _required_beside(dag: csr_array, constraints: Constraints) -> Iterator[Family]:
    """Yield the families that only lack required parents: these explain nothing, and are parents all the same."""
    columns = csc_array(dag)
    touched = set(_touched(dag, constraints))
    for child in np.unique(constraints.required_edges[:, 1]).tolist():
        parents = columns.indices[columns.indptr[child] : columns.indptr[child + 1]].astype(np.int64)
        missing = np.setdiff1d(constraints.required_of(child), parents)
        if child not in touched and len(missing):
            yield Family(child, np.append(parents, missing))
