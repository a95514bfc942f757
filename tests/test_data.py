"""The same table in every form gives the same answer, and keeps its names."""

from __future__ import annotations

import datetime

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rfdag
from rfdag.input.description import Description
from rfdag.input.reading import read
from rfdag.simulate import linear_sem, random_dag, sample

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def rows():
    return sample(linear_sem(random_dag(5, 0.6, rng=4), rng=4), 300, rng=4)


@pytest.fixture(scope="module")
def expected(rows):
    return rfdag.learn(rows, names=NAMES)


def same(found, expected):
    assert found.names == expected.names
    assert found.order == expected.order
    np.testing.assert_array_equal(found.dag, expected.dag)
    np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-9)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda rows: pd.DataFrame(rows, columns=NAMES),
        lambda rows: pl.DataFrame(rows, schema=NAMES),
        lambda rows: pl.DataFrame(rows, schema=NAMES).lazy(),
        lambda rows: pa.table(dict(zip(NAMES, rows.T, strict=True))),
        lambda rows: pd.DataFrame(rows, columns=NAMES).convert_dtypes(),
    ],
    ids=["pandas", "polars", "lazy polars", "arrow", "nullable pandas"],
)
def test_frames(rows, expected, wrap):
    same(rfdag.learn(wrap(rows)), expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_layout(rows, expected, order):
    same(rfdag.learn(np.array(rows, order=order), names=NAMES), expected)
    same(rfdag.learn(rows[::-1][::-1].T.copy().T, names=NAMES), expected)
    same(rfdag.learn(rows.tolist(), names=NAMES), expected)


def test_input_is_left_alone(rows):
    before = rows.copy()
    rows.setflags(write=False)
    rfdag.learn(rows)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "npy", "npz"])
def test_files(rows, expected, suffix, tmp_path):
    path = tmp_path / f"table.{suffix}"
    frame = pd.DataFrame(rows, columns=NAMES)
    match suffix:
        case "csv":
            frame.to_csv(path, index=False)
        case "tsv" | "txt":
            frame.to_csv(path, index=False, sep="\t")
        case "npy":
            np.save(path, np.asfortranarray(rows))
        case "npz":
            np.savez_compressed(path, data=rows, names=np.array(NAMES), other=np.ones(3))
    same(rfdag.learn(str(path), names=NAMES if suffix == "npy" else None), expected)


@pytest.mark.filterwarnings("ignore:. rows are too few:rfdag.errors.NumericalWarning")
def test_text_files_as_people_write_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes('\ufeff"x, y", z \r\n1,2\r\n3,1\r\n"2",5\r\n4,4\r\n9,1\r\n'.encode())
    assert rfdag.learn(path).names == ("x, y", "z")
    path.write_text("1;2\n3;1\n2;5\n4;4\n9;1\n")
    bare = rfdag.learn(path, delimiter=";", header=False)
    assert (bare.names, bare.n_samples) == ((0, 1), 5)
    years = rfdag.learn(path, delimiter=";", header=True)
    assert (years.names, years.n_samples) == (("1", "2"), 4)
    path.write_text("a;b;c\n1,5;2;True\n3;1,25;false\n2;5;true\n4;4,5;FALSE\n9;1;true\n7;2;true\n   \n")
    european = read(path, Description(delimiter=";", decimal=",", na_values=["3"]))
    np.testing.assert_array_equal(european.values[:2, :2], [[1.5, 2], [np.nan, 1.25]])
    assert european.values.shape == (6, 3)
    assert sorted(map(str.lower, european.levels[2])) == ["false", "true"]


def test_matrices_as_frames_write_them(rows, expected, tmp_path):
    path = tmp_path / "covariance.csv"
    pd.DataFrame(rows, columns=NAMES).cov().to_csv(path)
    same(rfdag.learn(path, input="covariance", n_samples=300), expected)


def test_other_tables(rows, expected):
    frame = pd.DataFrame(rows, columns=NAMES)
    same(rfdag.learn(frame.astype(object)), expected)
    same(rfdag.learn(pa.RecordBatch.from_pandas(frame.iloc[::-1])), rfdag.learn(frame.iloc[::-1]))
    assert rfdag.learn(rfdag.datasets.sachs()).order == rfdag.learn(rfdag.datasets.sachs_path()).order
    assert rfdag.learn(nx.MultiDiGraph([(1, 2), (1, 2), (2, 3)]), input="dag").dag.sum() == 2


def test_names_of_any_kind_are_kept(rows):
    names = ["text", 7, ("level", 2), datetime.date(2020, 1, 1), None]
    found = rfdag.learn(rows, names=names)
    assert found.names == tuple(names)
    assert set(found.order) == set(names)
    assert rfdag.learn(pd.DataFrame(rows, columns=[10, 20, 30, 40, 50])).names == (10, 20, 30, 40, 50)
    many = pd.DataFrame(rows, columns=pd.MultiIndex.from_product([["g"], NAMES]))
    assert rfdag.learn(many).names == tuple(("g", name) for name in NAMES)


def test_integers_booleans_and_floats_mix():
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"n": generator.integers(0, 9, 60), "b": generator.random(60) < 0.5, "x": generator.random(60)}
    )
    same(rfdag.learn(frame), rfdag.learn(frame.astype(float)))
    same(rfdag.learn(frame.astype(np.float32)[["n", "b"]]), rfdag.learn(frame[["n", "b"]].astype(float)))


def test_matrices_of_moments_agree_with_the_data(rows, expected):
    correlation, covariance = np.corrcoef(rows.T), np.cov(rows.T)
    same(rfdag.learn(covariance, input="covariance", n_samples=300, names=NAMES), expected)
    same(rfdag.learn(np.linalg.inv(covariance), input="precision", n_samples=300, names=NAMES), expected)
    frame = pd.DataFrame(correlation, columns=NAMES)
    standardised = rfdag.learn(frame, input="correlation", n_samples=300)
    assert standardised.order == expected.order
    np.testing.assert_array_equal(standardised.dag, expected.dag)


def test_dag_as_matrix_frame_or_networkx():
    dag = random_dag(6, 0.5, rng=2)
    names = list("uvwxyz")
    graph = nx.relabel_nodes(nx.DiGraph(dag), dict(enumerate(names)))
    frame = pd.DataFrame(dag * 0.5, columns=names)
    first, second = rfdag.learn(graph, input="dag", names=names), rfdag.learn(frame, input="dag")
    assert first.order == second.order
    assert first.n_samples is None
    assert first.moments is None
    assert first.coefficients is None
    assert rfdag.learn(graph, input="dag").names == tuple(graph.nodes)


# AnnData


class Annotated:
    """As much of an AnnData as a reader sees: numbers, perhaps sparse, and names; NumPy cannot read it."""

    def __init__(self, X, observations, variables):
        self.X, self.obs_names, self.var_names = X, pd.Index(observations), pd.Index(variables)

    @property
    def shape(self):
        return len(self.obs_names), len(self.var_names)

    def __len__(self):
        return len(self.obs_names)

    def __getitem__(self, at):
        if not isinstance(at, int | np.integer) or at >= len(self):
            raise IndexError(at)
        return np.zeros(at + 1)

    def to_df(self):
        if self.X is None:
            raise ValueError("X is None, cannot convert to dataframe.")
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return pd.DataFrame(X, index=self.obs_names, columns=self.var_names)


def annotated(values, form=np.asarray):
    return Annotated(form(values), [f"cell {at}" for at in range(len(values))], NAMES)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix, sparse.csc_array])
def test_an_annotated_matrix_is_a_frame_of_its_variables(form, rows):
    values = np.where(np.abs(rows) < 0.5, 0.0, rows).astype(np.float32).astype(np.float64)
    table, framed = annotated(values, form), pd.DataFrame(values, columns=NAMES)
    expected = rfdag.learn(framed)
    same(rfdag.learn(table), expected)
    assert read(table).labels[:2] == ("cell 0", "cell 1")
    fitted = rfdag.RFD().fit(table)
    assert fitted.feature_names_in_.tolist() == NAMES
    same(fitted.result_, expected)
    assert fitted.score(table) == pytest.approx(rfdag.RFD().fit(framed).score(framed))
    # Options about columns and rows know its names.
    same(rfdag.learn(table, drop=["c"]), rfdag.learn(framed, drop=["c"]))


def test_an_annotated_matrix_that_makes_no_frame_says_so(rows, monkeypatch):
    with pytest.raises(rfdag.errors.DataError, match="The Annotated makes no data frame: X is None"):
        rfdag.learn(Annotated(None, range(3), NAMES))
    twice = annotated(rows)
    twice.var_names = pd.Index(["a", "b", "a", "d", "e"])
    with pytest.raises(rfdag.errors.DataError, match="'a'"):
        rfdag.learn(twice)
    monkeypatch.setattr("rfdag.input.files.available_memory", lambda: 1e4)
    with pytest.raises(rfdag.errors.FileError, match="300 × 5 numbers"):
        rfdag.learn(annotated(rows, sparse.csr_matrix))


def test_an_object_that_is_no_table_is_named(rows):
    class Uneven(Annotated):
        to_df = None

    with pytest.raises(rfdag.errors.DataError, match="an object of type Uneven"):
        rfdag.learn(Uneven(rows, range(300), NAMES))
