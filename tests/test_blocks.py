"""Data learnt in blocks: which columns belong together, and the joined answer."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.errors import DataError, FileError, NumericalWarning, OptionError
from rfdag.evidence import screening
from rfdag.evidence.screening import clear_correlation, find_blocks
from rfdag.methods import blocks as blocks_
from rfdag.methods import preflight
from rfdag.runtime import memory
from rfdag.simulate import block_dag, linear_sem, sample

SIZES = [1, 12, 20, 3, 1, 30]


@pytest.fixture(scope="module")
def truth():
    return block_dag(SIZES, degree=3, rng=1)


@pytest.fixture(scope="module")
def rows(truth):
    return sample(linear_sem(truth, 2, weights=(0.5, 1.0)), 600, 3)


def components(rows):
    """By the definition: all correlations at once."""
    linked = np.abs(np.corrcoef(rows.T)) > clear_correlation(*rows.shape)
    _, labels = sparse.csgraph.connected_components(sparse.csr_array(linked), directed=False)
    return sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))


def test_clear_correlations_are_rare_by_chance():
    generator = np.random.default_rng(5)
    links = 0
    for _ in range(200):
        r = np.corrcoef(generator.normal(size=(200, 20)).T)
        links += (np.abs(r[np.triu_indices(20, 1)]) > clear_correlation(200, 20)).sum()
    # One expected for each table of many columns; at most 5 % of the pairs for few.
    assert 140 < links < 260
    assert clear_correlation(1000, 10**6) > clear_correlation(1000, 10**3) > clear_correlation(10_000, 10**3)


@pytest.mark.parametrize("tile", [7, 2048])
@pytest.mark.parametrize("most_links", [5, 10**6])
def test_blocks_are_components_of_the_correlations(rows, monkeypatch, tile, most_links):
    """Whatever the size of a tile, and however often links are reduced on the way."""
    monkeypatch.setattr(screening, "TILE", tile)
    monkeypatch.setattr(screening, "MOST_LINKS", most_links)
    shares, largest = [], []
    found = find_blocks(rows, tuple(range(rows.shape[1])), report=shares.append, check=largest.append)
    assert [block.tolist() for block in found] == components(rows)
    assert shares[-1] == 1.0
    assert largest[-1] == max(map(len, found))


def test_a_correlation_at_the_cut_is_decided_in_double_precision():
    generator = np.random.default_rng(7)
    cut = clear_correlation(50, 2)
    a, b = np.linalg.qr(generator.normal(size=(50, 2)) - generator.normal(size=2))[0].T
    a, b = a - a.mean(), b - b.mean()
    b -= a * (a @ b) / (a @ a)
    a, b = a / np.sqrt(a @ a), b / np.sqrt(b @ b)
    for shift, expected in ((1e-9, 1), (-1e-9, 2)):
        r = cut + shift
        pair = np.column_stack([a, r * a + np.sqrt(1 - r * r) * b]) * 1e3 + 5
        assert len(find_blocks(pair, (0, 1))) == expected


def test_constant_columns_are_named():
    table = np.random.default_rng(1).normal(size=(50, 3))
    table[:, 1] = 4.2
    with pytest.raises(DataError, match="constant: 'b'"):
        rfdag.learn(table, names=list("abc"), blocks=True)


@pytest.mark.parametrize("options", [{}, {"method": "rfd"}, {"method": "min-degree"}])
def test_each_block_is_learnt_as_if_alone(rows, options):
    found = rfdag.learn(rows, blocks=True, **options)
    assert isinstance(found.dag, sparse.csr_array)
    total = 0.0
    for block in components(rows):
        places = [at for at in found.order if at in set(block)]
        if len(block) == 1:
            assert found.dag[block].nnz == 0
            continue
        alone = rfdag.learn(rows[:, block], names=block, blocks=False, **options)
        assert places == list(alone.order)
        np.testing.assert_array_equal(found.dag[block][:, block].toarray(), alone.dag)
        np.testing.assert_array_equal(found.cpdag[block][:, block].toarray(), alone.cpdag)
        np.testing.assert_allclose(found.coefficients[block][:, block].toarray(), alone.coefficients)
        np.testing.assert_allclose(found.partial_correlations[block][:, block].toarray(), alone.partial_correlations)
        np.testing.assert_allclose(found.residual_variances[block], alone.residual_variances)
        total += alone.score or 0.0
    assert sorted(found.order) == list(range(rows.shape[1]))
    assert sorted(found.trace.node.tolist()) == list(range(rows.shape[1]))
    assert (np.diff(found.trace.search) >= 0).all()
    if found.method.by_bic:
        assert found.score == pytest.approx(total)
    else:
        assert found.score is None
        assert found.trace.node[::-1].tolist() == found.causal_order.tolist()
    assert found.n_samples == 600
    assert set(found.timings) == {"moments", "screening", "blocks"}


def test_answer_does_not_depend_on_threads(rows):
    orders = {rfdag.learn(rows, blocks=True, n_jobs=jobs).order for jobs in (1, 2, 20)}
    assert len(orders) == 1


def test_a_joined_result_can_be_kept(rows, tmp_path):
    frame = pd.DataFrame(rows, columns=[f"x{at}" for at in range(rows.shape[1])])
    found = rfdag.learn(frame, blocks=True)
    loaded = rfdag.load(found.save(tmp_path / "result.json"))
    assert loaded.edges == found.edges
    assert loaded.order == found.order
    assert loaded.settings.estimation.blocks is True
    assert found.moments is None


def test_auto_is_blocks_where_a_matrix_does_not_fit(rows, monkeypatch):
    p = rows.shape[1]
    assert rfdag.learn(rows).moments is not None
    matrices = preflight.matrices_of(rfdag.Soft(), p)

    def limited(free):
        for module in (memory, preflight):
            monkeypatch.setattr(module, "TRIFLE", 0)
            monkeypatch.setattr(module, "available_memory", lambda: free)

    limited(matrices * 8.0 * p**2 - 1)
    with pytest.warns(NumericalWarning, match=f"{p} columns are more than fit.*blocks"):
        found = rfdag.learn(rows)
    assert sparse.issparse(found.dag)
    limited(matrices * 8.0 * 10**2)
    with pytest.raises(OptionError, match=r"block of correlated columns has \d+.*up to 10 fit.*input='precision'"):
        rfdag.learn(rows)


def test_options_that_do_not_go_with_blocks(rows, tmp_path):
    with pytest.raises(OptionError, match="blocks is True, False or 'auto', not 'sparse'"):
        rfdag.learn(rows, blocks="sparse")
    with pytest.raises(OptionError, match=r"'sample', 'averaged', .*not 'blocks'. .*blocks=True"):
        rfdag.learn(rows, **{"precision": "blocks"})
    with pytest.raises(OptionError, match="single one"):
        rfdag.learn(rows, blocks=True, penalty=[1, 2])
    with pytest.raises(OptionError, match="Blocks are found in data"):
        rfdag.learn(np.eye(3), input="correlation", n_samples=100, blocks=True)
    with pytest.raises(DataError, match="20 rows and 30 columns"):
        rfdag.learn(crowd(), blocks=True, method="rfd")


def test_what_is_read_in_pieces_has_no_blocks(rows, tmp_path):
    pd.DataFrame(rows, columns=[f"x{at}" for at in range(rows.shape[1])]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises((OptionError, FileError), match="read in pieces"):
        rfdag.learn(tmp_path / "rows.parquet", blocks=True)


def crowd():
    """Few rows of many columns that all follow one."""
    generator = np.random.default_rng(2)
    return generator.normal(size=(20, 1)) + 0.2 * generator.normal(size=(20, 30))


def test_warnings_of_blocks_are_joined():
    with pytest.warns(NumericalWarning, match="20 rows are few for 30 columns"):
        found = rfdag.learn(crowd(), blocks=True, restarts=0)
    assert len(found.warnings) == len(set(found.warnings)) <= blocks_.WARNINGS_SHOWN + 1


def test_many_warnings_are_counted():
    alone = blocks_._Part(np.arange(1), None, np.ones(1))
    found = [SimpleNamespace(warnings=(f"warning {at}",)) for at in range(9)]
    parts = [blocks_._Part(alone.columns, each, alone.variances) for each in found]
    assert blocks_._summary([*parts, alone]) == (
        *(f"warning {at}" for at in range(5)),
        "9 of 10 blocks have warnings of this kind.",
    )


def test_a_time_limit_is_shared_out(rows):
    found = rfdag.learn(rows, blocks=True, time_limit=600, restarts="auto")
    whole = rfdag.learn(rows, blocks=True, restarts="auto")
    assert found.order == whole.order
    np.testing.assert_array_equal(found.dag.toarray(), whole.dag.toarray())


def test_a_failing_block_stops_the_others(rows, monkeypatch):
    stopped = threading.Event()

    def learn_one(evidence, columns, method, run):
        if len(columns) == max(map(len, components(rows))):
            raise KeyboardInterrupt
        while not run.deadline.passed():
            pass
        stopped.set()
        return blocks_._Part(columns, None, np.ones(len(columns)))

    monkeypatch.setattr(blocks_, "_learn_one", learn_one)
    with pytest.raises(KeyboardInterrupt):
        rfdag.learn(rows, blocks=True, n_jobs=2)
    assert stopped.is_set()


def test_a_lost_block_names_its_columns(rows, monkeypatch):
    def lose(*arguments, **options):
        raise blocks_.LostPrecision(0, 1)

    monkeypatch.setattr(rfdag.Soft, "find", lose)
    table = rows[:, next(block for block in components(rows) if len(block) == 3)]
    with pytest.raises(rfdag.errors.NumericalError, match="'c' and 'd'"):
        rfdag.learn(
            np.column_stack([np.random.default_rng(1).normal(size=(600, 2)), table]),
            names=list("abcde"),
            blocks=True,
        )


def test_the_program_learns_in_blocks(rows, tmp_path):
    np.savez(tmp_path / "rows.npz", data=rows)
    ended = CliRunner().invoke(app, ["learn", str(tmp_path / "rows.npz"), "--blocks", "--json"])
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["order"] == list(rfdag.learn(rows, blocks=True).order)


def interrupted_after(done):
    """Return what yields so many finished blocks as they complete, and then is interrupted."""

    def completed(waiting):
        for at, finished in enumerate(waiting):
            if at == done:
                raise KeyboardInterrupt
            finished.result()
            yield finished

    return completed


def test_ctrl_c_keeps_the_blocks_that_were_learnt(rows, monkeypatch):
    whole = rfdag.learn(rows, blocks=True)
    monkeypatch.setattr(blocks_, "as_completed", interrupted_after(1))
    with pytest.warns(NumericalWarning) as warned:
        found = rfdag.learn(rows, blocks=True, n_jobs=1)
    said = " ".join(str(each.message) for each in warned)
    assert found.interrupted
    assert sorted(found.order) == sorted(whole.order)
    assert 0 < found.dag.nnz < whole.dag.nnz
    assert len(found.trace) == 0
    assert "interrupted" in said
    assert "Blocks that were not learnt and have no edges" in said
    assert found.score > whole.score


def test_ctrl_c_while_the_last_block_runs_is_told(rows, monkeypatch):
    sizes = list(map(len, components(rows)))
    monkeypatch.setattr(blocks_, "as_completed", interrupted_after(sum(size > 1 for size in sizes)))
    with pytest.warns(NumericalWarning, match="interrupted"):
        found = rfdag.learn(rows, blocks=True, n_jobs=1)
    assert found.interrupted


def test_an_error_of_a_block_is_not_hidden_by_ctrl_c(rows, monkeypatch):
    learn_one, largest = blocks_._learn_one, max(map(len, components(rows)))

    def failing(evidence, columns, method, run):
        if len(columns) < largest:
            raise DataError("this block is spoilt")
        return learn_one(evidence, columns, method, run)

    def completed(waiting):
        first, second, *_ = waiting
        first.result()
        yield first
        assert second.exception() is not None
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks_, "_learn_one", failing)
    monkeypatch.setattr(blocks_, "as_completed", completed)
    with pytest.raises(DataError, match="spoilt"):
        rfdag.learn(rows, blocks=True, n_jobs=1)


def test_ctrl_c_without_a_block_or_with_required_edges_raises(rows, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(blocks_, "as_completed", interrupted_after(0))
        patched.setattr(blocks_, "_learn_one", lambda *arguments: blocks_._unlearnt(arguments[0], arguments[1]))
        with pytest.raises(KeyboardInterrupt):
            rfdag.learn(rows, blocks=True)
    source, target = next(zip(*rfdag.learn(rows, blocks=True).dag.nonzero(), strict=True))
    monkeypatch.setattr(blocks_, "as_completed", interrupted_after(1))
    with pytest.raises(KeyboardInterrupt):
        rfdag.learn(rows, blocks=True, knowledge=rfdag.Knowledge(required=[(int(source), int(target))]))
