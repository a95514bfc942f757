"""From rows with labels of environments to moments by environment, checked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, DataMessage, Message, OptionError, as_column, as_columns, keyword, listed
from rfdag.evidence.arrangement import products_of
from rfdag.evidence.environments import EnvironmentMoments, without_environments
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.moments import Moments
from rfdag.evidence.rounding import about_floor, about_scores
from rfdag.evidence.spread import about_range
from rfdag.evidence.summary import Summary
from rfdag.input.environments import Design
from rfdag.input.filtered import Filtered
from rfdag.input.table import Stream, Table
from rfdag.input.weights import whole_rows
from rfdag.wording import counted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST_ROWS = 3
"""Rows of an environment whose targets are known: a mean and a variance with something left to judge them by."""

LEAST_ROWS_UNKNOWN = 5
"""Rows of an environment whose targets are to be found: with fewer, a variable hardly varies by chance too often."""

FLAT = 1e-10
"""Standard deviation in an environment, in units of that of all rows, below which a variable does not vary there."""

UNEVEN = 1e-5
"""The same below which rounding shows: variances are compared with those of all rows."""


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
    centre, scale = plain.means, _deviations(plain)
    blocks, means = [], []
    for e in range(len(design.labels)):
        block = np.ascontiguousarray((values[codes == e] - centre) / scale)
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
    each = (values[codes == e] for e in range(len(blocks)))
    return checked(found, deviations, np.array([(some == some[:1]).all(axis=0) for some in each]))


def environments_of_stream(
    fold: Callable[..., Any], stream: Filtered, design: Design, check: Callable[[Summary], None]
) -> Evidence:
    """Return the moments by environment of rows in pieces, whose last column is the number of a label, read once."""
    refuse_categories(stream)
    parts: dict[int, Summary] = fold(_summaries, _joined)
    whole = functools.reduce(Summary.joined, (parts[e] for e in sorted(parts)))
    check(whole)
    plain = Moments.from_summary(whole, stream.names)
    single = about_single(design)
    if single:
        return replace(plain, notes=(*single, *plain.notes))
    centre, scale = plain.means, _deviations(plain)
    p = len(stream.names)
    empty = Summary.of(np.empty((0, p), order="F"))
    each = [parts.get(e, empty) for e in range(len(design.labels))]
    scatters = np.array([_scatter(part, scale) for part in each])
    rows = np.array([whole_rows(part.count) for part in each], np.int64)
    found = EnvironmentMoments(
        stream.names,
        design.labels,
        rows,
        np.array([((part.means + part.remainders) * part.units - centre) / scale for part in each]),
        centre,
        scale,
        design.targets,
        design.observational,
        scatters=scatters,
        plain=plain,
        columns=plain.columns,
    )
    deviations = np.sqrt(np.diagonal(scatters, axis1=1, axis2=2) / np.maximum(rows, 1)[:, None])
    return checked(found, deviations, np.array([part.lowest >= part.highest for part in each]))


def _summaries(block: Floats) -> dict[int, Summary]:
    """Return the summary of the rows of each environment in a block."""
    codes = block[:, -1]
    if np.isnan(codes).any():
        raise DataError(
            f"{counted(int(np.isnan(codes).sum()), 'row')} of a part that was read have no label of an environment. "
            "Fill the labels in, or leave these rows out."
        )
    return {int(code): Summary.of(np.asfortranarray(block[codes == code, :-1])) for code in np.unique(codes)}


def _joined(one: dict[int, Summary], other: dict[int, Summary]) -> dict[int, Summary]:
    return {e: one[e].joined(other[e]) if e in one and e in other else one.get(e) or other[e] for e in {*one, *other}}


def _scatter(part: Summary, scale: Floats) -> Floats:
    """Return the scatter matrix of some rows in standard units."""
    p = len(scale)
    if not len(part.factor):
        return np.zeros((p, p))
    return products_of(part.factor * part.units / scale)


def _deviations(plain: Moments) -> Floats:
    """Return the standard deviations of all rows, by their number and not one less."""
    n = plain.n_samples or 2
    found: Floats = plain.scales * np.sqrt((n - 1) / n)
    return found


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
            f"compared. Name another column, or {without_environments()}."
        ),
    )


def checked(evidence: EnvironmentMoments, deviations: Floats, constant: NDArray[np.bool_]) -> EnvironmentMoments:
    """Return evidence with what the user should know of it; raise for environments that nothing can be learnt from.

    ``deviations`` are those of each environment, in units of that of all rows; ``constant`` tells where there are none.
    """
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
    condition = _condition(evidence)
    notes = [
        *_about_flat(evidence, deviations),
        *_about_uneven(evidence, deviations, constant),
        *(about_scores(condition, evidence.n_samples) or about_floor(condition)),
        *about_range(evidence.names, evidence.scale),
        *_about_no_observations(evidence),
    ]
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


def _about_uneven(evidence: EnvironmentMoments, deviations: Floats, constant: NDArray[np.bool_]) -> list[str]:
    """Return which variables vary in an environment by next to nothing of what they vary by in all rows."""
    found: list[str] = []
    for e, label in enumerate(evidence.labels):
        little = np.flatnonzero(~constant[e] & (deviations[e] < UNEVEN)).tolist()
        if little:
            found.append(
                Message(
                    f"In environment {label!r} {as_columns([evidence.names[at] for at in little])} "
                    f"{'varies' if len(little) == 1 else 'vary'} by {deviations[e][little].min():.0e} of the standard "
                    "deviation of all rows: rounding may decide what happens there. Does every environment use the "
                    "same units?"
                )
            )
    return found


def _condition(evidence: EnvironmentMoments) -> float:
    """Return the condition of a factor of the rows, about common means or about those of the environments."""
    within = evidence.total_within
    scales = np.sqrt(np.diag(within))
    plain = 1.0 if evidence.plain is None else evidence.plain.condition()
    if not (scales > 0).all() or not plain < np.inf:
        return 1.0
    values = np.linalg.eigvalsh(within / scales / scales[:, None])
    return max(plain, float(np.sqrt(values[-1] / max(values[0], 1e-20))))


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
    refuse_categories(table)
    _refuse_gaps(table)


def refuse_categories(rows: Table | Stream) -> None:
    """Raise for columns of categories with three levels or more."""
    several = [rows.names[at] for at, levels in sorted(rows.levels.items()) if len(levels) > 2]
    if several:
        raise OptionError(
            f"{as_columns(several)} {'is' if len(several) == 1 else 'are'} categorical, and environments are compared "
            f"by numbers: leave such columns out with {keyword('drop', several)}, or name those with ordered levels in "
            f"{keyword('ordinal', ...)}."
        )


def _refuse_gaps(table: Table) -> None:
    """Raise for missing values."""
    missing = np.isnan(table.values).sum(axis=0)
    if missing.any():
        names = [table.names[at] for at in np.flatnonzero(missing).tolist()]
        raise DataError(
            f"Values are missing in {as_columns(names)} ({int(missing.sum())} in all), and environments are compared "
            f"by complete rows. Pass {keyword('missing', 'drop')}, or leave columns with many gaps out."
        )
