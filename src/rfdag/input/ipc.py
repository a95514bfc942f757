"""What an Arrow IPC file unpacks to, as it says itself before anything is unpacked.

Such a file ends with a footer, a flat buffer that says where its messages begin. Each of them has metadata, a flat
buffer as well, and a body. A buffer of the body that is compressed begins with the number of bytes that it becomes, and
Arrow refuses one that becomes more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import FileError
from rfdag.input.files import require_memory
from rfdag.runtime.unpacking import require_plausible

LEAD = 8
"""Bytes of the number before each compressed buffer."""
MARK = b"ARROW1"
"""The last bytes of a file, behind the length of its footer."""
BLOCK = 24
"""Bytes of an entry of the footer, which begins with the place of a message."""
MESSAGES = (2, 3)
"""Places of fields in the footer: the batches of dictionaries, and those of rows."""
HEADER, DATA, BUFFERS, COMPRESSION = 2, 1, 2, 3
"""Places of fields: the header in a message, rows in a batch of a dictionary, and two in a batch of rows."""
UNCOMPRESSED = "If you trust it, read it with pyarrow and save it again without compression."
"""What to do with a file that is refused."""


def require_room(path: Path, arrow: Any) -> None:
    """Raise if a batch of a file does not fit into memory, or the file unpacks to implausibly much."""
    total = 0.0
    with arrow.memory_map(str(path)) as source:
        for start in _starts(path, source):
            source.seek(start)
            size = _unpacked(path, arrow.ipc.read_message(source))
            total += size
            require_memory(path, size, UNCOMPRESSED)
            require_plausible(path, total, UNCOMPRESSED)


def _starts(path: Path, source: Any) -> list[int]:
    """Return where the messages of a file begin, as its footer has it."""
    end = source.size() - len(MARK) - 4
    source.seek(max(end, 0))
    length = int.from_bytes(source.read(4), "little", signed=True)
    try:
        source.seek(end - length)
        footer = np.frombuffer(source.read(length), np.uint8)
        found: list[int] = []
        for place in (_field(footer, _number(footer, 0), message) for message in MESSAGES):
            if place:
                first = _table(footer, place) + 4
                blocks = footer[first : first + BLOCK * _number(footer, first - 4)].reshape(-1, BLOCK)
                found += blocks[:, :8].copy().view("<i8")[:, 0].tolist()
    except (IndexError, ValueError, OSError):
        raise _damaged(path) from None
    return found


def _damaged(path: Path) -> FileError:
    return FileError(f"{path} is damaged, cut short or not an Arrow IPC file. Write it again.")


def _unpacked(path: Path, message: Any) -> float:
    """Return the bytes that a message unpacks to; 0 if nothing in it is compressed."""
    if message.type not in ("record batch", "dictionary"):
        return 0.0
    try:
        content = np.frombuffer(message.metadata, np.uint8)
        batch = _table(content, _field(content, _number(content, 0), HEADER))
        if message.type == "dictionary":
            batch = _table(content, _field(content, batch, DATA))
        if not _field(content, batch, COMPRESSION):
            return 0.0
        place = _table(content, _field(content, batch, BUFFERS))
        count = _number(content, place)
        where = content[place + 4 : place + 4 + 16 * count].view("<i8").reshape(count, 2)
        starts = where[where[:, 1] > LEAD, 0]
        body = np.frombuffer(message.body, np.uint8)
        sizes = body[starts[:, None] + np.arange(LEAD)].reshape(-1).view("<i8")
    except (IndexError, ValueError):
        raise _damaged(path) from None
    # Buffers that packing would not make smaller are stored as they are, behind -1.
    return float(sizes[sizes > 0].sum(dtype=np.float64))


def _number(content: NDArray[np.uint8], place: int) -> int:
    return int(content[place : place + 4].view("<i4")[0])


def _table(content: NDArray[np.uint8], place: int) -> int:
    """Return where the table or list begins that a field points to."""
    return place + _number(content, place)


def _field(content: NDArray[np.uint8], table: int, number: int) -> int:
    """Return the place of a table's field; 0 if the table leaves it out."""
    shape = table - _number(content, table)
    size = int(content[shape : shape + 2].view("<u2")[0])
    at = 4 + 2 * number
    offset = int(content[shape + at : shape + at + 2].view("<u2")[0]) if at < size else 0
    return table + offset if offset else 0
