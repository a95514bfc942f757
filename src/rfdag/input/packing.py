"""The bytes of a file, unpacked where it is compressed, and their text in the encoding that fits."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import NamedTuple

from rfdag.errors import FileError, keyword
from rfdag.input.files import require_memory
from rfdag.runtime.unpacking import PROBLEMS, UNPACK, opened

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

BYTES_AT_ONCE = 2**22

MEMORY_OF_TEXT = 8.0
"""Bytes of memory that are needed for each byte of text that is read as a whole: a cell takes at least two bytes, and a
number eight; twice, since its parts are put together."""

FALLBACK = "cp1252"
"""Encoding of text that is not UTF-8: that of Windows in Western Europe and America."""


def kind_of(path: Path) -> str:
    """Return the ending that says what a file holds, without that of its compression.

    >>> kind_of(Path("rows.CSV.gz")), kind_of(Path("rows.parquet")), kind_of(Path("rows.zip"))
    ('.csv', '.parquet', '.csv')
    """
    ending = path.suffix.lower()
    if ending not in UNPACK:
        return ending
    # An archive is called what its maker likes; tables in one are text.
    return Path(path.stem).suffix.lower() or ".csv"


def all_bytes(path: Path) -> bytes:
    """Return all bytes of a file, unpacked; raise if they do not fit into memory."""
    try:
        with opened(path) as handle:
            parts, size = [], 0
            while part := handle.read(BYTES_AT_ONCE):
                parts.append(part)
                size += len(part)
                # Compressed bytes do not say how many they become.
                require_memory(path, MEMORY_OF_TEXT * size)
    except PROBLEMS as problem:
        raise FileError(f"{path} is damaged or not what its ending says ({problem}); write it again.") from None
    return b"".join(parts)


class Decoded(NamedTuple):
    """Text, the encoding it was written in, and whether that was to be expected."""

    text: str
    encoding: str
    usual: bool


def encoding_of(sample: bytes, path: Path, asked: str | None) -> str:
    """Return the encoding of a file, from its first bytes; "utf-8-sig" unless something else is asked for or found."""
    if asked is not None:
        return "utf-8-sig" if codecs.lookup(asked).name == "utf-8" else asked
    if sample.startswith(UTF16):
        return "utf-16"
    if b"\0" in sample[:4096]:
        raise FileError(
            f"{path} holds zero bytes, as text in UTF-16 without a mark does, or no text at all. Pass "
            f"{keyword('encoding', 'utf-16-le')} if it is text, or check what kind of file it is."
        )
    return "utf-8-sig"


def decoded(content: bytes, path: Path, asked: str | None) -> Decoded:
    """Return the text of a file: in the encoding asked for, or UTF-8, or cp1252 where that does not fit."""
    encoding = encoding_of(content, path, asked)
    try:
        return Decoded(content.decode(encoding), encoding, asked is not None or encoding == "utf-8-sig")
    except UnicodeDecodeError as problem:
        if asked is not None:
            raise FileError(
                f"{path} is not in the encoding {asked!r} (byte {problem.start}). Leave {keyword('encoding')} out to "
                "have it found."
            ) from None
    # A few bytes that mean nothing in it stay as they are: they are no reason to refuse the numbers.
    text = content.decode(FALLBACK, errors="replace")
    return Decoded(text, FALLBACK, False)
