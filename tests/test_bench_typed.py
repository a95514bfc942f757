"""The comparison with peers on categories, mixed columns, gaps and curves: data, contenders, what passes between."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise

import numpy as np
import pytest

from rfdag import metrics
from rfdag.errors import FileError, OptionError
from rfdag.studies.bench import (
    catalogue,
    cells,
    environments,
    harness,
    interventional,
    rulers,
    tables,
    typed,
    typed_workloads,
)
from rfdag.studies.bench import names as names_
from rfdag.studies.bench.contenders import CONTENDERS
from rfdag.studies.bench.curves import SMOOTH, curved_sample
from rfdag.studies.bench.typed import DISCRETE, GROUPS, MISSING, MIXED, NONLINEAR, TYPED
from rfdag.studies.bench.typed_workloads import NETWORKS, SHARES, WORKLOADS, TypedDrawn, TypedWorkload
from small_workload import ROOT, SILENT, TRUE, data_of

# Data of each kind whose graph every contender finds: 0 → 2 ← 1, and 3 – 4.


def data_for(group):
    generator = np.random.default_rng([1, 18])
    rows = data_of(TRUE)
    categorical = np.zeros(5, bool)
    if group == DISCRETE:
        rows, categorical = generator.integers(0, 2, (5000, 5)).astype(float), ~categorical
        # The effects of 0 and 1 on 2 add up, so that each shows by itself as well.
        rows[:, 2] = generator.random(5000) < 0.1 + 0.4 * rows[:, 0] + 0.4 * rows[:, 1]
        rows[:, 4] = np.where(generator.random(5000) < 0.8, rows[:, 3], rows[:, 4])
    elif group == MIXED:
        categorical[[0, 4]] = True
        rows[:, 0] = generator.integers(0, 3, 5000)
        rows[:, 2] = rows[:, 0] - rows[:, 1] + generator.normal(size=5000)
        rows[:, 4] = np.digitize(rows[:, 4], [-0.6, 0.6])
    elif group == MISSING:
        rows[generator.random(rows.shape) < 0.02] = np.nan
    elif group == NONLINEAR:
        rows[:, :2], rows[:, 3] = generator.normal(size=(5000, 2)), generator.normal(size=5000)
        rows[:, 2] = rows[:, 0] + rows[:, 1] ** 2 + rows[:, 1] + generator.normal(size=5000)
        rows[:, 4] = rows[:, 3] + generator.normal(size=5000)
    return rows, categorical


PROGRAM = """
import importlib.util, json, sys
import numpy as np
place, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location("typed", place)
typed = sys.modules["typed"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(typed)
asked, found = json.load(open(source)), {}
for name, data in asked:
    given = np.load(data)
    found[" ".join((name, data))] = typed.TYPED[name].answer(given["rows"], given["categorical"]).tolist()
json.dump(found, open(target, "w"))
"""


@pytest.mark.parametrize("home", sorted({each.home for each in TYPED.values()}))
def test_directions_are_read_right(home, tmp_path):
    python = environments.python_of(home, ROOT / environments.FOLDER)
    here = [each for each in TYPED.values() if each.home == home]
    if python is None or harness.missing(here, ROOT / environments.FOLDER):
        pytest.skip(f"the environment of {home} has not been made: `rfdag bench --setup`")
    asked = []
    for each in here:
        for group in each.groups:
            place = tmp_path / f"{group}.npz"
            rows, categorical = data_for(group)
            np.savez(place, rows=rows, categorical=categorical)
            asked.append((each.name, str(place)))
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    words = [python, "-P", "-c", PROGRAM, typed.__file__, tmp_path / "asked.json", tmp_path / "found.json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(found) == len(asked)
    for name, answer in found.items():
        assert metrics.shd(TRUE, np.array(answer)) == 0, name


def test_what_passes_between_the_harness_and_a_contender(tmp_path):
    """Codes and gaps arrive as they were drawn, with the numbers of the columns of categories."""
    program = tmp_path / "typed.py"
    program.write_text(
        "import sys\nimport numpy as np\n"
        "name, columns, source, target = sys.argv[1:]\n"
        "rows = np.load(source)\n"
        "open(target + '.started', 'wb').close()\n"
        "categories = [int(column) for column in columns.split(',')]\n"
        "graph = np.zeros((rows.shape[1],) * 2, np.int8)\n"
        "graph[0, categories] = 1\n"
        "graph[1, np.isnan(rows).any(axis=0)] = 1\n"
        "np.savez(target, graph=graph, seconds=0.5)\n"
    )
    drawn = TypedDrawn(TRUE, np.array([[0, 1.5, np.nan, 2, 1], [1, 0.5, 1, 2, 0]]), np.array([1, 0, 0, 1, 1], bool))
    words = harness._program(TYPED["mixpc"], drawn)
    assert words[1:] == ["mixpc", "0,3,4"]
    python = str(environments.python_of(environments.OWN, tmp_path))
    graph, seconds = harness.run([python, str(program), *words[1:]], drawn.rows, 60)
    assert seconds == 0.5
    assert np.flatnonzero(graph[0]).tolist() == [0, 3, 4]
    assert np.flatnonzero(graph[1]).tolist() == [2]


def small(group="mixed"):
    def source(generator):
        rows = np.column_stack([generator.integers(0, 3, 50), 5 + 2 * generator.normal(size=(50, 2))])
        rows[3, 1] = np.nan
        return TypedDrawn(np.zeros((3, 3), np.int8), rows, np.array([True, False, False]))

    return TypedWorkload("small", group, "small tables", 3, 50, source, graphs=1)


def test_codes_and_gaps_stay_as_they_are():
    _, rows, categorical = small().draw(1, 0)
    assert set(np.unique(rows[:, categorical])) == {0, 1, 2}
    assert np.isnan(rows).sum() == 1
    np.testing.assert_allclose(np.nanmean(rows[:, ~categorical], axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.nanstd(rows[:, ~categorical], axis=0), 1)
    places = {np.flatnonzero(small().draw(seed, 0).categorical)[0] for seed in range(20)}
    assert places == {0, 1, 2}, "columns are shuffled"


def test_cells_of_tables_without_a_bic(monkeypatch):
    monkeypatch.setattr(harness, "run", lambda *words: (np.triu(np.ones((3, 3), np.int8), 1), 0.25))
    monkeypatch.setattr(environments, "python_of", lambda *words: "python")
    monkeypatch.setattr(environments, "version_of", lambda *words: "1")
    found = harness.compare([small()], ["mixpc"], harness.Settings(), cells.Ledger(), SILENT)["small"]
    assert [cell.key.contender for cell in found] == ["mixpc", "empty graph", "complete graph"]
    assert [(cell.bic, cell.shd, cell.edges) for cell in found] == [(None, 3, 3), (None, 0, 0), (None, 3, 3)]
    assert [row["contender"] for row in tables.summed_up(small(), found, 1)] == [cell.key.contender for cell in found]


def test_a_gap_is_part_of_the_digest():
    rows = small().draw(1, 0).rows
    filled, elsewhere = np.nan_to_num(rows), rows.copy()
    elsewhere[:, 0], elsewhere[:, 1] = rows[:, 1], rows[:, 0]
    assert len({harness.digest(each) for each in (rows, filled, elsewhere)}) == 3
    assert harness.digest(rows) == harness.digest(np.asfortranarray(rows))


# Who runs where.


def test_contenders_run_on_the_groups_they_are_for():
    for group in GROUPS:
        names = {each.name for each in harness.chosen(None, group)}
        assert names == {each.name for each in TYPED.values() if group in each.groups}, group
    nonlinear = {each.name for each in harness.chosen(None, NONLINEAR)}
    assert {"rfdag", "flop-0", "rfdag-kci", "boss-basis", "rfdag-basis-3"} <= nonlinear
    assert not {each.name for each in harness.chosen(None, "sparse")} & set(TYPED)
    assert {each.name for each in harness.chosen(["tetrad", "flop-0"], DISCRETE)} == {
        name for name, each in TYPED.items() if each.home == "tetrad" and DISCRETE in each.groups
    } | {"flop-0"}
    # An environment without a contender for these workloads is no mistake.
    assert harness.chosen(["pgmpy"], MISSING) == []
    with pytest.raises(OptionError, match=r"no contender 'x'.*boss-bdeu"):
        harness.chosen(["x"], MIXED)


def test_names_for_completion_are_all_there():
    assert set(names_.CONTENDERS) == set(catalogue.CONTENDERS)
    assert set(names_.WORKLOADS) == set(catalogue.WORKLOADS)
    assert set(names_.GROUPS) == {workload.group for workload in catalogue.WORKLOADS.values()}
    used = len(TYPED) + len(CONTENDERS) + len(interventional.CONTENDERS)
    assert len(catalogue.CONTENDERS) == used, "no name is used twice"


def test_only_the_environments_that_are_asked_for_are_made(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(environments, "_install", lambda home, folder: made.append(home))
    assert environments.make(tmp_path, only=catalogue.homes_of(["boss-bdeu", "boss-basis", "mixpc"])) == {}
    assert made == ["mixpc", "tetrad"]
    assert catalogue.homes_of(None) is None
    with pytest.raises(OptionError, match="no contender 'x'"):
        catalogue.homes_of(["x"])


# Workloads.


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_workloads_are_what_they_say(workload):
    drawn = workload.draw(1, 0)
    assert drawn.rows.shape == (workload.n, workload.p)
    assert drawn.true.shape == (workload.p, workload.p)
    if workload.group == NONLINEAR:
        return
    codes = drawn.rows[:, drawn.categorical]
    assert (codes == codes.astype(int)).all()
    assert codes.min(initial=0) == 0
    share = {DISCRETE: 1, MIXED: 0.5, MISSING: 0}[workload.group]
    assert drawn.categorical.mean() == share
    gaps = np.isnan(drawn.rows).mean(axis=0)
    if workload.group != MISSING or workload.name.startswith("complete"):
        assert not gaps.any()
        return
    mechanism, percent = workload.name.split("-")[:2]
    assert abs(gaps[gaps > 0].mean() - int(percent) / 100) < 0.02
    assert (gaps > 0).mean() == (0.8 if mechanism == "mar" else 1)


def test_gaps_are_made_in_the_same_complete_rows():
    whole = WORKLOADS["complete-p50-n1000"].draw(5, 2)
    for mechanism in ("mar", "mcar"):
        for percent in SHARES:
            true, rows, _ = WORKLOADS[f"{mechanism}-{percent}-p50-n1000"].draw(5, 2)
            np.testing.assert_array_equal(true, whole.true)
            seen = ~np.isnan(rows).any(axis=0)
            np.testing.assert_allclose(rows[:, seen], whole.rows[:, seen])
            # Standardised by what is seen, the others differ by scale and mean alone.
            for ours, theirs in zip(rows.T, whole.rows.T, strict=True):
                there = ~np.isnan(ours)
                assert np.corrcoef(ours[there], theirs[there])[0, 1] > 1 - 1e-9


def test_the_networks_are_the_known_ones():
    for name, p in NETWORKS.items():
        assert len(typed_workloads.network(name).names) == p
    assert typed_workloads.network("asia").dag.sum() == 8


def test_networks_without_pgmpy(monkeypatch):
    typed_workloads.network.cache_clear()
    monkeypatch.setattr(typed_workloads, "find_spec", lambda name: None)
    with pytest.raises(FileError, match="pip install pgmpy"):
        typed_workloads.network("asia")


@pytest.mark.parametrize("curve", SMOOTH)
def test_curves_have_unit_variances_and_effects(curve):
    dag = np.array([[0, 1], [0, 0]])
    rows = curved_sample(dag, 4000, curve, np.random.default_rng([2, 3]))
    np.testing.assert_allclose(rows.std(axis=0), 1)
    # The parent explains between .7² / (1 + .7²) and 1.5² / (1 + 1.5²) of the child, by whatever curve.
    places = np.argsort(rows[:, 0])
    blocks = np.array_split(rows[places, 1], 100)
    within = np.mean([block.var() for block in blocks])
    assert 1 / 3.25 * 0.9 < within < 1 / 1.49 * 1.1


def test_gaussian_processes_are_smooth_and_differ():
    grid = np.linspace(-2, 2, 401)
    drawn = [SMOOTH["gaussian-process"](grid, np.random.default_rng([seed, 1])) for seed in range(300)]
    # Covariance exp(−d²/2) at distances 0, 1 and 2.
    for first, second, expected in ((200, 200, 1), (150, 250, np.exp(-0.5)), (100, 300, np.exp(-2))):
        products = np.array([each[first] * each[second] for each in drawn])
        assert abs(products.mean() - expected) < 4 * products.std() / np.sqrt(len(drawn))
    assert max(abs(b - a) for each in drawn for a, b in pairwise(each)) < 0.1


def test_the_documentation_names_everything():
    page = ROOT / "docs" / "mixed.md"
    if not page.exists():
        pytest.skip("the page has not been written")
    text = page.read_text(encoding="utf-8")
    for name in (*TYPED, *WORKLOADS):
        assert f"`{name}`" in text, name
    for each in TYPED.values():
        assert each.call in text, each.call


def test_rulers_without_rows():
    rows = small().draw(1, 0).rows
    assert list(rulers.lay(rows, TRUE, numbers=False)) == ["empty graph", "complete graph"]
    assert rulers.names(TRUE, numbers=False) == ["empty graph", "complete graph"]


def test_no_search_draws_what_a_workload_draws(monkeypatch):
    """A search draws from ``default_rng(seed)``; data of any workload, seed and graph come from other streams."""

    def state(generator):
        return str(generator.bit_generator.state["state"])

    begun = []
    source = typed_workloads.simulation_generator
    monkeypatch.setattr(
        typed_workloads, "simulation_generator", lambda *words: begun.append(source(*words)) or begun[-1]
    )
    names = ("asia-n10000", "mixed-p20-n1000", "mar-10-p50-n1000", "mcar-10-p50-n1000")
    for name in names:
        for seed in (0, 1):
            WORKLOADS[name].draw(seed, 0)
    assert len(begun) == 2 * len(names)
    fresh = {state(source(WORKLOADS[name].same_as or name, seed, 0)) for name in names for seed in (0, 1)}
    # Both mechanisms of gaps share their complete rows.
    assert len(fresh) == 2 * (len(names) - 1)
    assert not fresh & {state(np.random.default_rng(seed)) for seed in range(100)}
