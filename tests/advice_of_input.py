"""Messages about data and files that name an option, each with its advice; see `advice_data.Case`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

import rfdag
from advice_data import (
    CHAIN,
    CODES,
    CORRELATION,
    COVARIANCE,
    DAG,
    FEW,
    GAPS,
    MATRIX,
    NAMES,
    OUT,
    PRECISION,
    ROWS,
    SOURCE,
    Case,
    as_file,
    batches,
    bent,
    blurred,
    bootstrap,
    by_effect,
    copies,
    drawn_once,
    excel,
    knows,
    memory,
    parquet,
    scarce,
    two_files,
    written,
)
from rfdag.eliminate.thresholds import FisherZ
from rfdag.simulate import linear_sem, random_dag, sample

SPARSE = sparse.csr_array(PRECISION.to_numpy())
DENSE = linear_sem(random_dag(40, 0.9, rng=1), rng=1)
FORTY = [f"x{at}" for at in range(40)]
HEAVY = ROWS.assign(c=np.where(ROWS.index == 3, 500.0, ROWS["c"]))
MANY = pd.DataFrame(sample(linear_sem(CHAIN, rng=1), 400, rng=2), columns=NAMES)
SKEWED = MANY.assign(c=np.exp(MANY["c"] / MANY["c"].std()))
TEXTS = pd.DataFrame(
    {"gene": ["x", "y", "z"], "site": ["u", "v", "u"], **{f"s{at}": [at * 1.0, at % 3, at**2] for at in range(9)}}
)
CSV = ROWS.to_csv(index=False)
NUMBERS = ROWS.to_csv(index=False, header=False)
GERMAN = "a;b\n1,234;5,678\n2,345;6,781\n3,456;7,819\n4,567;9,123\n"
WEAK = pd.DataFrame(sample(linear_sem(random_dag(12, 0.3, rng=1), rng=1), 20, rng=1), columns=list("abcdefghijkl"))


OF_INPUT = [
    # Bootstrap
    Case(
        "bootstrapping/resampling.py",
        "a resample has all",
        ROWS,
        {"share": 0.5},
        ({"sampling": "subsample"},),
        bootstrap,
    ),
    Case(
        "bootstrapping/resampling.py",
        "drawn with replacement about",
        scarce(10),
        {"corrected": False},
        ({"corrected": True}, {"sampling": "subsample"}, {"columns": list("abcd")}),
        bootstrap,
    ),
    Case(
        "bootstrapping/runs.py",
        "A bootstrap draws rows",
        CORRELATION,
        MATRIX,
        ({SOURCE: ROWS, "input": OUT, "n_samples": OUT},),
        bootstrap,
    ),
    Case("bootstrapping/runs.py", "counts all pairs of columns", ROWS, {"blocks": True}, ({"blocks": OUT},), bootstrap),
    Case(
        "bootstrapping/resampling.py",
        "This happened in run",
        scarce(12),
        {"runs": 40, "method": "rfd", "corrected": False},
        ({"sampling": "subsample", "share": 0.9},),
        bootstrap,
        also=("bootstrapping/resampling.py:unfit_error",),
        under=drawn_once,
    ),
    # Effects and models
    Case("effects/estimates.py", "in this DAG only", ROWS[["a", "b"]], {}, ({"knowledge": knows(["ab"])},), by_effect),
    Case(
        "effects/estimates.py",
        "Collect more, or pass",
        CORRELATION,
        {**MATRIX, "n_samples": 4, "knowledge": {**knows(["ab", "cb", "db"]), "roots": ["a"]}},
        ({"adjustment": "parents"},),
        by_effect,
    ),
    Case("effects/estimates.py", "does not hold the moments", ROWS, {"blocks": True}, ({"blocks": False},), by_effect),
    Case(
        "result/model.py",
        "without numbers has a graph",
        DAG,
        {"input": "dag"},
        ({SOURCE: ROWS, "input": OUT}, {SOURCE: CORRELATION, **MATRIX}),
        lambda *data, **options: rfdag.learn(*data, **options).model(),
    ),
    Case(
        "result/model.py",
        "gives rows in the units",
        ROWS,
        {"correlation": "spearman"},
        ({"correlation": "pearson"},),
        lambda *data, **options: rfdag.learn(*data, **options).model().log_likelihood(ROWS),
    ),
    Case("result/remarks.py", "edges could point either way", ROWS, {}, ({"knowledge": knows(["ab", "bc", "cd"])},)),
    Case(
        "simulate/dags.py",
        "or pass sparse=True",
        None,
        {"p": 400_000, "degree": 2},
        ({"sparse": True}, {"p": 40}),
        lambda _, **options: random_dag(**options),
        also=("simulate/dags.py:random_dag",),
    ),
    # Levels and thresholds
    Case("eliminate/thresholds.py", "is the level of a test and lies", 80, {"alpha": 2}, ({"alpha": 0.001},), FisherZ),
    Case("eliminate/thresholds.py", "which judges by BIC", FEW, {"method": "rfd"}, ({"method": "soft"},)),
    # Columns and rows
    Case("evidence/awkward.py", "edges of the two cannot be told apart", copies(), {}, ({"awkward": "keep-one"},)),
    Case(
        "evidence/awkward.py",
        "",
        ROWS.assign(e=2 * ROWS["b"]),
        {},
        ({"awkward": "keep-one"}, {"awkward": "drop"}),
        also=("evidence/awkward.py:awkward_error",),
    ),
    Case(
        "evidence/findings.py",
        "seem to stand for missing values",
        ROWS.assign(c=ROWS["c"].mask(ROWS.index % 10 == 0, -999)),
        {},
        ({"na_values": [-999]},),
    ),
    Case(
        "evidence/findings.py",
        "all different, as row numbers",
        ROWS.assign(patient=np.arange(80)),
        {},
        ({"drop": ["patient"]},),
        also=("evidence/findings.py:about_numbering",),
    ),
    Case("evidence/findings.py", "codes of categories", CODES, {}, ({"categorical": ["a", "b", "c"]},)),
    Case(
        "evidence/findings.py",
        "codes of categories",
        pd.DataFrame(np.random.default_rng(10).normal(size=(200, 3)), columns=list("xyz")).assign(e=CODES["a"]),
        {},
        ({"categorical": ["e"]}, {"drop": ["e"]}),
        also=("evidence/findings.py:about_codes",),
    ),
    Case("evidence/findings.py", "if such a row is an error", HEAVY, {}, ({"correlation": "normal-scores"},)),
    Case("evidence/findings.py", "strongly skewed", SKEWED, {}, ({"correlation": "normal-scores"},)),
    Case("evidence/findings.py", "squared distance from its mean", bent(), {}, ({"basis": 3}, {"test": "kci"})),
    Case(
        "evidence/reading.py",
        "would leave",
        ROWS[["a", "b"]].assign(b=3 * ROWS["a"], c=ROWS["b"]),
        {"awkward": "drop"},
        ({"awkward": "keep-one"},),
        also=("evidence/reading.py:_without",),
    ),
    Case(
        "evidence/reading.py",
        "this input can be read once. Pass",
        batches(ROWS.assign(flat=1.0)),
        {"awkward": "drop"},
        ({"drop": ["flat"]},),
        terminal=False,
    ),
    Case("evidence/spread.py", "varies too little", blurred(), {}, ({"awkward": "keep-one"},)),
    Case(
        "input/checks.py",
        "its rows would pass for samples",
        COVARIANCE,
        {},
        ({"input": "covariance", "n_samples": 80},),
    ),
    Case("input/checks.py", "or fill the values in first", GAPS, {"missing": "error"}, ({"missing": "drop"},)),
    Case(
        "input/checks.py",
        "or fill the values in first",
        ROWS.assign(d=GAPS["d"]),
        {"missing": "error"},
        ({"missing": "drop"}, {"drop": ["d"]}),
    ),
    Case(
        "input/gaps.py", "would be left without missing", ROWS.assign(c=np.nan), {"missing": "drop"}, ({"drop": ["c"]},)
    ),
    Case(
        "input/preparation.py",
        "for the one with the names",
        TEXTS,
        {"transpose": True},
        ({"id": "gene", "drop": ["site"]},),
    ),
    Case(
        "input/words.py",
        "",
        ROWS.assign(e=[f"P{at}" for at in range(80)]),
        {},
        ({"drop": ["e"]},),
        also=("input/words.py:not_numbers",),
    ),
    Case(
        "input/words.py",
        "",
        written(ROWS.assign(d=["zero", *ROWS["d"][1:].astype(str)])),
        {},
        ({"na_values": ["zero"]}, {"drop": ["d"]}),
        also=("input/words.py:not_numbers",),
    ),
    Case(
        "input/words.py",
        "",
        written((100 * ROWS).round().astype(int).assign(c=[f"{x:.2f}".replace(".", ",") for x in ROWS["c"]]), sep=";"),
        {"decimal": "."},
        ({"decimal": ","}, {"drop": ["c"]}),
        also=("input/words.py:not_numbers",),
    ),
    # Files
    Case("input/cells.py", "holds only numbers", as_file("x.csv", NUMBERS), {}, ({"header": True}, {"header": False})),
    Case("input/dialect.py", "which may be", as_file("x.csv", GERMAN), {}, ({"decimal": ","}, {"thousands": ","})),
    Case("input/excel.py", "has the sheets", excel, {}, ({"sheet": "May"},)),
    Case(
        "input/packing.py",
        "holds zero bytes",
        as_file("x.csv", CSV.encode("utf-16-le")),
        {},
        ({"encoding": "utf-16-le"},),
    ),
    Case(
        "input/text.py", "has one column when cut at", as_file("x.csv", CSV), {"delimiter": ";"}, ({"delimiter": ","},)
    ),
    Case(
        "input/several.py",
        "",
        two_files,
        {},
        ({"columns": ["a", "b", "c"]},),
        also=("input/several.py:shared_columns",),
    ),
    Case(
        "input/description.py",
        "goes with a matrix of moments",
        ROWS,
        {"n_samples": 80},
        ({"n_samples": OUT},),
        restated=("input",),
    ),
    Case(
        "input/description.py",
        "is for an exact precision matrix",
        ROWS,
        {"tolerance": 1e-6},
        ({"tolerance": OUT},),
        restated=("input",),
    ),
    Case(
        "input/description.py",
        "is about the rows and columns of data",
        CORRELATION,
        {**MATRIX, "missing": "drop"},
        ({"missing": OUT},),
    ),
    Case(
        "input/description.py",
        "cannot be both",
        as_file("x.csv", GERMAN),
        {"thousands": ",", "decimal": ","},
        ({"thousands": OUT}, {"decimal": OUT}),
    ),
    Case(
        "input/description.py",
        "cannot be both",
        written(ROWS, sep=";"),
        {"thousands": ";", "delimiter": ";"},
        ({"thousands": OUT}, {"delimiter": OUT, "thousands": OUT}),
    ),
    # Matrices and sparse arrays
    Case(
        "evidence/rounding.py",
        "is ill-conditioned",
        pd.DataFrame(DENSE.precision(), columns=FORTY),
        {"input": "precision"},
        ({SOURCE: pd.DataFrame((DENSE.weights != 0).astype(int), columns=FORTY), "input": "dag"},),
    ),
    Case("evidence/matrices.py", "matrix is square", ROWS, MATRIX, ({"input": "data", "n_samples": OUT},)),
    Case("evidence/moments.py", "has ones on its diagonal", COVARIANCE, MATRIX, ({"input": "covariance"},)),
    Case(
        "evidence/sparse.py",
        "sparse arrays are taken as",
        SPARSE,
        MATRIX,
        ({"input": "precision"}, {SOURCE: sparse.csr_array(CHAIN), "input": "dag", "n_samples": OUT}),
    ),
    Case(
        "input/frames.py",
        "needs 8 bytes for every",
        SPARSE,
        {},
        ({"input": "precision"}, {SOURCE: sparse.csr_array(CHAIN), "input": "dag"}, {SOURCE: ROWS.to_numpy()}),
    ),
    # Ranks
    Case(
        "evidence/correlations.py",
        "corrects correlations",
        ROWS,
        {"correlation": "spearman", "blocks": True},
        ({"correlation": "normal-scores"}, {"blocks": False}),
    ),
    Case(
        "evidence/nearest.py", "needs no repair", WEAK, {"correlation": "kendall"}, ({"correlation": "normal-scores"},)
    ),
    Case(
        "evidence/reading.py",
        "",
        parquet,
        {"correlation": "kendall"},
        ({"correlation": "normal-scores"},),
        also=("evidence/reading.py:_gathered_for", "evidence/reading.py:of"),
        under=memory(10.0, "input.files"),
    ),
    Case(
        "evidence/reading.py",
        "",
        batches(ROWS),
        {"basis": 3},
        ({"basis": 1},),
        also=("evidence/reading.py:of",),
        under=memory(10.0, "input.files"),
        terminal=False,
    ),
    Case(
        "methods/settings.py",
        "ranks rows, and",
        CORRELATION,
        {**MATRIX, "correlation": "spearman"},
        ({"correlation": OUT}, {SOURCE: ROWS, "input": OUT, "n_samples": OUT}),
    ),
]
