"""Interrupt calls at random moments, and measure how long they take to return.

    python benchmarks/soak_interrupts.py [--times 30] [--seed 1] [--calls "rfd,500 columns"]

Every call of benchmarks/interrupted_calls.py runs again and again in a process of its own; so does `rfdag learn` on a
file, in a new process each time. SIGINT comes at a random moment of the time that it takes undisturbed; every second
time, another SIGINT follows within a tenth of a second. In between, calls run under time limits as random. Writes all
that was measured to benchmarks/results/soak_interrupts_each.csv, its summary to benchmarks/results/soak_interrupts.csv
and a section of docs/reliability.md. On a machine that does other work, look at the time of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interrupted_calls import CALLS, text
from report import ROOT, known_rows, markdown, provenance, update_section, write_tables
from rfdag import learn
from rfdag.runtime.progress import Progress
from soak_kills import PROGRAM

SOON = 0.2
"""Seconds within which an interrupted call is to return."""
OF_A_PROCESS = 2
"""Clock of a process, in the numbering of Linux."""
INTERRUPTED = 130
FROM_A_FILE = "`rfdag learn`, a process"
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Interrupt, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", help="names, separated by semicolons; '' only writes the tables")
    options = parser.parse_args(arguments)
    # A shell lets programs in the background ignore interrupts, and their children would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    every = [*CALLS, FROM_A_FILE]
    names = every if options.calls is None else [name for name in options.calls.split(";") if name]
    generator = np.random.default_rng([options.seed, 30])
    # Calls that are not measured now stay as they were measured before.
    each: list[Row] = [*known_rows("soak_interrupts_each")]
    with tempfile.TemporaryDirectory() as folder, Progress() as progress:
        for name in names:
            measure = from_a_file if name == FROM_A_FILE else in_a_process
            each = [row for row in each if row["call"] != name]
            each += measure(name, Path(folder), options.times, generator, progress.stage(name))
            write_tables("soak_interrupts_each", each)
    measured = [name for name in every if any(row["call"] == name for row in each)]
    rows = [summed_up(name, [row for row in each if row["call"] == name]) for name in measured]
    write_tables("soak_interrupts", rows)
    about = f"Seed {options.seed}. Load average of the machine: {os.getloadavg()[1]:.1f}."
    update_section(ROOT / "docs" / "reliability.md", "interrupts", f"{markdown(rows)}\n{about}\n\n{provenance()}")


def in_a_process(
    name: str, folder: Path, times: int, generator: np.random.Generator, report: Callable[[float], None]
) -> list[Row]:
    """Interrupt a call again and again, and let it run under time limits."""
    program = [sys.executable, str(Path(__file__).with_name("interrupted_calls.py")), name, str(folder)]
    found = []
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        # Compiled kernels are loaded in the first call.
        for _ in range(2):
            whole = asked(process, "go")
        for number in range(times):
            report(number / times)
            at = generator.uniform(0.0, 1.0) * whole["seconds"]
            second = generator.uniform(0.0, 0.1) if number % 2 else None
            found.append(row_of(name, interrupted(process, at, second), whole["seconds"]))
            print(*found[-1].values(), sep=" | ", flush=True)
            # That of a bootstrap is for each of its runs.
            if number % 2 and CALLS[name].run is learn:
                limit = generator.uniform(0.1, 1.0) * whole["seconds"]
                answer = asked(process, str(limit))
                found.append(limited(name, answer, limit))
                print(*found[-1].values(), sep=" | ", flush=True)
        last = asked(process, "go")
        if last["ended"] != "result":
            found.append({**found[-1], "kind": "afterwards", "ended": last["ended"]})
        assert process.stdin is not None
        process.stdin.close()
    return found


def asked(process: subprocess.Popen[str], word: str) -> Any:
    """Let a process run its call, and return its answer."""
    begin(process, word)
    return answer_of(process)


def begin(process: subprocess.Popen[str], word: str) -> None:
    """Let a process begin its call."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    assert line == "begin\n", line


def answer_of(process: subprocess.Popen[str]) -> Any:
    """Return how a call ended."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def interrupted(process: subprocess.Popen[str], at: float, second: float | None) -> Any:
    """Interrupt a call after so many seconds, and perhaps again; return its answer, with the times of the signals."""
    begin(process, "go")
    time.sleep(at)
    sent = [signalled(process)]
    if second is not None:
        time.sleep(second)
        sent.append(signalled(process))
    return answer_of(process) | {"sent": sent}


def signalled(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Send a process and its children SIGINT, as a terminal does; return the time, and that of its processor."""
    used = time.clock_gettime(~process.pid << 3 | OF_A_PROCESS)
    os.killpg(process.pid, signal.SIGINT)
    return time.monotonic(), used


def row_of(name: str, answer: Any, whole: float) -> Row:
    """Return what happened to an interrupted call."""
    sent, handled = answer["sent"], answer["handled"]
    at, stage, where = handled[0] if handled else (answer["at"], "", "")
    # A second signal counts if there was something left to end.
    count = min(len(handled), len(sent))
    moment, used = sent[count - 1] if count else (answer["at"], answer["cpu"])
    complete = count > 0 and answer["ended"] == "result" and not answer["interrupted"]
    return {
        "call": name,
        "kind": ("none", "first", "second")[count],
        "whole": round(whole, 3),
        "stage": stage,
        "where": where,
        "noticed": round(at - sent[0][0], 4) if handled else 0.0,
        "seconds": round(answer["at"] - moment, 4),
        "processor": round(answer["cpu"] - used, 4),
        "ended": "Ctrl-C was lost" if complete and answer["lost"] else "complete" if complete else answer["ended"],
        "lost": len(answer["lost"]),
    }


def limited(name: str, answer: Any, limit: float) -> Row:
    """Return what happened to a call with a time limit."""
    return {
        "call": name,
        "kind": "limit",
        "whole": round(limit, 3),
        "stage": "",
        "where": "",
        "noticed": 0.0,
        "seconds": round(answer["seconds"] - limit, 4),
        "processor": 0.0,
        "ended": answer["ended"],
        "lost": 0,
    }


def from_a_file(
    name: str, folder: Path, times: int, generator: np.random.Generator, report: Callable[[float], None]
) -> list[Row]:
    """Interrupt `rfdag learn FILE --out FOLDER` from its start to its end."""
    path, out = text(100, 3000)(folder), folder / "out"
    words = [*PROGRAM, "learn", str(path), "--out", str(out), "--jobs", "1"]
    # Compiled kernels are loaded in the second run.
    for _ in range(2):
        begun = time.monotonic()
        subprocess.run(words, check=True, capture_output=True)
    whole, files = time.monotonic() - begun, len(list(out.iterdir()))
    found = []
    for number in range(times):
        report(number / times)
        shutil.rmtree(out, ignore_errors=True)
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            kinds, moment = ["none"], time.monotonic()
            for kind, wait in (("first", whole), ("second", 0.1))[: 1 + number % 2]:
                time.sleep(generator.uniform(0.0, wait))
                if process.poll() is None:
                    moment, _ = signalled(process)
                    kinds.append(kind)
            _, complaint = process.communicate()
        left = len(list(out.iterdir())) if out.exists() else 0
        found.append(
            {
                "call": name,
                "kind": kinds[-1],
                "whole": round(whole, 3),
                "stage": "",
                "where": "",
                "noticed": 0.0,
                "seconds": round(time.monotonic() - moment, 4),
                "processor": 0.0,
                "ended": _how(process.returncode, complaint, left, files),
                "lost": 0,
            }
        )
    return found


def _how(status: int, complaint: str, left: int, files: int) -> str:
    """Return how a command ended."""
    if "Traceback" in complaint:
        return f"a traceback: {complaint.splitlines()[-1]}"
    if left not in (0, files):
        return f"{left} of {files} files"
    # The signal itself ends an interpreter that has only begun to start.
    known = {0: "result", INTERRUPTED: "KeyboardInterrupt", -signal.SIGINT: "KeyboardInterrupt"}
    return known.get(status, f"exit status {status}")


def summed_up(name: str, rows: Sequence[Row]) -> Row:
    """Return the line of a table."""
    found: Row = {"call": name, "seconds undisturbed": f"{max(float(row['whole']) for row in rows):.1f}"}
    for kind, title in (("first", "Ctrl-C"), ("second", "second Ctrl-C"), ("limit", "beyond a limit")):
        times = [1000 * float(row["seconds"]) for row in rows if row["kind"] == kind]
        found[f"{title}: times"] = len(times)
        shown = [np.median(times), np.quantile(times, 0.95), max(times)] if times else []
        found[f"{title}: median, 95 %, worst (ms)"] = ", ".join(f"{value:.0f}" for value in shown)
    ends = [row["ended"] for row in rows if row["kind"] != "none"]
    usual = ("result", "complete", "KeyboardInterrupt", "TimeLimitError")
    found["ended with a result, an error"] = ", ".join(
        str(sum(each in group for each in ends)) for group in (usual[:2], usual[2:])
    )
    other = [each for each in ends if each not in usual]
    found["otherwise"] = f"{len(other)}: {'; '.join(dict.fromkeys(other))}" if other else 0
    return found


if __name__ == "__main__":
    main()
