"""How an option is declared: once, as a field of a frozen dataclass, with its type, default, bounds and meaning.

In: the fields of a class marked `options`. Out: checked values, and everything that other faces of the program derive
from the fields: flat keywords, scikit-learn parameters, command-line options with help, JSON, code and reference.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from rfdag.errors import OptionError, keyword
from rfdag.names import decode_name, encode_name
from rfdag.values import (
    OBJECT,
    Absent,
    Labels,
    Numbers,
    cut,
    is_hashable,
    is_iterable,
    is_object,
    joined,
    name_of,
    number,
    plain,
)
from rfdag.wording import alternatives


def option(
    *,
    default: Any,
    meaning: str,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
    most: float | None = None,
    flag: str | None = None,
    typed: Mapping[str, str] | None = None,
    needs: Sequence[str] = (),
    objects: str | None = None,
) -> Any:
    """Declare an option: its default and, in one or two sentences, what it means.

    Parameters
    ----------
    default
        The value where none is given.
    meaning
        Shown in the reference, in ``help()`` and by the command line.
    least, above, below, most
        Bounds of a number.
    flag
        Name on the command line, where it is not that of the field.
    typed
        Words of the command line for values that a shell makes hard to type.
    needs
        What the evidence must have for the option to mean anything: "rows" (a sample, not an exact input), "matrices"
        (dense ones). Given where that is missing, the option is refused.
    objects
        What objects of the user's own it takes beside these values, in words; None if it takes none.
    """
    about = {
        "meaning": meaning,
        "least": least,
        "above": above,
        "below": below,
        "most": most,
        "flag": flag,
        "typed": typed or {},
        "needs": tuple(needs),
        "objects": objects,
    }
    return field(default=default, metadata={"option": about})


class Declared(NamedTuple):
    """One option as its class declares it."""

    name: str
    default: Any
    meaning: str
    words: tuple[str, ...]
    kinds: tuple[type, ...]
    several: bool
    listing: bool
    least: float | None
    above: float | None
    below: float | None
    most: float | None
    flag: str
    typed: Mapping[str, str]
    needs: tuple[str, ...]
    objects: str | None

    @property
    def optional(self) -> bool:
        """Whether None is a value."""
        return NoneType in self.kinds

    @property
    def is_switch(self) -> bool:
        """Whether it is turned on and off, on the command line by --name and --no-name."""
        return bool in self.kinds

    def describe(self, without: Collection[type] = ()) -> str:
        """Return what values it takes, in words; ``without`` names kinds to leave out.

        >>> from rfdag.methods import Soft
        >>> Soft.declared()["beam"].describe()
        "a whole number of at least 1 or 'auto'"
        """
        parts = []
        kinds = [kind for kind in self.kinds if kind not in without]
        if bool in kinds:
            parts += ["True", "False"]
        if int in kinds or float in kinds:
            parts.append(f"{'a whole number' if int in kinds else 'a number'}{self._bounds()}")
        if self.several:
            parts.append("several of these")
        if str in kinds:
            parts.append("text")
        if self.listing:
            parts.append("a list of names or values")
        parts += [repr(word) for word in self.words]
        if self.objects is not None:
            parts.append(self.objects)
        if NoneType in kinds:
            parts.append("None")
        return alternatives(parts)

    def _bounds(self) -> str:
        if self.above is not None and self.below is not None:
            return f" between {_plain(self.above)} and {_plain(self.below)}"
        if self.above is not None:
            return f" above {_plain(self.above)}"
        if self.least is not None and self.most is not None:
            return f" from {_plain(self.least)} to {_plain(self.most)}"
        return "" if self.least is None else f" of at least {_plain(self.least)}"

    def admits(self, value: Any) -> bool:
        """Return whether it takes a value, in plain Python types."""
        if value is None or isinstance(value, bool):
            return type(value) in self.kinds
        if isinstance(value, str):
            return value in self.words or str in self.kinds
        if isinstance(value, tuple) and self.listing:
            return all(map(is_hashable, value))
        if isinstance(value, tuple):
            return self.several and bool(value) and all(self._admits_number(entry) for entry in value)
        return self._admits_number(value) or (self.objects is not None and is_object(value))

    def kept(self, value: Any) -> Any:
        """Return a value as it is kept: in plain types, a name as a list of one, an array as `Numbers` or `Labels`."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        rows = next((kind for kind in (Numbers, Labels) if kind in self.kinds), None)
        if rows is not None and (isinstance(value, list | tuple) or hasattr(value, "__array__")):
            value = value.item() if isinstance(value, np.generic) else rows(value)
        if self.listing and value is not None and (isinstance(value, str) or not is_iterable(value)):
            value = (value,)
        return tuple(value) if self.listing and is_iterable(value) else plain(value)

    def _admits_number(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        if not (float in self.kinds or (int in self.kinds and isinstance(value, Integral))):
            return False
        return (
            not math.isnan(value)
            and (self.least is None or float(value) >= self.least)
            and (self.above is None or self.above < float(value) < math.inf)
            and (self.below is None or float(value) < self.below)
            and (self.most is None or float(value) <= self.most)
        )

    def parse(self, text: str) -> Any:
        """Return the value that a text of the command line stands for; one that is none of its values stays text.

        >>> from rfdag.methods import Soft
        >>> [Soft.declared()["beam"].parse(text) for text in ("auto", "8", "wide")]
        ['auto', 8, 'wide']
        """
        if text in self.words or str in self.kinds:
            return self.typed.get(text, text)
        if self.listing:
            return cut(text)
        try:
            numbers = tuple(number(part, whole=float not in self.kinds) for part in text.split(","))
        except ValueError:
            return text
        return numbers if self.several and len(numbers) > 1 else numbers[0] if len(numbers) == 1 else text

    def arguments(self, value: Any) -> list[str]:
        """Return the words of the command line that pass a value; none for a value that only leaving out gives.

        >>> from rfdag.methods import Rfd
        >>> Rfd.declared()["penalty"].arguments((1.0, 2.5)), Rfd.declared()["refine"].arguments(False)
        (['--penalty', '1,2.5'], ['--no-refine'])
        """
        if isinstance(value, bool):
            return [f"--{self.flag}" if value else f"--no-{self.flag}"]
        if value is None or (self.is_switch and value in self.words) or is_object(value):
            return []
        return [f"--{self.flag}", self.text(value)]

    def text(self, value: Any) -> str:
        """Return a value as one would type it: 3 rather than 3.0, several separated by commas."""
        if isinstance(value, tuple):
            return joined(value) if self.listing else ",".join(map(self.text, value))
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return next((word for word, meant in self.typed.items() if meant == value), str(value))


Chosen = TypeVar("Chosen", bound="Options")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option, field))
def options(cls: type[Chosen]) -> type[Chosen]:
    """Make a class of options: a frozen dataclass with keywords only, whose docstring lists every option."""
    made: Any = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    made.__doc__ = _documented(made)
    return made  # type: ignore[no-any-return]


class Options:
    """Base of classes of options: checks values, and knows what was declared and what was given."""

    __doc__: str | None
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for name, declared in self.declared().items():
            value = getattr(self, name)
            if value is declared.default:
                continue
            value = declared.kept(value)
            object.__setattr__(self, name, value)
            if not declared.admits(value):
                raise OptionError(f"{keyword(name)} is {declared.describe()}, not {value!r}.")
        self.check()

    def check(self) -> None:
        """Raise where values do not go together."""

    @classmethod
    def declared(cls) -> Mapping[str, Declared]:
        """Return the options of the class by name."""
        return _declared(cls)  # type: ignore[arg-type]

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        return {
            name: value
            for name, declared in self.declared().items()
            if (value := getattr(self, name)) is not declared.default and value != declared.default
        }

    def values(self) -> dict[str, Any]:
        """Return all options by name."""
        return {name: getattr(self, name) for name in self.declared()}

    def to_dict(self) -> dict[str, Any]:
        """Return all options by name, as a file can hold them: objects of the user's own by what they are called."""
        return {name: _encoded(value, self.declared()[name]) for name, value in self.values().items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the options that `to_dict` returned, perhaps by way of JSON."""
        return cls(**{name: _decoded(value) for name, value in values.items()})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


def _encoded(value: Any, declared: Declared) -> Any:
    """Return an option's value as JSON can hold it; names that are tuples or dates stand for themselves there."""
    if is_object(value):
        return {OBJECT: name_of(value)}
    if isinstance(value, tuple) and (declared.listing or declared.several):
        return tuple(encode_name(each) if isinstance(each, tuple | date) else each for each in value)
    return encode_name(value) if isinstance(value, tuple | date) else value


def _decoded(value: Any) -> Any:
    """Return the value that `_encoded` described, perhaps by way of JSON."""
    if isinstance(value, Mapping):
        return Absent(str(value[OBJECT])) if OBJECT in value else decode_name(value)
    if isinstance(value, list | tuple):
        return tuple(decode_name(each) if isinstance(each, Mapping) else each for each in value)
    return value


def documented_by(*kinds: type[Options]) -> Callable[[Function], Function]:
    """Return a decorator that fills a docstring: ``{name}`` becomes the meaning of that option."""
    meanings = {name: declared.meaning for kind in kinds for name, declared in kind.declared().items()}

    def filled(function: Function) -> Function:
        def meaning(found: re.Match[str]) -> str:
            lines = textwrap.wrap(meanings[found[2]] + found[3], 112, break_on_hyphens=False)
            return "\n".join(found[1] + line for line in lines)

        names = "|".join(meanings)
        function.__doc__ = re.sub(rf"^( *)\{{({names})\}}(.*)$", meaning, function.__doc__ or "", flags=re.MULTILINE)
        return function

    return filled


@cache
def _declared(cls: type[Options]) -> Mapping[str, Declared]:
    hints = get_type_hints(cls)
    return {each.name: _read(each, hints[each.name]) for each in fields(cls) if "option" in each.metadata}  # type: ignore[arg-type]


def _read(each: Field[Any], hint: Any) -> Declared:
    words: list[str] = []
    kinds: list[type] = []
    several = listing = False
    for part in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(part) is Literal:
            words += get_args(part)
        elif get_origin(part) is tuple:
            several = get_args(part)[0] is not Hashable
            listing = not several
        else:
            kinds.append(part)
    about = each.metadata["option"]
    assert each.default is not MISSING
    return Declared(
        each.name,
        each.default,
        about["meaning"],
        tuple(words),
        tuple(kinds),
        several,
        listing,
        about["least"],
        about["above"],
        about["below"],
        about["most"],
        about["flag"] or each.name.replace("_", "-"),
        about["typed"],
        about["needs"],
        about["objects"],
    )


def _documented(cls: type[Options]) -> str:
    text = (cls.__doc__ or "").rstrip()
    listed = [
        f"    {name} : default {declared.default!r}\n        {declared.meaning}"
        for name, declared in cls.declared().items()
    ]
    return "\n".join([text, "", "    Parameters", "    ----------", *listed, "    "]) if listed else text


def _plain(number: float) -> str:
    """Return a number as people write it.

    >>> _plain(1e6), _plain(0.5)
    ('1000000', '0.5')
    """
    return str(int(number)) if float(number).is_integer() else f"{number:g}"
