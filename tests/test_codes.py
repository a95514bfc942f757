"""Counts and answers on a scale are amounts; codes of categories are not."""

from __future__ import annotations

import numpy as np
import pytest

from rfdag.evidence.codes import rise_and_fall
from rfdag.evidence.profile import profile_of

SEED, TABLES, COLUMNS = 3201, 40, 10

AMOUNTS = {
    "Poisson(½)": lambda generator, size: generator.poisson(0.5, size),
    "Poisson(1)": lambda generator, size: generator.poisson(1, size),
    "Poisson(2)": lambda generator, size: generator.poisson(2, size),
    "Poisson(5)": lambda generator, size: generator.poisson(5, size),
    "binomial": lambda generator, size: generator.binomial(3, 0.5, size),
    "geometric": lambda generator, size: generator.geometric(0.5, size),
    "answers": lambda generator, size: np.digitize(generator.normal(size=size), [-1.2, -0.4, 0.4, 1.2]) + 1,
    "mostly high": lambda generator, size: np.digitize(generator.normal(size=size) + 1, [-1.2, -0.4, 0.4, 1.2]) + 1,
}


def called_codes(rows):
    return any("codes of categories" in note for note in profile_of(rows, range(rows.shape[1])).notes)


@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.parametrize("n", [50, 100, 400])
def test_tables_of_counts_and_answers_hold_no_codes(kind, n):
    """Of tables of ten such columns, about one in a hundred is reported; 79 % of those of Poisson(1) once were."""
    draw = AMOUNTS[kind]
    generators = [np.random.default_rng([SEED, n, at]) for at in range(TABLES)]
    found = sum(called_codes(draw(generator, (n, COLUMNS)).astype(float)) for generator in generators)
    assert found <= 0.1 * TABLES


@pytest.mark.parametrize(
    ("codes", "acting", "least"),
    [
        ((1, 2, 3, 4), True, 0.65),
        ((0, 1, 2, 3), True, 0.65),
        ((3, 11, 12, 27, 40, 68), True, 0.75),
        ((1, 2, 3, 4), False, 0.75),
        ((0, 1, 2), False, 0.75),
        ((17, 23, 54), False, 0.9),
    ],
)
@pytest.mark.parametrize("n", [100, 400])
def test_codes_are_found(codes, acting, least, n):
    found = 0
    for at in range(TABLES):
        generator = np.random.default_rng([SEED, 7, n, at])
        rows = generator.normal(size=(n, COLUMNS))
        place = generator.integers(0, len(codes), size=n)
        rows[:, 0] = np.array(codes)[place]
        if acting:
            rows[:, 1] += generator.normal(size=len(codes))[place]
        found += called_codes(rows)
    assert found >= least * TABLES


def test_frequencies_that_rise_and_fall():
    """By definition, for many random frequencies of so many rows that noise does not count."""
    generator = np.random.default_rng([SEED, 8])
    seen = set()
    for _ in range(300):
        sizes = generator.permutation(generator.choice(np.arange(1, 9), 4, replace=False)) * 10_000
        top = int(sizes.argmax())
        unimodal = (np.diff(sizes[: top + 1]) > 0).all() and (np.diff(sizes[top:]) < 0).all()
        assert rise_and_fall(np.arange(4), sizes) == unimodal
        seen.add(bool(unimodal))
        assert not rise_and_fall(np.array([0, 1, 9, 10]), sizes)
    assert seen == {True, False}
