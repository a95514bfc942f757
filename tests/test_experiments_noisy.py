"""The noisy studies: what they plan, how calls are scored and summed up, and what they claim."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rfdag
from rfdag.metrics import shd, skeleton
from rfdag.studies.bench import environments, harness
from rfdag.studies.paper import contests, look, noisy, noisy_claims
from rfdag.studies.paper.study import Scope
from rfdag.version import own_version

HERE = Scope(quick=True, peers=Path("nowhere"))
"""Without peers, only rfdag's own methods are run."""


def keys(scope):
    return [json.dumps(key, sort_keys=True) for key in noisy.plan(scope)]


def call(density, method, value, graph, **scores):
    """A record as `contests.run` makes it."""
    told = {"seconds": None, "tpr": None, "fpr": None, "f1": None, "shd": None, "edges": None}
    return {
        "density": density, "graph": graph, "method": method, "package": "package 1", "value": value, "limit": 10.0,
        "late": False, "failure": "", **told, **scores,
    }  # fmt: skip


def finished(density, method, value, graph, seconds, tpr, fpr):
    return call(density, method, value, graph, seconds=seconds, tpr=tpr, fpr=fpr, f1=0.5, shd=3, edges=4)


def late(density, method, value, graph):
    return call(density, method, value, graph, late=True, failure="over 10 s")


# Plans.


def test_cells_are_told_apart():
    for scope in (Scope(peers=Path("nowhere")), HERE):
        assert len(set(keys(scope))) == len(keys(scope))
    assert 0 < len(keys(HERE)) < len(keys(Scope(peers=Path("nowhere"))))
    assert not set(keys(HERE)) & set(keys(Scope(quick=True, seed=1, peers=Path("nowhere"))))
    assert not set(keys(HERE)) & set(keys(Scope(quick=True, limit=1, peers=Path("nowhere"))))


def test_methods_without_an_environment_are_left_out():
    assert {key["home"] for key in noisy.plan(HERE)} == {environments.OWN}


def test_values_go_from_sparse_to_dense_and_methods_have_a_style():
    for entry in noisy.ENTRIES:
        rising = entry.values[0] < entry.values[-1]
        assert list(entry.values) == sorted(entry.values, reverse=not rising)
        assert rising == (entry.values[-1] < 1 and entry.values[0] < 1e-3)
        assert look.style(entry.method)


# A real cell.


def test_a_cell_of_our_own():
    key = {**noisy.plan(HERE)[0], "calls": [["RFD", "rfdag-rfd", [1e-4, 0.1]], ["MD", "rfdag-min-degree", [0.05]]]}
    records = noisy.measure(key, HERE)
    assert [(record["method"], record["value"]) for record in records] == [("RFD", 1e-4), ("RFD", 0.1), ("MD", 0.05)]
    true, rows = contests.random_graphs("noisy 1/p", 20, 40, "1/p").draw(2021, 0)
    np.testing.assert_allclose(rows.std(axis=0), 1)
    found = rfdag.learn(rows, method="rfd", alpha=0.1).dag
    scores = skeleton(true, found)
    record = records[1]
    assert (record["tpr"], record["fpr"], record["f1"]) == (scores.tpr, scores.fpr, scores.f1)
    assert (record["edges"], record["shd"]) == (found.sum(), shd(true, found))
    assert record["package"] == f"rfdag {own_version()}"
    assert record["seconds"] > 0
    assert json.loads(json.dumps(records)) == records


def test_scores_of_what_has_no_graph():
    for outcome, is_late in ((harness.Late("over 1 s"), True), (harness.Failed("ended by signal 6"), False)):
        told = contests.scores(outcome, np.zeros((3, 3), np.int8))
        assert (told["late"], told["failure"], told["seconds"], told["tpr"]) == (is_late, outcome.reason, None, None)


# Tables.


def test_a_row_counts_late_calls_with_their_limit():
    records = [finished("1/2", "RFD", 0.1, graph, 1.0 + graph, 0.5 + graph / 10, 0.1) for graph in range(2)]
    records += [late("1/2", "RFD", 0.1, 2), call("1/2", "RFD", 0.1, 3, failure="RuntimeError")]
    (row,) = noisy.table(records)
    assert (row["graphs"], row["finished"], row["late"]) == (4, 2, 1)
    assert (row["tpr"], row["fpr"], row["shd"]) == (0.55, 0.1, 3)
    assert (row["seconds"], row["mean_seconds"]) == (2.0, pytest.approx(13 / 3, rel=1e-4))
    assert row["seconds_low"] <= row["seconds"] <= row["seconds_high"]
    (lost,) = noisy.table([late("1/2", "RFD", 0.1, 0)])
    assert (lost["tpr"], lost["seconds"], lost["finished"]) == (None, 10.0, 0)
    assert not list(dict(noisy_claims.shown([lost], "1/2")))


def test_rows_are_in_the_order_of_the_study_whatever_that_of_the_records():
    records = [
        finished(density, method, value, 0, 1.0, 0.5, 0.1)
        for density in ("1/p", "1/2")
        for method, value in (("RFD", 1e-5), ("RFD", 0.4), ("soft + refinement", 8.0), ("soft + refinement", 0.1))
    ]
    assert noisy.table(records) == noisy.table(records[::-1])
    assert [(row["density"], row["method"], row["value"]) for row in noisy.table(records)] == [
        (record["density"], record["method"], record["value"]) for record in records
    ]


# Claims.


def times(method, *points):
    """Rows of a method at density 1/2: pairs of TPR and seconds, None for a late call."""
    values = next(entry.values for entry in noisy.ENTRIES if entry.method == method)
    return [
        late("1/2", method, value, 0) if seconds is None else finished("1/2", method, value, 0, seconds, tpr, tpr / 2)
        for value, (tpr, seconds) in zip(values, points, strict=False)
    ]


def told(claims, words):
    (claim,) = [claim for claim in claims if words in claim.statement]
    return claim


def test_claims_about_time():
    records = [
        *times("RFD", (0.1, 1.0), (0.2, 1.1), (0.3, 1.5)),
        *times("MD", (0.1, 1.0), (0.3, 2.5)),
        *times("PC (tetrad-port)", (0.1, 1.0), (0.2, 2.0), (0.3, 4.0)),
        *times("GSP (rfdag)", (0.1, 2.0), (0.3, 3.0)),
        *times("GES (causal-learn)", (0.1, 4.0), (0.2, None)),
    ]
    claims = noisy_claims.time_claims(noisy.table(records))
    assert told(claims, "time of RFD is").held is True
    assert told(claims, "time of MD is").held is False
    growing = told(claims, "time of PC (tetrad-port)")
    assert growing.held is True
    assert "4 times, 2.00 times per 0.1 of TPR" in growing.numbers
    assert told(claims, "time of GSP (rfdag)").held is False
    assert "at least 2.5 times" in told(claims, "time of GES").numbers
    assert not [claim for claim in claims if "causaldag" in claim.statement]
    efficient = told(claims, "efficient")
    assert efficient.held is True
    assert "PC (tetrad-port) 2.7 to 2.7, GSP (rfdag) 2 to 2, GES (causal-learn) 2.7 to 2.7" in efficient.numbers


def test_times_that_were_cut_off_are_only_bounds():
    records = [
        *times("GES (causal-learn)", (0.1, 8.0), (0.2, None)),
        *times("RFD", (0.1, 8.0), (0.2, None)),
        *times("MD", (0.1, 1.0), (0.2, None)),
    ]
    claims = noisy_claims.time_claims(noisy.table(records))
    assert told(claims, "time of GES").held is None
    assert told(claims, "time of RFD").held is None
    # A tenfold bound refutes that the time is constant.
    assert told(claims, "time of MD").held is False


def test_a_curve_that_was_cut_off_has_no_area():
    first, second = next(entry.values for entry in noisy.ENTRIES if entry.method == "RFD")[:2]

    def areas_of(fpr):
        records = [
            finished("1/2", "RFD", first, 0, 1.0, 0.4, 0.1),
            finished("1/2", "RFD", second, 0, 1.0, 0.6, fpr),
            late("1/2", "RFD", second, 1),
        ]
        return noisy_claims.areas(noisy.table(records))[0]["1/2"]

    assert areas_of(0.2) is None
    assert areas_of(0.4) is not None


def test_areas_under_curves():
    def rows(*points):
        return [{"fpr": fpr, "tpr": tpr} for fpr, tpr in points]

    assert noisy_claims.area(rows((0.15, 0.15))) == pytest.approx(0.15)
    assert noisy_claims.area(rows((0.0, 1.0))) == pytest.approx(1.0)
    assert noisy_claims.area(rows((0.0, 0.2), (0.0, 0.6), (0.5, 0.6))) == pytest.approx(0.6)
    # A triangle up to .1 and a rectangle from there, in any order.
    assert noisy_claims.area(rows((0.6, 0.9), (0.1, 0.9))) == pytest.approx((0.045 + 0.18) / 0.3)


def test_claims_about_rates():
    def curve(method, tpr):
        values = next(entry.values for entry in noisy.ENTRIES if entry.method == method)
        return [finished("1/2", method, values[0], 0, 1.0, tpr, 0.0)]

    close = [*curve("RFD", 0.6), *curve("PC (tetrad-port)", 0.55), *curve("soft + refinement", 0.9)]
    similar, ahead = noisy_claims.roc_claims(noisy.table(close))
    assert (similar.held, ahead.held) == (True, True)
    assert "RFD 0.660" in similar.numbers
    apart = [*curve("RFD", 0.6), *curve("PC (tetrad-port)", 0.3), *curve("soft + refinement", 0.5)]
    similar, ahead = noisy_claims.roc_claims(noisy.table(apart))
    assert (similar.held, ahead.held) == (False, False)
    alone, nothing = noisy_claims.roc_claims(noisy.table(curve("RFD", 0.6)))
    assert alone.held is None
    assert nothing.held is None


def test_every_method_is_drawn():
    records = [
        finished(density, entry.method, value, 0, 1.0 + place, 0.1 * place, 0.05 * place)
        for density in ("1/p", "2/p", "1/2")
        for entry in noisy.ENTRIES
        for place, value in enumerate(entry.values)
    ]
    rows = noisy.table([*records, late("1/p", "RFD", 0.4, 1)])
    for figures in (noisy.draw_times(rows), noisy.draw_rates(rows)):
        (figure,) = figures.values()
        assert len(figure.axes) == 3
        for panel in figure.axes:
            assert {entry.method for entry in noisy.ENTRIES} == set(panel.get_legend_handles_labels()[1])
    assert len(noisy.ends(rows)) == 2 * len(noisy.ENTRIES)
