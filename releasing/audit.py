"""Known vulnerabilities and licences of what rfdag needs and is developed with.

    python releasing/audit.py

Licences come from the metadata of the installed packages, and must be among those allowed here. Vulnerabilities are
looked up by pip-audit for the versions in constraints.txt; where its service cannot be reached, that is said and is no
failure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bill_of_materials import OURS

ROOT = Path(__file__).parents[1]

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0",
    "PSF-2.0", "Zlib",
}  # fmt: skip
"""Licences that a dependency may have: those that let rfdag be used, changed and sold under its own, BSD-3-Clause. The
Mozilla Public License asks for its own files to stay open, and for nothing of others. BSD is what old metadata say."""

OLD_NAMES = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "OSI Approved": "",
    "Python Software Foundation License": "PSF-2.0",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0",
}
"""Licences in words, as classifiers of older metadata have them."""

EXCEPTIONS = {
    "atheris": ({"unknown"}, ()),
    "docutils": ({"BSD", "GNU General Public License (GPL)", "Public Domain"}, ()),
    "pygam": ({"GPL-3.0"}, ("lingam",)),
}
"""Packages under other licences, and the packages through which alone a user of rfdag may get them. rfdag neither
imports them nor hands them on: they come with tools for its development, and with an extra that installs other
people's programs to compare or exchange graphs with. (Of docutils, a mode for an editor is under the GPL; that of
atheris, Apache-2.0, is not in its metadata.)"""

UNREACHED = re.compile(
    r"ConnectionError|ConnectTimeout|ReadTimeout|ServiceError|Max retries|resolve|ProxyError|SSLError"
)
"""What pip-audit says when its service does not answer."""


def main() -> int:
    """Check both; return 1 if either finds something."""
    problems = licence_problems()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if audit_failed() or problems else 0


def licences_of(package: Distribution) -> set[str]:
    """Return the licences that bind whoever uses a package; of alternatives, one that is allowed."""
    metadata = package.metadata.json
    expression = str(metadata.get("license_expression") or "")
    if expression:
        return _in_expression(expression)
    classifiers = metadata.get("classifier", ())
    words = [entry.rpartition("::")[2].strip() for entry in classifiers if entry.startswith("License ::")]
    found = {OLD_NAMES.get(word, word) for word in words} - {""}
    if found:
        return found
    written = str(metadata.get("license") or "unknown").strip().splitlines()[0]
    return {OLD_NAMES[written]} if written in OLD_NAMES else _in_expression(written)


def _in_expression(expression: str) -> set[str]:
    return {_chosen(part) for part in re.split(r"\s+AND\s+", re.sub(r"[()]", " ", expression))}


def _chosen(alternatives: str) -> str:
    """Return the first allowed licence of several to choose from; exceptions to one only permit more."""
    licences = [re.split(r"\s+WITH\s+", each)[0].strip() for each in re.split(r"\s+OR\s+", alternatives)]
    return next((licence for licence in licences if licence in ALLOWED), licences[0])


def licence_problems() -> list[str]:
    """Print the licences of all installed packages; return what is wrong with them."""
    installed: dict[str, Distribution] = {canonicalize_name(each.name): each for each in distributions()}
    by_licence: dict[str, list[str]] = defaultdict(list)
    problems = []
    for name, package in sorted(installed.items()):
        licences = licences_of(package)
        by_licence[" and ".join(sorted(licences))].append(name)
        if licences <= ALLOWED:
            continue
        stated, through = EXCEPTIONS.get(name, (set(), ()))
        if licences != stated:
            problems.append(f"{name} is under {', '.join(sorted(licences))}, which is not among the licences allowed.")
        elif name in reached_from("rfdag", installed, without=through):
            problems.append(f"{name} is under {', '.join(stated)}, and users get it otherwise than was thought.")
    print(f"Licences of {len(installed)} installed packages:")
    for licences_in_words, names in sorted(by_licence.items(), key=lambda entry: -len(entry[1])):
        shown = ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
        print(f"  {licences_in_words}: {shown}")
    for name, (_, through) in EXCEPTIONS.items():
        if name in installed:
            print(f"  {name} comes with {', '.join(through) or 'tools for development'} alone.")
    return problems


def reached_from(name: str, installed: Mapping[str, Distribution], without: Iterable[str]) -> set[str]:
    """Return the installed packages that one needs, with all extras for users, but not by way of those left out."""
    found: set[str] = set()
    left: list[tuple[str, bool]] = [(canonicalize_name(name), True)]
    while left:
        at, with_extras = left.pop()
        if at in found or at in without or at not in installed:
            continue
        found.add(at)
        left += [(needed, False) for needed in _needs(installed[at], with_extras)]
    return found


def _needs(package: Distribution, with_extras: bool) -> Iterator[str]:
    offered = package.metadata.get_all("Provides-Extra") or ()
    extras = ["", *(extra for extra in offered if with_extras and extra not in OURS)]
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            yield canonicalize_name(requirement.name)


def audit_failed() -> bool:
    """Print known vulnerabilities of the versions in constraints.txt; return whether there are some."""
    try:
        distribution("pip-audit")
    except PackageNotFoundError:
        print("pip-audit is not installed: pip install -c constraints.txt -e '.[release]'", file=sys.stderr)
        return True
    words = [sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "constraints.txt"), "--no-deps"]
    words += ["--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "30"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = " ".join(done.stderr.strip().splitlines()[-1:])
        if UNREACHED.search(done.stderr):
            print(f"The service of known vulnerabilities could not be reached, so nothing was looked up: {last[:300]}")
            return False
        print(f"pip-audit ended with status {done.returncode}: {done.stderr}", file=sys.stderr)
        return True
    skipped = [entry["name"] for entry in found if "skip_reason" in entry]
    if len(skipped) == len(found):
        print(
            f"The service of known vulnerabilities answers for none of {len(found)} packages, so nothing was looked up."
        )
        return False
    spoilt = [entry for entry in found if entry.get("vulns")]
    print(f"Known vulnerabilities in {len(found) - len(skipped)} pinned packages: {len(spoilt)} packages have some.")
    if skipped:
        print(f"  not known to the service: {', '.join(skipped)}")
    for entry in spoilt:
        for each in entry["vulns"]:
            fixed = ", ".join(each["fix_versions"]) or "no version yet"
            print(f"  {entry['name']} {entry['version']}: {each['id']}, fixed in {fixed}", file=sys.stderr)
    return bool(spoilt)


if __name__ == "__main__":
    sys.exit(main())
