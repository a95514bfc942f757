"""Moments of variables of several columns as JSON holds them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict
from typing import Any

from rfdag.evidence.expansion import Category, Expansion, Part, Powers
from rfdag.evidence.mixed import MixedMoments
from rfdag.result.records import counts, decode_pair_rows, encode_pair_rows, numbers, products, record, value_as


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
        "pair_rows": encode_pair_rows(mixed.pair_rows),
    }


def decode_mixed(content: dict[str, Any] | None, names: tuple[Hashable, ...]) -> MixedMoments | None:
    """Return the moments that `encode_mixed` described."""
    if content is None:
        return None
    expansion = Expansion(names, tuple(map(_decode_part, content["parts"])))
    if len(expansion.parts) != len(names):
        raise ValueError(f"{len(expansion.parts)} parts of {len(names)} variables")
    columns, rows = int(expansion.widths.sum()), value_as(int, content["rows"], "rows")
    if rows < 1:
        raise ValueError(f"{rows} rows")
    return MixedMoments(
        expansion,
        rows,
        products(content["covariance"], "covariance", columns, columns),
        numbers(content["column_means"], "column_means", columns),
        one_equation=value_as(bool, content["one_equation"], "one_equation"),
        correlated=value_as(str, content["correlated"], "correlated"),
        countable=value_as(bool, content["countable"], "countable"),
        pair_rows=decode_pair_rows(content.get("pair_rows"), len(names)),
    )


def _encode_part(part: Part) -> dict[str, Any]:
    if isinstance(part, Powers):
        return asdict(part)
    return {
        "levels": list(part.levels),
        "of_code": part.of_code.tolist(),
        "counts": part.counts.tolist(),
        "pooled": list(part.pooled),
        "codes": list(part.codes),
    }


def _decode_part(content: dict[str, Any]) -> Part:
    if "levels" not in content:
        powers = record(Powers, content)
        if powers.deviation <= 0 or powers.degree < 1:
            raise ValueError(f"deviation {powers.deviation:g} and degree {powers.degree} of a number")
        if powers.lowest is not None and powers.beyond(powers.lowest):
            raise ValueError(f"a number from {powers.lowest:g} to {powers.highest:g}")
        return powers
    levels = len(content["levels"])
    # A level without rows has no number.
    codes = counts(content["of_code"], "of_code", -1, least=-1, below=levels)
    if len(codes) != len(content["codes"]) or levels < 2:
        raise ValueError(f"{levels} levels, of {len(content['codes'])} codes, numbered {len(codes)} times")
    return record(Category, content, of_code=codes, counts=counts(content["counts"], "counts", levels))
