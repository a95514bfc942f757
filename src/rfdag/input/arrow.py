"""Arrow's tables and files in pieces: Parquet, Feather and IPC files, tables, datasets and streams of batches."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, FileError
from rfdag.input.checks import check_duplicates
from rfdag.input.coding import Encoded, Reading, encoded_numbers, shared_order
from rfdag.input.files import Version, reading
from rfdag.input.ipc import UNCOMPRESSED, require_room
from rfdag.input.pieces import File, Piece, Pieces
from rfdag.input.table import rows_per_block
from rfdag.input.words import TEXT, Words
from rfdag.runtime.memory import available_memory
from rfdag.runtime.unpacking import require_plausible

Floats = NDArray[np.float64]

INDEX = "__index_level_"
"""How the columns begin in which pandas hides its index."""

CELLS_READ_AT_ONCE = 2**27
"""Numbers in a row group above which its rows are read one block after the other and handed out to the threads."""

BUFFER = 2**16
"""Bytes of each column that are read ahead."""

BYTES_PER_COLUMN = 3 * 2**20
"""Memory that a reader of Parquet takes for each column: a dictionary and a page, packed and unpacked."""


def require_pyarrow() -> ModuleType:
    """Import pyarrow, or say how to install it."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError(
            "Reading Parquet, Feather and Arrow files, and text files larger than memory, needs pyarrow: "
            "pip install 'rfdag[parquet]'"
        ) from None


def is_stream(source: object) -> bool:
    """Return whether a source is one of Arrow's tables, datasets or readers."""
    if not type(source).__module__.startswith("pyarrow"):
        return False
    arrow = require_pyarrow()
    from pyarrow import dataset

    kinds = (arrow.Table, arrow.RecordBatchReader, dataset.Dataset, dataset.Scanner)
    return isinstance(source, kinds)


def in_pieces(source: Any, threads: int) -> Pieces:
    """Return the rows of a table, dataset, scanner or reader of batches in pieces."""
    arrow = require_pyarrow()
    from pyarrow import dataset

    # A dataset may call its columns' schema by another name than a scanner does.
    schema = source.projected_schema if isinstance(source, dataset.Scanner) else source.schema
    names, words = columns_in(schema)
    whole, held = isinstance(source, dataset.Dataset), isinstance(source, arrow.Table)

    def cut(places: Sequence[int], reading: Reading | None = None) -> Iterator[Piece]:
        wanted = [names[at] for at in places]
        step = rows_per_block(len(wanted))
        if whole:
            scanner = source.scanner(
                columns=wanted, batch_size=step, batch_readahead=4, fragment_readahead=1, use_threads=threads > 1
            )
            batches = scanner.to_batches()
        elif held:
            batches = source.select(wanted).to_batches(max_chunksize=step)
        else:
            batches = source.to_batches() if isinstance(source, dataset.Scanner) else source
        return _handed_out(batches, wanted, "The table", reading)

    rows = source.num_rows if held else None
    return Pieces(
        tuple(names),
        cut,
        rows,
        rows,
        in_memory=held,
        repeatable=held or whole,
        words={at: words[name] for at, name in enumerate(names) if name in words},
        cut_as=cut,
        threads=threads,
    )


class ParquetFile(File):
    """A Parquet file: its columns are known at once, its row groups are read where they are worked on."""

    def __init__(self, path: Path) -> None:
        self.path, self._version = path, Version.of(path)
        with self._reading(), self._open() as file:
            self._metadata = file.metadata
            schema = file.schema_arrow
        groups = map(self._metadata.row_group, range(self._metadata.num_row_groups))
        require_plausible(path, sum(group.total_byte_size for group in groups), UNCOMPRESSED)
        found, self.words = columns_in(schema)
        self.names = tuple(found)
        self.rows = int(self._metadata.num_rows)
        self.weight = float(self.rows)

    def _open(self, metadata: Any = None) -> Any:
        require_pyarrow()
        from pyarrow import parquet

        return parquet.ParquetFile(
            self.path, metadata=metadata, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
        )

    def readers(self) -> int:
        """Return how many readers may be at work without their pages filling the memory."""
        return max(1, int(available_memory() / 4 / (BYTES_PER_COLUMN * max(len(self.names), 1))))

    def pieces(self, names: Sequence[str], reading: Reading | None = None) -> Iterator[Piece]:
        """Yield pieces of one or more row groups."""
        step = rows_per_block(len(names))
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        for groups in _runs(sizes, step):
            rows = sum(sizes[group] for group in groups)
            if rows * len(names) > CELLS_READ_AT_ONCE:
                yield from _handed_out(self._batches(groups, names, step), names, str(self.path), reading)
            else:
                yield Piece(self._reader(groups, names, step, reading), rows)

    def _reader(
        self, groups: list[int], names: Sequence[str], step: int, reading: Reading | None
    ) -> Callable[[], Iterator[Any]]:
        def read() -> Iterator[Any]:
            for table in _tables(self._batches(groups, names, step), step):
                yield block_of(table, names, str(self.path), reading)

        return read

    def _batches(self, groups: list[int], names: Sequence[str], step: int) -> Iterator[Any]:
        with self._reading(), self._open(self._metadata) as file:
            yield from file.iter_batches(step, row_groups=groups, columns=list(names), use_threads=False)

    def _reading(self) -> AbstractContextManager[None]:
        return _reading(self.path, "a Parquet file", self._version)


class IpcFile(File):
    """A Feather or Arrow IPC file, whose record batches are read one at a time."""

    def __init__(self, path: Path) -> None:
        self.path, self._version = path, Version.of(path)
        with self._reading(), self._open() as reader:
            require_room(path, require_pyarrow())
            schema = reader.schema
            self._batches = reader.num_record_batches
        self._fields = schema.names
        found, self.words = columns_in(schema)
        self.names = tuple(found)
        # The number of rows of a batch is known only once it is read.
        self.weight = float(self._batches)

    def _open(self, names: Sequence[str] = ()) -> Any:
        """Open it, for some of its columns only where they are named."""
        arrow = require_pyarrow()
        options = arrow.ipc.IpcReadOptions(included_fields=[self._fields.index(name) for name in names])
        # Not mapped into memory: a process that reads a mapped file dies when another one cuts it short.
        return arrow.ipc.open_file(arrow.OSFile(str(self.path)), options=options)

    def _reading(self) -> AbstractContextManager[None]:
        return _reading(self.path, "an Arrow IPC file", self._version)

    def pieces(self, names: Sequence[str], reading: Reading | None = None) -> Iterator[Piece]:
        """Yield one piece for every record batch."""
        for at in range(self._batches):
            yield Piece(self._reader(at, names, reading), 1.0)

    def _reader(self, at: int, names: Sequence[str], reading: Reading | None) -> Callable[[], Iterator[Any]]:
        def read() -> Iterator[Any]:
            with self._reading(), self._open(names) as reader:
                batch = reader.get_batch(at)
                # Places and lengths in the file are taken as they are otherwise, even where they point beyond it.
                batch.validate(full=True)
            step = rows_per_block(len(names))
            for start in range(0, batch.num_rows, step):
                yield block_of(batch.slice(start, step), names, str(self.path), reading)

        return read


@contextmanager
def _reading(path: Path, kind: str, version: Version | None) -> Iterator[None]:
    arrow = require_pyarrow()
    with reading(path, version):
        try:
            yield
        except arrow.ArrowMemoryError as problem:
            raise FileError(
                f"{path} is damaged, or needs more memory than there is ({problem}). Write it again, in smaller groups "
                "of rows."
            ) from None
        except (FileNotFoundError, PermissionError, MemoryError):
            raise
        except (arrow.ArrowException, OSError) as problem:
            reason = str(problem).splitlines()[0].rstrip(".")
            raise FileError(f"{path} is damaged, cut short or not {kind} ({reason}). Write it again.") from None


def columns_in(schema: Any) -> tuple[list[str], dict[Hashable, Words]]:
    """Return the names of the columns, without the index of pandas, and those that are not numbers; raise for twins."""
    fields = [field for field in schema if not field.name.startswith(INDEX)]
    names = [field.name for field in fields]
    check_duplicates(names)
    return names, {field.name: Words(_kind(field.type)) for field in fields if not _is_number(field.type)}


def _kind(kind: Any) -> str:
    """Return what a column of another type than numbers holds, in a word or two."""
    types = require_pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view, types.is_boolean)):
        return TEXT
    return str(kind)


def _is_number(kind: Any) -> bool:
    types = require_pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_floating, types.is_integer, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def floats(table: Any, names: Sequence[str], where: str) -> Floats:
    """Return columns of a table or batch as an array of doubles in Fortran's order, NaN where a value is missing."""
    block = np.empty((table.num_rows, len(names)), order="F")
    for at, name in enumerate(names):
        block[:, at] = _numbers_in(table.column(name), name, where)
    return block


def block_of(table: Any, names: Sequence[str], where: str, reading: Reading | None) -> Any:
    """Return columns of a table or batch as numbers, or as a reading makes them."""
    if reading is None:
        return floats(table, names, where)
    block = np.full((table.num_rows, len(names)), np.nan, order="F")
    encoded = {}
    for at, name in enumerate(names):
        if at in reading.kinds:
            encoded[at] = _encoded(table.column(name), name, where)
        else:
            block[:, at] = _numbers_in(table.column(name), name, where)
    return reading.of(block, encoded)


def _numbers_in(column: Any, name: str, where: str) -> Floats:
    """Return a column as doubles."""
    arrow = require_pyarrow()
    if arrow.types.is_dictionary(column.type):
        from pyarrow import compute

        column = compute.dictionary_decode(column)
    try:
        numbers = column.cast(arrow.float64(), safe=False)
    except arrow.ArrowException as problem:
        raise DataError(f"{where}: column {name!r} cannot be read as numbers ({problem}).") from None
    found: Floats = (
        numbers.to_numpy() if isinstance(numbers, arrow.ChunkedArray) else numbers.to_numpy(zero_copy_only=False)
    )
    return found


def _encoded(column: Any, name: str, where: str) -> Encoded:
    """Return a column as its different entries, and which of them each row has."""
    if _is_number(column.type):
        return encoded_numbers(_numbers_in(column, name, where), name)
    arrow = require_pyarrow()
    from pyarrow import compute

    try:
        # Bytes that are no text are found here; whoever asks for the text itself gets an error of Python's.
        column.validate(full=True)
    except arrow.ArrowException as problem:
        raise DataError(f"{where}: column {name!r} cannot be read as text ({problem}).") from None
    if arrow.types.is_dictionary(column.type):
        return _encoded_dictionaries(column.chunks if isinstance(column, arrow.ChunkedArray) else [column])
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
    try:
        # Text as Python writes it: True and not true, as in data frames.
        if not any(test(column.type) for test in (arrow.types.is_boolean, arrow.types.is_string)):
            column = column.cast(arrow.large_string())
    except arrow.ArrowException as problem:
        raise DataError(f"{where}: column {name!r} cannot be read as text ({problem}).") from None
    found = column.dictionary_encode()
    codes = compute.fill_null(found.indices.cast(arrow.int64()), -1).to_numpy(zero_copy_only=False)
    return Encoded(codes, tuple(map(str, found.dictionary.to_pylist())))


def _encoded_dictionaries(chunks: Sequence[Any]) -> Encoded:
    """Return a column whose chunks have a dictionary each."""
    arrow = require_pyarrow()
    from pyarrow import compute

    place: dict[str, int] = {}
    codes = [np.empty(0, np.int64)]
    for chunk in chunks:
        indices = compute.fill_null(chunk.indices.cast(arrow.int64()), -1).to_numpy(zero_copy_only=False)
        numbers = np.full(len(chunk.dictionary) + 1, -1, np.int64)
        # A dictionary may hold entries that do not occur, and nulls.
        for at in np.unique(indices[indices >= 0]).tolist():
            entry = chunk.dictionary[at].as_py()
            if entry is not None:
                numbers[at] = place.setdefault(str(entry), len(place))
        codes.append(numbers[indices])
    ordered = [chunk for chunk in chunks if chunk.type.ordered]
    order = shared_order({tuple(map(str, chunk.dictionary.to_pylist())) for chunk in ordered})
    return Encoded(np.concatenate(codes), tuple(place), True, order)


def _handed_out(
    batches: Iterable[Any], names: Sequence[str], where: str, reading: Reading | None = None
) -> Iterator[Piece]:
    """Yield one piece for about as many rows as make a block; the rows are read when the piece is asked for."""
    for table in _tables(batches, rows_per_block(len(names))):
        yield Piece(lambda table=table: [block_of(table, names, where, reading)], table.num_rows)  # type: ignore[misc]


def _tables(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yield batches as tables of up to ``rows`` rows: small ones together, large ones in slices."""
    arrow = require_pyarrow()
    together: list[Any] = []
    count = 0
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            if count + part.num_rows > rows:
                yield arrow.Table.from_batches(together)
                together, count = [], 0
            together.append(part)
            count += part.num_rows
    if together:
        yield arrow.Table.from_batches(together)


def _runs(sizes: Sequence[int], least: int) -> Iterator[list[int]]:
    """Yield runs of neighbouring row groups with at least so many rows in each but the last.

    >>> list(_runs([5, 5, 20, 1], least=8))
    [[0, 1], [2], [3]]
    """
    run: list[int] = []
    for at, _ in enumerate(sizes):
        run.append(at)
        if sum(sizes[member] for member in run) >= least:
            yield run
            run = []
    if run:
        yield run
