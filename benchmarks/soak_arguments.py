"""Call everything public, and run every command, with arguments of every kind, thousands of times.

    python benchmarks/soak_arguments.py [--examples 500] [--seed 1] [--only graphs,learn]

Hypothesis draws arguments as in tests/test_hostile_arguments.py, which tries a few of them with every change. Each call
has to return, or to raise an error of rfdag that says something; none may take longer than a minute, use more than a
few gigabytes, or let a warning of a library through. Prints each new way to fail with its arguments. Writes
benchmarks/results/soak_arguments.csv and its section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress

sys.path.insert(0, str(ROOT / "tests"))
import arguments
import command_lines
import rfdag
from hostile import hostile
from taken import rows

SECONDS = 60
"""What one call may take."""
MEMORY = 4 << 30
"""Bytes of address space that calls may add to what the process has."""


class Slow(BaseException):
    """A call took too long."""


class Tried:
    """Counts what became of the calls of one kind, and keeps the ways in which they failed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.counts: Counter[str] = Counter()
        self.failures: dict[str, str] = {}

    def attempt(self, call: Callable[[], str], about: str) -> None:
        """Make a call."""
        self.counts["calls"] += 1
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            self.counts[call()] += 1
        except (Exception, Slow) as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.counts["too slow" if isinstance(error, Slow) else "failed"] += 1
            ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/rfdag/" in frame.filename]
            where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "tests"
            kind = f"{type(error).__name__} at {where}"
            if kind not in self.failures:
                self.failures[kind] = about
                print(f"{self.kind}: {about[:600]}\n    {kind}: {str(error)[:300]}", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def row(self) -> dict[str, Any]:
        """Return the row of a table."""
        counts = self.counts
        return {
            "called": self.kind,
            "calls": counts["calls"],
            "returned": counts["returned"],
            "refused in words": counts["refused"],
            "other exceptions or warnings": counts["failed"],
            f"longer than {SECONDS} s": counts["too slow"],
        }


def main(words: Sequence[str] | None = None) -> None:
    """Call, count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=500, help="of each function, method and class of options")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="beginnings of names, separated by commas; then nothing is written")
    options = parser.parse_args(words)
    wanted = tuple(options.only.split(",")) if options.only else ("",)
    signal.signal(signal.SIGALRM, _too_slow)
    begun = time.monotonic()
    groups: dict[str, Tried] = {}
    with tempfile.TemporaryDirectory() as place, Progress() as progress:
        os.chdir(place)
        command_lines.prepare(Path(place))
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        every = [(group, name, one) for group, name, one in _every() if name.startswith(wanted)]
        report = progress.stage("Calling")
        for at, (group, name, one) in enumerate(every):
            report(at / len(every))
            _many(one, groups.setdefault(group, Tried(group)), name, options)
        os.chdir(ROOT)
    rows = [tried.row() for tried in groups.values()]
    print(*rows, f"{time.monotonic() - begun:.0f} s", sep="\n")
    if not options.only:
        write_tables("soak_arguments", rows)
        about = (
            f"Seed {options.seed}; {options.examples} calls of each of {len(every)} functions, methods and commands."
        )
        update_section(ROOT / "docs" / "reliability.md", "arguments", f"{markdown(rows)}\n{about}\n\n{provenance()}")


Try = Callable[[Any, Tried, str], None]
"""Draws arguments, calls, and counts."""


def _every() -> list[tuple[str, str, Try]]:
    """Return what is tried: the row of the table it belongs to, its name, and how to try it."""
    found: list[tuple[str, str, Try]] = []
    for call in arguments.calls():
        group = "methods of objects" if call.of is not None else f"functions of rfdag.{call.name.partition('.')[0]}"
        group = group if "." in call.name else "learn, bootstrap, load, RFD, Oracle, Knowledge"
        found.append((group, call.name, _of_call(call)))
    found += [("classes of options", kind.__name__, _of_options(kind)) for kind in arguments.kinds_of_options()]
    # There are many more combinations of options than arguments of one function.
    found += [("learn with one to four options", "options", _of_learn)] * 20
    found += [(f"rfdag {name}", f"rfdag {name}", _of_command(name)) for name in command_lines.BASES]
    return found


def _of_call(call: arguments.Call) -> Try:
    def one(data: Any, tried: Tried, name: str) -> None:
        drawn = data.draw(arguments.arguments(call))
        tried.attempt(lambda: call.outcome(drawn), f"{name}({_shown(drawn)})")

    return one


def _of_options(kind: Any) -> Try:
    def one(data: Any, tried: Tried, name: str) -> None:
        names = data.draw(st.sets(st.sampled_from(sorted(kind.declared())), min_size=1, max_size=3))
        drawn = {
            each: data.draw(st.one_of(arguments.admitted(kind.declared()[each]), hostile())) for each in sorted(names)
        }
        tried.attempt(lambda: arguments.outcome(kind, drawn), f"{name}({_shown(drawn)})")

    return one


def _of_learn(data: Any, tried: Tried, name: str) -> None:
    drawn = data.draw(arguments.options())
    given = {"data": rows(), "progress": False, "n_jobs": 1} | drawn
    tried.attempt(lambda: arguments.outcome(rfdag.learn, given), f"learn(rows, {_shown(drawn)})")


def _of_command(command: str) -> Try:
    def one(data: Any, tried: Tried, name: str) -> None:
        words = data.draw(command_lines.lines(command))
        shown = f"rfdag {' '.join(map(repr, words))}"
        tried.attempt(lambda: "refused" if command_lines.run(words) else "returned", shown)

    return one


def _shown(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={' '.join(repr(value).split())[:120]}" for name, value in given.items())


def _many(one: Try, tried: Tried, name: str, options: argparse.Namespace) -> None:
    """Try so many times."""

    @seed(options.seed + len(tried.counts) + tried.counts["calls"])
    @settings(
        max_examples=options.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def attempts(data: Any) -> None:
        one(data, tried, name)

    attempts()


def _too_slow(*about: Any) -> None:
    raise Slow


if __name__ == "__main__":
    main()
