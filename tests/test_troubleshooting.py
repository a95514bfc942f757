"""Every warning that rfdag can give has an entry on the page about warnings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import rfdag

ROOT = Path(rfdag.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "troubleshooting.md"
MESSAGES = {"Message", "DataMessage"}
OTHERS = {"errors.py", "storage.py", "device.py", "kernel_tests.py"}
"""Where messages are defined, read from a file, or those of errors."""


def constants_in(node: ast.AST) -> list[str]:
    """Return the constant parts of a text, outside of what is filled in."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return [part for value in node.values if isinstance(value, ast.Constant) for part in constants_in(value)]
    return []


def warnings_in_the_source() -> list[tuple[str, str]]:
    """Return the longest constant part of each warning, with where it is made."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if path.name in OTHERS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES:
                parts = constants_in(node.args[0])
                if parts:
                    found.append((f"{path.relative_to(ROOT)}:{node.lineno}", max(parts, key=len)))
    return found


def plain(text: str) -> str:
    """Return text without line breaks, quotation marks of Markdown and emphasis."""
    return " ".join(re.sub(r"(?m)^> ?", "", text).split())


@pytest.mark.parametrize(("place", "words"), warnings_in_the_source(), ids=lambda value: str(value)[:40])
def test_a_warning_has_an_entry(place, words):
    assert " ".join(words.split()).strip(" .,;:(") in plain(PAGE.read_text(encoding="utf-8")), place


def test_the_source_has_warnings():
    assert len(warnings_in_the_source()) >= 20


def test_an_entry_has_a_warning():
    words = [" ".join(part.split()).strip(" .,;:(") for _, part in warnings_in_the_source()]
    entries = [plain(entry) for entry in re.findall(r"(?m)(?:^> .*\n)+", PAGE.read_text(encoding="utf-8"))]
    assert len(entries) >= 20
    for entry in entries:
        assert any(part in entry for part in words), entry
