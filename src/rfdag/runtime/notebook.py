"""Objects that notebooks show as HTML."""

from __future__ import annotations


class ShownInNotebooks:
    """Gives a class `_repr_html_`, which Jupyter calls for the last value of a cell."""

    def _repr_html_(self) -> str:
        return html_of(self)


def html_of(thing: object) -> str:
    """Return an object as HTML, by its view in `rfdag.notebooks`.

    For classes that cannot take a mixin, such as a NamedTuple; others derive from `ShownInNotebooks`.
    """
    # The one import that points upwards: views know every class, so that no class has to know its view.
    from rfdag.notebooks import view

    return view(thing)
