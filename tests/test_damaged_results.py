"""A result whose file is damaged in one entry is refused, or answers everything that it is asked."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import rfdag
from damaging import contents, damaged, results, used
from rfdag.errors import DataWarning, EquivalenceWarning, NumericalWarning, RfdagError

TRIALS = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return contents(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("name", ["numbers", "categories", "missing values", "environments", "few rows", "knowledge"])
def test_a_damaged_result_is_refused_or_answers_everything(whole, name, tmp_path):
    generator, refused = np.random.default_rng([7, *name.encode()]), 0
    for _ in range(TRIALS):
        content = damaged(whole[name], generator)
        (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", DataWarning)
            warnings.simplefilter("ignore", EquivalenceWarning)
            warnings.simplefilter("ignore", NumericalWarning)
            try:
                used(rfdag.load(tmp_path / "it.json"), tmp_path)
            except RfdagError as refusal:
                refused += "save it again" in str(refusal)
    assert 0 < refused < TRIALS


def test_results_that_are_not_damaged_answer_everything(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for result in results().values():
            result.save(tmp_path / "it.json")
            again = rfdag.load(tmp_path / "it.json")
            used(again, tmp_path)
            assert again.settings.description.drop == result.settings.description.drop
            assert again.settings.method == result.settings.method
            assert again.order == result.order


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda it: it["edges"].append(it["edges"][0]), "listed twice"),
        (lambda it: it["edges"].__setitem__(0, [0, 9]), "9 in edges"),
        (lambda it: it["moments"]["scales"].__setitem__(0, 0), "0 in scales"),
        (lambda it: it["moments"]["factor"][0].__setitem__(0, 7), "other lengths than 1"),
        (lambda it: it["moments"]["means"].pop(), "means of shape"),
        (lambda it: it["residual_variances"].pop(), "residual_variances of shape"),
        (lambda it: it["attempts"].append(3), "3 as Attempt"),
        (lambda it: it["attempts"].append({"width": 3}), "Attempt of width alone"),
        (lambda it: it["edges"].append([0]), "rows that differ in length"),
        (lambda it: it["partial_correlations"].__setitem__(0, 2), "beyond 1"),
        (lambda it: it["trace"]["degree"].pop(), "degree of shape"),
        (lambda it: it["timings"].update(reading="fast"), "'fast' as timings"),
        (lambda it: it.update(gamma=1e300), "as gamma"),
        (lambda it: it.update(warnings=[3]), "3 as warnings"),
        (lambda it: it["attempts"].append({"depth": 3}), "'depth' in Attempt"),
        (lambda it: it["columns"][0].update(name=[1]), "in place of a column's name"),
    ],
)
def test_what_is_wrong_is_named(whole, change, words, tmp_path):
    content = json.loads(json.dumps(whole["numbers"]))
    change(content)
    (tmp_path / "it.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RfdagError, match=words):
        rfdag.load(tmp_path / "it.json")
