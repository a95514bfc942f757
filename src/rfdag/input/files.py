"""What can go wrong with any file: it is not there, may not be read, is damaged, or is larger than memory."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rfdag.errors import FileError, RfdagError, keyword
from rfdag.runtime.memory import available_memory

DAMAGED = (EOFError, OSError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What unpacking raises for archives that are damaged, encrypted, or packed in a way that Python does not know."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong when a file is read into errors that say what to do."""
    try:
        yield
    except RfdagError:
        raise
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name, or the folder: {path.parent.resolve()}") from None
    except PermissionError:
        raise FileError(f"{path} may not be read by this user; change its permissions or copy it.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is damaged or not in UTF-8; save it as UTF-8 text.") from None
    except MemoryError:
        raise FileError(f"{path} needs more memory than is free. {IN_PIECES}") from None
    except DAMAGED as problem:
        raise FileError(f"{path} is damaged or not what its ending says ({problem}); write it again.") from None


IN_PIECES = (
    "Save it as Parquet, which is read in pieces, read fewer columns or rows, or compute the correlation matrix "
    f"elsewhere and pass it with {keyword('n_samples')} and {keyword('input', 'correlation')}."
)
"""What to do with a file that is too large to be read as a whole."""


def require_memory(what: object, needed: float, advice: str = IN_PIECES) -> None:
    """Raise unless so many bytes of memory are free for what is to be read."""
    free = available_memory()
    if needed > free:
        raise FileError(
            f"{what} needs about {needed / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free. {advice}"
        )
