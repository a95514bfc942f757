"""What was done in each environment: the variables that interventions target, as the user says or a file holds it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import FileError, OptionError, as_columns, keyword, listed
from rfdag.graphs.interventional import about_everywhere, targeted_everywhere
from rfdag.input.description import UNKNOWN, Description
from rfdag.runtime.json_text import parsed
from rfdag.values import csv_rows, label_text, path_of
from rfdag.wording import with_nearest

LIKE_JSON = ("{", "[")
SEVERAL = ";"
"""Sign between several targets in one cell of a file."""


class Design(NamedTuple):
    """What was done in each environment.

    Attributes
    ----------
    labels
        One for each environment.
    targets
        The variables that each targets, by column; None where that is not known.
    observational
        Which are known to target none.
    """

    labels: tuple[str, ...]
    targets: tuple[tuple[int, ...], ...] | None
    observational: NDArray[np.bool_]


def design_of(form: Description, labels: tuple[str, ...], names: Sequence[Hashable]) -> Design:
    """Return what a description says of environments; raise for labels and targets that do not exist."""
    if form.targets == UNKNOWN:
        quiet = form.observational or ()
        strange = [label for label in quiet if label not in labels]
        if strange:
            raise OptionError(
                f"{keyword('observational')} names the environment {with_nearest(strange, labels)}; the labels are "
                f"{listed(labels, 20)}."
            )
        return Design(labels, None, np.isin(np.array(labels), np.array(quiet, dtype=str)))
    given = targets_of(form)
    strange = [label for label in given if label not in labels]
    if strange:
        raise OptionError(
            f"{keyword('targets')} names the environment {with_nearest(strange, labels)}; the labels are "
            f"{listed(labels, 20)}."
        )
    silent = [label for label in labels if label not in given]
    if silent:
        raise OptionError(
            f"{keyword('targets')} says nothing of {'environment' if len(silent) == 1 else 'environments'} "
            f"{listed(silent)}. Give each a list of columns; an empty one if it was only observed."
        )
    place = {name: at for at, name in enumerate(names)} | {str(name): at for at, name in enumerate(names)}
    members = []
    for label in labels:
        strange_names = [name for name in given[label] if name not in place]
        if strange_names:
            raise OptionError(
                f"The targets of environment {label!r} name {with_nearest(strange_names, names)}, which is no column "
                f"that is used; these are {listed(names, 20)}."
            )
        members.append(tuple(sorted({place[name] for name in given[label]})))
    everywhere = [names[at] for at in targeted_everywhere(members)]
    if everywhere and len(labels) > 1:
        raise OptionError(
            f"{about_everywhere(as_columns(everywhere), len(everywhere))}, or leave "
            f"{'it' if len(everywhere) == 1 else 'them'} out with {keyword('drop', everywhere)}, and out of "
            f"{keyword('targets', ...)}."
        )
    return Design(labels, tuple(members), np.array([not each for each in members]))


def targets_of(form: Description) -> dict[str, tuple[Hashable, ...]]:
    """Return the targets of each environment by label, from a description or the file that it names."""
    given = form.targets or ()
    if len(given) == 1 and isinstance(given[0], str):
        return read_targets(given[0])
    if not all(isinstance(each, tuple) and len(each) == 2 for each in given):
        raise OptionError(
            f"{keyword('targets')} is a mapping from labels to lists of columns, the path of a file, a list of lists "
            f"beside a list of tables, or 'unknown', not {given!r}."
        )
    return dict(given)  # type: ignore[arg-type]


def read_targets(path: str | Path) -> dict[str, tuple[Hashable, ...]]:
    """Return the targets of each environment from a file.

    A CSV file has two columns, label and target, with a line for each target; the second is empty for an environment
    without any, and may hold several, separated by semicolons. Further columns are notes. A JSON file holds an object:
    a list of columns for each label.
    """
    try:
        text = path_of(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"There is no file {path} with targets; check the name and the folder.") from None
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path} could not be read as text in UTF-8; pass targets as CSV or JSON.") from None
    if text.lstrip().startswith(LIKE_JSON):
        return _from_json(text, path)
    rows = [row for row in csv_rows(text) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or any(len(row) < 2 for row in rows):
        raise FileError(
            f"{path} is no table of targets: it needs a line of titles and two columns, the label of an environment "
            "and a target, which is empty where there is none."
        )
    found: dict[str, tuple[Hashable, ...]] = {}
    for label, cell, *_ in rows[1:]:
        more = [name.strip() for name in cell.split(SEVERAL) if name.strip()]
        found[label.strip()] = (*found.get(label.strip(), ()), *more)
    return found


def _from_json(text: str, path: str | Path) -> dict[str, tuple[Hashable, ...]]:
    try:
        content = parsed(text)
    except json.JSONDecodeError as problem:
        raise FileError(f"{path} is no JSON: {problem.msg} in line {problem.lineno}. Correct it there.") from None
    well = isinstance(content, Mapping) and all(isinstance(each, list) for each in content.values())
    if not well or any(not isinstance(name, str | int) for each in content.values() for name in each):
        raise FileError(
            f'{path} needs an object with a list of columns for each label, as in {{"drug": ["mek"], "none": []}}.'
        )
    return {label_text(label): tuple(each) for label, each in content.items()}
