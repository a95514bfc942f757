"""Columns that the user names: exactly, as text, or by a pattern with * or ?."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from rfdag.errors import OptionError, keyword, listed
from rfdag.wording import with_nearest


def matches(wanted: Iterable[Hashable], names: Sequence[Hashable]) -> Iterator[tuple[Hashable, list[int]]]:
    """Yield every name that is wanted with the places of the columns called so, or that it fits as a pattern.

    >>> list(matches(["gene_*"], ["age", "gene_1", "gene_2"])), list(matches(["1"], [0, 1, 2]))
    ([('gene_*', [1, 2])], [('1', [1])])
    """
    exact = {name: at for at, name in enumerate(names)}
    spelt: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        spelt.setdefault(str(name), []).append(at)
    for each in wanted:
        if each in exact:
            yield each, [exact[each]]
        elif not isinstance(each, str):
            yield each, []
        elif each in spelt or not set(each) & set("*?"):
            yield each, spelt.get(each, [])
        else:
            yield each, [at for text, places in spelt.items() if fnmatchcase(text, each) for at in places]


def matching(wanted: Iterable[Hashable], names: Sequence[Hashable], option: str | None, origin: str) -> Iterator[int]:
    """Yield the places of the columns that the names of an option mean; raise for a name of an option without any."""
    for each, found in matches(wanted, names):
        if not found and option is not None:
            raise OptionError(
                f"{keyword(option)} names {with_nearest([each], names)}. {origin} has no such column; it has "
                f"{listed(names, limit=20)}."
            )
        yield from found
