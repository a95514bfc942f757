"""Draw the pictures of docs/plots.md and docs/bootstrap.md."""

from __future__ import annotations

import matplotlib as mpl

import rfdag
from look import FIGURES
from rfdag import simulate

NAMES = ["age", "diet", "sport", "weight", "pressure", "sugar", "sleep", "stress", "pulse", "income"]


def main() -> None:
    """Draw the example of the page in every kind."""
    # The same picture is the same file.
    mpl.rcParams["svg.hashsalt"] = "rfdag"
    dag = simulate.random_dag(10, degree=3, rng=10)
    rows = simulate.sample(simulate.linear_sem(dag, rng=10), 40, rng=10)
    result = rfdag.learn(rows, names=NAMES)
    more = simulate.sample(simulate.linear_sem(dag, rng=10), 150, rng=11)
    found = rfdag.bootstrap(more, 200, names=NAMES)
    pictures = {
        "graph": result.plot("graph"),
        "truth": result.plot(truth=dag),
        "matrix": result.plot("matrix"),
        "order": result.plot("order"),
        "trace": result.plot("trace"),
        "bootstrap-graph": found.plot("graph"),
        "bootstrap-matrix": found.plot("matrix"),
        "bootstrap-order": found.plot("order"),
    }
    FIGURES.mkdir(parents=True, exist_ok=True)
    for kind, axes in pictures.items():
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.savefig(FIGURES / f"plots-{kind}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
