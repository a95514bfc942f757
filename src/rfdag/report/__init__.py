"""One self-contained page about a result: `Result.report`.

In: a result, and where known the data, a true graph and a bootstrap. Out: one HTML file that needs no network.

``content`` gathers what the page shows, one module for each of its parts; ``page`` puts it into the template with style
and script. All text of the user is data in one JSON block, and is never parsed as HTML.
"""
