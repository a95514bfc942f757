"""Background knowledge in files: the text of Tetrad's knowledge box, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rfdag.errors import FileError, OptionError
from rfdag.knowledge.knowledge import Knowledge
from rfdag.knowledge.wildcards import is_wildcard
from rfdag.names import decode_name, encode_name
from rfdag.runtime.json_text import parsed
from rfdag.values import path_of, shown

TIERS = "addtemporal"
EDGES = {"forbiddirect": "forbidden", "requiredirect": "required"}
"""Sections with an edge on each line, and the part of the knowledge they hold."""
GROUPS = {"forbiddengroup": "forbidden", "requiredgroup": "required"}
"""Sections with two lines for each group of edges: all causes, and all effects, of every edge between the two."""
LONGEST = 9
"""Digits of the number of a tier, at most."""
SECTIONS = (TIERS, *EDGES, *GROUPS)
ARROW = "==>"
"""Between the causes and the effects of a line, as some versions of Tetrad write an edge."""
COMMENT = "//"
NESTED = ("tiers", "required", "forbidden")
"""Parts that are lists of lists of names."""


def read(path: str | Path) -> Knowledge:
    """Return the knowledge in a file; errors name the line."""
    try:
        text = path_of(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"There is no file {path}; check the name and the folder.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not text in UTF-8; knowledge is Tetrad's text or JSON.") from None
    except OSError as problem:
        raise FileError(
            f"{path} could not be read ({problem.strerror or problem}); pass a file that you may read."
        ) from None
    if text.lstrip().startswith("{"):
        return _from_json(text, path)
    if not text.lstrip().startswith("/knowledge"):
        raise FileError(
            f"{path} begins neither with /knowledge, as Tetrad's files do, nor with a brace, as JSON does; pass one of "
            "the two."
        )
    return _from_tetrad(text, path)


def to_json(knowledge: Knowledge) -> str:
    """Return the knowledge as JSON text, one member for each part."""
    parts = to_parts(knowledge)
    return json.dumps(parts, indent=2, ensure_ascii=False) + "\n"


def to_parts(knowledge: Knowledge) -> dict[str, Any]:
    """Return the knowledge as what JSON can hold."""
    return {name: _encoded(name, value) for name, value in knowledge.to_dict().items()}


def from_parts(parts: dict[str, Any]) -> Knowledge:
    """Return the knowledge that a decoded JSON object describes."""
    return Knowledge.of({name: decoded(value) for name, value in parts.items()})


def decoded(value: Any) -> Any:
    """Return a part of knowledge with its original names, also those that JSON holds in an encoded form.

    >>> decoded([["a", {"tuple": ["b", 2]}], [3]])
    [['a', ('b', 2)], [3]]
    """
    return list(map(decoded, value)) if isinstance(value, list) else decode_name(value)


def to_tetrad(knowledge: Knowledge) -> str:
    """Return the knowledge as Tetrad's text."""
    if knowledge.roots or knowledge.leaves:
        raise OptionError(
            "Tetrad's format has no roots or leaves. Write JSON, or put the roots into a first tier and the leaves "
            "into a last tier, both without edges inside."
        )
    for name in knowledge.variables:
        text = str(name)
        if not text or any(letter.isspace() for letter in text):
            raise OptionError(f"Tetrad's format separates names by spaces, but one is {text!r}. Write JSON instead.")
    lines = ["/knowledge", "addtemporal", ""]
    for number, tier in enumerate(knowledge.tiers, start=1):
        mark = "*" if number in knowledge.forbidden_within else ""
        lines.append(" ".join([f"{number}{mark}", *map(str, tier)]))
    for section, edges in (("forbiddirect", knowledge.forbidden), ("requiredirect", knowledge.required)):
        lines += ["", section, *(f"{cause} {effect}" for cause, effect in edges)]
    return "\n".join(lines) + "\n"


def _from_json(text: str, path: str | Path) -> Knowledge:
    try:
        parts = parsed(text)
    except json.JSONDecodeError as problem:
        raise FileError(f"{path} is not JSON ({problem}).") from None
    try:
        return from_parts(parts)
    except FileError as problem:
        raise FileError(f"{path}: {problem}") from None
    except RecursionError:
        raise FileError(
            f"{path} has lists within lists, too deep to be read; tiers and edges are lists of names."
        ) from None


def _from_tetrad(text: str, path: str | Path) -> Knowledge:
    tiers: dict[int, tuple[str, ...]] = {}
    within: list[int] = []
    edges: dict[str, list[tuple[str, str]]] = {"forbidden": [], "required": []}
    lines = _lines(text, path)
    for number, section, words in lines:
        if section == TIERS:
            tier, closed = _tier(words[0], path, number)
            if tier in tiers:
                raise FileError(f"{path}, line {number}: tier {tier} is listed twice; put its variables on one line.")
            tiers[tier] = tuple(words[1:])
            within += [tier] if closed else []
        elif section in EDGES:
            edges[EDGES[section]] += _pairs(*_ends(words, path, number))
        else:
            _, following, effects = next(lines, (0, "", []))
            if following != section:
                raise FileError(
                    f"{path}, line {number}: a group is two lines, the causes and below them the effects; add a line "
                    f"with the effects of {shown(' '.join(words))}."
                )
            edges[GROUPS[section]] += _pairs(words, effects)
    # Tetrad numbers tiers from 0 or 1, and may leave numbers out.
    place = {tier: at for at, tier in enumerate(sorted(tiers), start=1)}
    return Knowledge(
        tiers=tuple(tiers[tier] for tier in sorted(tiers)),
        forbidden_within=tuple(place[tier] for tier in sorted(within)),
        forbidden=tuple(edges["forbidden"]),
        required=tuple(edges["required"]),
    )


def _lines(text: str, path: str | Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the number, section and words of every line with content."""
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words == ["/knowledge"] or words[0].startswith(COMMENT):
            continue
        if len(words) == 1 and words[0].casefold() in SECTIONS:
            section = words[0].casefold()
        elif not section:
            raise FileError(f"{path}, line {number}: {shown(line.strip())} stands before any of {', '.join(SECTIONS)}.")
        else:
            yield number, section, words


def _ends(words: list[str], path: str | Path, number: int) -> tuple[list[str], list[str]]:
    """Return the causes and the effects on a line."""
    if words.count(ARROW) == 1:
        at = words.index(ARROW)
        causes, effects = words[:at], words[at + 1 :]
    else:
        causes, effects = words[:1], words[1:] if len(words) == 2 else []
    if not causes or not effects:
        raise FileError(
            f"{path}, line {number}: an edge is two names, cause and effect, with a space between, not "
            f"{shown(' '.join(words))}."
        )
    return causes, effects


def _pairs(causes: list[str], effects: list[str]) -> list[tuple[str, str]]:
    """Return every edge from a cause to an effect; in a group, a name on both sides has none to itself."""
    single = len(causes) == len(effects) == 1
    return [
        (cause, effect) for cause in causes for effect in effects if single or cause != effect or is_wildcard(cause)
    ]


def _tier(word: str, path: str | Path, number: int) -> tuple[int, bool]:
    digits = word.rstrip("*")
    if not digits.isdecimal() or len(digits) > LONGEST:
        raise FileError(
            f"{path}, line {number}: a tier begins with its number, and a * after it if it has no edges inside, not "
            f"with {shown(word)}."
        )
    return int(digits), digits != word


def _encoded(part: str, value: Any) -> Any:
    """Return a part with its names encoded for JSON."""
    if part in NESTED:
        return [[encode_name(name) for name in entry] for entry in value]
    return [encode_name(name) for name in value]
