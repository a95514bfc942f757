"""Moments by environment, and what was found of environments, as JSON holds them."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import Any

import numpy as np

from rfdag.errors import listed
from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.interventions import Environment, Interventions, Target
from rfdag.names import decode_name, encode_name
from rfdag.result.records import counts, numbers, products, record, value_as

ARRAYS = ("rows", "means", "centre", "scale", "observational")


def encode_interventions(found: Interventions | None) -> dict[str, Any] | None:
    """Return what was found of environments."""
    if found is None:
        return None
    environments = [
        {
            "label": each.label,
            "rows": each.rows,
            "targets": [{**target._asdict(), "variable": encode_name(target.variable)} for target in each.targets],
        }
        for each in found.environments
    ]
    return {**found._asdict(), "environments": environments}


def decode_interventions(content: dict[str, Any] | None, names: tuple[Hashable, ...]) -> Interventions | None:
    """Return what `encode_interventions` described, about variables of these names."""
    if content is None:
        return None
    environments = tuple(_decode_environment(each, names) for each in content["environments"])
    return record(Interventions, content, environments=environments)


def _decode_environment(content: dict[str, Any], names: tuple[Hashable, ...]) -> Environment:
    targets = tuple(record(Target, target, variable=decode_name(target["variable"])) for target in content["targets"])
    unknown = [target.variable for target in targets if target.variable not in names]
    if unknown:
        raise ValueError(f"targets {listed(unknown)}, which are no variables")
    return record(Environment, content, targets=targets)


def encode_environments(evidence: EnvironmentMoments | None) -> dict[str, Any] | None:
    """Return the moments of each environment; the rows themselves are not kept."""
    if evidence is None:
        return None
    everything = np.arange(len(evidence.names))
    return {
        "labels": list(evidence.labels),
        "targets": None if evidence.targets is None else [list(each) for each in evidence.targets],
        "scatters": evidence.within(everything, range(len(evidence.rows))).tolist(),
        **{name: getattr(evidence, name).tolist() for name in ARRAYS},
    }


def decode_environments(content: dict[str, Any] | None, names: tuple[Hashable, ...]) -> EnvironmentMoments | None:
    """Return the moments that `encode_environments` described."""
    if content is None:
        return None
    labels = value_as(tuple[str, ...], content["labels"], "labels")
    targets = value_as(tuple[tuple[int, ...], ...] | None, content["targets"], "targets")
    observational = value_as(tuple[bool, ...], content["observational"], "observational")
    count, p = len(labels), len(names)
    if len(observational) != count or len(targets or labels) != count:
        raise ValueError(f"{len(targets or labels)} sets of targets, {len(observational)} kinds, {count} environments")
    if not set(chain(*(targets or ()))) <= set(range(p)):
        raise ValueError(f"targets beyond {p} variables")
    rows, scale = counts(content["rows"], "rows", count), numbers(content["scale"], "scale", p)
    if (rows < 1).any() or (scale <= 0).any():
        raise ValueError("an environment without rows, or a variable without a scale")
    means = numbers(content["means"], "means", count, p)
    if (np.abs(means) > rows.sum()).any():
        raise ValueError(f"{np.abs(means).max():g} deviations as a mean")
    return EnvironmentMoments(
        names,
        labels,
        targets=targets,
        scatters=products(content["scatters"], "scatters", count, p, p),
        rows=rows,
        means=means,
        centre=numbers(content["centre"], "centre", p),
        scale=scale,
        observational=np.array(observational, bool),
    )
