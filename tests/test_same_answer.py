"""The same data in another form, on other threads or in another process: the same answer."""

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from same_answer import Answer, in_containers, in_memory, in_process, problems, rearranged

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
    printed = in_process(environment, "--seed", str(SEED), "--small")[SEED]
    assert list(printed) == list(known)
    for name, answer in printed.items():
        assert answer.is_like(known[name]), name


def test_answers_that_differ_are_told_apart():
    problem = PROBLEMS[0]
    other = problem.values.copy()
    other[:, 0] = other[::-1, 0]
    assert not Answer.of(problem.learn(other)).is_like(Answer.of(problem.learn()))


def test_an_answer_says_whether_it_was_a_tie():
    scored = PROBLEMS[0].learn()
    assert not Answer.of(scored).tie
    assert Answer.of(replace(scored, rivals=(SimpleNamespace(cost=1e-12),))).tie
    tested = PROBLEMS[0].learn(method="rfd")
    assert not Answer.of(tested).tie
    near = SimpleNamespace(
        score=None,
        names=tested.names,
        order=tested.order,
        dag=tested.dag,
        cpdag=tested.cpdag,
        trace=replace(tested.trace, smallest_margin=1e-11),
    )
    assert Answer.of(near).tie
