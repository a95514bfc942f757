"""Text files larger than memory: cut at the ends of lines, and parsed by pyarrow where the numbers are worked on."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import FileError
from rfdag.input.arrow import floats, require_pyarrow
from rfdag.input.description import Description
from rfdag.input.files import reading
from rfdag.input.pieces import File, Piece
from rfdag.input.text import BOOLEANS, MISSING, check_named, parse, read_heading, rows_of

Floats = NDArray[np.float64]

BYTES_AT_ONCE = 2**24
"""Size of the blocks of lines."""

LONGEST_LINE = 2**28
"""Bytes within which a line has to end."""


class TextFile(File):
    """A CSV, TSV or TXT file, with the meaning of headers, decimal signs and missing cells that small ones have."""

    def __init__(self, path: Path, form: Description) -> None:
        require_pyarrow()
        self.path, self._decimal = path, form.decimal
        with reading(path):
            heading = read_heading(path, form)
            self.weight = float(path.stat().st_size)
        check_named(path, heading.names)
        self.names, self._lines, self._delimiter = heading.names, heading.lines, heading.delimiter

    def pieces(self, names: Sequence[Hashable]) -> Iterator[Piece]:
        """Yield one piece for every block of lines."""
        places = [self.names.index(name) for name in names]
        with reading(self.path):
            for before, text in self._blocks():
                yield Piece(self._parser(text, before, places), len(text))

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, each with the number of lines before it."""
        with open(self.path, "rb") as handle:
            if handle.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
                handle.seek(0)
            for _ in range(self._lines):
                self._check_line_ends(handle.readline(LONGEST_LINE))
            before, rest = self._lines, b""
            while read := handle.read(BYTES_AT_ONCE):
                text = rest + read
                cut = _end_of_last_line(text)
                if cut:
                    yield before, text[:cut]
                    before += text.count(b"\n", 0, cut)
                elif len(text) > LONGEST_LINE:
                    self._check_line_ends(text)
                rest = text[cut:]
            if rest:
                yield before, rest

    def _check_line_ends(self, line: bytes) -> None:
        if b"\r" in line.rstrip(b"\r\n") or len(line) >= LONGEST_LINE:
            raise FileError(
                f"{self.path} has no line that ends within {LONGEST_LINE >> 20} MB. Lines end in '\\n' or '\\r\\n'; "
                "write the file again."
            )

    def _parser(self, text: bytes, before: int, places: list[int]) -> Callable[[], Iterator[Floats]]:
        def read() -> Iterator[Floats]:
            with reading(self.path):
                block = self._parse_fast(text, places)
                if block is None:
                    # pyarrow stops at the first cell it cannot read; the error is to name every such column.
                    lines = rows_of(io.StringIO(text.decode(), newline=""), self._delimiter, before)
                    block = parse(self.path, list(lines), self.names, self._decimal)[:, places]
            yield block

        return read

    def _parse_fast(self, text: bytes, places: list[int]) -> Floats | None:
        """Return the numbers of some lines, or None if they are not all plain numbers."""
        arrow = require_pyarrow()
        from pyarrow import csv

        columns = [str(at) for at in range(len(self.names))]
        try:
            table = csv.read_csv(
                arrow.BufferReader(text),
                read_options=csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=columns),
                parse_options=csv.ParseOptions(delimiter=self._delimiter),
                convert_options=csv.ConvertOptions(
                    decimal_point=self._decimal,
                    null_values=_spellings(MISSING),
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
        if not all(any(test(kind) for test in plain) for kind in table.schema.types):
            return None
        return floats(table, [columns[at] for at in places], str(self.path))


def _spellings(words: set[str]) -> list[str]:
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
