"""The documentation's site, made of a few pages: what its extensions add to Sphinx, and what they refuse."""

from __future__ import annotations

import subprocess
import sys

import pytest

import browser
from fences import ROOT

pytest.importorskip("sphinx", reason="the extra docs makes the site")

TABLE = "| " + " | ".join(f"column{at}" for at in range(30)) + " |\n" + "| --- " * 30 + "|\n" + "| 0.25 " * 30 + "|\n"
PAGES = {
    "index.md": "# Start\n\nThe rows of [a model](names.md#rfdag.simulate.LinearSEM).\n",
    "table.md": f"# Wide\n\nAn unmistakable quokka has columns.\n\n{TABLE}",
    "code.md": "# Code\n\n```python\n>>> 3 * 4\n12\n\n```\n",
    "names.md": """# Names

```{eval-rst}
.. autofunction:: rfdag.simulate.linear_sem
.. autofunction:: rfdag.simulate.sample
.. autoclass:: rfdag.simulate.LinearSEM
.. autoclass:: rfdag.metrics.SkeletonScores
```
""",
}


def build(folder, pages):
    """Make a site of pages with the settings of the documentation, and return how that ended."""
    source = folder / "source"
    source.mkdir()
    for name, text in pages.items():
        (source / name).write_text(text, encoding="utf-8")
    entries = "".join(f"  - file: {name}\n" for name in pages if name != "index.md")
    (source / "_toc.yml").write_text(f"root: index\nentries:\n{entries}" if entries else "root: index\n")
    command = ["-m", "sphinx", "--fail-on-warning", "--quiet", "-c", ROOT / "docs", source, folder / "site"]
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder, PAGES)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


def test_names_are_linked_and_types_shown_as_written(site):
    page = (site / "names.html").read_text(encoding="utf-8")
    assert 'href="names.html#rfdag.simulate.LinearSEM"' in (site / "index.html").read_text(encoding="utf-8")
    assert page.count('href="#rfdag.simulate.LinearSEM"') > 2  # from its heading, and from signatures
    assert "ArrayLike" in page
    assert "NDArray" in page
    assert "_SupportsArray" not in page
    assert "dtype" not in page
    assert "Alias for field" not in page


def test_blocks_end_where_their_code_ends(site):
    assert '<span class="go">12</span>\n</pre>' in (site / "code.html").read_text(encoding="utf-8")


def test_a_page_that_would_load_something_from_elsewhere_fails(tmp_path):
    done = build(tmp_path, {"index.md": "# Start\n\n![a picture](https://example.org/a.png)\n"})
    assert done.returncode == 1
    assert "index.html would load https://example.org/a.png" in done.stderr


@pytest.mark.skipif(browser.program() is None, reason="no Chromium here: apt-get install chromium to try the site")
def test_pages_opened_as_files_are_searched_and_fit_a_phone(site):
    with browser.Browser() as chromium:
        size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        chromium.call("Emulation.setDeviceMetricsOverride", **size)
        chromium.call("Page.navigate", url=f"{(site / 'table.html').as_uri()}")
        chromium.wait("document.querySelector('table')?.clientWidth > 390")
        for part in ("html", ".bd-article-container"):  # the table scrolls in its box, not the page around it
            assert chromium.run(f"document.querySelector('{part}').scrollWidth") == 390
        chromium.call("Page.navigate", url=f"{(site / 'search.html').as_uri()}?q=quokka")
        chromium.wait("document.querySelector('#search-results .context') !== null")
        assert "An unmistakable quokka has columns" in chromium.run(
            "document.getElementById('search-results').innerText"
        )
        assert all(address.startswith(("file:", "data:")) for address in chromium.requests)
