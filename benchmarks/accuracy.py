"""rfdag beside its peers on the same data, each call in a process of its own with a time limit.

    python benchmarks/accuracy.py [--graphs 5] [--limit 120] [--seed 1000] [--settings 0,1,2]

Peers run in the environments that `make peers` makes; a peer without one is left out, with a word. Columns are
shuffled and standardised. Defaults of rfdag were chosen on other seeds. Writes benchmarks/results/accuracy.csv and
docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag import metrics
from rfdag.graphs import topological_order
from rfdag.moments import Moments
from rfdag.refine.bic import ScoredOrder
from rfdag.simulate import linear_sem, random_dag, sample

PEERS = ROOT / "benchmarks" / "peers"
Floats = NDArray[np.float64]
Graph = NDArray[np.int8]

HOMES = {
    "rfdag": None,
    "rfdag, 20 restarts": None,
    "flopsearch, 0 restarts": "flopsearch",
    "flopsearch, 20 restarts": "flopsearch",
    "causal-learn BOSS": "causal-learn",
    "causal-learn PC": "causal-learn",
}


@dataclass(frozen=True)
class Setting:
    """A family of graphs and a sample size."""

    name: str
    p: int
    n: int
    density: float | None = None
    degree: float | None = None

    def draw(self, seed: list[int]) -> tuple[Graph, Floats]:
        """Return a DAG and standardised rows on it, columns in random order."""
        generator = np.random.default_rng(seed)
        dag = random_dag(self.p, self.density, generator, degree=self.degree)
        rows = sample(linear_sem(dag, generator), self.n, generator)
        return dag, (rows - rows.mean(axis=0)) / rows.std(axis=0)


SETTINGS = (
    Setting("degree 8", 100, 1000, degree=8),
    Setting("degree 8", 200, 1000, degree=8),
    Setting("degree 8", 60, 300, degree=8),
    Setting("density 1/2", 20, 400, density=0.5),
    Setting("density 1/2", 40, 800, density=0.5),
    Setting("density 1/2", 60, 1200, density=0.5),
    Setting("density 1/2", 100, 2000, density=0.5),
    Setting("density 1/2", 50, 3000, density=0.5),
    Setting("density 1/2", 50, 500, density=0.5),
)


def python_of(home: str | None) -> Path | None:
    """Return the interpreter of a peer's environment, or None when it was not made."""
    if home is None:
        return Path(sys.executable)
    path = ROOT / ".peers" / home / "bin" / "python"
    return path if path.exists() else None


def run(contender: str, rows: Floats, limit: float) -> tuple[Graph, float] | str:
    """Return the graph and seconds of one call, or why there are none."""
    python = python_of(HOMES[contender])
    if python is None:
        return "not installed"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "rows.npy", Path(folder) / "answer.npz"
        np.save(source, rows)
        try:
            subprocess.run(
                [python, PEERS / "worker.py", contender, source, target],
                check=True,
                timeout=limit,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            return f"over {limit:.0f} s"
        except subprocess.CalledProcessError as problem:
            return problem.stderr.decode().strip().splitlines()[-1][:60]
        answer = np.load(target)
        return answer["graph"].astype(np.int8), float(answer["seconds"])


def of_true_order(rows: Floats, dag: Graph) -> Graph:
    """Return the DAG that grow–shrink by BIC finds on the true order."""
    correlation = Moments.from_data(rows).correlation
    return ScoredOrder(correlation, len(rows), topological_order(dag)).dag


def scores(true: Graph, found: Graph) -> tuple[float, float, float]:
    """Return CPDAG SHD, skeleton F1 and TPR − FPR."""
    skeleton = metrics.skeleton(true, found)
    return float(metrics.shd(true, found)), skeleton.f1, skeleton.tpr - skeleton.fpr


def measure(setting: Setting, number: int, graphs: int, limit: float, seed: int) -> list[dict[str, object]]:
    """Run every contender on every graph of a setting, alternating."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    seconds: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for graph in range(graphs):
        true, rows = setting.draw([seed, number, graph])
        rulers = {
            "true order": of_true_order(rows, true),
            "empty graph": np.zeros_like(true),
            "complete graph": np.triu(np.ones_like(true), 1),
        }
        for contender in HOMES:
            if contender in failed:
                continue
            answer = run(contender, rows, limit)
            if isinstance(answer, str):
                failed[contender] = answer
                continue
            found.setdefault(contender, []).append(scores(true, answer[0]))
            seconds.setdefault(contender, []).append(answer[1])
        for name, dag in rulers.items():
            found.setdefault(name, []).append(scores(true, dag))
    floor = median(seconds["flopsearch, 0 restarts"]) if "flopsearch, 0 restarts" in seconds else float("nan")
    rows_out: list[dict[str, object]] = []
    for name in (*HOMES, "true order", "empty graph", "complete graph"):
        row: dict[str, object] = {"graphs": setting.name, "p": setting.p, "n": setting.n, "contender": name}
        if name in failed or name not in found:
            row |= {"SHD": "–", "F1": "–", "TPR − FPR": "–", "time (s)": failed.get(name, "–"), "time / FLOP 0": "–"}
        else:
            shd, f1, balance = np.mean(found[name], axis=0)
            row |= {"SHD": round(float(shd), 1), "F1": round(float(f1), 3), "TPR − FPR": round(float(balance), 3)}
            taken = median(seconds[name]) if name in seconds else None
            row["time (s)"] = "" if taken is None else round(taken, 3)
            row["time / FLOP 0"] = "" if taken is None else round(taken / floor, 2)
        rows_out.append(row)
        print(row, flush=True)
    return rows_out


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--settings", default=",".join(map(str, range(len(SETTINGS)))))
    options = parser.parse_args()
    rows = []
    for number in map(int, options.settings.split(",")):
        rows += measure(SETTINGS[number], number, options.graphs, options.limit, options.seed)
    write_tables("accuracy", rows)
    text = f"{markdown(rows)}\n{options.graphs} graphs a row, seed {options.seed}.\n\n{provenance()}"
    update_section(ROOT / "docs" / "accuracy.md", "accuracy", text)


if __name__ == "__main__":
    main()
