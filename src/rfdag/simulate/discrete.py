"""Discrete networks: read from files in the interchange format BIF, and sampled forwards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError, FileError
from rfdag.graphs.dag import Graph, topological_order
from rfdag.runtime.memory import require_rows
from rfdag.runtime.randomness import Seed, generator_from
from rfdag.runtime.unpacking import PROBLEMS, opened
from rfdag.values import path_of, whole

Floats = NDArray[np.float64]

VARIABLE = re.compile(r"variable\s+(\S+)\s*\{.*?discrete\s*\[\s*\d+\s*\]\s*\{(.*?)\}", re.DOTALL)
PROBABILITY = re.compile(r"probability\s*\(([^|)]*)(?:\|([^)]*))?\)\s*\{(.*?)\}", re.DOTALL)
ROW = re.compile(r"(?:\(([^)]*)\)|\b(table|default)\b)([^;]*);")
"""The parents' levels, or a word that stands for all of them, and the probabilities."""
MOST_BYTES = 2**26
"""Size up to which files are read."""
ROUNDING = 0.01
"""How far the probabilities of a row may be from adding up to 1; files round them."""


@dataclass(frozen=True)
class DiscreteNetwork:
    """A Bayesian network of categories: a DAG, and for each variable its probabilities given its parents."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    """The levels of each variable; level k has the code k."""
    dag: Graph
    tables: tuple[Floats, ...]
    """For each variable an array, with an axis for each parent in the order of the columns, and the last for itself."""

    def sample(self, n: int, rng: Seed = None) -> Floats:
        """Return n independent rows of codes.

        >>> rain = DiscreteNetwork(("rain",), (("no", "yes"),), np.zeros((1, 1), np.int8), (np.array([0.0, 1.0]),))
        >>> rain.sample(2)
        array([[1.],
               [1.]])
        """
        n = whole("n", n, 1)
        require_rows(n, len(self.names))
        generator = generator_from(rng, "rng")
        codes = np.zeros((n, len(self.names)), np.int64)
        for node in topological_order(self.dag):
            given = tuple(codes[:, parent] for parent in np.flatnonzero(self.dag[:, node]))
            upto = np.cumsum(np.broadcast_to(self.tables[node][given], (n, len(self.levels[node]))), axis=1)
            # The last level takes what rounding leaves.
            codes[:, node] = (generator.random((n, 1)) >= upto[:, :-1]).sum(axis=1)
        return codes.astype(np.float64)


def discrete_network(path: str | Path) -> DiscreteNetwork:
    """Read a discrete network from a file in the Bayesian interchange format (.bif, or .bif.gz).

    Columns are in the order of the file.

    Examples
    --------
    >>> text = '''network weather { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.05, 0.95; }'''
    >>> _ = Path("weather.bif").write_text(text)
    >>> network = discrete_network("weather.bif")
    >>> network.names, network.levels[1], network.dag.tolist()
    (('rain', 'wet'), ('no', 'yes'), [[0, 1], [0, 0]])
    >>> network.sample(1000).mean(axis=0).round(1)
    array([0.2, 0.3])
    """
    path = path_of(path)
    try:
        with opened(path) as handle:
            content = handle.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise DataError(
                f"{path} holds more than {MOST_BYTES >> 20} MB; networks in BIF take a few. Pass a smaller one."
            )
        text = content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, *PROBLEMS) as error:
        raise FileError(f"{path} cannot be read as a network: {error}.") from None
    text = re.sub(r"//[^\n]*|/\*.*?\*/|property[^;]*;", " ", text, flags=re.DOTALL)
    levels = {name: tuple(_words(inside)) for name, inside in VARIABLE.findall(text)}
    if not levels:
        raise DataError(f"{path} holds no discrete variables in the interchange format BIF.")
    names = tuple(levels)
    place = {name: number for number, name in enumerate(names)}
    dag, tables = np.zeros((len(names), len(names)), np.int8), {}
    for child, given, inside in PROBABILITY.findall(text):
        child, parents = child.strip(), _words(given)
        unknown = [name for name in (child, *parents) if name not in place]
        if unknown:
            raise DataError(f"{path} gives probabilities of {unknown[0]!r}, which is not among its variables.")
        dag[[place[parent] for parent in parents], place[child]] = 1
        table = _table(inside, [levels[name] for name in (*parents, child)], f"{path}: {child}")
        tables[child] = table.transpose([*np.argsort([place[parent] for parent in parents]), len(parents)])
    missing = [name for name in names if name not in tables]
    if missing:
        raise DataError(f"{path} gives no probabilities of {missing[0]!r}.")
    return DiscreteNetwork(names, tuple(levels.values()), dag, tuple(tables[name] for name in names))


def _table(text: str, levels: list[tuple[str, ...]], about: str) -> Floats:
    """Return the probabilities of a variable, the last, by the levels of its parents."""
    shape = tuple(map(len, levels))
    table = np.full(shape, np.nan)
    for given, word, numbers in ROW.findall(text):
        try:
            probabilities = np.array([float(number) for number in _words(numbers)])
            if word == "table":
                # The child's level varies slowest in this form.
                table = np.moveaxis(probabilities.reshape(shape[-1:] + shape[:-1]), 0, -1)
            elif word == "default":
                table = np.where(np.isnan(table), probabilities, table)
            else:
                named = zip(levels[:-1], _words(given), strict=True)
                table[tuple(of_parent.index(name) for of_parent, name in named)] = probabilities
        except ValueError as error:
            raise DataError(f"{about}: the row of ({given or word}) does not fit its variables: {error}.") from None
    sums = table.sum(axis=-1, keepdims=True)
    if not ((table >= 0).all() and (np.abs(sums - 1) < ROUNDING).all()):
        raise DataError(f"{about}: probabilities are missing, or do not add up to 1.")
    return np.asarray(table / sums)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
