"""Columns of text, with gaps, or with options of their own: those that cannot be used are refused with advice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rfdag
from rfdag.errors import DataError, DataWarning, OptionError
from test_bad_input import refuses


@pytest.fixture
def frame():
    rows = np.random.default_rng(0).normal(size=(50, 4))
    return pd.DataFrame(rows, columns=["age", "income", "height", "weight"])


def test_columns_with_hardly_any_values(frame):
    frame["income"] = np.nan
    with refuses(DataError, r"^Column 'income' has no values: all 50 are missing. Leave it out with drop=\['income'\]"):
        rfdag.learn(frame)
    frame.loc[4, "income"] = 1.5
    with refuses(DataError, "constant: 'income'", "awkward='keep-one'"):
        rfdag.learn(frame)
    frame["income"] = np.where(np.arange(50) < 25, frame["age"] ** 2, np.nan)
    frame.loc[:16, "height"] = np.nan
    with refuses(DataError, "'income' and 'height' are known together in 8 rows", "at least 10", "drop=.'income'"):
        rfdag.learn(frame)
    frame.loc[15:16, "height"] = [0.5, 0.25]
    with pytest.warns(DataWarning, match="50 % of 'income', 30 % of 'height'"):
        assert rfdag.learn(frame, missing="pairwise").names == tuple(frame)


def test_columns_of_text_are_categories(frame):
    frame["town"] = ["rome", "oslo", "bern", "rome", "oslo"] * 10
    frame["smokes"] = [True, False] * 25
    for table in (frame, pl.from_pandas(frame), frame.assign(town=frame["town"].astype("category"))):
        found = rfdag.learn(table)
        town, smokes = found.columns[-2:]
        assert (town.taken_for, town.remarks) == ("categories", ("3 levels: bern, oslo, rome",))
        assert (smokes.taken_for, smokes.remarks) == ("categories", ("2 levels: False, True",))
        assert found.mixed.expansion.parts[4].counts.tolist() == [10, 20, 20]
    constant = frame.assign(town="rome")
    for table in (constant, pl.from_pandas(constant), constant.assign(kind=frame["town"])):
        with refuses(DataError, "constant: 'town'", "awkward='keep-one'"):
            rfdag.learn(table)
    with refuses(DataError, r"^Column 'town' has no values: all 50 are missing. Leave it out with drop=\['town'\]"):
        rfdag.learn(frame.assign(town=pd.Series([None, "NA", np.nan, " ", "n/a"] * 10)))


def test_dates_written_as_text_are_dates(frame):
    frame["visit"] = [f"2024-03-{1 + at % 9:02d}" for at in range(50)]
    for table in (frame, pl.from_pandas(frame)):
        with refuses(
            DataError, "'visit' .dates: '2024-03-01', '2024-03-02', …", "drop=.'visit'", "days since the first"
        ):
            rfdag.learn(table)
    asked = rfdag.learn(frame, categorical=["visit"], method="soft", score="gaussian")
    assert asked.columns[-1].remarks[0].startswith("9 levels: 2024-03-01")


@pytest.mark.filterwarnings("ignore::rfdag.errors.DataWarning")
def test_what_stands_for_a_missing_level(frame):
    cells = ["a", "b", None, np.nan, "NA", "", " ? ", "none", "a", "b"] * 5
    found = rfdag.learn(frame.assign(kind=cells))
    assert (found.columns[-1].missing, found.columns[-1].remarks) == (25, ("3 levels: a, b, none",))
    marked = rfdag.learn(frame.assign(kind=cells), na_values=["none"])
    assert (marked.columns[-1].missing, marked.columns[-1].remarks) == (30, ("0 a, 1 b",))
    # A category type says itself what is missing.
    typed = rfdag.learn(frame.assign(kind=pd.Categorical(cells)))
    assert (typed.columns[-1].missing, typed.columns[-1].taken_for) == (10, "categories")
    assert set(typed.mixed.expansion.parts[4].codes) == {"a", "b", "none", "NA", "", "?"}
    numbers = rfdag.learn(frame.assign(kind=[1.5, 2, None, np.nan, 4] * 10))
    assert (numbers.columns[-1].missing, numbers.mixed) == (20, None)


def test_columns_of_too_many_or_mixed_levels():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 3)), columns=["age", "income", "height"])
    frame["town"] = [f"town {at % 50}" for at in range(400)]
    assert rfdag.learn(frame).columns[-1].remarks == ("50 levels: town 0, town 1, town 10, town 11, …",)
    frame.loc[0, "town"] = "a 51st"
    with refuses(DataError, "'town' is text with more than 50 levels .'a 51st', 'town 0', 'town 1', …", "drop=.'town'"):
        rfdag.learn(frame)
    with refuses(DataError, "'age' has .*different numbers", "Take it out of categorical"):
        rfdag.learn(frame, categorical=["age"])
    frame["town"] = ["rome", 1, 2, 3, 2] * 80
    with refuses(DataError, "'town' .numbers, but 'rome' in row 0", "na_values=.'rome'.", "categorical=.'town'."):
        rfdag.learn(frame)
    assert rfdag.learn(frame, categorical=["town"]).columns[-1].remarks == ("4 levels: 1, 2, 3, rome",)
    frame["town"] = ["rome", 1, 2, 3] * 100
    with pytest.warns(DataWarning) as said:
        found = rfdag.learn(frame, na_values=["rome"])
    assert found.columns[-1].taken_for == "whole numbers"
    assert "Values are missing: 25 % of 'town'." in str(said[0].message)
    assert "looks like codes of categories" in str(said[1].message)
    commas = frame.assign(town=[f"{at % 9},5" for at in range(400)])
    with refuses(DataError, "If '0,5' is a number with a decimal comma, replace it", "categorical=.'town'."):
        rfdag.learn(commas)


def test_options_of_columns_that_do_not_fit(frame):
    frame["size"] = np.array(["S", "M", "L"])[np.digitize(frame["income"], [-0.4, 0.4])]
    with refuses(OptionError, r"categorical names 'siz' .nearest: 'size'", "has no such column"):
        rfdag.learn(frame, categorical=["siz"])
    with refuses(OptionError, "categorical and ordinal both name 'size'"):
        rfdag.learn(frame, categorical=["size"], ordinal=["size"])
    with refuses(
        OptionError, "'size' holds text whose order is not known: 'L', 'M', 'S'", "ordinal=.'size: L < M < S'."
    ):
        rfdag.learn(frame, ordinal=["size"])
    with refuses(OptionError, "the column has 'M' besides. Name all of them"):
        rfdag.learn(frame, ordinal=["size: S < L"])
    found = rfdag.learn(frame, ordinal=["size: S < M < L"])
    assert found.means[4] == pytest.approx(1 + np.digitize(frame["income"], [-0.4, 0.4]).mean())
    assert found.mixed is None


@pytest.mark.parametrize("kind", [float, int, str])
def test_categories_of_any_type_have_values(kind):
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 3, 60)
    frame = pd.DataFrame({"x": generator.normal(size=60), "kind": pd.Categorical(codes.astype(kind))})
    column = rfdag.learn(frame).columns[-1]
    assert (column.missing, column.remarks) == (0, ("3 levels: 0, 1, 2",))
