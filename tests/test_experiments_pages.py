"""What all studies have in common: pages, figures, statistics and plans."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rfdag.studies.paper import catalogue, look, pages, statistics, study
from rfdag.studies.paper.study import Claim, Scope
from squares_study import ONE, SQUARES, complete, measure, plan

# Pages.


def outcome(tmp_path, scope=None):
    scope = scope or Scope(seed=0)
    done = complete(SQUARES, scope, tmp_path, ONE)
    return pages.Outcome.of(SQUARES, scope, SQUARES.table(done.records))


def test_files_of_a_figure(tmp_path):
    files = outcome(tmp_path).files()
    assert set(files) == {"squares.csv", "squares.svg", "squares.png", "squares.md"}
    assert files["squares.csv"].splitlines()[:3] == ["number,value", "0,0", "1,1"]
    assert files["squares.png"].startswith(b"\x89PNG")
    assert b"<svg" in files["squares.svg"]
    page = files["squares.md"]
    assert page.startswith("# Squares of numbers\n")
    assert "| squares grow | held | 6 numbers |" in page
    assert "![Squares of numbers: squares](squares.svg)" in page
    assert "`rfdag reproduce squares --seed 0`" in page


def test_the_same_numbers_make_the_same_picture(tmp_path):
    assert outcome(tmp_path).files()["squares.svg"] == outcome(tmp_path).files()["squares.svg"]


def test_the_collected_page_links_to_figures_and_headings(tmp_path):
    text = pages.collected([outcome(tmp_path)], "figures/")
    assert "[squares](#squares-of-numbers)" in text
    assert "(figures/squares.svg)" in text
    assert "(figures/squares.csv)" in text


def test_a_missing_peer_is_named(tmp_path):
    from dataclasses import replace

    without = replace(SQUARES, homes=("flopsearch",))
    made = pages.Outcome(without, Scope(peers=tmp_path), [{"number": 1}], {}, [])
    assert made.left_out == ["flopsearch"]
    assert "Left out, because not installed: flopsearch" in made.page()


def test_failed_calls_are_reported():
    rows = [
        {"method": "RFD", "failed": 0, "failure": "", "graphs": 5},
        {"method": "GES", "failed": 2, "failure": "singular | matrix", "graphs": 5},
        {"method": "GES", "failed": 1, "failure": "singular | matrix", "graphs": 5},
    ]
    made = pages.Outcome(SQUARES, Scope(limit=3), rows, {}, []).page()
    assert "Calls that failed, and are not in the figure: GES, 3 (singular \\| matrix)." in made
    assert "Graphs a point: 5. Time limit, instead of the one above: 3 s." in made


def test_a_bar_in_a_claim_does_not_break_the_table():
    assert "\\|D\\|" in pages.claims_table([Claim("|D| is small", None, "none")])


# Numbers and looks.


def test_mean_band_covers_as_often_as_it_says():
    generator = np.random.default_rng(5)
    covered = 0
    for trial in range(200):
        band = statistics.mean_band(generator.exponential(size=80), seed=trial)
        covered += band.low <= 1 <= band.high
    assert 0.88 <= covered / 200 <= 0.98


def test_growth_finds_the_exponent_and_doubts_it():
    generator = np.random.default_rng(1)
    sizes = np.array([10, 20, 40, 80, 160, 320])
    fit = statistics.growth(sizes, 1e-6 * sizes**2.5 * np.exp(generator.normal(scale=0.05, size=6)))
    assert fit.low < 2.5 < fit.high
    assert fit.high - fit.low < 0.5


def test_methods_differ_in_grey_too():
    """Marker and line together tell every method, whatever its colour."""
    # GES1 is GES with a penalty of its own, and so with FGES; they are never in one figure.
    methods = [method for method in look.STYLES if not method.startswith(("GES1", "FGES1"))]
    looks = {(look.style(method).marker, look.style(method).line) for method in methods}
    assert len(looks) == len(methods)


# All studies.


@pytest.mark.parametrize("name", catalogue.names())
def test_plans(name):
    (each,) = catalogue.chosen([name])
    quick, full = ([json.dumps(key) for key in each.plan(Scope(quick=quick))] for quick in (True, False))
    assert len(set(quick)) == len(quick) <= len(full) == len(set(full))
    other = {json.dumps(key) for key in each.plan(Scope(seed=1))}
    # What is drawn at random depends on the seed; the worked examples are not.
    assert other == set(full) if name == "examples" else not other & set(full)
    assert all(each.cost(key) > 0 for key in each.plan(Scope()))


def test_studies_that_share_runs_share_their_cells():
    time, roc = catalogue.chosen(["time", "roc"])
    assert time.cells == roc.cells
    assert time.plan(Scope()) == roc.plan(Scope())


def test_revision_follows_the_source():
    assert study.revision(plan) != study.revision(measure)
    assert study.revision(plan) == study.revision(plan)
