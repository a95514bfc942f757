"""Which tests depend on arithmetic, and so on the processor: all but those of the files listed here.

``pytest -m arithmetic`` selects them, doctests of the package and of the pages included. A new file is among them until
it is listed.
"""

from __future__ import annotations

from pathlib import Path

WITHOUT = {
    "what users get wrong, and what messages say": (
        "advice", "advice_is_complete", "bad_columns", "bad_input", "hostile_arguments", "troubleshooting",
        "user_errors",
    ),
    "files and other people's objects": (
        "awkward_files", "damaged_results", "exchange", "faults", "hostile_files", "killed", "knowledge_files",
        "security",
    ),
    "options, the terminal and processes": (
        "bench_command", "bench_processes", "cli", "cli_pictures", "completion", "digest", "doctor", "ending_tasks",
        "first_call", "interrupts", "journeys", "option_pages", "options",
    ),
    "pictures and pages": (
        "bootstrap_plots", "experiments_pages", "notebooks", "packing", "playback", "plot", "rerun", "site",
    ),
    "the laboratory and the project itself": (
        "architecture", "bench", "bench_interventional", "bench_typed", "benchmarks", "comparing", "experiments",
        "experiments_scaling", "readme", "releases", "seeds",
    ),
}  # fmt: skip
"""Files of tests whose facts are no numbers that a processor may round, by what they are about."""
SMALL = (
    "engines", "extreme_numbers", "golden", "injected_faults", "moments", "tetrad_scores",
)  # fmt: skip
"""Files of tests nearest to rounding: frozen answers to every kind of data, long eliminations, extreme numbers."""


def file_of(name: str) -> Path:
    """Return the file of tests with this name."""
    return Path(__file__).with_name(f"test_{name}.py")


def depends(path: Path) -> bool:
    """Return whether the tests of a file depend on arithmetic."""
    return path not in EXCEPT


EXCEPT = frozenset(file_of(name) for names in WITHOUT.values() for name in names)
