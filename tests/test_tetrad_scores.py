"""The degenerate Gaussian score against frozen values of the real Tetrad (benchmarks/tetrad_scores.py made them)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

FROZEN = json.loads((Path(__file__).parent / "tetrad_degenerate_gaussian.json").read_text(encoding="utf-8"))
ROWS = np.array(FROZEN["rows"])
PAIRS = [(score["child"], tuple(score["parents"])) for score in FROZEN["scores"]]
TOLERANCE = 0.01


def frozen(discount):
    """Return how much larger Tetrad's score of each pair is than that of the child alone."""
    return np.array([score[f"discount {discount}"] for score in FROZEN["scores"]])


def columns_of(variable, reference=0):
    """Return a variable's columns: itself, or an indicator for each level but one."""
    column = ROWS[:, [variable]]
    if variable not in FROZEN["categorical"]:
        return column
    levels = np.unique(column)
    return (column == np.delete(levels, reference % len(levels))).astype(float)


def local_score(child, parents, penalty, reference=0):
    """Return n ln det S(Y|P) + λ ln n · k_Y · rank(P) by least squares, smaller is better."""
    n = len(ROWS)
    y = columns_of(child, reference)
    centred = [columns_of(parent, reference) for parent in parents]
    x = np.hstack([np.ones((n, 1)), *centred])
    left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    rank = np.linalg.matrix_rank(x) - 1
    return n * np.linalg.slogdet(left.T @ left / n)[1] + penalty * np.log(n) * y.shape[1] * rank


def test_there_are_enough_of_all_kinds():
    assert len(PAIRS) == len(set(PAIRS)) >= 80
    assert {child for child, _ in PAIRS} == set(range(ROWS.shape[1]))
    assert {len(parents) for _, parents in PAIRS} == {1, 2, 3, 4}
    kinds = {(child in FROZEN["categorical"], parents[0] in FROZEN["categorical"]) for child, parents in PAIRS}
    assert len(kinds) == 4


@pytest.mark.parametrize("reference", [0, 1, -1])
@pytest.mark.parametrize("discount", [1, 2])
def test_the_formula_gives_tetrads_differences(discount, reference):
    """Whichever level the indicators leave out."""
    ours = [
        local_score(child, parents, discount, reference) - local_score(child, (), discount, reference)
        for child, parents in PAIRS
    ]
    np.testing.assert_allclose(-np.array(ours), frozen(discount), rtol=0, atol=TOLERANCE)


def test_the_discounts_differ_by_the_price_of_the_parameters():
    """One more ln n for each column of the child times the columns of its parents."""
    widths = [columns_of(variable).shape[1] for variable in range(ROWS.shape[1])]
    counts = np.array([widths[child] * sum(widths[parent] for parent in parents) for child, parents in PAIRS])
    np.testing.assert_allclose(frozen(1) - frozen(2), np.log(len(ROWS)) * counts, rtol=0, atol=TOLERANCE)
