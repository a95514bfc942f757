"""Text files larger than memory: cut at the ends of lines, and parsed by pyarrow where the numbers are worked on."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import FileError
from rfdag.input.arrow import block_of, floats, require_pyarrow
from rfdag.input.cells import check_named, ragged
from rfdag.input.coding import NAMED, Encoded, Entry, Reading
from rfdag.input.description import Description
from rfdag.input.dialect import LINES_LOOKED_AT, rows_of
from rfdag.input.files import Version, reading
from rfdag.input.frames import coded
from rfdag.input.numbers import BOOLEANS, Spelling
from rfdag.input.packing import FALLBACK, encoding_of
from rfdag.input.pieces import File, Piece
from rfdag.input.text import beginning_of
from rfdag.input.words import Words, not_numbers
from rfdag.runtime.unpacking import is_packed, opened

Floats = NDArray[np.float64]

BYTES_AT_ONCE = 2**24
"""Size of the blocks of lines."""

LONGEST_LINE = 2**28
"""Bytes within which a line has to end."""


class TextFile(File):
    """A CSV, TSV or TXT file, with the meaning of headers, decimal signs and missing cells that small ones have."""

    def __init__(self, path: Path, form: Description) -> None:
        require_pyarrow()
        self.path, self._version = path, Version.of(path)
        with reading(path, self._version):
            first = self._first_lines()
            self._encoding = encoding_of(first, path, form.encoding)
            if "16" in self._encoding or "32" in self._encoding:
                raise FileError(
                    f"{path} is large and in {self._encoding}; large text is read in UTF-8 and encodings of one byte a "
                    "letter. Save it as UTF-8."
                )
            lines = first.decode(self._encoding, errors="replace").splitlines(keepends=True)
            start = beginning_of(path, lines, form)
            self.weight = float(path.stat().st_size)
        heading = start.heading
        self._offset = int(heading.labelled)
        self._cells = len(heading.names)
        every = heading.names[self._offset :]
        check_named(path, every, self._offset)
        self.names = tuple(every)
        self._lines, self._dialect = start.lines, start.dialect
        self.words = self._words_in(lines)
        # In bytes beyond ASCII only the names and words differ.
        self._decoding = FALLBACK if self._encoding == "utf-8-sig" else self._encoding
        self._is_utf8 = self._encoding.lower().replace("_", "-") in ("utf-8", "utf-8-sig", "utf8")

    def _first_lines(self) -> bytes:
        """Return the first lines as bytes, whole."""
        with opened(self.path) as handle:
            lines = []
            for _ in range(LINES_LOOKED_AT):
                line = handle.readline(LONGEST_LINE)
                self._check_line_ends(line)
                lines.append(line)
        return b"".join(lines)

    def _words_in(self, lines: Sequence[str]) -> dict[Hashable, Words]:
        """Return the columns whose first cells are not numbers, with what they hold."""
        rows = [
            (f"line {line}", cells)
            for line, cells in rows_of(lines[self._lines :], self._dialect.delimiter, self._lines)
            if len(cells) == self._cells
        ]
        words: dict[Hashable, Words] = {}
        for at, name in enumerate(self.names, self._offset):
            cells = [line[at] for _, line in rows]
            column = self._dialect.spelling.column(cells, [place for place, _ in rows])
            if isinstance(column, Words):
                words[name] = column._replace(coded=None)
        return words

    def pieces(self, names: Sequence[object], how: Reading | None = None) -> Iterator[Piece]:
        """Yield one piece for every block of lines."""
        place = {name: at for at, name in enumerate(self.names)}
        places = [place[name] + self._offset for name in names]
        with reading(self.path, self._version):
            for before, text in self._blocks():
                # Compressed files are weighed as they are stored; what they become shows only when it is read.
                yield Piece(self._parser(text, before, places, how), 0.0 if is_packed(self.path) else len(text))

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each with the number of lines before it."""
        with opened(self.path) as handle:
            lead = handle.read(len(codecs.BOM_UTF8))
            rest = b"" if lead == codecs.BOM_UTF8 else lead
            before = 0
            while read := handle.read(BYTES_AT_ONCE):
                text = rest + read
                while before < self._lines and b"\n" in text:
                    _, text = text.split(b"\n", 1)
                    before += 1
                cut = _end_of_last_line(text)
                if cut:
                    yield before, text[:cut]
                    before += text.count(b"\n", 0, cut)
                elif len(text) > LONGEST_LINE:
                    self._check_line_ends(text)
                rest = text[cut:]
            if rest and before >= self._lines:
                yield before, rest

    def _check_line_ends(self, line: bytes) -> None:
        if b"\r" in line.rstrip(b"\r\n") or len(line) >= LONGEST_LINE:
            raise FileError(
                f"{self.path} has no line that ends within {LONGEST_LINE >> 20} MB. Lines end in '\\n' or '\\r\\n'; "
                "write the file again."
            )

    def _parser(self, text: bytes, before: int, places: list[int], how: Reading | None) -> Callable[[], Iterator[Any]]:
        if how is not None:
            # What looks like numbers is read as text as well, and turned into numbers one spelling at a time.
            named = frozenset(
                at for at, kind in how.kinds.items() if kind == NAMED and self._name(places[at]) not in self.words
            )
            how = how._replace(of=partial(_with_numbers, self._dialect.spelling, named, how.of))

        def read() -> Iterator[Any]:
            with reading(self.path, self._version):
                block = self._parse_fast(text, places, how)
                if block is None:
                    # pyarrow stops at the first cell it cannot read; the error is to name every such column.
                    block = self._parse(text, before, places, how)
            yield block

        return read

    def _name(self, place: int) -> Hashable:
        return self.names[place - self._offset]

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode(self._encoding)
        except UnicodeDecodeError:
            return text.decode(self._decoding, errors="replace")

    def _parse(self, text: bytes, before: int, places: list[int], how: Reading | None) -> Any:
        """Return the numbers of some lines, read cell by cell; raise if they are not all numbers."""
        lines = self._decoded(text)
        rows = list(rows_of(io.StringIO(lines, newline=""), self._dialect.delimiter, before))
        for line, cells in rows:
            if len(cells) != self._cells:
                raise ragged(self.path, "line", line, len(cells), self._cells)
        where = [f"line {line}" for line, _ in rows]
        block = np.full((len(rows), len(places)), np.nan, order="F")
        words: dict[Hashable, Words] = {}
        encoded = {}
        for to, at in enumerate(places):
            cells_of = [cells[at] for _, cells in rows]
            if how is not None and to in how.kinds:
                codes, entries = coded(cells_of)
                encoded[to] = Encoded(codes, entries)
                continue
            column = self._dialect.spelling.column(cells_of, where)
            if isinstance(column, Words) and self._dialect.spelling.are_numbers(cells_of):
                # True and false among other lines with numbers.
                column = np.array([self._dialect.spelling.number(cell) for cell in cells_of])
            if isinstance(column, Words):
                words[self._name(at)] = column
            else:
                block[:, to] = column
        if words:
            # Its first lines hold numbers, or it would have been taken for one of categories.
            raise not_numbers(str(self.path), words, len(places) - len(words))
        return block if how is None else how.of(block, encoded)

    def _parse_fast(self, text: bytes, places: list[int], how: Reading | None) -> Any:
        """Return the numbers of some lines, or None if they are not all plain numbers."""
        arrow = require_pyarrow()
        from pyarrow import csv

        delimiter, spelling = self._dialect
        if spelling.thousands is not None or delimiter == " ":
            return None
        columns = [str(at) for at in range(self._cells)]
        wanted = [columns[at] for at in places]
        texts = [columns[places[at]] for at in how.kinds] if how is not None else []
        if texts and not self._is_utf8:
            text = self._decoded(text).encode()
        try:
            table = csv.read_csv(
                arrow.BufferReader(text),
                read_options=csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=columns),
                parse_options=csv.ParseOptions(delimiter=delimiter),
                convert_options=csv.ConvertOptions(
                    decimal_point=spelling.decimal,
                    include_columns=wanted,
                    column_types=dict.fromkeys(texts, arrow.string()),
                    null_values=_spellings(spelling.missing),
                    true_values=_spellings({word for word, value in BOOLEANS.items() if value}),
                    false_values=_spellings({word for word, value in BOOLEANS.items() if not value}),
                ),
            )
        except MemoryError:
            raise
        except (arrow.ArrowException, ValueError):
            return None
        types = arrow.types
        plain = (types.is_floating, types.is_integer, types.is_boolean, types.is_null)
        numbers = [each.type for each in table.schema if each.name not in texts]
        if not all(any(test(kind) for test in plain) for kind in numbers):
            return None
        return floats(table, wanted, str(self.path)) if how is None else block_of(table, wanted, str(self.path), how)


def _with_numbers(
    spelling: Spelling,
    named: frozenset[int],
    of: Callable[[Floats, Mapping[int, Encoded]], Any],
    block: Floats,
    columns: Mapping[int, Encoded],
) -> Any:
    """Return what is made of columns of text, some of which are numbers wherever they look like numbers."""
    return of(block, {at: _as_numbers(each, spelling) if at in named else each for at, each in columns.items()})


def _as_numbers(column: Encoded, spelling: Spelling) -> Encoded:
    entries: dict[Entry, int] = {}
    places = []
    for entry in column.entries:
        plain = spelling.plain(str(entry))
        if plain == "nan":
            places.append(-1)
        else:
            places.append(entries.setdefault(str(entry) if plain is None else float(plain), len(entries)))
    return Encoded(np.array([*places, -1], np.int64)[column.codes], tuple(entries))


def _spellings(words: set[str] | frozenset[str]) -> list[str]:
    """Return words as they are commonly written.

    >>> _spellings({"nan"})
    ['NAN', 'NaN', 'Nan', 'nan']
    """
    variants = {spelt for word in words for spelt in (word, word.upper(), word.capitalize())}
    return sorted(variants | ({"NaN"} if "nan" in words else set()))


def _end_of_last_line(text: bytes) -> int:
    r"""Return where the last whole line ends, or 0; a line end within quotes is none.

    >>> _end_of_last_line(b'1,2\n3,"4\n')
    4
    """
    end = text.rfind(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:
        end = text.rfind(b"\n", 0, end - 1) + 1
    return end
