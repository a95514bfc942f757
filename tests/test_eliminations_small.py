"""Eliminations on a few variables: thresholds that move far, margins, lists, reports, checks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import engine_contract as contract
import reference
from kernel_parts import entry
from rfdag.eliminate import DenseEngine, FisherZ, OracleEngine, eliminate
from rfdag.eliminate.elimination import replay
from rfdag.eliminate.engines import sparse as sparse_engine
from rfdag.eliminate.engines.columns import ColumnsEngine
from rfdag.eliminate.engines.sparse import SparseEngine
from rfdag.eliminate.engines.sparse_oracle import SparseOracleEngine
from rfdag.eliminate.kernels import field_arithmetic, lists
from rfdag.eliminate.search import choose
from rfdag.eliminate.sparse_elimination import eliminate_sparse
from rfdag.evidence.moments import Moments
from rfdag.graphs import moral_graph
from rfdag.precision.lasso import LassoColumns
from rfdag.simulate import random_dag


@pytest.mark.parametrize("pairs", ["all", "neighbours", "sparse"])
@pytest.mark.parametrize("seed", range(4))
def test_with_few_rows_every_removal_moves_the_threshold_far(pairs, seed):
    generator = np.random.default_rng([seed, 5])
    rows = generator.normal(size=(8 + seed, 5)) @ np.triu(generator.normal(size=(5, 5)))
    partial, threshold = Moments.from_data(rows).partial_correlations(), FisherZ(len(rows), 0.3)
    dense = None if pairs == "sparse" else DenseEngine(partial, threshold, pairs=pairs)
    engine = SparseEngine(csr_array(partial), threshold) if dense is None else dense
    world = reference.Sample(np.cov(rows.T), len(rows), 0.3)
    contract.check_whole_elimination(engine, world, generator, "all" if pairs == "all" else "neighbours")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_margin_is_the_least_distance_to_a_threshold_so_far(sparse, seed):
    generator = np.random.default_rng([seed, 6])
    rows = generator.normal(size=(10 + seed, 6)) @ np.triu(generator.normal(size=(6, 6)))
    moments, threshold = Moments.from_data(rows), FisherZ(len(rows), 0.2)
    partial = moments.partial_correlations()
    engine = SparseEngine(csr_array(partial), threshold) if sparse else DenseEngine(partial, threshold)
    least = math.inf
    while len(engine.remaining) > 1:
        v = len(engine.remaining)
        sizes = np.abs(moments.partial_correlations(engine.remaining)[np.triu_indices(v, 1)])
        least = min(least, np.abs(sizes - threshold(v)).min())
        found = engine.remove(int(generator.integers(v))).margin
        if not sparse:
            assert found == pytest.approx(least, abs=1e-10)
    # Lists are looked at when they are scored, some of them a step before.
    assert engine.remove(0).margin == pytest.approx(least, abs=1e-10)


def test_the_share_done_rises_to_one():
    dag = random_dag(6, 0.4, rng=1)
    for sparse in (False, True):
        for depth in (1, 2):
            shares = []
            if sparse:
                found = eliminate_sparse(SparseOracleEngine(csr_array(dag)), depth=depth, report=shares.append)
            else:
                found = eliminate(OracleEngine(dag), depth=depth, report=shares.append)
            assert 0 <= min(shares) <= max(shares) <= 1
            assert np.diff(shares).min(initial=0.0) > -1e-9
            assert sparse or shares[-1] == 1
    shares = []
    again = replay(OracleEngine(dag), found.order, shares.append)
    np.testing.assert_array_equal(again.dag, found.dag.toarray())
    assert len(set(shares)) == 6
    assert shares[0] > 0
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_search_can_be_stopped_before_each_path():
    asked = []
    choose(OracleEngine(np.zeros((4, 4))), depth=3, check=lambda: asked.append(1))
    # Of each set of one or two variables one path is followed.
    assert len(asked) == 4 + 6


def test_what_cancels_is_judged_by_both_diagonals():
    negligible = entry(lists._negligible)
    assert negligible(0.9e-3, 4.0, 0.25, 1e-3)
    assert not negligible(1.1e-3, 4.0, 0.25, 1e-3)
    assert not negligible(1.1e-3, 0.25, 4.0, 1e-3)


@pytest.mark.parametrize("rule", ["rfd", "min-degree", "max-remove"])
@pytest.mark.parametrize("seed", range(6))
def test_the_margin_of_a_whole_run_is_that_of_its_steps(rule, seed):
    generator = np.random.default_rng([seed, 8])
    rows = generator.normal(size=(12 + seed, 7)) @ np.triu(generator.normal(size=(7, 7)))
    moments, threshold = Moments.from_data(rows), FisherZ(len(rows), 0.2)
    engine = SparseEngine(csr_array(moments.partial_correlations()), threshold)
    engine.run(rule)
    stepwise = SparseEngine(csr_array(moments.partial_correlations()), threshold)
    left, least = list(range(7)), math.inf
    for variable in engine._state.record[0].tolist():
        v = len(left)
        sizes = np.abs(moments.partial_correlations(left)[np.triu_indices(v, 1)])
        least = min(least, np.abs(sizes - threshold(v)).min(initial=math.inf))
        stepwise.remove(stepwise.remaining.tolist().index(variable))
        left.remove(variable)
    assert engine.margin == pytest.approx(least, abs=1e-8)
    assert stepwise.margin == pytest.approx(least, abs=1e-8)


def test_a_run_reports_the_share_of_variables_that_are_gone(monkeypatch):
    monkeypatch.setattr(sparse_engine, "PATIENCE", 1)
    rows = np.random.default_rng(9).normal(size=(40, 10)) @ np.triu(np.random.default_rng(10).normal(size=(10, 10)))
    engine = SparseEngine(csr_array(Moments.from_data(rows).partial_correlations()), FisherZ(40, 0.2))
    shares = []
    engine.run("rfd", report=shares.append)
    removing = [share for share in shares if share >= 0.2]
    assert removing == sorted(removing)
    assert removing[-1] < 1.0
    gone = (np.array(removing) - 0.2) / 0.8 * 10
    assert np.allclose(gone, np.round(gone))
    assert len(set(removing)) > 5


@pytest.mark.parametrize("seed", range(4))
def test_lists_are_as_long_as_nodes_have_neighbours(seed):
    dag = random_dag(7, 0.4, rng=seed)
    children, parents = csr_array(dag), csc_array(dag)
    lengths, mark = np.zeros(7, np.int64), np.zeros(7, np.int32)
    for first, last in ((0, 3), (3, 7)):
        field_arithmetic.list_lengths(
            children.indices, children.indptr, parents.indices, parents.indptr, first, last, mark, lengths
        )
    assert lengths.tolist() == moral_graph(dag).sum(axis=0).tolist()


def test_every_seed_draws_ties_of_its_own():
    drawn = set()
    for seed in range(60):
        engine = SparseOracleEngine(csr_array(np.zeros((2, 2))))
        engine.run("random", generator=np.random.default_rng(seed))
        drawn.add(int(engine._state.random[0]))
    assert len(drawn) == 60


def test_work_in_pieces_covers_all_variables(monkeypatch):
    monkeypatch.setattr(sparse_engine, "AT_ONCE", 3)
    assert list(sparse_engine.pieces(7)) == [(0, 3), (3, 6), (6, 7)]
    assert list(sparse_engine.pieces(3)) == [(0, 3)]


def test_what_happened_is_kept_when_a_sparse_oracle_draws_anew():
    dag = csr_array(random_dag(8, 0.3, rng=3))
    engine, plain = SparseOracleEngine(dag), SparseOracleEngine(dag)
    for variable in (2, 4, 0):
        position = engine.remaining.tolist().index(variable)
        if variable == 4:
            engine._state.diagonal[4] = 0
        one, other = engine.remove(position), plain.remove(position)
        assert one.parents.tolist() == other.parents.tolist()
    assert engine._seed != plain._seed
    np.testing.assert_array_equal(engine._state.record, plain._state.record)
    np.testing.assert_array_equal(engine.adjacency(), plain.adjacency())


def test_columns_of_variables_that_are_gone_are_neither_solved_nor_kept():
    rows = np.random.default_rng(3).normal(size=(15, 7)) @ np.triu(np.ones((7, 7)))
    moments = Moments.from_data(rows)
    solver = LassoColumns(moments.correlation, moments.factor, 0.1)
    asked = []

    class Asked:
        def solve(self, j, others, known):
            asked.append(j)
            return solver.solve(j, others, known)

    columns = [solver.solve(j, np.delete(np.arange(7), j)) for j in range(7)]
    engine = ColumnsEngine(Asked(), columns)
    for gone in (3, 5, 0, 6):
        engine.removals()
        engine.remove(engine.remaining.tolist().index(gone))
        asked.clear()
        engine.removals()
        assert set(asked) <= set(engine.remaining.tolist())
        assert not engine._after[gone]
