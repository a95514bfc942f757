"""Damaged and hostile files and texts end in an error of rfdag that says something, or are read."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mutating import mutated
from readers import FORMATS
from rfdag.errors import RfdagError

TRIALS = 150


@pytest.mark.parametrize("name", FORMATS)
def test_examples_are_read(name, tmp_path):
    for content in FORMATS[name].examples():
        assert FORMATS[name].attempt(content, tmp_path) is not None


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_damaged_ends_in_an_error_with_words(name, tmp_path):
    generator = np.random.default_rng([4, *name.encode()])
    examples, refused = list(FORMATS[name].examples()), 0
    for trial in range(TRIALS):
        content = mutated(examples[trial % len(examples)], generator)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                FORMATS[name].attempt(content, tmp_path)
            except RfdagError as error:
                refused += 1
                assert len(str(error)) > 20
    assert 0 < refused <= TRIALS
