"""Files with columns of text, dates and codes, and with gaps; see `awkward_files.Awkward`."""

from __future__ import annotations

from collections.abc import Callable

from awkward_files import NAMES, PLAIN, ROWS, Awkward, comma, excel, text

SEXES = ["f", "m"]
TOWNS = ["Rome", "Oslo", "Bern", "Rome", "Oslo"]
CLINIC = ("patient", "sex", "smoker", "visit", *NAMES)


def clinic(at: int) -> list[str]:
    return [f"P{at:03d}", SEXES[at % 2], ["yes", "no"][at % 3 == 0], f"2024-{at % 12 + 1:02d}-{at % 28 + 1:02d}"]


def first(name: str, cell: Callable[[int], object]) -> bytes:
    """Return the rows with one more column, the first."""
    return text(header=(name, *NAMES), lead=lambda at: [str(cell(at))])


def gap(row: int, at: int = 2, mark: str = "") -> Callable[[bytes], bytes]:
    def cut(content: bytes) -> bytes:
        lines = content.decode().split("\n")
        cells = lines[row].split(",")
        cells[at] = mark
        lines[row] = ",".join(cells)
        return "\n".join(lines).encode()

    return cut


def holed(*rows: int, mark: str = "") -> bytes:
    content = PLAIN
    for row in rows:
        content = gap(row, mark=mark)(content)
    return content


OF_COLUMNS = [
    # Columns that are not numbers
    Awkward(
        "text.csv",
        first("sex", lambda at: SEXES[at % 2]),
        names=("sex", *NAMES),
        levels={"sex": "0 f, 1 m"},
    ),
    Awkward(
        "towns.csv",
        first("town", lambda at: f" {TOWNS[at % 5]} "),
        names=("town", *NAMES),
        levels={"town": "3 levels: Bern, Oslo, Rome"},
    ),
    Awkward(
        "answers.csv",
        first("answer", lambda at: ["true", "false", "NULL", "true"][at % 4]),
        rows=35,
        names=("answer", *NAMES),
        same=False,
        levels={"answer": "0 false, 1 true"},
    ),
    Awkward(
        "ranks.csv",
        first("grade", lambda at: ["B", "C", "A", "C"][at % 4]),
        options={"ordinal": ["grade: C < B < A"]},
        names=("grade", *NAMES),
        same=False,
    ),
    Awkward(
        "ages.csv",
        first("group", lambda at: ["10-19", "5-9", "20+"][at % 3]),
        options={"ordinal": ["group"]},
        names=("group", *NAMES),
        same=False,
    ),
    Awkward(
        "orders.csv",
        first("grade", lambda at: ["low", "high", "middle"][at % 3]),
        options={"ordinal": ["grade"]},
        advice=({"ordinal": ["grade: high < low < middle"]},),
        words="text whose order is not known: 'high', 'low', 'middle'",
        names=("grade", *NAMES),
        same=False,
    ),
    Awkward(
        "regions.csv",
        first("region", lambda at: [3, 1, 7][at % 3]),
        options={"categorical": ["reg*"]},
        names=("region", *NAMES),
        levels={"region": "3 levels: 1, 3, 7"},
    ),
    Awkward(
        "wards.csv",
        first("ward", lambda at: ["1", "2", "2b"][at % 3]),
        advice=({"drop": ["ward"]}, {"categorical": ["ward"]}),
        words="numbers, but '2b' in line 4",
        names=("ward", *NAMES),
        levels={"ward": "3 levels: 1, 2, 2b"},
    ),
    Awkward(
        "notes_of_all.csv",
        first("note", lambda at: f"note {at}"),
        advice=({"drop": ["note"]},),
        words="'note' (text, all different)",
        left_out=("note",),
    ),
    Awkward(
        "towns_of_all.csv",
        text(
            header=("town", *NAMES),
            lead=lambda at: [f"town {at}"],
            after="".join(f"town {at // 2},{at},{at % 7},{at % 11}\n" for at in range(90, 130)),
        ),
        advice=({"drop": ["town"]},),
        words="'town' is text with more than 50 levels ('town 0', 'town 1', 'town 10', …)",
        rows=2 * len(ROWS),
        left_out=("town",),
        same=False,
    ),
    Awkward(
        "one_town.csv",
        first("town", lambda at: "Rome"),
        advice=({"awkward": "keep-one"},),
        words="constant: 'town'",
        left_out=("town",),
    ),
    Awkward(
        "clinic.csv",
        text(";", comma, header=CLINIC, lead=clinic, end="\r\n", before="\ufeff"),
        advice=({"drop": ["patient", "visit"]},),
        words="'patient' (text, all different), 'visit' (dates",
        names=("sex", "smoker", *NAMES),
        left_out=("patient", "visit"),
        reading="decimal commas",
        levels={"sex": "0 f, 1 m", "smoker": "0 no, 1 yes"},
    ),
    Awkward(
        "dates.xlsx",
        excel(
            {"s": [["visit", *NAMES], *([f"2024-01-{at % 28 + 1:02d}", *row] for at, row in enumerate(ROWS.tolist()))]}
        ),
        advice=({"drop": ["visit"]},),
        words="'visit' (dates",
        left_out=("visit",),
    ),
    Awkward(
        "detection.csv",
        holed(7, mark="<5"),
        advice=({"na_values": ["<5"]}, {"drop": ["pressure"]}),
        words="numbers, but '<5' in line 8",
        names=NAMES[:2],
        left_out=("pressure",),
        same=False,
    ),
    Awkward(
        "undetected.csv",
        holed(7, mark="<5"),
        options={"na_values": ["<5"], "missing": "drop"},
        rows=len(ROWS) - 1,
        reading="1 of 40 rows left out",
        same=False,
    ),
    Awkward(
        "point.csv",
        text(";", comma),
        options={"delimiter": ";", "thousands": "'"},
        reading="decimal commas",
    ),
    # Gaps
    Awkward(
        "gaps.csv",
        holed(3, 9, 10),
        rows=len(ROWS) - 2,
        same=False,
    ),
    Awkward(
        "town_gaps.csv",
        first("town", lambda at: ["NA", "Oslo", "", "Bern", "?", *2 * ["Rome", "none"], "Oslo", "Bern"][at % 11]),
        rows=len(ROWS) - 6,
        names=("town", *NAMES),
        same=False,
        levels={"town": "4 levels: Bern, Oslo, Rome, none"},
    ),
    Awkward(
        "no_town.csv",
        first("town", lambda at: ["NA", "", "?"][at % 3]),
        advice=({"drop": ["town"]},),
        words="Column 'town' has no values: all 40 are missing",
        left_out=("town",),
    ),
    Awkward(
        "refused_gaps.csv",
        holed(3, 9),
        options={"missing": "error"},
        advice=({"missing": "drop"}, {"drop": ["pressure"]}),
        words="Column 'pressure' has 2 missing values",
        names=NAMES[:2],
        left_out=("pressure",),
        same=False,
    ),
    Awkward(
        "na.csv",
        holed(3, 9, mark="NA"),
        options={"missing": "drop"},
        rows=len(ROWS) - 2,
        reading="2 of 40 rows",
        same=False,
    ),
    Awkward(
        "sentinel.csv",
        holed(3, mark="-999"),
        options={"missing": "drop", "na_values": [-999]},
        rows=len(ROWS) - 1,
        reading="1 of 40",
        same=False,
    ),
]
