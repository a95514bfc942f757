"""The page itself: template, style, script and one block of data in a single file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfdag.errors import OptionError
from rfdag.input.description import Description
from rfdag.report.content import content_of
from rfdag.report.rerun import Given
from rfdag.runtime.progress import Progress
from rfdag.runtime.threads import one_blas_thread
from rfdag.runtime.writing import write_text

if TYPE_CHECKING:
    from rfdag.bootstrapping.frequencies import Bootstrap
    from rfdag.result import Result

SCRIPTS = (
    "elements", "state", "header", "health", "order", "network", "heatmap", "picture", "edges", "player", "markov",
    "bootstrap", "environments", "downloads", "start",
)  # fmt: skip
"""The parts of the script, in the order in which they are run."""
MOST_VARIABLES = 20_000
"""Variables up to which a page can be made that a browser still opens."""


def write_report(
    result: Result, path: str | Path, *, truth: Any = None, data: Any = None, bootstrap: Bootstrap | None = None
) -> Path:
    """Write the page about a result to a file, whole or not at all, and return its path.

    `rfdag.Result.report` says more.
    """
    return write_text(path, report_text(result, truth=truth, data=data, bootstrap=bootstrap))


def report_text(
    result: Result,
    *,
    truth: Any = None,
    data: Any = None,
    form: Description | None = None,
    given: Given | None = None,
    progress: bool | None = None,
    bootstrap: Bootstrap | None = None,
) -> str:
    """Return the page about a result, and about a bootstrap of the same variables where there is one.

    ``form`` says how ``data`` is written if it is a text file, and ``given`` what else a command was given;
    ``progress`` is that of `rfdag.learn`.
    """
    p = len(result.names)
    if p > MOST_VARIABLES:
        raise OptionError(
            f"A report shows up to {MOST_VARIABLES} variables, and these are {p}; save the result, and plot or report "
            "on parts of it."
        )
    # Many small systems are solved on the way, over which several threads would only wait for each other.
    with one_blas_thread(), Progress(progress) as bar:
        bar.stage("Making the report")
        return page(content_of(result, truth=truth, data=data, form=form, given=given, bootstrap=bootstrap))


def page(content: dict[str, Any]) -> str:
    """Return the page that shows this content.

    >>> text = page({"names": ["</script><script>alert(1)</script>"]})
    >>> "<script>alert" in text, "alert(1)" in text
    (False, True)
    """
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    style, picture, script = _part("style.css"), _part("picture.css"), _script()
    return environment.from_string(_part("page.html")).render(
        style=style,
        picture=picture,
        script=script,
        policy=_policy(script, style, picture),
        content=as_block(content),
    )


def as_block(content: Any) -> str:
    r"""Return JSON that no parser of HTML takes for a tag, whatever is in it: ASCII without ``<``, ``>`` and ``&``.

    >>> as_block({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(script: str, *styles: str) -> str:
    """Return a Content-Security-Policy under which the page's own script and style work, and nothing else."""
    allowed = " ".join(map(_digest, styles))
    return (
        f"default-src 'none'; script-src {_digest(script)}; style-src {allowed}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script() -> str:
    parts = "\n".join(_part(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


@cache
def _part(name: str) -> str:
    return resources.files("rfdag.report").joinpath(name).read_text(encoding="utf-8")
