"""Bytes that come from elsewhere than a file, written to one for as long as they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rfdag.errors import RfdagError

LEADS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
    b"PK\x03\x04": ".xlsx",
}
"""First bytes of files, and the endings that such files have."""


def ending_of(content: bytes) -> str:
    """Return the ending of a file with this content, told from its first bytes; that of a text file otherwise.

    >>> ending_of(b"PAR1..."), ending_of(b"a,b"), ending_of(bytes([0x1F, 0x8B, 8]))
    ('.parquet', '.csv', '.csv.gz')
    """
    return next((ending for lead, ending in LEADS.items() if content.startswith(lead)), ".csv")


@contextmanager
def spooled(content: bytes, called: str) -> Iterator[Path]:
    """Yield the path of a file with this content; errors that name it call it ``called`` instead."""
    with tempfile.TemporaryDirectory(prefix="rfdag-") as folder:
        path = Path(folder) / f"input{ending_of(content)}"
        path.write_bytes(content)
        try:
            yield path
        except RfdagError as problem:
            problem.args = (type(problem.message)(problem.message.template.replace(str(path), called)),)
            raise
