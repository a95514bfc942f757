"""Pictures of a result: `Result.plot`.

In: a result, and for some kinds weights, ranks or a true graph. Out: axes of matplotlib, or coordinates for SVG.

``layering`` and ``layout`` place nodes and route edges for every drawing of the package. They, ``svg``, ``palette`` and
``shortening`` need no matplotlib; the others do, but touch neither pyplot nor matplotlib's settings.
"""
