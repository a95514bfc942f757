"""Moments of variables of several columns as JSON holds them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from rfdag.evidence.expansion import Category, Expansion, Part, Powers
from rfdag.evidence.mixed import MixedMoments


def encode_mixed(mixed: MixedMoments | None) -> dict[str, Any] | None:
    """Return the covariance of the columns and how variables stand as columns; the rows themselves are not kept."""
    if mixed is None:
        return None
    return {
        "parts": [_encode_part(part) for part in mixed.expansion.parts],
        "rows": mixed.n_samples,
        "covariance": mixed.covariance.tolist(),
        "column_means": mixed.column_means.tolist(),
        "one_equation": mixed.one_equation,
        "correlated": mixed.correlated,
        "countable": mixed.counted,
    }


def decode_mixed(content: dict[str, Any] | None, names: tuple[Hashable, ...]) -> MixedMoments | None:
    """Return the moments that `encode_mixed` described."""
    if content is None:
        return None
    covariance = np.array(content["covariance"], np.float64)
    if not np.isfinite(covariance).all():
        raise ValueError("a covariance that is no number")
    return MixedMoments(
        Expansion(names, tuple(map(_decode_part, content["parts"]))),
        int(content["rows"]),
        covariance,
        np.array(content["column_means"], np.float64),
        one_equation=bool(content["one_equation"]),
        correlated=content["correlated"],
        countable=bool(content["countable"]),
    )


def _encode_part(part: Part) -> dict[str, Any]:
    if isinstance(part, Powers):
        return {"mean": part.mean, "deviation": part.deviation, "degree": part.degree}
    return {
        "levels": list(part.levels),
        "of_code": part.of_code.tolist(),
        "counts": part.counts.tolist(),
        "pooled": list(part.pooled),
        "codes": list(part.codes),
    }


def _decode_part(content: dict[str, Any]) -> Part:
    if "levels" not in content:
        return Powers(float(content["mean"]), float(content["deviation"]), int(content["degree"]))
    of_code, counts = (np.array(content[name], np.int64) for name in ("of_code", "counts"))
    return Category(tuple(content["levels"]), of_code, counts, tuple(content["pooled"]), tuple(content["codes"]))
