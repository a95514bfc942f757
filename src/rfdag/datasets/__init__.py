"""Example data that comes with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from rfdag.files import Table, read_table
from rfdag.graphs.dag import Graph


def sachs_path() -> Path:
    """Return the path of the Sachs data: 7466 cells × 11 proteins, log(x + 10).

    Flow cytometry of human T cells (Sachs et al., Science 2005), from the collection example-causal-datasets,
    CC0. Cells of several interventional conditions are pooled, so the rows are not one observational sample.
    """
    return Path(str(resources.files("rfdag.datasets").joinpath("sachs_log.csv")))


def sachs() -> Table:
    """Return the Sachs data as numbers and names; `sachs_path` tells what they are.

    >>> sachs().values.shape
    (7466, 11)
    """
    return read_table(sachs_path())


def sachs_truth() -> Graph:
    """Return the 20 edges that example-causal-datasets lists as true, in the order of the data's columns.

    Other lists, of 17 and 18 edges, are in use: say which one a comparison used.

    >>> int(sachs_truth().sum())
    20
    """
    names = list(sachs().names)
    dag = np.zeros((len(names), len(names)), np.int8)
    lines = resources.files("rfdag.datasets").joinpath("sachs_truth.csv").read_text().split()
    for line in lines[1:]:
        source, target = line.split(",")
        dag[names.index(source), names.index(target)] = 1
    return dag
