"""Changes of bytes that turn a whole file into a damaged or a hostile one."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

import numpy as np

TOKENS = (
    b"", b"\0", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b";", b"\t", b" ", b"{", b"}", b"[", b"]", b":", b"-", b"--",
    b"->",
    b"NaN", b"Infinity", b"-Infinity", b"null", b"true", b"1e999", b"-1", b"9" * 30, b"9" * 5000, b"[" * 5000,
    b"{" * 50,
    b'{"a":' * 3000, b"(" * 400, b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xe2\x80\xa8",
    b"\x1a", b"a" * 200_000,
    b"#", b"//", b"/*", b"sep=;", b"=cmd()", b"<!--", b"</script>", b"%s%n", b"../..", b"1,2", b"1.2.3", b"0x1f",
    b"1_000",
    b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"2026-01-01", b"yes", b"NA", b"\\", b"\\u0000",
    "\ud83d".encode("utf-8", "surrogatepass"),
)  # fmt: skip
"""What is put into files: delimiters, numbers at limits, nesting, marks of encodings, what other programs execute."""


def mutated(content: bytes, generator: np.random.Generator) -> bytes:
    """Return a content with one to eight changes: bytes replaced, pieces removed, repeated, moved, tokens put in."""
    found = bytearray(content)
    for _ in range(int(generator.integers(1, 9))):
        size = len(found)
        at, end = sorted(generator.integers(0, size + 1, 2).tolist())
        end = min(end, at + int(generator.integers(1, 60)))
        kind = int(generator.integers(0, 7))
        if kind == 0 and size:
            found[min(at, size - 1)] = int(generator.integers(0, 256))
        elif kind == 1:
            del found[at:end]
        elif kind == 2:
            found[at:at] = found[at:end] * int(generator.integers(1, 20))
        elif kind == 3:
            found[at:end] = TOKENS[int(generator.integers(0, len(TOKENS)))]
        elif kind == 4:
            found[at:at] = TOKENS[int(generator.integers(0, len(TOKENS)))]
        elif kind == 5 and generator.random() < 0.3:
            del found[at:]
        elif kind == 6:
            piece = bytes(found[at:end])
            to = int(generator.integers(0, size + 1))
            found[to:to] = piece
    return bytes(found)


def mutated_within(content: bytes, generator: np.random.Generator) -> bytes:
    """Return a content with changes of what is compressed in it, so that they get past its checksums.

    Content that is not compressed, or damaged beyond unpacking, is changed as it is.
    """
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.compress(mutated(gzip.decompress(content), generator), 1)
        if content.startswith(b"PK"):
            return _with_changed_member(content, generator)
    except (OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zlib.error, zipfile.BadZipFile):
        pass
    return mutated(content, generator)


def _with_changed_member(content: bytes, generator: np.random.Generator) -> bytes:
    """Return an archive one of whose members has changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(each.filename, archive.read(each)) for each in archive.infolist()]
    changed, handle = int(generator.integers(0, len(members))), io.BytesIO()
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (name, held) in enumerate(members):
            archive.writestr(name, mutated(held, generator) if at == changed else held)
    return handle.getvalue()
