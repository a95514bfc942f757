"""Background knowledge by names: tiers, required and forbidden edges, roots and leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np

from rfdag.errors import FileError, GraphError, OptionError, listed
from rfdag.knowledge.constraints import Constraints
from rfdag.knowledge.wildcards import columns_meant, is_wildcard
from rfdag.runtime.notebook import ShownInNotebooks
from rfdag.values import is_iterable, shown
from rfdag.wording import nearest, with_nearest

Names = tuple[Hashable, ...]


@dataclass(frozen=True)
class Knowledge(ShownInNotebooks):
    """What is known about the causal order and the DAG before any data are seen.

    Contradictory knowledge raises an error at once, which names the contradicting pair or cycle. Variables that are not
    named are unconstrained. A ``*`` in a name stands for any letters, unless a column has that very name: ``lab*`` is
    every column that begins with "lab".

    Parameters
    ----------
    tiers
        Groups of variables in time: no variable is a direct or indirect cause of one in an earlier tier, and the order
        lists them tier by tier.
    forbidden_within
        Numbers of the tiers (the first is 1) without edges inside; True for all.
    required
        Edges that the DAG must have, as pairs (cause, effect).
    forbidden
        Edges that it must not have in this direction.
    roots
        Variables without parents.
    leaves
        Variables without children.

    Examples
    --------
    >>> known = Knowledge(tiers=[["age", "sex"], ["smoking"], ["cancer"]], required=[("smoking", "cancer")])
    >>> print(known.to_tetrad())
    /knowledge
    addtemporal
    <BLANKLINE>
    1 age sex
    2 smoking
    3 cancer
    <BLANKLINE>
    forbiddirect
    <BLANKLINE>
    requiredirect
    smoking cancer
    <BLANKLINE>
    """

    tiers: Sequence[Sequence[Hashable]] = ()
    forbidden_within: Sequence[int] = ()
    required: Sequence[tuple[Hashable, Hashable]] = ()
    forbidden: Sequence[tuple[Hashable, Hashable]] = ()
    roots: Sequence[Hashable] = ()
    leaves: Sequence[Hashable] = ()

    def __post_init__(self) -> None:
        tiers = tuple(_names("A tier", tier) for tier in _sequence("tiers", self.tiers))
        within: Any = self.forbidden_within
        if within is True:
            within = range(1, len(tiers) + 1)
        # Tuples, whatever was given, so that knowledge is immutable and can be compared.
        known = {
            "tiers": tiers,
            "forbidden_within": tuple(map(_plain, _sequence("forbidden_within", within))),
            "required": _edges("required", self.required),
            "forbidden": _edges("forbidden", self.forbidden),
            "roots": tuple(dict.fromkeys(_names("roots", self.roots))),
            "leaves": tuple(dict.fromkeys(_names("leaves", self.leaves))),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)
        self._check_tiers()
        self._check_required()
        self.constraints(self.variables)

    @classmethod
    def of(cls, source: Knowledge | Mapping[str, Any] | str | Path) -> Knowledge:
        """Return the knowledge given as a `Knowledge`, as a mapping of its parts, or as the path of a file.

        The mapping may also be parsed JSON, as `to_json` writes it.

        >>> Knowledge.of({"roots": ["age"]})
        Knowledge(tiers=(), forbidden_within=(), required=(), forbidden=(), roots=('age',), leaves=())
        """
        if isinstance(source, Knowledge):
            return source
        if isinstance(source, str | Path):
            return cls.read(source)
        if not isinstance(source, Mapping):
            raise OptionError(
                f"knowledge is an rfdag.Knowledge, a mapping of its parts, or the path of a file, not {shown(source)}."
            )
        from rfdag.knowledge.files import decoded

        parts = [field.name for field in fields(cls)]
        unknown = [name for name in source if name not in parts]
        if unknown:
            raise OptionError(f"Knowledge has no part {listed(unknown)}; it has {listed(parts, limit=len(parts))}.")
        try:
            return cls(**{name: decoded(value) for name, value in source.items()})
        except FileError as problem:
            raise OptionError(str(problem)) from None

    @classmethod
    def read(cls, path: str | Path) -> Knowledge:
        """Return the knowledge in a file: Tetrad's text, which begins with /knowledge, or JSON as `to_json` writes."""
        from rfdag.knowledge.files import read

        return read(path)

    def to_tetrad(self) -> str:
        """Return the knowledge as Tetrad's text, which has no roots and leaves."""
        from rfdag.knowledge.files import to_tetrad

        return to_tetrad(self)

    def to_json(self) -> str:
        """Return the knowledge as JSON text, one member for each part."""
        from rfdag.knowledge.files import to_json

        return to_json(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name."""
        return asdict(self)

    @property
    def variables(self) -> Names:
        """All variables that the knowledge names, each once."""
        edges = (end for edge in (*self.required, *self.forbidden) for end in edge)
        named = (name for tier in self.tiers for name in tier)
        return tuple(dict.fromkeys((*named, *edges, *self.roots, *self.leaves)))

    def __bool__(self) -> bool:
        return bool(self.variables)

    def among(self, names: Iterable[Hashable]) -> Self:
        """Return the knowledge restricted to some variables.

        >>> Knowledge(tiers=[["a", "b"], ["c"]], required=[("a", "c")]).among(["a", "b"]).tiers
        (('a', 'b'), ())
        """
        kept = set(names)
        return type(self)(
            tiers=tuple(tuple(name for name in tier if name in kept) for tier in self.tiers),
            forbidden_within=self.forbidden_within,
            required=tuple(edge for edge in self.required if kept.issuperset(edge)),
            forbidden=tuple(edge for edge in self.forbidden if kept.issuperset(edge)),
            roots=tuple(name for name in self.roots if name in kept),
            leaves=tuple(name for name in self.leaves if name in kept),
        )

    def spelt_as(self, names: Sequence[Hashable]) -> Self:
        """Return the same knowledge with the names of the columns; raise if a variable is not a column.

        Names read from a file are text, so "3" also stands for the column 3; a ``*`` stands for any letters.

        >>> Knowledge(forbidden=[("lab*", "age")]).spelt_as(["age", "lab1", "lab2"]).forbidden
        (('lab1', 'age'), ('lab2', 'age'))
        """
        meant = columns_meant(self.variables, names)
        unknown = [name for name in self.variables if not meant[name]]
        if unknown:
            stray = any(nearest(name, names) is None for name in unknown[:5])
            there = f"; the columns are {listed(names)}" if stray else ""
            stars = " A * stands for any letters." if any(map(is_wildcard, unknown)) else ""
            raise OptionError(
                f"The knowledge names {with_nearest(unknown, names)}, which the data do not have{there}. Name columns "
                f"as the data do.{stars}"
            )

        def columns(given: Iterable[Hashable]) -> Names:
            return tuple(dict.fromkeys(column for name in given for column in meant[name]))

        def edges(given: Sequence[tuple[Hashable, Hashable]]) -> tuple[tuple[Hashable, Hashable], ...]:
            # A wildcard on both sides matches some columns twice, which have no edge to themselves anyway.
            return tuple(pair for a, b in given for pair in product(meant[a], meant[b]) if pair[0] != pair[1])

        return type(self)(
            tiers=tuple(map(columns, self.tiers)),
            forbidden_within=self.forbidden_within,
            required=edges(self.required),
            forbidden=edges(self.forbidden),
            roots=columns(self.roots),
            leaves=columns(self.leaves),
        )

    def constraints(self, names: Sequence[Hashable]) -> Constraints:
        """Return the constraints over these columns, which must include all variables that the knowledge names."""
        known = self if set(names).issuperset(self.variables) else self.spelt_as(names)
        place = {name: at for at, name in enumerate(names)}
        tier, root, leaf = np.full(len(names), -1), np.zeros(len(names), bool), np.zeros(len(names), bool)
        for number, members in enumerate(known.tiers):
            tier[[place[name] for name in members]] = number
        root[[place[name] for name in known.roots]] = True
        leaf[[place[name] for name in known.leaves]] = True
        closed = np.isin(np.arange(1, len(known.tiers) + 1), known.forbidden_within)
        required, forbidden = (
            np.array([(place[a], place[b]) for a, b in edges], np.int64).reshape(-1, 2)
            for edges in (known.required, known.forbidden)
        )
        constraints = Constraints(tier, closed, root, leaf, required, forbidden)
        if constraints.cycle:
            arrows = " → ".join(repr(names[at]) for at in constraints.cycle)
            raise GraphError(
                f"The knowledge contradicts itself: its required edges and tiers form the cycle {arrows}. Remove or "
                "reverse one of these edges, or move one of these variables to another tier."
            )
        return constraints

    def _check_tiers(self) -> None:
        for number, tier in enumerate(self.tiers, start=1):
            twice = [name for name, count in Counter(tier).items() if count > 1]
            if twice:
                raise OptionError(f"Tier {number} lists {listed(twice)} more than once; list each variable once.")
        tiers: dict[Hashable, int] = {}
        for number, tier in enumerate(self.tiers, start=1):
            for name in tier:
                if name in tiers:
                    raise OptionError(
                        f"{name!r} is in tiers {tiers[name]} and {number}. A variable belongs to one tier; remove it "
                        "from the other."
                    )
                tiers[name] = number
        for number in self.forbidden_within:
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(self.tiers):
                raise OptionError(
                    f"forbidden_within names tier {number!r}; there are {len(self.tiers)}, numbered from 1."
                )

    def _check_required(self) -> None:
        """Raise if a required edge is ruled out by another constraint, and name that constraint."""
        tiers = {name: number for number, tier in enumerate(self.tiers, start=1) for name in tier}
        forbidden, required = set(self.forbidden), set(self.required)
        for cause, effect in self.required:
            early, late = tiers.get(cause), tiers.get(effect)
            against = None
            if (cause, effect) in forbidden:
                against = "it is forbidden as well"
            elif (effect, cause) in required:
                against = f"so is the reverse, which closes the cycle {cause!r} → {effect!r} → {cause!r}"
            elif effect in self.roots:
                against = f"{effect!r} is a root, which has no parents"
            elif cause in self.leaves:
                against = f"{cause!r} is a leaf, which has no children"
            elif early is not None and late is not None and early > late:
                against = f"{cause!r} is in tier {early} and {effect!r} in tier {late}, before it"
            elif early is not None and early == late and early in self.forbidden_within:
                against = f"both are in tier {early}, which has no edges inside"
            if against:
                raise GraphError(
                    f"The knowledge contradicts itself: {cause!r} → {effect!r} is required, and {against}. Remove "
                    "one of the two constraints."
                )


def _sequence(what: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str) or not is_iterable(given):
        raise OptionError(f"{what} of knowledge is a list, not {shown(given)}.")
    return tuple(given)


def _names(what: str, given: Any) -> Names:
    names = _sequence(what, given)
    for name in names:
        if not isinstance(name, Hashable):
            raise OptionError(f"{what} of knowledge lists names of columns, not {shown(name)}.")
    return names


def _plain(number: Any) -> Any:
    """Return a NumPy integer as a Python integer."""
    return int(number) if isinstance(number, np.integer) else number


def _edges(what: str, given: Any) -> tuple[tuple[Hashable, Hashable], ...]:
    edges = tuple(tuple(edge) if isinstance(edge, list | tuple) else (edge,) for edge in _sequence(what, given))
    for edge in edges:
        if len(edge) != 2 or not all(isinstance(end, Hashable) for end in edge):
            raise OptionError(f"{what} of knowledge lists pairs (cause, effect), not {shown(edge)}.")
        if edge[0] == edge[1] and not is_wildcard(edge[0]):
            raise GraphError(f"{what} of knowledge has an edge from {edge[0]!r} to itself; a DAG has no such edges.")
    return tuple(dict.fromkeys((edge[0], edge[1]) for edge in edges))
