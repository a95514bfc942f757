"""The scripts that put many contenders beside each other: the cells they count, and what they write."""

from __future__ import annotations

import importlib

import pytest

from rfdag.runtime.progress import Progress
from rfdag.studies.bench import cells, environments, harness, interventional_workloads, typed_workloads
from small_workload import ROOT

SCRIPTS = {
    "mixed": (typed_workloads, "mixed-p20-n1000", "boss-degenerate-gaussian", "0.1.24", ["mixed"]),
    "interventional": (interventional_workloads, "double-p20-e40-n400", "gies", "0.0.3", ["kinds", "targets"]),
}
"""Of each script: where its workloads are, one of them, a contender, its version, and the sections of its page."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_fills_its_page(name, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script, comparing = importlib.import_module(name), importlib.import_module("comparing")
    module, chosen, contender, version, sections = SCRIPTS[name]
    workload = module.WORKLOADS[chosen]
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / script.PAGE
    markers = ["contenders", "workloads", *sections]
    page.write_text("".join(f"<!-- {each}: begin -->\nold\n<!-- {each}: end -->\n" for each in markers))
    monkeypatch.setattr(script, "ROOT", tmp_path)
    for each in (comparing, importlib.import_module("report")):
        monkeypatch.setattr(each, "RESULTS", tmp_path)
    monkeypatch.setattr(comparing, "Progress", lambda: Progress(False))
    ledger = cells.Ledger(tmp_path / f"{name}.jsonl")
    for graph in range(10):
        key = cells.Key(workload.name, 1000, graph, contender, version, "")
        key = key._replace(data=harness.digest(workload.draw(1000, graph).rows))
        ledger.add(cells.Cell(key, 120, seconds=0.5, edges=1, shd=graph, f1=0.5, tpr=0.5, fpr=0.5))
    version_of = environments.version_of
    monkeypatch.setattr(environments, "version_of", lambda package, home, _: version_of(package, home, tmp_path))
    with pytest.raises(SystemExit, match=rf"no cells of rfdag.*{chosen}.*--own"):
        script.main(["--workloads", chosen, "--contenders", "nobody"])
    assert "old" in page.read_text()
    monkeypatch.setattr(comparing, "is_own", lambda cell: True)
    script.main(["--workloads", chosen, "--contenders", "nobody"])
    text = page.read_text()
    assert "old" not in text
    assert f"| `{contender}` | 4.5 (0.5 s) |" in text
    assert "| empty graph |" in text
    assert (tmp_path / f"{name}.csv").read_text().splitlines()[1].startswith(f"{chosen},")
