"""The files that examples of the documentation name, small enough to learn from in a moment.

| name | what |
| --- | --- |
| `data.csv`, `mydata.csv` | six named columns of a linear model of wages, 200 rows |
| `european.csv` | the same with semicolons, and commas as decimal points |
| `bare.csv` | the same without a line of names |
| `correlation.csv` | its correlations, with names |
| `measurements.parquet` | the same as Parquet |
| `measurements/` | the same in two files `part-0.parquet` and `part-1.parquet` |
| `cars.csv`, `edges.csv` | Auto MPG, and some edges of it |
| `known.txt`, `known.json` | its tiers, as Tetrad's text and as JSON |
| `truth.csv` | the edges of the model of wages |
| `rows.csv`, `targets.csv` | five variables of a cell in four experiments, and which of them each experiment targets |
| `results/result.json` | what was learnt from `data.csv` |
"""

from __future__ import annotations

import numpy as np
import pandas

import rfdag
from rfdag import datasets, exchange, simulate

WAGES = "dag { age -> experience -> wage <- skill ; {education ability} -> skill ; ability -> wage }"
ROWS = 200


def write_example_files(folder):
    """Write all of them into a folder."""
    graph = exchange.from_dagitty(WAGES)
    model = simulate.linear_sem(graph.matrix, rng=1, weights=(0.5, 1.0))
    table = pandas.DataFrame(simulate.sample(model, ROWS, rng=2), columns=graph.names)
    for name in ("data.csv", "mydata.csv"):
        table.to_csv(folder / name, index=False)
    table.to_csv(folder / "european.csv", index=False, sep=";", decimal=",")
    table.to_csv(folder / "bare.csv", index=False, header=False)
    table.corr().to_csv(folder / "correlation.csv")
    table.to_parquet(folder / "measurements.parquet")
    (folder / "measurements").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(ROWS), 2)):
        table.iloc[rows].to_parquet(folder / "measurements" / f"part-{number}.parquet")
    (folder / "cars.csv").write_bytes(datasets.auto_mpg_path().read_bytes())
    (folder / "known.txt").write_text(datasets.auto_mpg_knowledge().to_tetrad(), encoding="utf-8")
    (folder / "known.json").write_text(datasets.auto_mpg_knowledge().to_json(), encoding="utf-8")
    (folder / "edges.csv").write_text("source,target\nweight,mpg\ndisplacement,horsepower\n", encoding="utf-8")
    edges = "".join(f"{source},{target}\n" for source, target in graph.directed)
    (folder / "truth.csv").write_text("source,target\n" + edges, encoding="utf-8")
    write_experiments(folder)
    (folder / "results").mkdir()
    rfdag.learn(table).save(folder / "results" / "result.json")


def write_experiments(folder):
    """Write rows of experiments on a cell, and the targets of each."""
    cell = exchange.from_dagitty("dag { dose -> {receptor kinase} -> gene -> growth }")
    sets = {"receptor blocked": ["receptor"], "kinase blocked": ["kinase"], "gene silenced": ["gene"]}
    columns = {label: [cell.names.index(name) for name in names] for label, names in sets.items()}
    lab = simulate.interventions(simulate.linear_sem(cell.matrix, rng=3), 400, columns, 60, rng=4)
    labels = np.where(lab.labels == "observational", "control", lab.labels)
    pandas.DataFrame(lab.values, columns=cell.names).assign(experiment=labels).to_csv(folder / "rows.csv", index=False)
    lines = ["experiment,target", "control,", *(f"{label},{name}" for label, (name,) in sets.items())]
    (folder / "targets.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
