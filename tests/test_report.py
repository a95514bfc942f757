"""The HTML report: its numbers against slow references, its page in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import browser
import rfdag
from rfdag import datasets, simulate
from rfdag.errors import DataError, FileError, GraphError, OptionError
from rfdag.evidence.moments import Moments
from rfdag.graphs.comparison import VERDICTS
from rfdag.report.content import content_of
from rfdag.report.health import explained_by_others
from rfdag.report.markov import markov_tests
from rfdag.report.page import page, write_report
from rfdag.report.playback import first_graph
from rfdag.report.rows import Rows

HOSTILE = (
    "</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>", 'quo"te\'s & `ticks`',
    "\N{SNAKE} emoji \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}", "x" * 300, "{{ 7 * 7 }}",
    "\u202eright to left", "<!--", "line\nbreak\ttab", " ",
)  # fmt: skip
QUICK = {"beam": 1, "refine": False}


def drawn(p, n, seed=0, degree=2.5, **options):
    """Return data of a random DAG, the DAG, and what is learnt of them."""
    generator = np.random.default_rng(seed)
    dag = simulate.random_dag(p, rng=generator, degree=degree)
    rows = simulate.sample(simulate.linear_sem(dag, rng=generator), n, rng=generator)
    return rows, dag, rfdag.learn(rows, **{"method": "rfd", **options})


def block_of(path):
    """Return the data inside a page."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def sachs():
    return rfdag.learn(datasets.sachs_path(), **QUICK)


# Numbers


def test_markov_tests_are_those_of_regressions():
    rows, _, result = drawn(8, 300, seed=3)
    tests, untested = markov_tests(result.moments, result.dag, result.causal_order)
    graph = networkx.DiGraph(result.dag)
    expected = {}
    for child in range(8):
        parents = sorted(graph.predecessors(child))
        design = np.column_stack([np.ones(300), rows[:, parents]])
        for other in set(range(8)) - set(parents) - networkx.descendants(graph, child) - {child}:
            residuals = [rows[:, at] - design @ np.linalg.lstsq(design, rows[:, at])[0] for at in (child, other)]
            r = np.corrcoef(*residuals)[0, 1]
            expected[child, other] = 2 * stats.norm.sf(np.sqrt(300 - len(parents) - 3) * abs(np.arctanh(r)))
    assert len(expected) > 10
    assert untested == 0
    assert {(int(i), int(j)): p for i, j, p, _ in tests} == pytest.approx(expected, abs=1e-9)


def test_markov_finds_a_missing_edge_and_spares_a_true_graph():
    dag = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    rows = simulate.sample(simulate.linear_sem(dag, rng=1), 4000, rng=2)
    moments = Moments.from_data(rows)
    assert markov_tests(moments, dag, np.arange(4))[0][:, 2].min() > 1e-3
    broken = dag.copy()
    broken[1, 2] = 0
    tests, _ = markov_tests(moments, broken, np.arange(4))
    assert {frozenset(pair) for pair in tests[tests[:, 2] < 1e-10, :2].astype(int).tolist()} >= {frozenset([1, 2])}


def test_markov_is_sampled_above_its_size(monkeypatch):
    _, _, result = drawn(30, 200)
    monkeypatch.setattr("rfdag.report.markov.ALL_UP_TO", 20)
    monkeypatch.setattr("rfdag.report.markov.CHILDREN", 7)
    monkeypatch.setattr("rfdag.report.markov.OTHERS", 5)
    shown = content_of(result)["markov"]
    assert shown["sampled"]
    assert sum(shown["counts"]) == shown["tests"] <= 35


def test_explained_variance_is_that_of_regressions():
    rows, _, result = drawn(6, 150)
    explained = explained_by_others(result.moments)
    for at in range(6):
        design = np.column_stack([np.ones(150), np.delete(rows, at, axis=1)])
        residual = rows[:, at] - design @ np.linalg.lstsq(design, rows[:, at])[0]
        assert explained[at] == pytest.approx(1 - residual.var() / rows[:, at].var(), abs=1e-10)


def test_shapes_of_columns_are_scipys():
    rows, _, result = drawn(5, 200)
    rows = np.exp(rows / 4)
    shapes = content_of(rfdag.learn(rows, **QUICK), data=rows)["health"]["columns"]
    assert shapes["skewness"] == pytest.approx(stats.skew(rows).tolist(), rel=1e-4)
    assert shapes["kurtosis"] == pytest.approx(stats.kurtosis(rows).tolist(), rel=1e-4)
    assert result.names == (0, 1, 2, 3, 4)


def test_a_constant_column_among_the_rows_of_a_report_has_no_shape(tmp_path):
    rows = drawn(5, 200)[0]
    result = rfdag.learn(rows, **QUICK)
    rows[:, 2] = 1.0
    assert result.report(tmp_path / "page.html", data=rows).exists()
    shapes = content_of(result, data=rows)["health"]["columns"]
    assert shapes["skewness"][2] is None
    assert shapes["skewness"][1] == pytest.approx(stats.skew(rows[:, 1]), rel=1e-4)


def test_shapes_are_those_of_the_columns_by_name():
    rows = np.exp(drawn(5, 200)[0] / 4)
    frame = pd.DataFrame(rows, columns=[3, 1, 0, 2, 4])
    result = rfdag.learn(frame, **QUICK)
    expected = content_of(result, data=frame)["health"]["columns"]
    assert expected["skewness"] == pytest.approx(stats.skew(rows).tolist(), rel=1e-4)
    assert content_of(result, data=frame[range(5)])["health"]["columns"] == expected
    assert content_of(result, data=rows)["health"]["columns"] == expected


def test_the_content_needs_no_more_of_the_data_than_the_summary_of_its_rows(monkeypatch):
    rows, _, result = drawn(5, 200)
    summary = Rows.of(rows, result)
    expected = content_of(result, data=rows)
    monkeypatch.setattr("rfdag.report.content.Rows.of", lambda data, result, form: summary)
    nothing = object()
    found = content_of(result, data=nothing)
    assert found["health"] == expected["health"]
    assert found["run"]["hash"] == expected["run"]["hash"]


def test_the_bic_says_that_its_price_is_not_the_textbooks(sachs):
    run = content_of(sachs)["run"]
    assert run["edge_price"] == "2 ln n"
    assert run["bic"] == "This BIC charges 2 ln n per edge; the textbook BIC (penalty=1) charges ln n."
    plain = content_of(drawn(5, 100, method="soft", penalty=1.0, gamma=0.5, **QUICK)[2])["run"]
    assert plain["edge_price"] == "ln n + ln p"
    assert "penalty=1, gamma=0" in plain["bic"]


@pytest.mark.parametrize("seed", range(3))
def test_the_first_graph_of_an_oracle_is_its_moral_graph(seed):
    dag = simulate.random_dag(12, degree=4, rng=seed)
    trace = rfdag.learn(dag, input="dag", method="rfd").trace
    assert first_graph(trace) == {tuple(pair) for pair in np.argwhere(np.triu(rfdag.graphs.moral_graph(dag))).tolist()}


def test_the_first_graph_of_data_is_that_of_partial_correlations():
    _, _, result = drawn(15, 300, seed=5)
    wanted = np.argwhere(np.triu(np.abs(result.moments.partial_correlations()) > result.trace.threshold[0], 1))
    assert first_graph(result.trace) == {tuple(pair) for pair in wanted.tolist()}
    # Each step's neighbours are D of them, also after a file has held them.
    assert [len(nodes) for nodes in result.trace.neighbours] == result.trace.degree.tolist()


def test_a_saved_trace_keeps_its_neighbours(tmp_path):
    _, _, result = drawn(6, 100)
    loaded = rfdag.load(result.save(tmp_path / "r.json"))
    assert [step.neighbours for step in loaded.trace] == [step.neighbours for step in result.trace]
    assert content_of(loaded)["playback"] == content_of(result)["playback"]


def test_verdicts_add_up_to_the_structural_hamming_distance():
    _, dag, result = drawn(12, 120, seed=4)
    truth = content_of(result, truth=dag)["truth"]
    counts = truth["counts"]
    assert sum(counts[verdict] for verdict in VERDICTS[1:]) == rfdag.metrics.shd(dag, result.dag) > 0
    assert len(truth["missing"]) == counts["missing"]
    assert dict(row[:2] for row in truth["scores"])["SID"] == rfdag.metrics.sid(dag, result.dag).mistakes
    other = rfdag.learn(dag[::-1, ::-1], input="dag", names=list(result.names)[::-1])
    assert content_of(result, truth=other)["truth"]["counts"] == counts


def test_edges_are_the_results():
    _, _, result = drawn(10, 200)
    edges = content_of(result)["edges"]
    close = edges.pop("close") or [None] * len(result.edges)
    found = {(i, j): row for i, j, *row in zip(*(edges[name] for name in edges), strict=True)}
    assert len(found) == len(result.edges)
    assert sum(call is not None for call in close) == len(result.close_calls)
    for edge in result.edges:
        coefficient, partial, gain, directed = found[edge.source, edge.target]
        assert (coefficient, partial) == pytest.approx((edge.coefficient, edge.partial_correlation), rel=1e-4)
        assert gain == pytest.approx(edge.gain, rel=1e-4)
        assert directed == edge.directed


def test_the_hash_is_that_of_the_file_or_of_the_moments(sachs, tmp_path):
    path = datasets.sachs_path()
    given = content_of(sachs, data=path)["run"]
    assert given["hash"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    without = content_of(sachs)["run"]["hash"]
    assert without["sha256"] != given["hash"]["sha256"]
    assert content_of(rfdag.load(sachs.save(tmp_path / "s.json")))["run"]["hash"] == without


def test_downloads_are_read_back(sachs):
    texts = {form["title"]: form["text"] for form in content_of(sachs)["downloads"]}
    edges = {(edge.source, edge.target) for edge in sachs.edges}
    assert set(rfdag.exchange.from_dagitty(texts["dagitty"]).directed) == edges
    assert set(networkx.parse_gml(texts["DoWhy"]).edges) == edges
    assert set(networkx.parse_graphml(texts["GraphML"]).edges) == edges
    assert len(json.loads(texts["JSON"])["edges"]) == len(edges)


def test_a_name_that_a_language_cannot_say_is_told():
    result = rfdag.learn([[0, 1], [0, 0]], input="dag", names=["graph", "b"])
    forms = {form["title"]: form for form in content_of(result)["downloads"]}
    assert forms["dagitty"]["text"] is None
    assert "graph" in forms["dagitty"]["reason"]
    assert forms["GraphML"]["text"]


def test_exact_and_sparse_input_and_a_forgotten_trace_have_reports(tmp_path):
    from scipy.sparse import csr_array

    oracle = rfdag.learn(simulate.random_dag(9, degree=2, rng=1), input="dag")
    sparse = rfdag.learn(csr_array(simulate.random_dag(150, degree=2, rng=1)), input="dag")
    for result in (oracle, sparse):
        content = block_of(result.report(tmp_path / "x.html"))
        assert "exact" in content["markov"]["reason"]
        assert content["run"]["hash"] is None
        assert content["edges"]["partial"] is None
    assert content["drawing"] is None
    assert [track["initial"] for track in content["playback"]] == [None]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return the path of a report on 5000 variables."""
    dag = simulate.random_dag(5000, degree=3, rng=1, sparse=True)
    names = [f"{'long' * 20} {at}" for at in range(5000)]
    result = rfdag.learn(dag, input="dag", names=names, method="min-degree")
    return result.report(tmp_path_factory.mktemp("large") / "x.html", truth=dag)


def test_five_thousand_variables_fall_back_to_heat_map_and_tables(large):
    content = block_of(large)
    assert large.stat().st_size < 20_000_000
    assert content["drawing"] is None
    assert len(content["edges"]["source"]) == content["edges_in_all"] > 5000
    assert content["truth"]["counts"]["right"] > 1000


def test_many_edges_are_thinned(monkeypatch):
    _, _, result = drawn(20, 300, degree=5)
    monkeypatch.setattr("rfdag.report.content.MOST_EDGES", 7)
    content = content_of(result)
    kept = sorted(map(abs, content["edges"]["partial"]))
    assert len(kept) == 7 < content["edges_in_all"]
    assert kept == pytest.approx(sorted(abs(edge.partial_correlation) for edge in result.edges)[-7:], rel=1e-4)


# Bad input


def test_what_cannot_be_reported_is_said(sachs, tmp_path):
    with pytest.raises(FileError, match="could not be written"):
        sachs.report(tmp_path / "nowhere" / "x.html")
    with pytest.raises(OptionError, match="3 rows and 2 columns, the result 7466 rows and 11"):
        sachs.report(tmp_path / "x.html", data=[[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    with pytest.raises(DataError, match="has no rows"):
        sachs.report(tmp_path / "x.html", data=sachs.moments)
    with pytest.raises(GraphError, match="2 nodes and the result 11"):
        sachs.report(tmp_path / "x.html", truth=np.zeros((2, 2)))
    assert not list(tmp_path.iterdir())


def test_too_many_variables_are_refused(sachs, tmp_path, monkeypatch):
    monkeypatch.setattr("rfdag.report.page.MOST_VARIABLES", 10)
    with pytest.raises(OptionError, match="up to 10 variables, and these are 11"):
        write_report(sachs, tmp_path / "x.html")


# The page


def test_hostile_names_are_data_only(tmp_path):
    dag = np.triu(np.ones((len(HOSTILE), len(HOSTILE)), int), 1)
    path = rfdag.learn(dag, input="dag", names=HOSTILE).report(tmp_path / "x.html")
    text = path.read_text(encoding="utf-8")
    assert block_of(path)["names"] == list(HOSTILE)
    assert "<script>window" not in text
    assert "<img" not in text
    assert len(re.findall("<script", text)) == 2


def test_the_policy_allows_this_script_and_style_alone(sachs, tmp_path):
    text = sachs.report(tmp_path / "x.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    inline = re.findall(r"<(?:script|style)(?: id=\"picture-style\")?>(.*?)</(?:script|style)>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in inline]
    assert len(digests) == 3
    assert all(f"'sha256-{digest}'" in policy for digest in digests)
    assert not re.search(r"(src|href)=\"(?!#|data:,)", text)


def test_the_wheel_holds_all_parts(tmp_path):
    root = Path(__file__).parents[1]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=root, check=True,
        capture_output=True,
    )  # fmt: skip
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    parts = [path for path in (root / "src/rfdag/report").rglob("*") if path.suffix in (".js", ".css", ".html")]
    assert len(parts) > 10
    assert {str(path.relative_to(root / "src")) for path in parts} <= set(names)


def test_the_command_writes_a_report(tmp_path, capsys):
    from rfdag.cli import app

    path, truth = datasets.auto_mpg_path(), tmp_path / "truth.csv"
    truth.write_text("source,target\ncylinders,displacement\n")
    words = ["learn", str(path), "--beam", "1", "--no-refine", "--report", str(tmp_path / "r.html")]
    app([*words, "--truth", str(truth)], standalone_mode=False)
    assert "r.html" in capsys.readouterr().out
    content = block_of(tmp_path / "r.html")
    assert content["run"]["hash"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sum(content["truth"]["counts"][verdict] for verdict in VERDICTS if verdict != "extra") == 1
    missing = [*words[2:], "--truth", "no.csv"]
    for wrong, status, message in ((["--truth", "no.csv"], 2, "pass --report"), (missing, 1, "no file no.csv")):
        assert app(["learn", str(path), *wrong], standalone_mode=False) == status
        assert message in capsys.readouterr().err


# In a browser


@pytest.fixture(scope="module")
def chromium():
    if browser.program() is None:
        pytest.skip("no Chromium here: apt-get install chromium to try the report in a browser")
    with browser.Browser() as started:
        yield started


@pytest.fixture(scope="module", params=[11, 100, 500])
def opened(request, chromium, tmp_path_factory, sachs):
    """Return the browser at the report of 11 (Sachs), 100 and 500 variables, and the report's data."""
    path = tmp_path_factory.mktemp("report") / "x.html"
    if request.param == 11:
        sachs.report(path, truth=datasets.sachs_truth(), data=datasets.sachs_path())
    else:
        names = [f"v{at:03d}" for at in range(request.param)]
        _, dag, result = drawn(request.param, 2 * request.param, names=names)
        result.report(path, truth=dag)
    chromium.open(path)
    return chromium, block_of(path)


def enter(page_, field, value):
    """Put a value into a field, as a hand would."""
    page_.run(
        f"((field) => {{ field.value = {json.dumps(value)}; field.dispatchEvent(new Event('input')); }})"
        f"(document.getElementById('{field}'))"
    )


def test_loads_without_complaint_or_request(opened):
    page_, content = opened
    assert page_.complaints == []
    assert len(page_.requests) == 1
    assert page_.requests[0].startswith("file://")
    assert page_.run("performance.getEntriesByType('resource').length") == 0
    assert page_.run("document.querySelectorAll('#strip button[data-variable]').length") == len(content["names"])
    assert page_.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_price_of_an_edge_is_beside_the_bic(opened):
    page_, content = opened
    facts = "[...document.querySelectorAll('#facts dt')].map((name) => name.textContent)"
    expected = "BIC" if content["run"]["score"] is None else "BIC, 2 ln n per edge"
    assert expected in page_.run(facts)
    assert content["run"]["bic"] in page_.run("document.getElementById('edges-hint').textContent")


def test_slider_filters_graph_and_table(opened):
    page_, content = opened
    strengths = np.abs(content["edges"]["partial"])
    level = round(float(np.quantile(strengths, 0.7)), 2)
    kept = int((strengths >= level).sum())
    assert 0 < kept < len(strengths)
    enter(page_, "threshold", level)
    assert f"{kept} of {len(strengths)} edges" in page_.run("document.getElementById('threshold-text').textContent")
    assert page_.run("document.querySelectorAll('#edge-table tbody tr').length") == min(kept, 200)
    if content["drawing"]:
        assert page_.run("document.querySelectorAll('#network .edge:not([hidden])').length") == kept
    else:
        assert not page_.run("document.getElementById('map').hidden")
    enter(page_, "threshold", 0)
    assert page_.run("document.querySelectorAll('#edge-table tbody tr').length") == min(len(strengths), 200)


def test_table_sorts_and_filters(opened):
    page_, content = opened
    column = "[...document.querySelectorAll('#edge-table tbody tr')].map((row) => row.cells[4].textContent)"
    button = "document.querySelector('#edge-table th[data-key=partial] button')"
    for direction in ("descending", "ascending"):
        page_.run(f"{button}.click()")
        assert page_.run(f"{button}.parentElement.getAttribute('aria-sort')") == direction
        values = [float(text.replace("−", "-")) for text in page_.run(column)]
        expected = sorted(content["edges"]["partial"], reverse=direction == "descending")[:200]
        assert values == pytest.approx(expected, rel=1e-3)
    target = content["names"][content["edges"]["target"][0]]
    enter(page_, "edge-filter", target)
    rows = page_.run(
        "[...document.querySelectorAll('#edge-table tbody tr')]"
        ".map((row) => [row.cells[0].textContent, row.cells[2].textContent])"
    )
    assert rows
    assert all(target in ends for ends in rows)
    enter(page_, "edge-filter", "")


def test_search_finds_by_keyboard(opened):
    page_, content = opened
    name = content["names"][content["order"][3]]
    page_.run("document.getElementById('search').focus()")
    for letter in name:
        page_.press(letter)
    assert name in page_.run("document.getElementById('matches').textContent")
    page_.press("Enter")
    assert page_.run("document.querySelector('#strip [aria-pressed=true] .name').textContent") == name
    panel = page_.run("document.getElementById('neighbourhood').textContent")
    assert f"place 4 of {len(content['names'])}" in panel
    joined = [*content["edges"]["source"], *content["edges"]["target"]].count(content["order"][3])
    assert page_.run("document.querySelectorAll('#neighbourhood li').length") == joined
    page_.run("document.querySelector('.stage > :not([hidden])').focus()")
    page_.press("Escape")
    assert page_.run("document.getElementById('neighbourhood').hidden")
    enter(page_, "search", "no such")
    assert "No variable" in page_.run("document.getElementById('matches').textContent")


def test_player_steps(opened):
    page_, content = opened
    played = content["playback"][0]
    told = "document.getElementById('step-text').textContent"
    assert content["names"][played["node"][0]] in page_.run(told)
    page_.run("document.getElementById('step-forward').click()")
    assert page_.run(told).startswith(
        f"Step 2 of {len(played['node'])}: {content['names'][played['node'][1]]} is removed."
    )
    assert f"R = {played['removal'][1]} " in page_.run(told)
    if played["initial"] is None:
        assert "recorded up to 200" in page_.run("document.getElementById('player-hint').textContent")
    else:
        counts = [
            page_.run(f"document.querySelectorAll('#moral .{kind}').length")
            for kind in ("own", "removed", "filled", "gone.dot")
        ]
        assert counts == [played["degree"][1], len(played["removed"][1]), len(played["filled"][1]), 1]
    page_.run("document.getElementById('step-last').click()")
    assert f"Step {len(played['node'])} of" in page_.run(told)
    page_.run("document.getElementById('step-first').click()")
    assert "Step 1 of" in page_.run(told)


def test_pan_and_zoom_by_keyboard_and_truth(opened):
    page_, content = opened
    page_.run("document.querySelector('.stage > :not([hidden])').focus()")
    if content["drawing"]:
        transform = "document.querySelector('#network > g').getAttribute('transform')"
        seen = [page_.run(transform)]
        for pressed in ("+", "ArrowLeft", "0"):
            page_.press(pressed)
            seen.append(page_.run(transform))
        assert seen[0] == seen[3]
        assert len(set(seen)) == 3
        page_.run("document.getElementById('show-truth').click()")
        for style, verdict in zip(("right", "missing", "extra", "reversed"), VERDICTS, strict=True):
            found = page_.run(f"document.querySelectorAll('#network .edge.{style}:not([hidden])').length")
            assert found == content["truth"]["counts"][verdict]
        legend = "[...document.querySelectorAll('#legend span')].map((entry) => entry.textContent)"
        assert page_.run(legend)[:4] == list(VERDICTS)
        page_.run("document.getElementById('show-truth').click()")
    else:
        page_.run("document.getElementById('zoom-in').click()")
    assert page_.complaints == []


def test_downloads_are_there(opened):
    page_, content = opened
    page_.run(
        "window.kept = []; URL.createObjectURL = (blob) => { window.kept.push(blob); return 'data:,'; };"
        "HTMLAnchorElement.prototype.click = function () { window.kept.push(this.download); };"
    )
    page_.run("document.querySelectorAll('#downloads button.save').forEach((button) => button.click())")
    texts = page_.run("Promise.all(window.kept.map((entry) => (entry.text ? entry.text() : entry)))")
    assert texts == [entry for form in content["downloads"] for entry in (form["text"], form["file"])]
    page_.run("window.kept = []; document.getElementById('save-svg').click()")
    assert "<svg" in page_.run("window.kept[0].text()")
    page_.run("window.kept = []; document.getElementById('save-png').click()")
    page_.wait("window.kept.length === 2")
    assert page_.run("window.kept[0].slice(1, 4).text()") == "PNG"
    assert page_.run("window.kept[1]") == "graph.png"
    assert page_.complaints == []


def test_hostile_names_are_shown_not_run(chromium, tmp_path):
    dag = np.triu(np.ones((len(HOSTILE), len(HOSTILE)), int), 1)
    result = rfdag.learn(dag, input="dag", names=HOSTILE, method="rfd")
    chromium.open(result.report(tmp_path / "x.html", truth=np.triu(dag, 2)))
    assert chromium.complaints == []
    assert len(chromium.requests) == 1
    assert chromium.run("window.hacked") is None
    shown = chromium.run("[...document.querySelectorAll('#edge-table .name')].map((name) => name.textContent)")
    clean = {
        name.replace("\n", "\ufffd").replace("\t", "\ufffd") if name.strip() else json.dumps(name) for name in HOSTILE
    }
    assert set(shown) == clean
    for at in range(len(HOSTILE)):
        chromium.run(f"document.querySelectorAll('#strip button')[{at}].click()")
    assert chromium.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert chromium.complaints == []


def test_everything_can_be_reached_by_tab_and_has_a_name(chromium, sachs, tmp_path):
    chromium.open(sachs.report(tmp_path / "x.html"))
    nameless = chromium.run(
        "[...document.querySelectorAll('button, input, select, [role=button], [tabindex]')].filter((element) =>"
        " !(element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length))"
        ".map((element) => element.outerHTML)"
    )
    assert nameless == []
    reached = set()
    for _ in range(60):
        chromium.press("Tab")
        reached.add(chromium.run("document.activeElement.id || document.activeElement.tagName"))
    assert {"search", "threshold", "show-map", "zoom-in", "save-png", "network", "edge-filter"} <= reached
    assert chromium.run("[...document.querySelectorAll('[tabindex]')].every((element) => element.tabIndex <= 0)")


def test_the_names_around_the_elimination_are_not_cut_off(chromium, tmp_path):
    dag = np.zeros((28, 28))
    result = rfdag.learn(dag, input="dag", names=[f"{'m' * 12}{at}" for at in range(28)], method="rfd")
    chromium.open(result.report(tmp_path / "x.html"))
    assert chromium.run(
        "(() => { const frame = document.getElementById('moral').getBoundingClientRect();"
        " return [...document.querySelectorAll('#moral text')].every((text) => { const box ="
        " text.getBoundingClientRect(); return box.left >= frame.left && box.right <= frame.right &&"
        " box.top >= frame.top && box.bottom <= frame.bottom; }); })()"
    )


def test_five_thousand_variables_open_as_heat_map_and_tables(chromium, large):
    chromium.open(large)
    assert chromium.complaints == []
    assert len(chromium.requests) == 1
    visible = "['map', 'network'].map((id) => document.getElementById(id).checkVisibility())"
    assert chromium.run(visible) == [True, False]
    assert chromium.run("document.getElementById('show-graph').disabled")
    assert 0 < chromium.run("document.querySelectorAll('#edge-table tbody tr').length") <= 1000


def test_long_names_that_begin_and_end_alike_have_boxes_of_their_own(chromium, tmp_path):
    names = [f"the amount of substance number {at} in the blood of the patients" for at in range(8)]
    result = rfdag.learn(simulate.random_dag(8, degree=3, rng=0), input="dag", names=names, method="rfd")
    chromium.open(result.report(tmp_path / "x.html"))
    shown = chromium.run("[...document.querySelectorAll('#network text')].map((text) => text.textContent)")
    assert len(set(shown)) == 8
    assert all(any(f" {at} in" in text for text in shown) for at in range(8))
    assert chromium.run(
        "[...document.querySelectorAll('#network .node')].every((node) =>"
        " node.querySelector('text').getBBox().width < node.querySelector('rect').getBBox().width)"
    )


def test_paper_holds_the_page_and_repeats_headings(chromium, sachs, tmp_path):
    path = sachs.report(tmp_path / "x.html", truth=datasets.sachs_truth(), data=datasets.sachs_path())
    # About the width of a sheet of A4 between its margins.
    chromium.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
    chromium.call("Emulation.setEmulatedMedia", media="print")
    try:
        chromium.open(path)
        assert chromium.run("document.documentElement.scrollWidth <= window.innerWidth")
        assert chromium.run("[...document.querySelectorAll('.scroll')].every((box) => box.scrollWidth <= 718)")
        shown = "[...document.querySelectorAll('thead button')].map((button) => getComputedStyle(button).display)"
        # A button is no text, and is left out where a browser repeats a heading on the next sheet.
        assert set(chromium.run(shown)) == {"contents"}
        assert not chromium.run("document.getElementById('matches').checkVisibility()")
    finally:
        chromium.call("Emulation.clearDeviceMetricsOverride")
        chromium.call("Emulation.setEmulatedMedia", media="")


def test_page_is_plain_ascii_where_data_are():
    text = page({"names": ["\ud800", "\u2028", "é"]})
    block = re.search(r'id="content">(.*?)</script>', text)[1]
    assert block.isascii()
    assert json.loads(block)["names"] == ["\ud800", "\u2028", "é"]
