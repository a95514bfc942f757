"""Tables as people have them: how each is written, and what comes of it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NAMES = ("age", "bmi", "pressure")
ROWS = np.random.default_rng(2024).normal([50.0, 24.0, 120.0], [10.0, 3.0, 15.0], size=(40, 3)).round(2)
"""The numbers that every readable file holds."""


@dataclass(frozen=True)
class Awkward:
    """A file, how it is read, and what is to come of it.

    Attributes
    ----------
    name
        Name of the file.
    content
        Its bytes.
    advice
        Options that the error names, without which it is refused; empty where it is read right away.
    words
        What the error says.
    options
        Options that the user passes from the start.
    names, rows
        Variables of the result, and its number of rows.
    left_out
        Columns that are left out.
    reading
        What is said of how it was understood.
    same
        Whether the numbers are those of `ROWS`.
    levels
        What is said of the levels of columns of categories, by their names.
    """

    name: str
    content: bytes
    advice: tuple[dict[str, Any], ...] = ()
    words: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    names: tuple[Any, ...] = NAMES
    rows: int = len(ROWS)
    left_out: tuple[Any, ...] = ()
    reading: str = ""
    same: bool = True
    levels: dict[str, str] = field(default_factory=dict)


def text(
    delimiter: str = ",",
    spell: Callable[[float], str] = "{:.2f}".format,
    header: tuple[str, ...] | None = NAMES,
    before: str = "",
    after: str = "",
    end: str = "\n",
    encoding: str = "utf-8",
    lead: Callable[[int], list[str]] = lambda at: [],
    tail: Callable[[int], list[str]] = lambda at: [],
) -> bytes:
    """Return the rows as a text file."""
    lines = [] if header is None else [delimiter.join(header)]
    lines += [delimiter.join([*lead(at), *map(spell, row), *tail(at)]) for at, row in enumerate(ROWS.tolist())]
    return (before + end.join(lines) + end + after).encode(encoding)


def comma(number: float) -> str:
    return f"{number:.2f}".replace(".", ",")


def thousands(sign: str, decimal: str = ".") -> Callable[[float], str]:
    def spell(number: float) -> str:
        whole, _, rest = f"{number * 1000:,.2f}".replace(",", "§").partition(".")
        return f"{whole.replace('§', sign)}{decimal}{rest}"

    return spell


def excel(sheets: dict[str, list[list[Any]]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, inside in files.items():
            archive.writestr(name, inside)
    return content.getvalue()


def zstd(content: bytes) -> bytes:
    import pyarrow

    return pyarrow.compress(content, codec="zstd", asbytes=True)


def quoted(spell: Callable[[float], str]) -> Callable[[float], str]:
    return lambda number: f'"{spell(number)}"'


PLAIN = text()


def genes() -> bytes:
    lines = [",".join(["gene", *(f"s{at}" for at in range(len(ROWS)))])]
    lines += [
        ",".join([name, *(f"{number:.2f}" for number in column)]) for name, column in zip(NAMES, ROWS.T, strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


OF_FORMATS = [
    Awkward("plain.csv", PLAIN),
    # Signs between cells
    Awkward("semicolons.csv", text(";"), reading="semicolons"),
    Awkward("tabs.csv", text("\t"), reading="tabs"),
    Awkward("bars.txt", text("|")),
    Awkward("spaces.txt", text(" ")),
    Awkward("columns.txt", text("   ", end=" \n")),
    Awkward("commas.tsv", text(), reading="commas"),
    Awkward("told.csv", text(";", before="sep=;\n"), reading="semicolons"),
    Awkward("told.quoted.csv", text(";", before='"sep=;"\r\n', end="\r\n"), reading="semicolons"),
    Awkward("spaced.csv", text(", ")),
    # Decimal signs and thousands
    Awkward("european.csv", text(";", comma), reading="decimal commas"),
    Awkward("european.txt", text("\t", comma), reading="decimal commas"),
    Awkward("european.spaces.txt", text(" ", comma), reading="decimal commas"),
    Awkward("quoted.csv", text(",", quoted(comma)), reading="decimal commas"),
    Awkward("american.csv", text(",", quoted(thousands(","))), reading="commas between thousands", same=False),
    Awkward("german.csv", text(";", thousands(".", ",")), reading="decimal commas", same=False),
    Awkward("swiss.csv", text(";", thousands("'")), reading="between thousands", same=False),
    Awkward("french.csv", text(";", thousands("\u202f", ",")), reading="spaces between thousands", same=False),
    Awkward(
        "ambiguous.csv",
        text(";", lambda number: f"{number / 10:.3f}".replace(".", ",")),
        advice=({"decimal": ","}, {"thousands": ","}),
        words="may be",
        reading="semicolons",
        same=False,
    ),
    Awkward("minus.csv", PLAIN.decode().replace(",2", ",\u22122").encode(), same=False),
    # Titles, comments, units, notes
    Awkward("title.csv", text(before="Clinic export 2024\n\n"), reading="1 title line"),
    Awkward("titles.csv", text(before="Clinic export,,\nWard 7,,\n"), reading="2 title lines"),
    Awkward("comments.csv", text(before="# made by a machine\n# in a hurry\n"), reading="2 title lines"),
    Awkward("savetxt.csv", text(header=None, before="# age,bmi,pressure\n")),
    Awkward("units.csv", text(before="age,bmi,pressure\nyears,kg/m2,mmHg\n", header=None), reading="no numbers"),
    Awkward("notes.csv", text(after="Source: the clinic\n"), reading="1 line of notes"),
    Awkward("blank.csv", text(before="\n\n", after="\n\n")),
    # Names of rows
    Awkward("pandas.csv", text(header=("", *NAMES), lead=lambda at: [str(at)]), left_out=("unnamed 1",)),
    Awkward("r.csv", text(header=("", *NAMES), lead=lambda at: [f'"{at + 1}"']), left_out=("unnamed 1",)),
    Awkward("write.table.txt", text(" ", lead=lambda at: [f'"r{at}"']), left_out=("unnamed 1",)),
    Awkward("trailing.csv", text(header=(*NAMES, ""), tail=lambda at: [""]), left_out=("unnamed 4",)),
    # Encodings
    Awkward("bom.csv", b"\xef\xbb\xbf" + PLAIN),
    Awkward(
        "windows.csv",
        text(header=("größe", "bmi", "puls"), encoding="cp1252"),
        names=("größe", "bmi", "puls"),
        reading="cp1252",
    ),
    Awkward(
        "utf16.csv",
        text(header=("größe", "bmi", "puls"), encoding="utf-16"),
        names=("größe", "bmi", "puls"),
        reading="utf-16",
    ),
    Awkward("bare16.csv", text(encoding="utf-16-le"), advice=({"encoding": "utf-16-le"},), words="zero bytes"),
    Awkward(
        "greek.csv",
        text(header=("ηλικία", "bmi", "x"), encoding="iso8859-7"),
        options={"encoding": "iso8859-7"},
        names=("ηλικία", "bmi", "x"),
    ),
    Awkward("dos.csv", text(end="\r\n")),
    Awkward("mac.csv", text(end="\r")),
    # Packed
    Awkward("packed.csv.gz", gzip.compress(PLAIN)),
    Awkward("packed.csv.bz2", bz2.compress(PLAIN)),
    Awkward("packed.csv.xz", lzma.compress(PLAIN)),
    Awkward("packed.csv.zst", zstd(PLAIN)),
    Awkward("packed.zip", zipped({"rows.csv": PLAIN})),
    # Excel
    Awkward("sheet.xlsx", excel({"data": [list(NAMES), *ROWS.tolist()], "empty": []})),
    Awkward("title.xlsx", excel({"data": [["Clinic"], [], list(NAMES), *ROWS.tolist()]}), reading="1 title line"),
    Awkward(
        "sheets.xlsx",
        excel({"2023": [list(NAMES), *ROWS.tolist()], "2024": [list(NAMES), *(ROWS + 1).tolist()]}),
        advice=({"sheet": "2023"},),
        words="has the sheets '2023', '2024'",
    ),
    # Columns that cannot stand beside others
    Awkward(
        "constant.csv",
        text(header=(*NAMES, "ward"), tail=lambda at: ["7"]),
        advice=({"awkward": "keep-one"},),
        words="constant: 'ward'",
        left_out=("ward",),
    ),
    Awkward(
        "copy.csv",
        text(header=(*NAMES, "months"), tail=lambda at: [f"{12 * ROWS[at, 0]:.6f}"]),
        advice=({"awkward": "keep-one"},),
        words="'months' is a copy of 'age' up to scale",
        left_out=("months",),
    ),
    Awkward(
        "sum.csv",
        text(header=(*NAMES, "sum"), tail=lambda at: [f"{ROWS[at].sum():.6f}"]),
        advice=({"awkward": "keep-one"},),
        words="'sum' is a linear combination of 'age', 'bmi', 'pressure'",
        left_out=("sum",),
    ),
    # Turned round, without a header, or no table
    Awkward("genes.csv", genes(), options={"transpose": True}, reading="rows taken as variables"),
    Awkward(
        "years.csv",
        text(header=None),
        advice=({"header": False}, {"header": True}),
        words="holds only numbers",
        names=tuple(f"{number:.2f}" for number in ROWS[0]),
        rows=len(ROWS) - 1,
        same=False,
    ),
]


@dataclass(frozen=True)
class Refused:
    """A file that no option makes a table, what the error says, and the content once its advice is followed."""

    name: str
    content: bytes
    words: str
    mended: bytes


REFUSED = [
    Refused("empty.csv", b"", "is empty", PLAIN),
    Refused("one.csv", PLAIN[: PLAIN.index(b"\n", PLAIN.index(b"\n") + 1) + 1], "Found 1 sample", PLAIN),
    Refused("twice.csv", PLAIN.replace(b"bmi", b"age"), "Several columns are called 'age'", PLAIN),
    Refused(
        "ragged.csv", PLAIN + b"1,2\n" + PLAIN.split(b"\n", 1)[1], "found 2 cells where the first line has 3", PLAIN
    ),
    Refused("nameless.csv", PLAIN.replace(b"bmi", b""), "no name to column 2", PLAIN),
    Refused("cut.csv.gz", gzip.compress(PLAIN)[:-20], "is damaged", gzip.compress(PLAIN)),
    Refused("two.zip", zipped({"a.csv": PLAIN, "b.csv": PLAIN}), "it needs one file", zipped({"a.csv": PLAIN})),
    Refused("broken.xlsx", b"PK not a workbook", "no Excel file", excel({"s": [list(NAMES), *ROWS.tolist()]})),
    Refused(
        "words.csv", b"name,town\nann,rome\nbob,oslo\ncat,bern\ndan,rome\n", "not numbers: 'name' (text, all", PLAIN
    ),
]
"""Each with the file that follows from doing what the error says."""
