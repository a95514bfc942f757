"""Messages about categories, gaps and curves that name an option, each with its advice; see `advice_data.Case`."""

from __future__ import annotations

import numpy as np
import pandas as pd

import rfdag
from advice_data import NAMES, OUT, ROWS, SOURCE, Case, few_families, gpu, parquet, written

SIZES = ["small", "middle", "large"]
MIXED = ROWS.assign(size=np.array(SIZES)[np.digitize(ROWS["a"], [-0.5, 0.5])])
"""Three columns of numbers that form a chain, and one of three levels that follows the first."""
WORDS = pd.DataFrame({name: np.array(SIZES)[np.digitize(ROWS[name], [-0.5, 0.5])] for name in NAMES})
"""All columns are categories."""
HOLES = WORDS.mask(ROWS.index.to_numpy()[:, None] + 10 * np.arange(4) == 30)
HOLED = MIXED.assign(b=ROWS["b"].where(ROWS.index >= 9))
APART = ROWS.assign(a=ROWS["a"].where(ROWS.index < 40), b=ROWS["b"].where(ROWS.index >= 36))
MANY = pd.concat([ROWS, ROWS + 1]).assign(note=[f"note {at // 2}" for at in range(160)])


def in_pieces(monkeypatch):
    """Let text files be read in pieces."""
    monkeypatch.setattr("rfdag.input.sources.TEXT_IN_PIECES_FROM", 0)


def unsettled(monkeypatch):
    """Let the estimate from rows with gaps end before it settles."""
    monkeypatch.setattr("rfdag.evidence.em.MOST_STEPS", 2)


def curved(source, **options):
    """Return an effect of a result, or what it says of the model in its place."""
    return rfdag.learn(source, **options).effect("a", "b")


OF_MIXED = [
    # Which columns are categories
    Case("input/coding.py", "levels (", MANY, {}, ({"drop": ["note"]},)),
    Case(
        "input/categories.py",
        "holds text whose order is not known",
        MIXED,
        {"ordinal": ["size"]},
        ({"ordinal": ["size: large < middle < small"]},),
    ),
    Case(
        "input/words.py",
        "holds categories",
        ROWS.assign(d=["many", "some", 1, 2] * 20),
        {},
        ({"categorical": ["d"]}, {"drop": ["d"]}, {"na_values": ["many", "some"]}),
        also=("input/words.py:not_numbers",),
        terminal=False,
    ),
    Case(
        "input/words.py",
        "holds categories",
        written(pd.concat(5 * [ROWS]).assign(d=[*250 * [""], *75 * ["many", "some"]])),
        {},
        ({"categorical": ["d"]}, {"drop": ["d"]}),
        also=("input/words.py:not_numbers",),
        under=in_pieces,
    ),
    # Gaps
    Case(
        "input/checks.py",
        "",
        ROWS.assign(c=np.nan),
        {},
        ({"drop": ["c"]},),
        also=("input/checks.py:check_some_values",),
    ),
    Case("evidence/gaps.py", "They were", HOLED, {}, ({"missing": "drop"},)),
    Case("evidence/gaps.py", "are known together in", APART, {}, ({"drop": ["a"]},)),
    Case("evidence/gaps.py", "still changed after", HOLED, {}, ({"missing": "drop"},), under=unsettled),
    Case(
        "evidence/gaps.py",
        "which does with gaps",
        ROWS.assign(b=HOLED["b"]),
        {"correlation": "kendall"},
        ({"missing": "drop"}, {"correlation": "normal-scores"}),
    ),
    Case(
        "evidence/reading.py",
        "are learnt from complete rows",
        ROWS.assign(b=HOLED["b"]),
        {"blocks": True},
        ({"missing": "drop"}, {"blocks": False}),
    ),
    # What variables of several columns cannot have
    Case(
        "independence/reading.py",
        "is for numbers, and",
        MIXED,
        {"test": "fisher-z"},
        ({"drop": ["size"]}, {"test": OUT}),
        also=("independence/reading.py:_check_numbers",),
    ),
    Case(
        "independence/reading.py",
        "is for numbers, and",
        WORDS,
        {"test": "fisher-z"},
        ({"test": "g2"}, {"test": OUT}),
        also=("independence/reading.py:_check_numbers",),
    ),
    Case(
        "methods/settings.py",
        "takes powers of the numbers in rows",
        ROWS,
        {"basis": 3, "test": "fisher-z"},
        ({"basis": OUT}, {"test": OUT}),
    ),
    Case(
        "methods/soft.py",
        "this counts levels where",
        ROWS.round(),
        {"score": "bdeu"},
        ({"score": OUT}, {"categorical": list(NAMES)}),
    ),
    Case(
        "evidence/mixed.py",
        "categorical. Leave it",
        MIXED,
        {"exact": True},
        ({"exact": OUT}, {"drop": ["size"]}),
        under=few_families,
    ),
    Case(
        "evidence/mixed.py",
        "stand for several columns each",
        ROWS,
        {"basis": 3, "exact": True},
        ({"basis": OUT}, {"exact": OUT}),
        under=few_families,
    ),
    Case(
        "evidence/mixed.py",
        "determine each other in part",
        MIXED.assign(code=MIXED["size"].str.upper()),
        {},
        ({"drop": ["code"]},),
    ),
    Case(
        "evidence/mixing.py",
        "ranks columns of numbers, and some",
        MIXED,
        {"correlation": "kendall"},
        ({"correlation": "normal-scores"}, {"correlation": OUT}),
    ),
    Case(
        "evidence/reading.py",
        "read in pieces without ranks",
        lambda folder: parquet(folder, MIXED),
        {"correlation": "normal-scores"},
        ({"correlation": OUT}, {SOURCE: MIXED}),
    ),
    Case(
        "methods/method.py",
        "weighs partial correlations",
        MIXED,
        {"method": "rfd"},
        ({"method": "soft"}, {"method": OUT}, {"drop": ["size"]}),
        also=("methods/method.py:learn_mixed",),
    ),
    Case(
        "evidence/gpu.py",
        "is for variables of one column each",
        MIXED,
        {"device": "cuda"},
        ({"device": OUT},),
        also=("evidence/gpu.py:placed",),
        restated=("drop",),
        under=gpu(),
    ),
    Case(
        "evidence/mixed.py",
        "categorical. Leave it",
        MIXED,
        {"penalty": (1.0, 2.0)},
        ({"penalty": 1.0}, {"drop": ["size"]}),
    ),
    # Scores
    Case(
        "methods/soft.py",
        "counts rows of categories, and",
        MIXED.assign(b=MIXED["b"].round()),
        {"score": "bdeu", "columns": ["b", "size"]},
        ({"score": OUT}, {"categorical": ["b"]}),
        restated=("columns",),
    ),
    Case(
        "methods/soft.py",
        "counts complete rows, and",
        HOLES,
        {"score": "bdeu"},
        ({"missing": "drop"}, {"score": OUT}),
    ),
    Case(
        "methods/soft.py",
        "belongs to",
        WORDS,
        {"sample_size": 5.0, "score": "multinomial"},
        ({"sample_size": OUT}, {"score": "bdeu"}),
    ),
    Case(
        "methods/soft.py",
        "is the price of an edge in a BIC",
        WORDS,
        {"penalty": 1.0, "score": "bdeu"},
        ({"penalty": OUT}, {"penalty": OUT, "gamma": 0.5}),
    ),
    Case("effects/estimates.py", "is a curve, not a number", ROWS, {"basis": 3}, ({"basis": 1},), curved),
]
