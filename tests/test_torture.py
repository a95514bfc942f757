"""What strains arithmetic: the answer of 50 digits, or a clear error or warning, and nothing from libraries below."""

import pytest

import torture
from torture_checks import ANSWERED, REFUSED, WARNED, judged

SEED = 2
EVERY = 6
"""Of each family every sixth case; benchmarks/soak_torture.py takes all of them, with many seeds."""
CASES = list(torture.strained(SEED))
FAMILIES = list(dict.fromkeys(case.family for case in CASES))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_answer_is_that_of_fifty_digits_or_there_is_a_word(family):
    for case in [case for case in CASES if case.family == family][::EVERY]:
        verdict = judged(case)
        assert verdict.outcome in (ANSWERED, WARNED, REFUSED), f"{case.name}: {verdict.reason}"


def test_names_tell_cases_apart():
    assert len({case.name for case in CASES}) == len(CASES)
