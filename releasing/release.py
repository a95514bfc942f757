"""Build the wheel and the sdist, look at what is in them, and try each on every supported Python that is found.

    make release
    python releasing/release.py [--tag v0.1.0] [--pythons 3.11,3.13] [--tests smoke|all]

Nothing is published: that is what the workflow of a tag does, once this has passed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path

from report import ROOT
from trials import SMOKE, Failed, Trial, interpreters

DIST = ROOT / "dist"
OF_THE_SOURCES = ("advice_is_complete", "architecture", "benchmarks", "docs", "option_pages", "report", "seeds")
"""Tests that `--tests all` leaves to the checkout, as they look at the sources themselves."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do all of it; return 0 if everything passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag of this release, which must be that of its version")
    parser.add_argument("--pythons", help="versions to try, separated by commas; all that are found by default")
    parser.add_argument("--tests", choices=("smoke", "all"), default="smoke")
    parser.add_argument("--only-build", action="store_true", help="build and look, without trying")
    options = parser.parse_args(arguments)
    try:
        version = checked_version(options.tag)
        wheel, sdist = built(version)
        if not options.only_build:
            wanted = options.pythons.split(",") if options.pythons else None
            tried(wheel, sdist, version, wanted, options.tests)
    except Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def checked_version(tag: str | None) -> str:
    """Return the version; raise unless all that state it agree."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/rfdag/__init__.py").read_text(), flags=re.MULTILINE)
    assert found is not None
    version = found[1]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    if cited is None or cited[1] != version:
        raise Failed(f"CITATION.cff does not name version {version}.")
    if tag is not None:
        if tag != f"v{version}":
            raise Failed(f"The tag is {tag} and the version {version}; they must be the same.")
        if not re.search(
            rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M
        ):
            raise Failed(f"CHANGELOG.md has no line '## [{version}] - year-month-day'.")
    print(f"version {version}")
    return version


def built(version: str) -> tuple[Path, Path]:
    """Build both into dist/, and look at what is in them."""
    shutil.rmtree(DIST, ignore_errors=True)
    _must([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)])
    wheel, sdist = DIST / f"rfdag-{version}-py3-none-any.whl", DIST / f"rfdag-{version}.tar.gz"
    for path in (wheel, sdist):
        if not path.is_file():
            raise Failed(f"{path.name} was not built; dist holds {sorted(each.name for each in DIST.iterdir())}.")
    _must([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)])
    for problem in [*problems_of_wheel(wheel, version), *problems_of_sdist(sdist, version)]:
        raise Failed(problem)
    _must([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_docs.py", "-k", "links"])
    print(f"built {wheel.name} ({wheel.stat().st_size >> 10} kB) and {sdist.name} ({sdist.stat().st_size >> 10} kB)")
    print("metadata, contents and the links of README and docs are right")
    return wheel, sdist


def problems_of_wheel(wheel: Path, version: str) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = f"rfdag-{version}.dist-info"
        metadata = HeaderParser().parsestr(archive.read(f"{about}/METADATA").decode())
        if metadata["Version"] != version or metadata["License-Expression"] != project["license"]:
            yield f"The wheel says version {metadata['Version']}, licence {metadata['License-Expression']}."
        if metadata["Requires-Python"] != project["requires-python"]:
            yield f"The wheel requires Python {metadata['Requires-Python']}, not {project['requires-python']}."
        for needed in ("rfdag/py.typed", f"{about}/licenses/LICENSE", f"{about}/sboms/rfdag.cdx.json"):
            if needed not in names:
                yield f"The wheel lacks {needed}."
        stray = sorted(name for name in names if not name.startswith(("rfdag/", f"{about}/")) or "__pycache__" in name)
        if stray:
            yield f"The wheel holds {stray[:5]}, which are no part of the package."
        component = json.loads(archive.read(f"{about}/sboms/rfdag.cdx.json"))["metadata"]["component"]
        if component["version"] != version:
            yield f"The bill of materials is about version {component['version']}."


def problems_of_sdist(sdist: Path, version: str) -> Iterator[str]:
    """Yield what is wrong with a source distribution: files that git does not track, or that are missing."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    tracked = set(listed.stdout.splitlines())
    with tarfile.open(sdist) as archive:
        held = {name.removeprefix(f"rfdag-{version}/") for name in archive.getnames()}
    for needed in (
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "constraints.txt",
        "tests/golden.json",
    ):
        if needed not in held:
            yield f"The sdist lacks {needed}."
    stray = sorted(held - tracked - {"PKG-INFO"}) if tracked else []
    if stray:
        yield f"The sdist holds {stray[:5]}, which git does not track."


def tried(wheel: Path, sdist: Path, version: str, wanted: Sequence[str] | None, tests: str) -> None:
    """Install both on each Python and run the tests there; raise if something fails."""
    failures = []
    for python, interpreter in interpreters():
        if wanted is not None and python not in wanted:
            continue
        if interpreter is None:
            print(f"Python {python}: not tried, as it is not found here")
            continue
        for artifact in (wheel, sdist):
            with tempfile.TemporaryDirectory(prefix="rfdag-release-") as folder:
                try:
                    said = _tried(
                        artifact, interpreter, Path(folder), version, tests if artifact is wheel else "golden"
                    )
                except Failed as problem:
                    failures.append(f"Python {python}, {artifact.name}: {problem}")
                    said = "failed"
            print(f"Python {python}, {artifact.name}: {said}", flush=True)
    if failures:
        raise Failed("\n".join(failures))


def _tried(artifact: Path, interpreter: Path, folder: Path, version: str, tests: str) -> str:
    trial = Trial.install(interpreter, folder, ["-c", str(ROOT / "constraints.txt"), f"{artifact}[test]"])
    trial.look(version)
    if tests == "all":
        ignored = [f"--ignore=tests/test_{name}.py" for name in OF_THE_SOURCES]
        return trial.test(["tests", *ignored])
    return trial.test(SMOKE if tests == "smoke" else ["tests/test_golden.py"])


def _must(words: Sequence[str]) -> None:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(words)} ended with status {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")


if __name__ == "__main__":
    sys.exit(main())
