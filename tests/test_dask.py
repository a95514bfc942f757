"""Dask collections, on a real cluster of two processes and without one."""

from __future__ import annotations

import functools
import os
import time
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.errors import DataError, TimeLimitError
from rfdag.input import dask as partitions
from rfdag.methods import clustered
from rfdag.orders import tuning
from rfdag.runtime.workers import on_cluster
from rfdag.simulate import linear_sem, random_dag, sample

NAMES = list("abcdef")


@pytest.fixture(scope="module")
def rows():
    return sample(linear_sem(random_dag(6, 0.5, rng=1), rng=1), 900, rng=1) + 1e6


@pytest.fixture(scope="module")
def frame(rows):
    return pd.DataFrame(rows, columns=NAMES)


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        yield cluster


def same(found, expected):
    assert found.names == expected.names
    assert found.order == expected.order
    assert found.n_samples == expected.n_samples
    np.testing.assert_array_equal(found.dag, expected.dag)
    np.testing.assert_allclose(found.moments.correlation, expected.moments.correlation, atol=1e-10)
    np.testing.assert_allclose(found.moments.means, expected.moments.means)
    np.testing.assert_allclose(found.moments.scales, expected.moments.scales)


def sleepy(part, seconds, marker=None):
    """Return the partition after a while; kill its worker the first time, if there is a marker."""
    time.sleep(seconds)
    if marker is not None and not os.path.exists(marker):
        with open(marker, "w"):
            os.kill(os.getpid(), 9)
    return part


def fatal(part, partition_info=None):
    if partition_info and partition_info["number"] == 2:
        os.kill(os.getpid(), 9)
    return part


def test_without_a_cluster(rows, frame):
    shares = []
    found = rfdag.learn(dd.from_pandas(frame, npartitions=7), progress=shares.append)
    same(found, rfdag.learn(frame))
    assert shares[0] < 1
    array = da.from_array(rows, chunks=(200, 4))
    same(rfdag.learn(array, names=NAMES), rfdag.learn(frame))
    # Boolean masks leave Dask without the sizes of its chunks.
    some = array[array[:, 0] > rows[:, 0].mean()]
    same(rfdag.learn(some), rfdag.learn(rows[rows[:, 0] > rows[:, 0].mean()]))
    estimator = rfdag.RFD().fit(dd.from_pandas(frame, npartitions=2))
    assert list(estimator.feature_names_in_) == NAMES
    assert estimator.n_features_in_ == 6


def test_bad_collections(frame):
    with pytest.raises(DataError, match=r"Column 'b' has 3 missing values"):
        rfdag.learn(dd.from_pandas(frame.assign(b=frame.b.mask(frame.index < 3)), npartitions=4), missing="error")
    with pytest.raises(DataError, match="not numbers: 'word'"):
        rfdag.learn(dd.from_pandas(frame.assign(word=[f"row {at}" for at in range(900)]), npartitions=2))
    with pytest.raises(DataError, match=r"Dask Series.*one row per"):
        rfdag.learn(dd.from_pandas(frame, npartitions=2)["a"])
    with pytest.raises(DataError, match=r"shape \(5,\)"):
        rfdag.learn(da.ones(5))
    with pytest.raises(DataError, match="the table is empty"):
        rfdag.learn(dd.from_pandas(frame[:0], npartitions=1))
    parts = [dask.delayed(frame[:100]), dask.delayed(frame[100:].rename(columns={"f": "z"}))]
    mixed = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)
    with pytest.raises(DataError, match=r"Partition 1 .*'z'|could not be computed .*'z'|columns"):
        rfdag.learn(mixed)
    broken = dd.from_delayed([dask.delayed(_raise)()], meta=frame[:0], verify_meta=False)
    with pytest.raises(DataError, match=r"could not be computed \(ZeroDivisionError"):
        rfdag.learn(broken)


def _raise():
    return 1 / 0


def test_on_a_cluster(frame, cluster):
    shares = []
    found = rfdag.learn(dd.from_pandas(frame, npartitions=5), progress=shares.append)
    same(found, rfdag.learn(frame))
    assert shares[0] < 1
    with pytest.raises(DataError, match=r"Column 'c' has infinite values \(inf\)"):
        rfdag.learn(dd.from_pandas(frame.assign(c=frame.c.mask(frame.index == 8, np.inf)), npartitions=3))


def test_a_worker_that_dies_is_replaced(frame, cluster, tmp_path):
    marker = tmp_path / "died"
    slow = dd.from_pandas(frame, npartitions=6).map_partitions(sleepy, 0.1, str(marker), meta=frame[:0])
    same(rfdag.learn(slow), rfdag.learn(frame))
    assert marker.exists()


def test_what_kills_every_worker_is_named(frame, cluster):
    deadly = dd.from_pandas(frame, npartitions=4).map_partitions(fatal, meta=frame[:0])
    with pytest.raises(DataError, match=r"Partitions .*2.* of 4, counted from 0, are missing: KilledWorker"):
        rfdag.learn(deadly)


def test_a_cluster_without_workers_is_given_up(frame, monkeypatch):
    monkeypatch.setattr(partitions, "PATIENCE", 0.3)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty),
        pytest.raises(DataError, match=r"Partitions 0, 1 of 2.* no workers"),
    ):
        rfdag.learn(dd.from_pandas(frame, npartitions=2))


MANY = sample(linear_sem(random_dag(60, degree=3, rng=4), rng=5), 90, rng=6)


def shrunk(moments, request):
    """Return a precision matrix of few rows."""
    size = len(moments.names)
    return np.linalg.inv(0.7 * moments.correlation + 0.3 * np.eye(size))


def shrunk_and_fatal(marker, moments, request):
    """Return the same; kill the worker the first time."""
    if not os.path.exists(marker):
        with open(marker, "w"):
            os.kill(os.getpid(), 9)
    return shrunk(moments, request)


def in_clusters(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rfdag.learn(MANY, clusters=True, **options)


def not_here(tasks, run):
    raise AssertionError("searched on threads of this process")


def test_clusters_of_columns_are_searched_on_the_workers(cluster, monkeypatch):
    monkeypatch.setattr(tuning, "CORE_OF_CLUSTER", 12)
    monkeypatch.setattr(tuning, "HALO_OF_CLUSTER", 8)
    known = {"tiers": [[0, 1, 2], [3, 4, 5]]}
    shares = []
    here = in_clusters(knowledge=known)
    monkeypatch.setattr(clustered, "_learnt_on_threads", not_here)
    with Client(cluster), joblib.parallel_config("dask"):
        there = in_clusters(knowledge=known, progress=shares.append)
    assert there.order == here.order
    np.testing.assert_array_equal(there.dag, here.dag)
    assert there.score == pytest.approx(here.score, abs=1e-9)
    assert any(0 < share < 1 for share in shares)
    with pytest.raises(AssertionError, match="on threads"):
        in_clusters(knowledge=known)


def on_a_worker(rows):
    return on_cluster()


def test_a_task_on_a_worker_hands_out_no_others(cluster):
    with Client(cluster) as client, joblib.parallel_config("dask"):
        # The test before may have killed one; with a single worker joblib runs tasks here.
        client.wait_for_workers(2)
        assert on_cluster()
        assert joblib.Parallel()(joblib.delayed(on_a_worker)(number) for number in range(2)) == [False, False]
        assert not client.submit(on_a_worker, 3).result()


def test_a_cluster_of_columns_whose_worker_dies_is_searched_again(cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(tuning, "CORE_OF_CLUSTER", 12)
    monkeypatch.setattr(tuning, "HALO_OF_CLUSTER", 8)
    marker = str(tmp_path / "died")
    here = in_clusters(precision=shrunk)
    with Client(cluster), joblib.parallel_config("dask"):
        there = in_clusters(precision=functools.partial(shrunk_and_fatal, marker))
    assert os.path.exists(marker)
    assert there.order == here.order


def test_a_time_limit_ends_clusters_on_workers(cluster, monkeypatch):
    monkeypatch.setattr(tuning, "CORE_OF_CLUSTER", 12)
    with Client(cluster), joblib.parallel_config("dask"), pytest.raises(TimeLimitError):
        in_clusters(time_limit=1e-3)


def test_the_command_says_if_the_cluster_was_not_used(cluster, frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "rows.csv"), "--dask", cluster.scheduler_address])
    assert done.exit_code == 0
    assert "so the Dask cluster was not used" in " ".join(done.output.split())
    lost = CliRunner().invoke(app, ["learn", str(tmp_path / "rows.csv"), "--dask", "tcp://127.0.0.1:9"])
    assert lost.exit_code == 2
    assert "No Dask scheduler answers" in lost.output
