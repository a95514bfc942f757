"""The same data in another form, on other threads or in another process: the same answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import same_answer
from same_answer import Answer, from_json, in_containers, in_memory, problems, rearranged

SEED = 3
PROBLEMS = list(problems(SEED, small=True))


@pytest.fixture(scope="module")
def known():
    return {problem.name: Answer.of(problem.learn()) for problem in PROBLEMS}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_every_form_of_the_same_data_gives_the_same_answer(problem, known, tmp_path):
    forms = 0
    for comparison, form, found in (*in_memory(problem), *in_containers(problem, tmp_path)):
        one, other = found if isinstance(found, tuple) else (found, None)
        expected = known[problem.name] if other is None else Answer.of(other)
        assert Answer.of(one).is_like(expected), f"{comparison}: {form}"
        forms += 1
    assert forms >= 10


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_other_orders_of_rows_and_columns_lead_to_the_same_class(problem, known):
    for comparison, _, found in rearranged(problem, np.random.default_rng(SEED)):
        assert Answer.of(found).is_like(known[problem.name], same_order=False), comparison


def test_another_process_gives_the_same_answer(known):
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2"}
    script = Path(same_answer.__file__)
    done = subprocess.run(
        [sys.executable, str(script), "--seed", str(SEED), "--small"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    printed = json.loads(done.stdout)
    assert list(printed) == list(known)
    for name, entry in printed.items():
        assert from_json(entry).is_like(known[name]), name


def test_answers_that_differ_are_told_apart():
    problem = PROBLEMS[0]
    other = problem.values.copy()
    other[:, 0] = other[::-1, 0]
    assert not Answer.of(problem.learn(other)).is_like(Answer.of(problem.learn()))
