"""What a release is made of: one version, a bill of materials, licences, changes, workflows without secrets."""

from __future__ import annotations

import email.message
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import rfdag

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture
def releasing(monkeypatch):
    """Return a function that imports the scripts of releases."""
    for folder in ("releasing", "benchmarks"):
        monkeypatch.syspath_prepend(ROOT / folder)
    return importlib.import_module


def test_the_wheel_has_the_same_bill_of_materials_every_time(tmp_path, releasing):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT, check=True,
        capture_output=True,
    )  # fmt: skip
    wheel = next(tmp_path.glob("*.whl"))
    assert list(releasing("release").problems_of_wheel(wheel, rfdag.__version__)) == []
    with zipfile.ZipFile(wheel) as archive:
        found = json.loads(archive.read(f"rfdag-{rfdag.__version__}.dist-info/sboms/rfdag.cdx.json"))
    assert found == releasing("bill_of_materials").bill(ROOT, rfdag.__version__)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", found["serialNumber"])
    required = {each["name"] for each in found["components"] if each["scope"] == "required"}
    assert required == {re.split("[>=]", requirement)[0] for requirement in PROJECT["dependencies"]}
    versions = dict(line.lower().split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
    assert all(each["version"] == versions[each["name"]] for each in found["components"] if each["name"] in required)
    references = [each["bom-ref"] for each in found["components"]]
    assert len(set(references)) == len(references)
    assert found["dependencies"][0]["dependsOn"] == references


def test_a_version_has_one_home_and_a_tag_is_compared_with_it(releasing):
    release = releasing("release")
    assert release.checked_version(None) == rfdag.__version__
    with pytest.raises(release.Failed, match=r"must be the same"):
        release.checked_version("v99.0.0")


def test_every_supported_python_is_said_and_tried(releasing):
    pythons = releasing("trials").PYTHONS
    said = [entry.rpartition(" ")[2] for entry in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", entry)]
    assert tuple(said) == pythons
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    ci = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "[" + ", ".join(f'"{each}"' for each in pythons) + "]" in ci


def test_tests_of_a_release_exist(releasing):
    trials, release = releasing("trials"), releasing("release")
    assert all((ROOT / name).is_file() for name in trials.SMOKE)
    assert all((ROOT / f"tests/test_{name}.py").is_file() for name in release.OF_THE_SOURCES)
    assert all((ROOT / name).exists() for name in trials.BESIDE)


def test_the_lowest_versions_are_those_of_all_dependencies(releasing):
    lowest = releasing("soak_versions").bounds()
    assert {re.split("[>=]", requirement)[0] for requirement in PROJECT["dependencies"]} <= set(lowest)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_their_actions_and_hold_no_secret(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, comment in used:
        assert action.startswith("./") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
        assert action.startswith("./") or re.match(r" # v\d+\.\d+\.\d+$", comment), action
    assert "secrets" not in text
    assert "password" not in text
    assert re.search(r"^permissions:\n  contents: read$", text, flags=re.MULTILINE)
    # What runs in a step is a target that everybody can run.
    assert all(command.startswith("make ") for command in re.findall(r"run: (.+)", text))


def test_changes_are_in_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in versions[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= kinds


class Package:
    """An installed package as its metadata say."""

    def __init__(self, name="x", requires=(), **fields):
        self.metadata = email.message.Message()
        for field, values in fields.items():
            for value in values if isinstance(values, list) else [values]:
                self.metadata[field.replace("_", "-")] = value
        self.metadata.json = {field.lower(): value for field, value in fields.items()}
        self.requires = list(requires)
        self.name = name


@pytest.mark.parametrize(
    ("fields", "licences"),
    [
        ({"License_Expression": "Apache-2.0 OR BSD-2-Clause"}, {"Apache-2.0"}),
        ({"License_Expression": "GPL-3.0-only OR MIT"}, {"MIT"}),
        ({"License_Expression": "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception"}, {"BSD-2-Clause", "Apache-2.0"}),
        ({"License_Expression": "(MIT OR Apache-2.0) AND GPL-3.0-only"}, {"MIT", "GPL-3.0-only"}),
        ({"Classifier": ["License :: OSI Approved :: BSD License"]}, {"BSD"}),
        ({"License": "The MIT License (MIT)\nand so on"}, {"MIT"}),
        ({"License": "MPL-2.0 AND MIT"}, {"MPL-2.0", "MIT"}),
        ({"License": "Do what I say"}, {"Do what I say"}),
        ({}, {"unknown"}),
    ],
)
def test_licences_are_read_from_all_forms_of_metadata(fields, licences, releasing):
    assert releasing("audit").licences_of(Package(**fields)) == licences


def test_another_licence_is_a_problem_unless_it_comes_through_one_extra(monkeypatch, releasing, capsys):
    audit = releasing("audit")
    needs = ["numpy", "lingam; extra == 'interop'"]
    ours = Package("rfdag", needs, License_Expression="BSD-3-Clause", Provides_Extra=["interop"])
    numpy, lingam = (Package(name, License_Expression="MIT") for name in ("numpy", "lingam"))
    lingam.requires = ["pygam"]
    pygam = Package("pygam", Classifier=["License :: OSI Approved :: GNU General Public License v3 (GPLv3)"])
    packages = [ours, numpy, lingam, pygam]
    monkeypatch.setattr(audit, "distributions", lambda: packages)
    assert audit.licence_problems() == []
    assert "pygam comes with lingam alone" in capsys.readouterr().out
    numpy.requires = ["pygam"]
    assert audit.licence_problems() == ["pygam is under GPL-3.0, and users get it otherwise than was thought."]
    packages.append(Package("other", License_Expression="AGPL-3.0-only"))
    assert "other is under AGPL-3.0-only" in audit.licence_problems()[0]


@pytest.mark.parametrize(
    ("stdout", "stderr", "failed", "words"),
    [
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}', "", False, "0 packages have some"),
        (
            '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "V1", "fix_versions": []}]}]}',
            "",
            True,
            "V1",
        ),
        ('{"dependencies": [{"name": "a", "skip_reason": "not found"}]}', "", False, "nothing was looked up"),
        ("", "requests.exceptions.ConnectionError: no route", False, "could not be reached"),
        ("", "Traceback: bug", True, "ended with status"),
    ],
)
def test_only_a_service_out_of_reach_is_no_failure(stdout, stderr, failed, words, monkeypatch, releasing, capsys):
    audit = releasing("audit")
    monkeypatch.setattr(audit, "distribution", lambda name: None)
    done = subprocess.CompletedProcess([], 1, stdout, stderr)
    monkeypatch.setattr(audit.subprocess, "run", lambda *words, **options: done)
    assert audit.audit_failed() is failed
    said = capsys.readouterr()
    assert words in said.out + said.err
