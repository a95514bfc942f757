"""The environments that peers live in: where they are, what is in them, and how they are made.

Every peer has one of its own, so that no peer's requirements hold another's back. What goes into it is listed in
``peers/NAME.txt`` beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import distributions
from pathlib import Path

from rfdag.version import own_version

FOLDER = Path(".peers")
"""Where environments are, unless another folder is given."""

OWN = "rfdag"
"""The environment of this package itself."""

LISTS = Path(__file__).parent / "peers"
FROM_SOURCE = "tetrad-port"
"""The peer that is built here; its build would clone Eigen."""
BARE = "tetrad"
"""The peer that is installed without what its packages ask for: only a jar, a Java and a bridge are used."""
HEADERS = ("/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3")
"""Where Eigen's headers usually are; the variable EIGEN3_INCLUDE_DIR names another place."""


def homes() -> list[str]:
    """Return the names of the peers' environments.

    >>> "flopsearch" in homes()
    True
    """
    return sorted(path.stem for path in LISTS.glob("*.txt"))


def requirements(home: str) -> dict[str, str]:
    """Return the versions that an environment is to hold, by package.

    >>> requirements("ges")
    {'ges': '1.1.1'}
    """
    lines = (LISTS / f"{home}.txt").read_text(encoding="utf-8").split()
    return dict(line.split("==", 1) for line in lines)


def python_of(home: str, folder: Path) -> Path | None:
    """Return the interpreter of an environment, or None where there is none."""
    if home == OWN:
        return Path(sys.executable)
    places = (folder / home / "bin" / "python", folder / home / "Scripts" / "python.exe")
    # The path must stay a path into the environment, though the interpreter itself may be a link out of it.
    return next((place.absolute() for place in places if place.exists()), None)


def version_of(package: str, home: str, folder: Path) -> str | None:
    """Return the version of a package in an environment, or None where it is not installed."""
    if home == OWN:
        return own_version()
    places = [*(folder / home).glob("lib/python*/site-packages"), *(folder / home).glob("Lib/site-packages")]
    found = distributions(name=package, path=[str(place) for place in places])
    return next((entry.version for entry in found), None)


def is_ready(home: str, folder: Path) -> bool:
    """Return whether an environment holds what its list asks for."""
    return python_of(home, folder) is not None and all(
        version_of(package, home, folder) == version for package, version in requirements(home).items()
    )


def make(
    folder: Path = FOLDER,
    report: Callable[[str], None] = lambda message: None,
    only: Iterable[str] | None = None,
) -> dict[str, str]:
    """Make the peers' environments in a folder, all or ``only`` some; return the errors of those that failed.

    Environments that are ready are left alone, and one whose needs this machine does not meet is left out.
    ``report`` is called with a message at every step.
    """
    failures = {}
    for home in homes():
        if only is not None and home not in only:
            continue
        if is_ready(home, folder):
            report(f"{home}: ready")
        elif home == FROM_SOURCE and _eigen() is None:
            report(
                f"{home}: left out. It is built from source and needs Eigen's headers: install them (Debian, Ubuntu: "
                "apt install libeigen3-dev) or name their folder in EIGEN3_INCLUDE_DIR."
            )
        else:
            report(f"{home}: installing {', '.join(requirements(home))}…")
            failure = _install(home, folder)
            if failure:
                failures[home] = failure
                report(f"{home}: failed. {failure}")
    return failures


def _install(home: str, folder: Path) -> str | None:
    """Make one environment; return why it could not be made, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    if python_of(home, folder) is None:
        made = subprocess.run(
            [sys.executable, "-m", "venv", folder / home], capture_output=True, text=True, check=False
        )
        if made.returncode:
            return _last_line(made)
    python = python_of(home, folder)
    if python is None:
        return f"{folder / home} was made without an interpreter."
    pins = [f"{package}=={version}" for package, version in requirements(home).items()]
    if home == BARE:
        pins.append("--no-deps")
    with tempfile.TemporaryDirectory() as scratch:
        eigen = _eigen()
        if home == FROM_SOURCE and eigen is not None:
            pins.append(_with_eigen(eigen, Path(scratch)))
        # Pins go on the command line, not as a file: pip hands build settings only to what is named there.
        done = subprocess.run([python, "-m", "pip", "install", *pins], capture_output=True, text=True, check=False)
    return _last_line(done) if done.returncode else None


def _eigen() -> Path | None:
    """Return the folder of Eigen's headers."""
    places = [os.environ.get("EIGEN3_INCLUDE_DIR", ""), *HEADERS]
    return next((Path(place) for place in places if place and (Path(place) / "Eigen").exists()), None)


def _with_eigen(headers: Path, scratch: Path) -> str:
    """Return the setting of pip by which tetrad-port takes Eigen from a folder instead of cloning it."""
    (scratch / "CMakeLists.txt").write_text(
        "add_library(eigen INTERFACE)\n"
        f'target_include_directories(eigen INTERFACE "{headers.as_posix()}")\n'
        "add_library(Eigen3::Eigen ALIAS eigen)\n",
        encoding="utf-8",
    )
    return f"--config-settings=cmake.args=-DFETCHCONTENT_SOURCE_DIR_EIGEN={scratch.as_posix()}"


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or [f"It ended with status {done.returncode}."])[-1]
