"""Rows that count for a half are rounded alike, however their count was added up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rfdag.evidence.reading import read_evidence
from rfdag.input import table as tables
from rfdag.input.description import Description
from rfdag.input.weights import whole_rows

NAMES = list("abcde")


def rounded_half_up(total: Fraction) -> int:
    return math.floor(total + Fraction(1, 2))


def test_sums_are_rounded_as_exact_ones_are():
    """Tenths in any order: their exact sums are fractions, a tenth of which are halves."""
    generator = np.random.default_rng(51)
    halves = 0
    for _ in range(400):
        tenths = generator.integers(1, 30, size=generator.integers(2, 400))
        exact = Fraction(int(tenths.sum()), 10)
        halves += exact % 1 == Fraction(1, 2)
        for total in (math.fsum(tenths / 10), float(np.cumsum(tenths / 10)[-1]), float((tenths[::-1] / 10).sum())):
            assert whole_rows(total) == rounded_half_up(exact)
    assert halves > 20
    for many in (2.0**52, 2.0**52 + 1, 1e15, 3.0, 2.0):
        assert whole_rows(many) == many


@pytest.mark.parametrize("kind", ["gaps", "weights"])
def test_half_a_row_counts_the_same_in_memory_and_in_pieces(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "CELLS_PER_BLOCK", 200)
    path = tmp_path / "rows.parquet"
    halves = 0
    for seed in range(300):
        generator = np.random.default_rng([52, seed])
        n = int(generator.integers(60, 150))
        frame = pd.DataFrame(generator.normal(size=(n, 5)), columns=NAMES)
        options = {}
        if kind == "gaps":
            frame = frame.mask(generator.random(frame.shape) < 0.1)
            known = frame.notna().to_numpy(int)
            both = known.T @ known
            exact = Fraction(int(both.sum() - both.trace()), 20)
            options["missing"] = "pairwise"
        else:
            tenths = generator.integers(5, 16, size=n)
            exact = Fraction(int(tenths.sum()), 10)
            frame["w"] = tenths / 10
            options["weights"] = "w"
        if exact % 1 != Fraction(1, 2):
            continue
        halves += 1
        frame.to_parquet(path, row_group_size=23)
        found = {_rows_of(data, options) for data in (frame, path)}
        assert len(found) == 1
        if kind == "weights":
            assert found == {rounded_half_up(exact)}
    assert halves > 10


def _rows_of(data, options):
    return read_evidence(data, form=Description(**options)).evidence.n_samples
