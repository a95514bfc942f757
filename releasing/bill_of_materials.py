"""The software bill of materials of a wheel: what rfdag needs, as CycloneDX JSON among the wheel's metadata (PEP 770).

Hatchling calls this when it builds a wheel. The same sources give the same bytes: there is no time, and the serial
number follows from the content. A dependency's version is the one that rfdag was tested with (constraints.txt); the
versions that it accepts stand beside it.
"""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
import uuid
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILE = "rfdag.cdx.json"
OURS = ("test", "docs", "dev", "fuzz", "release")
"""Extras for work on rfdag itself, which no user of it installs."""
REQUIREMENT = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*(?P<versions>[^;]*)")


def bill(root: Path, version: str) -> dict[str, Any]:
    """Return the bill of the sources in a folder, as what JSON can hold."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = _tested(root / "constraints.txt")
    components: dict[str, dict[str, Any]] = {}
    for requirement in project["dependencies"]:
        _add(components, requirement, tested, None)
    for extra, requirements in project["optional-dependencies"].items():
        for requirement in requirements if extra not in OURS else ():
            _add(components, requirement, tested, extra)
    own = _address(project["name"], version)
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": project["name"],
                "version": version,
                "description": project["description"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": own,
            }
        },
        "components": list(components.values()),
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in components.values()]}],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": content.pop("bomFormat"), "serialNumber": f"urn:uuid:{number}", **content}


def _tested(constraints: Path) -> dict[str, str]:
    """Return the version of each package that rfdag is tested with."""
    pins = (line.partition("==") for line in constraints.read_text(encoding="utf-8").splitlines())
    return {_plain(name): version.strip() for name, _, version in pins if version}


def _add(components: dict[str, dict[str, Any]], requirement: str, tested: dict[str, str], extra: str | None) -> None:
    """Add a dependency, or one more extra that needs it."""
    found = REQUIREMENT.match(requirement)
    assert found is not None, requirement
    name = _plain(found["name"])
    version = {"version": tested[name]} if name in tested else {}
    address = _address(name, tested.get(name))
    component = components.setdefault(
        name,
        {"type": "library", "bom-ref": address, "name": name}
        | version
        | {
            "scope": "required" if extra is None else "optional",
            "purl": address,
            "properties": [{"name": "rfdag:accepted", "value": found["versions"].strip()}],
        },
    )
    if extra is not None:
        component["properties"].append({"name": "rfdag:extra", "value": extra})


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _address(name: str, version: str | None) -> str:
    return f"pkg:pypi/{_plain(name)}" + (f"@{version}" if version else "")


class BillOfMaterials(BuildHookInterface[Any]):
    """Puts the bill into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bill to a folder of its own, from which hatchling takes it."""
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / FILE
        path.write_text(json.dumps(bill(Path(self.root), self.metadata.version), indent=2) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        self._folder.cleanup()
