"""Show in the reference what rfdag adds to its docstrings on import: the declared options, with defaults and meanings.

The reference is made from the source, where these docstrings are not yet complete.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

try:
    from griffe import Extension
except ImportError:  # doctests import this file where MkDocs may not be installed
    Extension = object

MARKS = {"rfdag.options.options", "rfdag.options.documented_by"}
"""Decorators that complete a docstring."""


class Declared(Extension):  # type: ignore[misc,valid-type]
    """Take docstrings of decorated classes and functions, and parameters of classes of options, from Python itself."""

    def on_class(self, *, cls: Any, **_: Any) -> None:
        """Complete a class of options."""
        if not is_marked(cls):
            return
        imported = complete(cls)
        import griffe

        parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    each.name,
                    annotation=each.annotation,
                    kind=griffe.ParameterKind.keyword_only,
                    default=repr(each.default),
                )
                for each in inspect.signature(imported).parameters.values()
            )
        )
        cls.set_member("__init__", griffe.Function("__init__", parameters=parameters))

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Complete a function whose docstring names options."""
        if is_marked(func):
            complete(func)


def is_marked(shown: Any) -> bool:
    """Return whether a decorator completes the docstring."""
    return any(decorator.callable_path in MARKS for decorator in shown.decorators)


def complete(shown: Any) -> Any:
    """Give what is shown its docstring of run time, and return the imported object."""
    import griffe

    imported = griffe.dynamic_import(shown.path)
    shown.docstring.value = without_defaults(inspect.getdoc(imported) or "")
    return imported


def without_defaults(docstring: str) -> str:
    """Return a docstring without the defaults of its parameters, which the signature shows.

    >>> without_defaults("beam : default 'auto'")
    'beam'
    """
    return re.sub(r"^(\w+) : default .*$", r"\1", docstring, flags=re.M)
