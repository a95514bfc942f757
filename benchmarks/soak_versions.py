"""The lowest and the highest versions of every dependency, and every supported Python: all give the frozen results.

    make lowest
    python benchmarks/soak_versions.py [--pythons 3.11,3.13] [--only lowest|highest] [--tests frozen|smoke]

For each, a clean environment gets the wheel of this checkout: with every dependency of rfdag and of its extras at the
lowest version that pyproject.toml accepts, on the oldest Python, where such versions exist; and with those of
constraints.txt, on every Python that is found. There the frozen results and a selection of the tests run. Writes
benchmarks/results/soak_versions.csv and its section of docs/versions.md.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import rfdag
from report import RESULTS, ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from trials import PYTHONS, SMOKE, Failed, Trial, interpreters, run

EXTRAS = ("pandas", "polars", "parquet", "excel", "dask", "plots")
"""Those that read and write data; the others are other people's programs, and a GPU."""
TOOLS = ("pytest", "hypothesis", "pytest-xdist")
TESTS = {"frozen": ("tests/test_golden.py",), "smoke": SMOKE}
"""What is run: the frozen results alone, or with them a selection from all tests."""
WHICH = (
    "The tests are the frozen results alone (frozen), or with them a selection of all tests (smoke). The lowest "
    "versions are those that `pyproject.toml` accepts, the highest those of `constraints.txt`."
)
BOUND = re.compile(r"(?P<name>[\w-]+)(?P<extra>\[[^\]]*\])?>=(?P<version>[\w.]+)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Try and write; return 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", default=",".join(PYTHONS))
    parser.add_argument("--only", choices=("lowest", "highest"))
    parser.add_argument("--tests", choices=tuple(TESTS), default="smoke")
    options = parser.parse_args(arguments)
    wanted = options.pythons.split(",")
    if not set(wanted) <= set(PYTHONS):
        parser.error(f"--pythons are some of {', '.join(PYTHONS)}, separated by commas")
    kinds = [kind for kind in ("lowest", "highest") if options.only in (None, kind)]
    rows: list[dict[str, object]] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="rfdag-versions-") as folder, Progress() as progress:
        run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], ROOT)
        wheel = next(Path(folder).glob("*.whl"))
        for python, interpreter in interpreters():
            for kind in kinds:
                if python not in wanted or (kind == "lowest" and python != PYTHONS[0]):
                    continue
                progress.stage(f"Python {python}, {kind} versions")
                found, said = "", "not tried, as this Python is not found here"
                if interpreter is not None:
                    place = Path(folder) / f"{python}-{kind}"
                    place.mkdir()
                    try:
                        found, said = _tried(wheel, interpreter, place, kind, TESTS[options.tests])
                    except Failed as problem:
                        failed, said = True, "failed"
                        print(problem, file=sys.stderr)
                row: dict[str, object] = {"Python": python, "versions": kind, "tests": options.tests}
                rows.append(row | {"outcome": said, "of": found})
                print(rows[-1], flush=True)
                rows = write(rows)
    return int(failed)


def write(rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Write these rows and those of earlier trials that they do not repeat; return all."""
    path = RESULTS / "soak_versions.csv"
    found: dict[tuple[object, ...], dict[str, object]] = {}
    if path.is_file():
        with open(path, encoding="utf-8", newline="") as handle:
            found = {(row["Python"], row["versions"]): dict(row) for row in csv.DictReader(handle)}
    found |= {(row["Python"], row["versions"]): row for row in rows}
    every = [found[key] for key in sorted(found, key=str)]
    write_tables("soak_versions", every)
    shown = [{"dependencies" if key == "of" else key: value for key, value in row.items()} for row in every]
    update_section(ROOT / "docs" / "versions.md", "tried", f"{markdown(shown)}\n{WHICH}\n\n{provenance()}")
    return every


def bounds() -> dict[str, str]:
    """Return each dependency of rfdag and of the extras tried, with its own extra, and the lowest version accepted."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"]]
    for extra in EXTRAS:
        requirements += project["optional-dependencies"][extra]
    found = [BOUND.fullmatch(requirement) for requirement in requirements]
    return {each["name"] + (each["extra"] or ""): each["version"] for each in found if each is not None}


def _tried(wheel: Path, interpreter: Path, folder: Path, kind: str, tests: Sequence[str]) -> tuple[str, str]:
    """Return the versions that were installed, and what the tests say.

    Old versions of libraries make newer ones of others complain, which is no fault of rfdag's.
    """
    lowest = bounds()
    if kind == "lowest":
        wanted = [f"{wheel}[{','.join(EXTRAS)}]", *(f"{name}=={version}" for name, version in lowest.items()), *TOOLS]
    else:
        wanted = ["-c", str(ROOT / "constraints.txt"), f"{wheel}[test]"]
    trial = Trial.install(interpreter, folder, wanted)
    trial.look(rfdag.__version__)
    versions = trial.versions([name.partition("[")[0] for name in lowest])
    said = trial.test(tests, strict=kind == "highest")
    return ", ".join(f"{name} {version}" for name, version in versions.items()), said


if __name__ == "__main__":
    sys.exit(main())
