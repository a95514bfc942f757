"""Dask collections, on a real cluster of two processes and without one."""

from __future__ import annotations

import os
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import rfdag
from rfdag.errors import DataError
from rfdag.input import dask as partitions
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
        rfdag.learn(dd.from_pandas(frame.assign(b=frame.b.mask(frame.index < 3)), npartitions=4))
    with pytest.raises(DataError, match="not numbers: 'word'"):
        rfdag.learn(dd.from_pandas(frame.assign(word="x"), npartitions=2))
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
