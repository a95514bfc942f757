"""The fenced blocks of the documentation's pages, and the links between these."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Fence:
    """One fenced block: where it begins, its language ("" if none was given), and what stands in it."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def fences_of(page: Path) -> list[Fence]:
    """Return the blocks of a page, in their order."""
    found, opened = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        mark = re.match(r"\s*(`{3,}|~{3,})\s*(\S*)", line)
        if opened is None and mark:
            opened = (number, mark[1], mark[2], [])
        elif opened and mark and mark[1].startswith(opened[1]) and not mark[2]:
            found.append(Fence(page, opened[0], opened[2], "\n".join(opened[3])))
            opened = None
        elif opened:
            opened[3].append(line)
    assert opened is None, f"{page}:{opened[0]}: a block that is never closed"
    return found


def commands_of(fence: Fence) -> list[list[str]]:
    """Return the commands of a shell's block as words, comments left out; after `$ ` if any line has that."""
    lines = fence.text.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def prose_of(page: Path) -> str:
    """Return a page without its blocks and without code in its lines."""
    text = re.sub(r"^\s*(`{3,})[^`\n]*\n.*?^\s*\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda code: "x" * len(code[0]), text)


def links_of(page: Path) -> list[str]:
    """Return the addresses of a page's links and pictures that lie in this repository."""
    found = re.findall(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", prose_of(page))
    found += re.findall(r"(?:src|href)=\"([^\"]+)\"", prose_of(page))
    return [address for address in found if not re.match(r"[a-z]+:", address)]


def anchors_of(page: Path) -> set[str]:
    """Return what links to a page may point at: its headings, and the names that its reference shows."""
    text = page.read_text(encoding="utf-8")
    outside = re.sub(r"^\s*(`{3,})[^`\n]*\n.*?^\s*\1\s*$", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+\s+(.*?)\s*$", outside, flags=re.M)
    return {*map(_slug, headings), *documented_on(page)}


def documented_on(page: Path) -> list[str]:
    """Return the names that a page of the reference documents."""
    blocks = [fence.text for fence in fences_of(page) if fence.language == "{eval-rst}"]
    return re.findall(r"^\.\. (?:auto\w+|py:data):: (\S+)$", "\n".join(blocks), flags=re.M)


def _slug(heading: str) -> str:
    """Return a heading's anchor, as code forges and MyST make it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
