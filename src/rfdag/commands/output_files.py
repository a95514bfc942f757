"""The files that a command writes: a folder of them, a report and a picture, all or none."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from rfdag.errors import FileError, OptionError


class Places(NamedTuple):
    """Where a command was told to write."""

    out: Path | None
    report: Path | None
    plot: Path | None


def require_places(places: Places, names: Sequence[str]) -> None:
    """Raise for what cannot be written, before a run that may take hours; ``names`` are those of the folder's files."""
    from rfdag.runtime.writing import require_writable

    if places.plot is not None:
        from rfdag.plots.saving import require_format

        require_format(places.plot)
    if places.out is not None:
        _require_folder(places.out, names)
    report = places.report
    if report is not None and _is_inside(report, places.out) and report.name.casefold() in names:
        raise OptionError(
            f"--out writes {report.name} into {places.out} itself; give the report another name, such as "
            f"{report.with_suffix('.html')}."
        )
    for path in (report, places.plot):
        # A folder that is made for the other files is made for this one too.
        if path is not None and not (_is_inside(path, places.out) and not path.parent.exists()):
            require_writable(path)
    if report is not None and places.plot is not None and _resolved(report) == _resolved(places.plot):
        raise OptionError(f"--report and --plot both name {places.plot}; give one of them another name.")


def write_places(
    places: Places, contents: Mapping[str, str | bytes], report: str | None, picture: bytes | None
) -> list[Path]:
    """Write the files of the folder, the report and the picture, all or none, and return their paths."""
    from rfdag.runtime.writing import ready_to_write, write_folder

    inside = dict(contents) if places.out is not None else {}
    lone: list[tuple[Path, str | bytes]] = []
    for path, content in ((places.report, report), (places.plot, picture)):
        if path is None or content is None:
            continue
        if _is_inside(path, places.out):
            inside[path.name] = content
        else:
            lone.append((path, content))
    with ExitStack() as ready:
        # They take their places after the folder is written.
        paths = [ready.enter_context(ready_to_write(path, content)) for path, content in lone]
        files = [] if places.out is None else write_folder(places.out, inside)
    return [*files, *paths]


def _require_folder(folder: Path, names: Sequence[str]) -> None:
    """Raise if files could not be written into a folder, which is made only after the run."""
    folder = folder.expanduser()
    try:
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as problem:
        raise FileError(
            f"{folder} could not be written to ({problem.strerror or problem}); choose a folder that you may write to."
        ) from None
    taken = [name for name in names if (folder / name).is_dir()]
    if taken:
        raise FileError(
            f"{folder} could not be written to: {taken[0]} in it is a folder. Rename that, or choose another folder."
        )


def _is_inside(path: Path, folder: Path | None) -> bool:
    """Return whether a file is one of a folder's own."""
    return folder is not None and _resolved(path.expanduser().parent) == _resolved(folder)


def _resolved(path: Path) -> Path:
    return path.expanduser().resolve()
