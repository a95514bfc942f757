"""The methods by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rfdag.eliminate.rules import RULES
from rfdag.errors import OptionError, keyword, listed
from rfdag.methods.baseline import Baseline
from rfdag.methods.gsp import Gsp
from rfdag.methods.method import Method
from rfdag.methods.rfd import Rfd
from rfdag.methods.soft import Soft
from rfdag.methods.sp import Sp
from rfdag.wording import nearest

METHODS: dict[str, type[Method]] = {kind.name: kind for kind in (Soft, Rfd, Gsp, Sp)}
"""The methods by name; add one to use it by its name. The name of a rule in `RULES` stands for a `Baseline` too."""


def method_names() -> list[str]:
    """Return the names of all methods.

    >>> method_names()
    ['soft', 'rfd', 'gsp', 'sp', 'min-degree', 'min-fill', 'max-remove', 'random']
    """
    return [*METHODS, *(rule for rule in RULES if rule not in METHODS)]


BUILT_IN = tuple(method_names())
"""The methods that every installation has, whatever a program adds to `METHODS` or `RULES`."""


def class_of(name: object) -> type[Method]:
    """Return the class of a method, by name."""
    if isinstance(name, str):
        if name in METHODS:
            return METHODS[name]
        if name in RULES:
            return Baseline
    close = nearest(name, method_names())
    hint = "" if close is None else f" Did you mean {close!r}?"
    raise OptionError(f"{keyword('method')} is one of {listed(method_names(), limit=20)}, not {name!r}.{hint}")


def method_named(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Return a method with options, by name.

    >>> method_named("min-fill", {"alpha": 0.01})
    Baseline(alpha=0.01, rule='min-fill')
    """
    kind = class_of(name)
    chosen: dict[str, Any] = {"rule": name} if kind is Baseline else {}
    return kind(**chosen, **(options or {}))
