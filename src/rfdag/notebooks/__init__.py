"""What a notebook shows of a result, a trace, a bootstrap, knowledge, a model or an effect: `view`.

In: one of these objects. Out: HTML without scripts, identifiers or requests.

All styles are inline, so that nothing affects the rest of the notebook, and text takes the notebook's colour, so that
it is readable on light and dark themes.
"""

from rfdag.notebooks.views import view

__all__ = ["view"]
