"""Example data that come with the package, and networks to draw data from.

In: a name. Out: the path of a file, a true graph, or a model to sample from.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np

from rfdag.graphs.dag import Graph
from rfdag.input.reading import as_table, read
from rfdag.input.table import Table
from rfdag.knowledge import Knowledge
from rfdag.result.model import LinearModel
from rfdag.simulate import LinearSEM
from rfdag.values import switch

__all__ = [
    "abalone",
    "abalone_path",
    "auto_mpg",
    "auto_mpg_knowledge",
    "auto_mpg_path",
    "clinic_path",
    "ecoli70",
    "magic_niab",
    "sachs",
    "sachs_condition_targets_path",
    "sachs_conditions_path",
    "sachs_path",
    "sachs_truth",
]

Network = LinearModel
"""The type of the networks."""


def sachs_path(*, raw: bool = False) -> Path:
    """Return the path of the Sachs data: 7466 cells × 11 proteins, log(x + 10), or as measured with ``raw``.

    Flow cytometry of human T cells (Sachs et al., Science 2005), from the collection example-causal-datasets,
    CC0. Cells of several interventional conditions are pooled, so the rows are not one observational sample;
    `sachs_conditions_path` tells them apart.
    """
    return _path("sachs.csv" if switch("raw", raw) else "sachs_log.csv")


def sachs(*, raw: bool = False) -> Table:
    """Return the Sachs data as numbers and names; `sachs_path` describes them.

    >>> sachs().values.shape
    (7466, 11)
    """
    return as_table(sachs_path(raw=raw))


def sachs_conditions_path() -> Path:
    """Return the path of the same cells, log(x + 10), with a column that tells the condition of each: nine of them.

    In seven conditions a chemical inhibited or activated one of the molecules, which the file of
    `sachs_condition_targets_path` names.

    >>> labels = {line.rsplit(",", 1)[1] for line in sachs_conditions_path().read_text().split()[1:]}
    >>> len(labels)
    9
    """
    return _path("sachs_conditions.csv")


def sachs_condition_targets_path() -> Path:
    """Return the path of a table of the nine conditions of the Sachs data: which protein each of them targets.

    The two conditions of general stimulation target none. The targets are those of Sachs et al. (2005) as later studies
    use them (Wang, Solus, Yang and Uhler 2017); opinions differ on LY294002, here on pip3, elsewhere on akt.

    >>> sachs_condition_targets_path().read_text().splitlines()[6]
    'u0126,mek,inhibits mek'
    """
    return _path("sachs_condition_targets.csv")


def sachs_truth() -> Graph:
    """Return the 20 edges that example-causal-datasets lists as true, in the order of the data's columns.

    Other lists, of 17 and 18 edges, are in use: say which one a comparison used.

    >>> int(sachs_truth().sum())
    20
    """
    names = list(sachs().names)
    dag = np.zeros((len(names), len(names)), np.int8)
    lines = _path("sachs_truth.csv").read_text(encoding="utf-8").split()
    for line in lines[1:]:
        source, target = line.split(",")
        dag[names.index(source), names.index(target)] = 1
    return dag


def auto_mpg_path() -> Path:
    """Return the path of Auto MPG: 392 cars × 8 measurements.

    Fuel consumption of cars of 1970 to 1982 (R. Quinlan, UCI repository, 1993), from the collection
    example-causal-datasets, CC0.
    """
    return _path("auto_mpg.csv")


def auto_mpg() -> Table:
    """Return Auto MPG as numbers and names; `auto_mpg_path` describes them.

    >>> auto_mpg().values.shape
    (392, 8)
    """
    return as_table(auto_mpg_path())


def auto_mpg_knowledge() -> Knowledge:
    """Return the tiers of Auto MPG that example-causal-datasets gives: first how a car is built, last how it drives.

    >>> len(auto_mpg_knowledge().tiers)
    5
    """
    return Knowledge.read(_path("auto_mpg.knowledge.txt"))


def abalone_path() -> Path:
    """Return the path of Abalone: 4177 shells × 8 measurements and the sex, which is M, F or I (infant).

    W. Nash and others, The Population Biology of Abalone, 1994 (UCI repository), from the collection
    example-causal-datasets, CC0. The number of rings tells the age.
    """
    return _path("abalone.csv")


def abalone() -> Table:
    """Return Abalone as numbers, codes of the sex, and names; `abalone_path` describes it.

    >>> abalone().levels
    {0: ('F', 'I', 'M')}
    """
    found = read(abalone_path())
    assert isinstance(found, Table)
    return found


def clinic_path() -> Path:
    """Return the path of a messy file: 400 simulated patients × 12 columns, with everything wrong that a file can have.

    Title lines, semicolons, decimal commas, Windows-1252, text, dates, gaps, −999, a column twice in other units, and
    a note at the end. The numbers come from a linear model of six variables, which tests/clinic.py holds.
    """
    return _path("clinic.csv")


def ecoli70() -> Network:
    """Return ECOLI70: 46 genes of E. coli and 70 arcs, with fitted regressions.

    Schäfer and Strimmer, Statistical Applications in Genetics and Molecular Biology 2005; the network of the bnlearn
    repository as distributed with pgmpy 1.1.2, MIT licence.

    >>> int(ecoli70().sem.dag.sum())
    70
    """
    return _read_network("ecoli70.json")


def magic_niab() -> Network:
    """Return MAGIC-NIAB: 44 traits and markers of winter wheat and 66 arcs, with fitted regressions.

    Scutari, Howell, Balding and Mackay, Genetics 2014; the network of the bnlearn repository as distributed with pgmpy
    1.1.2, MIT licence.

    >>> int(magic_niab().sem.dag.sum())
    66
    """
    return _read_network("magic_niab.json")


def _read_network(file: str) -> Network:
    content = json.loads(_path(file).read_text(encoding="utf-8"))
    names = tuple(content["nodes"])
    place = {name: at for at, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    variances, intercepts = np.empty(len(names)), np.empty(len(names))
    for name, node in content["cpds"].items():
        for parent in node["parents"]:
            weights[place[parent], place[name]] = node["coefficients"][parent][0]
        intercepts[place[name]] = node["coefficients"]["(Intercept)"][0]
        variances[place[name]] = node["variance"][0]
    return Network(names, LinearSEM(weights, variances), intercepts)


def _path(file: str) -> Path:
    return Path(str(resources.files("rfdag.datasets").joinpath(file)))
