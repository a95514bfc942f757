"""Pictures of a result or a bootstrap: `Result.plot`, `Bootstrap.plot`.

In: a result, and for some kinds weights, ranks or a true graph; or a bootstrap. Out: axes of matplotlib, or coordinates
for SVG.

``layering``, ``packing`` and ``layout`` place nodes and route edges for every drawing of the package. They, ``svg``,
``palette`` and ``shortening`` need no matplotlib; the others do, but touch neither pyplot nor matplotlib's settings.
"""
