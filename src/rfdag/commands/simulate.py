"""`rfdag simulate`: a random DAG and data on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rfdag.commands.speech import JsonFlag, print_files, print_json
from rfdag.runtime.terminal import Console
from rfdag.wording import counted


def register(app: typer.Typer, reported: Callable[[Any], Any]) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""
    app.command()(reported(simulate))


def simulate(
    out: Annotated[Path, typer.Argument(help="Folder for data.csv and truth.csv, made if need be.")],
    nodes: Annotated[int, typer.Option(help="Number of variables.", min=2)] = 20,
    samples: Annotated[int, typer.Option(help="Number of rows.", min=2)] = 1000,
    density: Annotated[float | None, typer.Option(help="Probability of an edge; 0.2 unless degree is given.")] = None,
    degree: Annotated[float | None, typer.Option(help="Expected neighbours of a variable, instead.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the graph, its weights and the rows.", min=0)] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a random DAG with linear Gaussian data on it."""
    import numpy as np

    from rfdag.runtime.writing import csv_text, write_folder
    from rfdag.simulate import linear_sem, random_dag, sample

    # Not the seed alone: a search with the same one would draw the same numbers.
    generator = np.random.default_rng([seed, 1])
    density = 0.2 if density is None and degree is None else density
    sem = linear_sem(random_dag(nodes, density, generator, degree=degree), generator)
    rows = sample(sem, samples, generator)
    width = len(str(nodes))
    names = [f"x{at:0{width}d}" for at in range(1, nodes + 1)]
    edges = [(names[i], names[j], repr(float(sem.weights[i, j]))) for i, j in np.argwhere(sem.dag)]
    files = write_folder(
        out,
        {
            "data.csv": csv_text(names, ([repr(float(cell)) for cell in row] for row in rows)),
            "truth.csv": csv_text(("source", "target", "weight"), edges),
        },
    )
    if as_json:
        print_json({"nodes": nodes, "samples": samples, "edges": len(edges), "files": [str(path) for path in files]})
        return
    console = Console()
    console.print(f"Simulated {samples} rows of {nodes} variables with {counted(len(edges), 'edge')} (seed {seed}).")
    print_files(console, files)
