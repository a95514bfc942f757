"""One self-contained page about a result: `Result.report`.

``content`` gathers what the page shows, one module for each of its parts; ``page`` puts it into the template with style
and script. All that comes from the user is data in one JSON block, and reaches the page as text only.
"""
