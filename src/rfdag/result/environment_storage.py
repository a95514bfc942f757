"""Moments by environment, and what was found of environments, as JSON holds them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from rfdag.evidence.environments import EnvironmentMoments
from rfdag.evidence.interventions import Environment, Interventions, Target
from rfdag.runtime.names import decode_name, encode_name

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


def decode_interventions(content: dict[str, Any] | None) -> Interventions | None:
    """Return what `encode_interventions` described."""
    if content is None:
        return None
    environments = tuple(
        Environment(
            each["label"],
            int(each["rows"]),
            tuple(
                Target(decode_name(target["variable"]), target["mechanism"], float(target["gain"]))
                for target in each["targets"]
            ),
        )
        for each in content["environments"]
    )
    found = Interventions(**{**content, "environments": environments})
    if found.intercepts not in ("common", "environment"):
        raise ValueError(f"intercepts by {found.intercepts!r}")
    return found


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
    targets, labels = content["targets"], tuple(content["labels"])
    count, p = len(labels), len(names)

    def array(name: str, kind: type, *shape: int) -> Any:
        found: Any = np.array(content[name], kind)
        if found.shape != shape:
            raise ValueError(f"{name} of shape {found.shape} for {count} environments of {p} variables")
        return found

    return EnvironmentMoments(
        names,
        labels,
        targets=None if targets is None else tuple(map(tuple, targets)),
        scatters=array("scatters", float, count, p, p),
        rows=array("rows", int, count),
        means=array("means", float, count, p),
        centre=array("centre", float, p),
        scale=array("scale", float, p),
        observational=array("observational", bool, count),
    )
