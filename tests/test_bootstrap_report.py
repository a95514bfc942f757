"""The bootstrap inside the report: the shares are those that were counted, and the page shows them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import rfdag
from browser import Browser, program
from rfdag import simulate
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.cli import app
from rfdag.errors import OptionError
from rfdag.report.content import content_of
from rfdag.report.rerun import rerun
from rfdag.runtime.writing import csv_text

NAMES = list("abcdefgh")


def rows_of(n=150, seed=3):
    dag = simulate.random_dag(8, degree=2.5, rng=seed)
    return simulate.sample(simulate.linear_sem(dag, rng=seed), n, rng=seed)


@pytest.fixture(scope="module")
def found() -> Bootstrap:
    return rfdag.bootstrap(rows_of(), 20, names=NAMES, n_jobs=1, progress=False)


def test_the_shares_of_the_edges_and_the_places_are_those_of_the_bootstrap(found):
    content = content_of(found.result, bootstrap=found)
    shown, edges = content["bootstrap"], content["edges"]
    assert (shown["runs"], shown["drawn"]) == (20, found.drawn)
    for at, (i, j) in enumerate(zip(edges["source"], edges["target"], strict=True)):
        assert shown["adjacent"][at] == pytest.approx(found.edge_frequency[i, j])
        assert shown["this_way"][at] == pytest.approx(found.compelled_frequency[i, j])
        assert shown["other_way"][at] == pytest.approx(found.compelled_frequency[j, i])
    assert len(set(shown["adjacent"])) > 1
    for at, rank in enumerate(found.ranks):
        assert [shown[part][at] for part in ("lower", "median", "upper")] == pytest.approx(
            [rank.lower, rank.median, rank.upper], rel=1e-4
        )
    assert len(content["drawing"]["edge_labels"]) == len(edges["source"])
    assert content_of(found.result)["bootstrap"] is None
    assert content_of(found.result)["drawing"]["edge_labels"] is None


def test_pairs_that_many_runs_have_and_the_graph_lacks_are_listed(found):
    bare = rfdag.learn(np.zeros((8, 8)), input="dag", names=NAMES)
    absent = content_of(bare, bootstrap=found)["bootstrap"]["absent"]
    often = [pair for pair in found.pairs if pair.frequency >= 0.5]
    assert {frozenset((NAMES[i], NAMES[j])) for i, j, *_ in absent} == {frozenset(pair[:2]) for pair in often}
    assert [share for _, _, share, *_ in absent] == sorted((pair.frequency for pair in often), reverse=True)
    for i, j, share, forth, back in absent:
        assert share == pytest.approx(found.edge_frequency[i, j])
        assert (forth, back) == pytest.approx((found.compelled_frequency[i, j], found.compelled_frequency[j, i]))
    listed = {frozenset(pair[:2]) for pair in content_of(found.result, bootstrap=found)["bootstrap"]["absent"]}
    assert not listed & {frozenset(pair) for pair in np.argwhere(found.result.dag).tolist()}


def test_columns_in_another_order_are_matched_by_name(found):
    turned = rfdag.learn(rows_of()[:, ::-1], names=NAMES[::-1])
    shown = content_of(turned, bootstrap=found)
    for at, (i, j) in enumerate(zip(shown["edges"]["source"], shown["edges"]["target"], strict=True)):
        assert shown["bootstrap"]["adjacent"][at] == pytest.approx(found.edge_frequency[7 - i, 7 - j])
    assert shown["bootstrap"]["median"] == pytest.approx([rank.median for rank in found.ranks][::-1])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "x"], r"of other variables: it lacks 'x' and has 'c', 'd', 'e', 'f', 'g' and 1 more, which this"),
        ([*NAMES, "i"], "it lacks 'i'. Pass one of the same columns"),
        (NAMES[:7], "it has 'h', which this result lacks"),
    ],
)
def test_a_bootstrap_of_other_variables_is_refused(found, names, message, tmp_path):
    other = rfdag.learn(np.zeros((len(names),) * 2), input="dag", names=names)
    with pytest.raises(OptionError, match=message):
        other.report(tmp_path / "x.html", bootstrap=found)
    assert not list(tmp_path.iterdir())


def test_something_else_than_a_bootstrap_is_refused(found, tmp_path):
    with pytest.raises(OptionError, match=r"bootstrap= is what rfdag.bootstrap returns, not an object of type int"):
        found.result.report(tmp_path / "x.html", bootstrap=20)


def test_code_repeats_the_whole_bootstrap(found, tmp_path):
    options = {"sampling": "subsample", "share": 0.6, "random_state": 4, "method": "rfd", "alpha": 0.05}
    first = rfdag.bootstrap(rows_of(), 5, names=NAMES, n_jobs=1, progress=False, **options)
    space = {"data": rows_of()}
    again = rerun(first.result, bootstrap=first)
    exec(again.python, space)
    assert space["found"].pairs == first.pairs
    assert space["result"] is space["found"].result
    other = rerun(first.result, bootstrap=found)
    assert "rfdag.learn(" in other.python
    assert any("another run" in note for note in other.notes)
    hidden = rfdag.bootstrap(rows_of(), 2, names=NAMES, n_jobs=1, progress=False, method=rfdag.Gsp(runs=2))
    again = rerun(hidden.result, bootstrap=hidden)
    assert again.command is None
    exec(again.python, space)
    assert space["found"].result.method == hidden.result.method


def block_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="content">(.*?)</script>', text).group(1))


def test_the_command_writes_a_report_that_repeats_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my data.csv").write_text(csv_text(NAMES, rows_of().tolist()))
    words = ["my data.csv", "--runs", "4", "--sampling", "subsample", "--threshold", "0.25", "--seed", "2"]
    files = ["--report", "page.html", "--plot", "graph.svg"]
    done = CliRunner().invoke(app, ["bootstrap", *words, *files, "--out", "out", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    content = block_of(Path("page.html"))
    assert content["bootstrap"]["adjacent"]
    assert content["run"]["hash"]["of"] == "the data"
    given = shlex.split(content["run"]["command"])
    assert given[:3] == ["rfdag", "bootstrap", "my data.csv"]
    assert given[given.index("--threshold") + 1] == "0.25"
    for name in ("page.html", "graph.svg"):
        Path(name).unlink()
    assert CliRunner().invoke(app, [*given[1:], "--jobs", "1"]).exit_code == 0
    assert block_of(Path("page.html"))["bootstrap"] == content["bootstrap"]
    assert Path("graph.svg").is_file()


# In the browser


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    if program() is None:
        pytest.skip("needs Chromium")
    path = found.report(tmp_path_factory.mktemp("page") / "found.html")
    with Browser() as browser:
        browser.open(path)
        yield browser


def test_the_page_shows_shares_on_edges_in_the_table_and_on_the_strip(page, found):
    assert page.complaints == []
    content = content_of(found.result, bootstrap=found)
    shown, edges = content["bootstrap"], content["edges"]
    labels = page.run("[...document.querySelectorAll('.share')].map((text) => text.textContent)")
    expected = [
        f"{round(100 * share)}/{round(100 * way)}" if directed else f"{round(100 * share)}"
        for share, way, directed in zip(shown["adjacent"], shown["this_way"], edges["directed"], strict=True)
    ]
    assert labels == expected
    titles = page.run("[...document.querySelectorAll('#network .edge title')].map((title) => title.textContent)")
    assert all("of 20 runs, this way in" in title for title in titles)
    widths = page.run(
        "[...document.querySelectorAll('#network .edge')].map((e) => Number(e.getAttribute('stroke-width')))"
    )
    assert np.corrcoef(widths, shown["adjacent"])[0, 1] == pytest.approx(1)
    headings = page.run("[...document.querySelectorAll('#edge-table th')].map((cell) => cell.textContent)")
    assert {"in % of the runs", "this way in %"} <= set(headings)
    bars = page.run(
        "[...document.querySelectorAll('#strip button .places .median')].map((e) => Number(e.getAttribute('cx')))"
    )
    medians = [shown["median"][variable] for variable in content["order"]]
    assert np.corrcoef(bars, medians)[0, 1] == pytest.approx(1)
    assert "20 runs" in page.run("document.getElementById('bootstrap-body').textContent")


def test_the_slider_filters_by_share_or_by_strength(page, found):
    shown = content_of(found.result, bootstrap=found)["bootstrap"]["adjacent"]

    def visible(threshold):
        page.run(
            f"(() => {{ const s = document.getElementById('threshold'); s.value = {threshold};"
            " s.dispatchEvent(new Event('input')); })()"
        )
        return page.run("document.querySelectorAll('#network .edge:not([hidden])').length")

    assert visible(0.9) == sum(share >= 0.9 for share in shown) < visible(0)
    page.run("document.getElementById('show-shares').click()")
    partial = [abs(edge.partial_correlation) for edge in found.result.edges]
    assert visible(0.5) == sum(value >= 0.5 for value in partial)
    assert page.run("document.getElementById('threshold-name').textContent") == "Strength"
    assert page.run("document.querySelectorAll('.share:not([hidden])').length") == 0
    page.run("document.getElementById('show-shares').click()")
    assert visible(0) == len(shown)
