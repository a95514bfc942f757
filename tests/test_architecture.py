"""The floor plan holds: rooms say what they are for, files stay small, imports point one way."""

from __future__ import annotations

import ast
import fnmatch
import tomllib
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rfdag"
LONGEST = 700
"""Lines of a source file; kernels may have more, and say why."""


def test_every_folder_says_what_comes_in_and_what_goes_out():
    for folder in sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        assert "In: " in text, folder
        assert "Out: " in text, folder


def test_no_module_lies_in_a_folder_without_an_init():
    assert all((path.parent / "__init__.py").exists() for path in PACKAGE.rglob("*.py"))


def test_files_are_short_but_for_kernels_with_a_reason():
    for path in PACKAGE.rglob("*.py"):
        if len(path.read_text().splitlines()) > LONGEST:
            assert path.parent.name == "kernels", path
            assert "One file:" in (ast.get_docstring(ast.parse(path.read_text())) or ""), path


def test_imports_go_round_in_no_cycle():
    """But for a class and the file format it reads and writes, and for the exceptions that the contract lists."""
    grimp = pytest.importorskip("grimp")
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    allowed = [entry.split(" -> ") for entry in contract["ignore_imports"]]
    graph = grimp.build_graph("rfdag", exclude_type_checking_imports=True)
    imports = nx.DiGraph(
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if not any(fnmatch.fnmatch(importer, above) and fnmatch.fnmatch(imported, below) for above, below in allowed)
    )
    cycles = [sorted(part) for part in nx.strongly_connected_components(imports) if len(part) > 1]
    assert sorted(cycles) == [
        ["rfdag.knowledge.files", "rfdag.knowledge.knowledge"],
        ["rfdag.result.result", "rfdag.result.storage"],
    ]


def test_only_the_program_imports_studies():
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in ("studies", "cli.py"):
            assert "rfdag.studies" not in path.read_text(), path
