"""From rows with labels of environments to moments by environment, checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, DataMessage, OptionError, as_column, as_columns, keyword, listed
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import Moments
from rfdag.input.environments import Design
from rfdag.input.table import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_ROWS = 3
"""Rows of an environment whose targets are known: a mean and a variance with something left to judge them by."""

LEAST_ROWS_UNKNOWN = 5
"""Rows of an environment whose targets are to be found: with fewer, a variable hardly varies by chance too often."""

FLAT = 1e-10
"""Standard deviation in an environment, in units of that of all rows, below which a variable does not vary there."""


def environment_moments(values: NDArray[np.floating], codes: Integers, plain: Moments, design: Design) -> Evidence:
    """Return the moments of rows by environment; of a single one, those of all rows with a warning.

    Parameters
    ----------
    values
        The rows.
    codes
        The environment of each row.
    plain
        The moments of all rows as if they came from one environment.
    design
        The labels and targets of the environments.
    """
    single = about_single(design)
    if single:
        return replace(plain, notes=(*single, *plain.notes))
    centre, scale = plain.means, plain.scales * np.sqrt((plain.n_samples or 2) - 1) / np.sqrt(plain.n_samples or 2)
    blocks, means = [], []
    for e in range(len(design.labels)):
        block = (values[codes == e] - centre) / scale
        means.append(block.mean(axis=0) if len(block) else np.zeros(len(centre)))
        blocks.append(block - means[-1])
    rows = np.array([len(block) for block in blocks], np.int64)
    found = EnvironmentMoments(
        plain.names,
        design.labels,
        rows,
        np.array(means),
        centre,
        scale,
        design.targets,
        design.observational,
        blocks=tuple(blocks),
        plain=plain,
        columns=plain.columns,
    )
    deviations = np.array([np.sqrt((block**2).mean(axis=0)) for block in blocks])
    return checked(found, deviations)


def about_single(design: Design) -> tuple[str, ...]:
    """Return the warning that there is one environment only; nothing where there are more."""
    if len(design.labels) > 1:
        return ()
    of_it = design.targets[0] if design.targets else ()
    if of_it:
        raise OptionError(
            f"There is a single environment, {design.labels[0]!r}, and it has targets: nothing shows what happens "
            "without intervention. Add rows without it, or leave the targets out."
        )
    return (
        DataMessage(
            f"There is a single environment, {design.labels[0]!r}: the rows are learnt from as always, and nothing is "
            f"compared. Leave {keyword('environments', ...)} and {keyword('targets', ...)} out, or name another column."
        ),
    )


def checked(evidence: EnvironmentMoments, deviations: Floats) -> EnvironmentMoments:
    """Return evidence with what the user should know of it; raise for environments that nothing can be learnt from."""
    least = LEAST_ROWS_UNKNOWN if evidence.unknown else LEAST_ROWS
    short = [
        f"{label!r} has {count}" for label, count in zip(evidence.labels, evidence.rows, strict=True) if count < least
    ]
    if short:
        raise DataError(
            f"An environment needs at least {least} rows: {listed(short, shown=str)}. Leave their rows out, or put "
            "them under the label of an environment in which the same was done."
        )
    _refuse_same_rows(evidence)
    notes = [*_about_flat(evidence, deviations), *_about_no_observations(evidence)]
    return replace(evidence, notes=(*notes, *evidence.notes))


def _refuse_same_rows(evidence: EnvironmentMoments) -> None:
    """Raise if two environments hold the same rows."""
    seen: dict[tuple[int, bytes], int] = {}
    for e, count in enumerate(evidence.rows.tolist()):
        first = seen.setdefault((count, np.round(evidence.means[e], 12).tobytes()), e)
        if first == e:
            continue
        variables = np.arange(len(evidence.names))
        one, other = evidence.within(variables, [first, e])
        if np.allclose(one, other, rtol=1e-12, atol=0.0):
            raise DataError(
                f"The environments {evidence.labels[first]!r} and {evidence.labels[e]!r} hold the same rows. Pass each "
                "row once, under the label that it belongs to."
            )


def _about_flat(evidence: EnvironmentMoments, deviations: Floats) -> list[str]:
    """Return which variables do not vary in an environment that is not known to target them."""
    found: list[str] = []
    for e, label in enumerate(evidence.labels):
        targeted = () if evidence.targets is None else evidence.targets[e]
        flat = [at for at in np.flatnonzero(deviations[e] < FLAT).tolist() if at not in targeted]
        if flat:
            names = [evidence.names[at] for at in flat]
            verb = "does not vary" if len(flat) == 1 else "do not vary"
            cure = (
                "it will be found to be a target there"
                if evidence.unknown
                else f"if the experiment held {as_column(names[0])} fixed, add it to the targets of {label!r}"
            )
            found.append(DataMessage(f"{as_columns(names)} {verb} in environment {label!r}: {cure}."))
    return found


def _about_no_observations(evidence: EnvironmentMoments) -> list[str]:
    """Return the remark that no environment is known to be without targets, if that is so."""
    if evidence.observational.any():
        return []
    if evidence.unknown:
        return [
            DataMessage(
                "No environment is known to be without targets, so that which one was changed is partly a convention: "
                f"targets are deviations from what most rows do. Name such environments with "
                f"{keyword('observational', ...)} if there are any."
            )
        ]
    return [
        DataMessage(
            "Every environment has targets: what a variable does without intervention is learnt from the environments "
            "in which it is no target. Rows without any intervention would decide more directions."
        )
    ]


def refuse_beside_environments(table: Table) -> None:
    """Raise for rows from several environments that have categories or gaps."""
    several = [table.names[at] for at, levels in sorted(table.levels.items()) if len(levels) > 2]
    if several:
        raise OptionError(
            f"{as_columns(several)} {'is' if len(several) == 1 else 'are'} categorical, and environments are compared "
            f"by numbers: leave such columns out with {keyword('drop', several)}, or name those with ordered levels in "
            f"{keyword('ordinal', ...)}."
        )
    missing = np.isnan(table.values).sum(axis=0)
    if missing.any():
        names = [table.names[at] for at in np.flatnonzero(missing).tolist()]
        raise DataError(
            f"Values are missing in {as_columns(names)} ({int(missing.sum())} in all), and environments are compared "
            f"by complete rows. Pass {keyword('missing', 'drop')}, or leave columns with many gaps out."
        )
