"""The README's comparison with other programs: every number in it is one of docs/accuracy.md, rounded."""

from __future__ import annotations

import re

import pytest

from fences import ROOT

CONTENDERS = {
    "rfdag": "rfdag",
    "FLOP, 20 restarts": "flop-20",
    "BOSS (Tetrad)": "tetrad-boss",
    "PC (causal-learn)": "causal-learn-pc",
}
GRAPHS = {
    "about 8 neighbours each": "degree 8",
    "half of all pairs adjacent": "density 1/2",
    "ECOLI70": "ECOLI70",
    "Sachs": "Sachs, log(x + 10)",
}


def table_after(text, heading):
    """Return the cells of the first table after a heading, as a list of rows, its line of dashes left out."""
    lines = text[text.index(heading) :].splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [rows[0], *rows[2:]]


def measured():
    """Return the rows of docs/accuracy.md by graphs, variables, rows and contender."""
    _, *rows = table_after((ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8"), "## Measured")
    return {tuple(row[:4]): row[4:] for row in rows}


def comparisons():
    header, *rows = table_after((ROOT / "README.md").read_text(encoding="utf-8"), "## How it compares")
    for data, *cells in rows:
        graphs = next(name for words, name in GRAPHS.items() if words in data)
        size = [re.search(rf"(\d+) {unit}", data)[1] for unit in ("variables", "rows")]
        for column, cell in zip(header[1:], cells, strict=True):
            yield pytest.param((graphs, *size, CONTENDERS[column]), cell, id=f"{graphs}-{'-'.join(size)}-{column}")


def shown(number, like):
    """Return whether a number, rounded to the decimals of a text, is that text."""
    return f"{float(number):.{len(like.partition('.')[2])}f}" == like


@pytest.mark.parametrize(("row", "cell"), list(comparisons()))
def test_the_comparison_shows_what_was_measured(row, cell):
    counted, shd, _, _, seconds, _ = measured()[row]
    if shd == "–":
        assert counted.endswith(cell)
        return
    distance, time, finished = re.fullmatch(r"([\d.]+) \(([\d.]+) s(?:; (\d of \d) graphs)?\)", cell).groups()
    assert shown(shd, distance)
    assert shown(seconds, time)
    assert counted.partition(":")[0] == (finished or "5")
