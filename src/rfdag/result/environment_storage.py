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
    return Interventions(**{**content, "environments": environments})


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
    targets = content["targets"]
    return EnvironmentMoments(
        names,
        tuple(content["labels"]),
        targets=None if targets is None else tuple(map(tuple, targets)),
        scatters=np.array(content["scatters"], np.float64),
        rows=np.array(content["rows"], np.int64),
        means=np.array(content["means"], np.float64),
        centre=np.array(content["centre"], np.float64),
        scale=np.array(content["scale"], np.float64),
        observational=np.array(content["observational"], bool),
    )
