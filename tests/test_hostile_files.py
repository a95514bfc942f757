"""Damaged and hostile files and texts end in an error of rfdag that says something, or are read."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from mutating import mutated, mutated_within
from readers import FORMATS, SHORTEST, slug

TRIALS = 60
CORPUS = Path(__file__).parent / "corpus"
"""Inputs that fuzzing found: crashes of the past, and short ones that end in many ways."""
KEPT = [(name, path) for name in FORMATS for path in sorted((CORPUS / slug(name)).glob("*"))]


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
            words = FORMATS[name].refusal(content, tmp_path)
            refused += words is not None
            assert words is None or len(words) > SHORTEST
    assert 0 < refused <= TRIALS


@pytest.mark.parametrize(("name", "path"), KEPT, ids=lambda part: getattr(part, "name", part))
def test_what_fuzzing_found_is_read_or_refused_in_words(name, path, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words = FORMATS[name].refusal(path.read_bytes(), tmp_path)
    assert words is None or len(words) > SHORTEST


def test_every_kept_input_belongs_to_a_format():
    assert {path.name for path in CORPUS.iterdir()} <= {slug(name) for name in FORMATS}


@pytest.mark.parametrize("name", ["CSV, gzip", "NPZ", "sparse NPZ", "Excel"])
def test_changes_within_compressed_content_get_past_its_checksums(name, tmp_path):
    generator = np.random.default_rng(5)
    for content in FORMATS[name].examples():
        changed = [mutated_within(content, generator) for _ in range(40)]
        assert len(set(changed)) > 30
        for each in changed:
            assert each[:2] == content[:2]
            words = FORMATS[name].refusal(each, tmp_path)
            assert words is None or len(words) > SHORTEST
