"""Show types as the source writes them: `ArrayLike`, `NDArray[np.int64]`, not the dozen types that these stand for."""

from __future__ import annotations

import inspect
import re
from typing import Any

ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[~?([\w.]+)\]\]")


class Unwritten:
    """Stands for a default that Python has no words for."""

    def __repr__(self) -> str:
        return "..."


def as_written(
    app: Any, kind: str, name: str, documented: Any, options: Any, parameters: str | None, returned: str
) -> tuple[str, str] | None:
    """Return the parameters and the result of a signature, or None where there is none."""
    # Here and not above: doctests import this file where Sphinx may not be installed.
    from sphinx.util.inspect import stringify_signature

    if parameters is None or not callable(documented):
        return None
    signature = inspect.signature(documented)
    shown = [
        each.replace(default=Unwritten()) if re.match(r"<(function|factory)", repr(each.default)) else each
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    result = "" if inspect.isclass(documented) else signature.return_annotation
    written = stringify_signature(signature.replace(parameters=shown), show_return_annotation=False)
    return written, result if isinstance(result, str) else ""


def is_in_signature(app: Any, kind: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Return True for fields of named tuples, which the signature shows with their types."""
    return True if str(member.__doc__).startswith("Alias for field number") else None


def named(annotation: str) -> str:
    """Return the type of an attribute with arrays by their name.

    >>> named("dict[int, ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.int64]]] | None")
    'dict[int, NDArray[numpy.int64]] | None'
    """
    return ARRAY.sub(r"NDArray[\1]", annotation)


def with_names(directive: type[Any]) -> type[Any]:
    """Return a directive for attributes that names arrays in their types."""

    class Named(directive):  # type: ignore[misc,valid-type]
        def run(self) -> Any:
            if "type" in self.options:
                self.options["type"] = named(self.options["type"])
            return super().run()

    return Named


def setup(app: Any) -> dict[str, bool]:
    """Write every signature and every attribute's type anew."""
    from sphinx.domains.python import PyAttribute, PyProperty

    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-skip-member", is_in_signature)
    app.add_directive_to_domain("py", "attribute", with_names(PyAttribute), override=True)
    app.add_directive_to_domain("py", "property", with_names(PyProperty), override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
