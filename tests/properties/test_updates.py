"""Estimates after a removal: the theorems of docs/precision.md, on drawn data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from rfdag.eliminate import eliminate, replay
from rfdag.eliminate.engines.columns import ColumnsEngine
from rfdag.errors import OptionError
from rfdag.evidence.moments import Moments
from rfdag.precision.clime import ClimeColumns
from rfdag.precision.lasso import LassoColumns
from strategies import samples

few_rows = samples(min_nodes=3, max_nodes=9, min_rows=5, max_rows=25)
strengths = st.floats(0.05, 0.6)


def engine_of(rows, strength, kind):
    moments = Moments.from_data(rows)
    S = moments.correlation
    solver = LassoColumns(S, moments.factor, strength) if kind == "lasso" else ClimeColumns(S, strength)
    everything = np.arange(len(S))
    columns = [solver.solve(j, np.delete(everything, j)) for j in everything]
    return S, solver, ColumnsEngine(solver, columns)


def dense(column, others):
    values = np.zeros(len(others))
    values[np.searchsorted(others, column.support)] = column.values
    return values


@given(few_rows, strengths)
@settings(deadline=None, max_examples=40)
def test_the_lasso_is_that_of_the_reference(rows, strength):
    S, _, engine = engine_of(rows, strength, "lasso")
    for j in range(len(S)):
        others = np.delete(np.arange(len(S)), j)
        # The reference converges slowly where columns nearly depend on each other.
        assume(np.linalg.cond(S[np.ix_(others, others)]) < 1e6 or strength > 0.2)
        expected = reference.lasso(S, j, others, strength)
        found = dense(engine.column(j), others)
        fits = [
            0.5 * b @ S[np.ix_(others, others)] @ b - S[j, others] @ b + strength * abs(b).sum()
            for b in (found, expected)
        ]
        assert fits[0] <= fits[1] + 1e-12
        assert found == pytest.approx(expected, abs=1e-6)


@given(few_rows, strengths, st.data())
@settings(deadline=None, max_examples=60)
def test_nodewise_after_every_removal_is_the_estimate_from_scratch(rows, strength, data):
    S, solver, engine = engine_of(rows, strength, "lasso")
    while len(engine.remaining) > 1:
        engine.remove(data.draw(st.integers(0, len(engine.remaining) - 1)))
        for j in engine.remaining.tolist():
            others = engine.remaining[engine.remaining != j]
            updated, scratch = engine.column(j), solver.solve(j, others)
            assert dense(updated, others) == pytest.approx(dense(scratch, others), abs=1e-10)
            gradient = S[others, j] - S[np.ix_(others, others)] @ dense(updated, others)
            assert np.abs(gradient).max(initial=0) <= strength + 1e-10


@given(few_rows, st.floats(0.1, 0.6), st.data())
@settings(deadline=None, max_examples=25)
def test_kept_columns_of_clime_stay_feasible_with_their_norm(rows, strength, data):
    try:
        S, solver, engine = engine_of(rows, strength, "clime")
    except OptionError:
        # With fewer rows than columns nothing may be this close to an inverse; what is feasible stays so.
        assume(False)
    while len(engine.remaining) > 1:
        before = {j: engine.column(j) for j in engine.remaining.tolist()}
        removed = engine.remove(data.draw(st.integers(0, len(engine.remaining) - 1))).variable
        for j in engine.remaining.tolist():
            column = engine.column(j)
            chosen = np.append(column.support, j)
            beta = np.append(column.values, column.own)
            unit = (engine.remaining == j).astype(float)
            # Feasible for what remains, whether it was kept or solved again.
            assert np.abs(S[np.ix_(engine.remaining, chosen)] @ beta - unit).max() <= strength + 1e-7
            if removed not in before[j].support:
                assert column is before[j]
                others = engine.remaining[engine.remaining != j]
                best = solver.solve(j, others)
                least = np.abs(best.values).sum() + best.own
                assert np.abs(beta).sum() >= least - 1e-7
            else:
                assert column is not before[j]


@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.floats(0.01, 0.5))
def test_the_schur_step_keeps_errors_within_the_bound(p, seed, size):
    generator = np.random.default_rng(seed)

    def definite():
        root = generator.normal(size=(p, 2 * p))
        return root @ root.T / (2 * p)

    truth = definite()
    estimate = truth + size * definite()
    kept = np.sort(generator.permutation(p)[: int(generator.integers(1, p))])
    marginal = [np.linalg.inv(np.linalg.inv(each)[np.ix_(kept, kept)]) for each in (truth, estimate)]
    bound = np.linalg.cond(truth) * np.linalg.cond(estimate) * np.linalg.norm(estimate - truth, 2)
    assert np.linalg.norm(marginal[1] - marginal[0], 2) <= bound * (1 + 1e-9)


@given(few_rows, strengths, st.sampled_from(["all", "neighbours"]))
@settings(deadline=None, max_examples=25)
def test_scores_are_what_a_removal_does(rows, strength, pairs):
    _, solver, plain = engine_of(rows, strength, "lasso")
    engine = ColumnsEngine(solver, [plain.column(j) for j in range(rows.shape[1])], pairs=pairs)
    while len(engine.remaining) > 1:
        before = engine.adjacency()
        for position in range(len(engine.remaining)):
            kept = np.delete(np.arange(len(before)), position)
            twin = engine.copy()
            happened = twin.remove(position, with_edges=True)
            after = twin.adjacency()
            old = before[np.ix_(kept, kept)]
            near = before[position][kept]
            scope = np.ones_like(old) if pairs == "all" else near[:, None] & near
            assert engine.removals()[position] == happened.removal == (np.triu(old & ~after) & scope).sum()
            assert engine.fills()[position] == happened.fill == (np.triu(after & ~old) & scope).sum()
            assert len(happened.removed) == np.triu(old & ~after).sum()
            assert happened.parents.tolist() == sorted(engine.remaining[before[position]].tolist())
        engine.remove(0)


def test_an_elimination_and_its_replay_agree():
    rows = np.random.default_rng(3).normal(size=(15, 12)) @ np.triu(np.ones((12, 12)))
    *_, engine = engine_of(rows, 0.2, "lasso")
    found = eliminate(engine.copy(), "rfd", depth=2)
    again = replay(engine.copy(), found.order)
    assert (found.dag == again.dag).all()
    assert found.dag.sum() > 0
    assert found.trace.removal.tolist() == again.trace.removal.tolist()
