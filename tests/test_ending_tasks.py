"""Ctrl-C while tasks run: it ends them, and another one does not interrupt how they are ended."""

from __future__ import annotations

import signal
import threading

import pytest

from rfdag.runtime import workers
from rfdag.runtime.workers import outcomes


def tasks(seen, *, interrupted_at=None):
    """Yield numbers as joblib yields outcomes: whatever ends it, its processes are ended first."""
    try:
        for number in range(3):
            if number == interrupted_at:
                signal.raise_signal(signal.SIGINT)
            yield number
    finally:
        signal.raise_signal(signal.SIGINT)
        seen.append("ended")


def test_the_first_interrupt_ends_tasks_and_others_do_not_interrupt_that():
    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(outcomes(tasks(seen, interrupted_at=1)))
    assert seen == [0, "ended"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_does_not_raise_is_called_every_time_and_put_back():
    calls, seen = [], []

    def handle(number, frame):
        calls.append(number)

    before = signal.signal(signal.SIGINT, handle)
    try:
        assert list(outcomes(tasks(seen, interrupted_at=2))) == [0, 1, 2]
        assert signal.getsignal(signal.SIGINT) is handle
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [signal.SIGINT] * 2
    assert seen == ["ended"]


def test_interrupts_are_ignored_for_a_while_only(monkeypatch):
    now = [10.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: now[0])
    handler = workers._First(signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    handler(signal.SIGINT, None)
    now[0] += workers.ENDING
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)


def test_other_threads_are_left_alone():
    found = []
    thread = threading.Thread(target=lambda: found.extend(outcomes(number for number in range(3))))
    thread.start()
    thread.join()
    assert found == [0, 1, 2]
