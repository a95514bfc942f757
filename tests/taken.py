"""Values that the parameters of everything public take; see arguments.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
from scipy import sparse

import rfdag
from rfdag import exchange, graphs, simulate
from rfdag.exchange import NamedGraph

NAMES = ("a", "b", "c d", "é")
DAG = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.int8)


def rows() -> np.ndarray:
    """Return rows that follow the DAG."""
    generator = np.random.default_rng(7)
    values = generator.normal(size=(40, 4))
    for node in range(4):
        values[:, node] += values[:, :node] @ DAG[:node, node]
    return values.round(6)


@cache
def results() -> tuple[rfdag.Result, ...]:
    """Return results of every kind: of numbers, categories, environments, a DAG, tests, with knowledge."""
    values = rows()
    table = pandas.DataFrame(values, columns=list(NAMES)).assign(kind=["u", "v", "u", "w"] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (
            rfdag.learn(values, names=NAMES),
            rfdag.learn(values, "rfd", knowledge={"tiers": [[0], [1, 2, 3]]}),
            rfdag.learn(table),
            rfdag.learn(np.vstack([values, values + 1]), environments=[0] * 40 + [1] * 40, targets="unknown"),
            rfdag.learn(DAG, input="dag"),
            rfdag.learn(sparse.csr_array(DAG), input="dag"),
            rfdag.learn(values, test="fisher-z", names=NAMES),
            rfdag.learn(np.corrcoef(values.T), input="correlation", n_samples=40, names=NAMES),
        )


@cache
def boots() -> tuple[rfdag.Bootstrap, ...]:
    """Return a bootstrap."""
    return (rfdag.bootstrap(rows(), 3, names=NAMES, n_jobs=1, progress=False),)


@cache
def models() -> tuple[Any, ...]:
    """Return the model of each result that has one."""
    return tuple(results()[at].model() for at in (0, 2, 3))


def sem() -> simulate.LinearSEM:
    """Return a linear model."""
    return simulate.linear_sem(DAG, rng=1)


def _graphs() -> list[Any]:
    return [DAG, DAG.tolist(), graphs.cpdag(DAG), np.zeros((4, 4)), sparse.csr_array(DAG), np.zeros((1, 1)), DAG > 0]


def named_graphs() -> list[Any]:
    return [NamedGraph(NAMES, DAG), NamedGraph(NAMES, graphs.cpdag(DAG)), NamedGraph((), np.zeros((0, 0)))]


def _write(name: str, content: str) -> Path:
    path = Path(name)
    path.write_text(content, encoding="utf-8")
    return path


BIF = """network n { }
variable r { type discrete [ 2 ] { no, yes }; }
probability ( r ) { table 0.8, 0.2; }"""

TAKEN: dict[str, Callable[[], list[Any]]] = {
    "graph": _graphs,
    "exchange.graph": named_graphs,
    "exchange.from_csv.graph": lambda: ["dag", "cpdag"],
    "exchange.from_networkx.graph": lambda: [networkx.DiGraph([("a", "b")]), networkx.Graph([(0, 1)])],
    "exchange.from_pgmpy.graph": lambda: [networkx.DiGraph([("a", "b")])],
    "exchange.from_causallearn.graph": lambda: [exchange.to_causallearn(named_graphs()[0])],
    "exchange.from_pcalg.matrix": lambda: [exchange.to_pcalg(named_graphs()[0])],
    "exchange.from_dowhy.model": lambda: [networkx.DiGraph([("a", "b")])],
    "exchange.from_lingam.model": lambda: [exchange.to_lingam(named_graphs()[0])],
    "exchange.NamedGraph.names": lambda: [NAMES],
    "exchange.NamedGraph.matrix": lambda: [DAG],
    "NamedGraph.of_edges.names": lambda: [NAMES],
    "NamedGraph.of_edges.directed": lambda: [[("a", "b")], []],
    "NamedGraph.of_edges.undirected": lambda: [[("b", "é")], []],
    "NamedGraph.arranged.names": lambda: [NAMES[::-1]],
    "exchange.to_lingam.coefficients": lambda: [None, DAG * 0.5],
    "exchange.to_lingam.order": lambda: [None, [0, 1, 2, 3]],
    "exchange.names": lambda: [None, list(NAMES)],
    "text": lambda: ["source,target,directed\na,b,true\n", "dag { a -> b }", '"","a","b"\n"a",0,1\n"b",0,0\n'],
    "marks": lambda: [exchange.to_endpoints(named_graphs()[0])],
    "matrix": _graphs,
    "Moments.matrix": lambda: [np.corrcoef(rows().T), np.eye(4)],
    "dag": _graphs,
    "cpdag": _graphs,
    "effects.possible_parents.dag": lambda: [DAG],
    "effects.possible_parents.cpdag": lambda: [graphs.cpdag(DAG)],
    "candidate": _graphs,
    "first": _graphs,
    "second": _graphs,
    "true": _graphs,
    "found": _graphs,
    "target_scores.true": lambda: [{"drug": ["a"]}, {}],
    "target_scores.found": lambda: [{"drug": ["b"], "control": []}],
    "true_targets": lambda: [[[], [1]], {"drug": [0]}],
    "metrics.targets": lambda: [None, [[], [2]]],
    "nodes": lambda: [[0, 1], [3, 1, 0], np.array([2])],
    "node": lambda: [0, 3],
    "i": lambda: [0],
    "j": lambda: [3],
    "given": lambda: [(), [1], [2, 1]],
    "order": lambda: [[0, 1, 2, 3], np.array([3, 2, 1, 0])],
    "targets": lambda: [[[], [1]], [[0, 2]]],
    "hard": lambda: [True, False],
    "compare": lambda: ["classes", "graphs"],
    "strategy": lambda: ["ancestor", "parent", "oset"],
    "p": lambda: [1, 5],
    "density": lambda: [None, 0.5, 1.0],
    "degree": lambda: [None, 1.5, 0],
    "sparse": lambda: [True, False],
    "rng": lambda: [None, 3, np.random.default_rng(1), [1, 2]],
    "m": lambda: [1, 2],
    "sizes": lambda: [[2, 3], np.array([1])],
    "K": lambda: [2, 4],
    "environments": lambda: [3, 0],
    "size": lambda: [1, 2],
    "sem": lambda: [sem()],
    "n": lambda: [2, 10],
    "n_observational": lambda: [0, 5],
    "n_per_environment": lambda: [1, 5],
    "simulate.kind": lambda: ["hard", "soft", "shift"],
    "shift": lambda: [0.0, 2.0],
    "factors": lambda: [(0.5, 2.0)],
    "weights": lambda: [(0.25, 1.0)],
    "variances": lambda: [1.0, [1.0, 2.0, 3.0, 4.0]],
    "categorical": lambda: [0.5, [True, False, False, True]],
    "simulate.mixed.levels": lambda: [(2, 3)],
    "r2": lambda: [None, 0.5],
    "values": lambda: [rows()],
    "Model.values": lambda: [{"a": 1.0}, {}],
    "Model.amounts": lambda: [{"a": 1.0}, {}],
    "Model.name": lambda: ["kind"],
    "Model.given": lambda: [None, {"a": 0.5}],
    "Model.data": lambda: [rows()],
    "share": lambda: [0.1, 0.0],
    "bootstrap.share": lambda: [None, 0.5],
    "mechanism": lambda: ["random", "completely random"],
    "discrete_network.path": lambda: [_write("net.bif", BIF)],
    "raw": lambda: [True, False],
    "cause": lambda: [0, 1],
    "outcome": lambda: [2, 3],
    "Result.cause": lambda: ["a", 0],
    "Result.outcome": lambda: ["é", 3],
    "effects.effect.cause": lambda: ["a"],
    "effects.effect.outcome": lambda: ["é"],
    "effects.effect_range.cause": lambda: ["a"],
    "effects.effect_range.outcome": lambda: ["é"],
    "adjustment": lambda: ["optimal", "parents"],
    "adjustment_set.method": lambda: ["optimal", "parents"],
    "level": lambda: [0.95, 0.5],
    "result": lambda: list(results()),
    "Result.graph": lambda: ["dag", "cpdag", "icpdag"],
    "NamedGraph.of.graph": lambda: ["dag", "cpdag"],
    "limit": lambda: [20, 0],
    "moments": lambda: [None, True, False],
    "backend": lambda: ["pandas", "polars", "pyarrow"],
    "Result.label": lambda: ["0", "1"],
    "Result.dag": lambda: [DAG],
    "truth": lambda: [None, DAG],
    "bootstrap": lambda: [None],
    "data": lambda: [rows(), rows().tolist(), pandas.DataFrame(rows(), columns=list(NAMES))],
    "report.data": lambda: [None, rows()],
    "path": lambda: ["out.json", Path("out.json")],
    "load.path": lambda: [results()[0].save("kept.json")],
    "Bootstrap.load.path": lambda: [boots()[0].save("boots.json")],
    "Knowledge.read.path": lambda: [_write("known.json", '{"tiers": [["a"], ["b"]]}')],
    "plot.kind": lambda: ["auto", "graph", "matrix", "order"],
    "threshold": lambda: [0.5, 0.9],
    "plot.threshold": lambda: [None, 0.5],
    "names": lambda: [None, list(NAMES)],
    "Knowledge.names": lambda: [NAMES],
    "Oracle.names": lambda: [None, NAMES],
    "n_samples": lambda: [40],
    "tolerance": lambda: [1e-8],
    "source": lambda: [{"tiers": [["a"], ["b", "c d"]]}, {"required": [["a", "b"]], "roots": ["a"]}],
    "tiers": lambda: [(), [["a"], ["b"]]],
    "forbidden_within": lambda: [()],
    "required": lambda: [(), [("a", "b")]],
    "forbidden": lambda: [(), [("b", "a")]],
    "roots": lambda: [(), ["a"]],
    "leaves": lambda: [(), ["é"]],
    "knowledge": lambda: [None, {"tiers": [[0], [1, 2, 3]]}],
    "learn.method": lambda: [None, "soft", "rfd", "gsp", "sp", "min-degree", rfdag.Soft(beam=2)],
    "bootstrap.method": lambda: [None, "rfd"],
    "RFD.method": lambda: [None, "rfd", rfdag.Soft(beam=2)],
    "description": lambda: [None, rfdag.Description()],
    "estimation": lambda: [None, rfdag.Estimation()],
    "time_limit": lambda: [None, 5.0],
    "search_for": lambda: [None],
    "n_jobs": lambda: [1, None, 2],
    "bootstrap.n_jobs": lambda: [1],
    "random_state": lambda: [None, 3, np.random.default_rng(1)],
    "device": lambda: ["cpu"],
    "progress": lambda: [False],
    "bootstrap.runs": lambda: [2],
    "sampling": lambda: ["resample", "subsample"],
    "corrected": lambda: [True, False],
    "bootstrap.out": lambda: [None],
    "X": lambda: [rows(), pandas.DataFrame(rows(), columns=list(NAMES))],
    "y": lambda: [None],
    "sample_weight": lambda: [None, np.ones(40)],
    "fit.environments": lambda: [None, [0] * 20 + [1] * 20],
    "fit.targets": lambda: [None],
    "Oracle.kind": lambda: ["dag"],
    "Oracle.n_samples": lambda: [None],
    "plot.ax": lambda: [None],
    "plot.ranks": lambda: [None],
}
"""By the name of a parameter, or by that with the end of what stands before it: the longest that fits counts."""
