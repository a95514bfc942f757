"""Tables and matrices that strain arithmetic. Imports nothing from rfdag.

All are small, so that `fifty_digits` can compare all DAGs over their variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Strained:
    """Something to learn from, and what is strained in it.

    Attributes
    ----------
    kind
        Which reference there is: "numbers", "matrix", "exact", "graph", "categories", "counts", "environments", "gaps".
    options
        What `rfdag.learn` is called with besides.
    """

    name: str
    rows: Any = field(repr=False)
    kind: str = "numbers"
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def family(self) -> str:
        """What the tables of its kind have in common."""
        return self.name.partition(":")[0]


def model(p: int, n: int, seed: int) -> NDArray[Any]:
    """Return rows of a random linear model over the order 0, 1, …, each variable on about half of those before it."""
    generator = np.random.default_rng([p, n, seed, 20])
    rows = generator.normal(size=(n, p))
    for y in range(1, p):
        chosen = generator.random(y) < 0.5
        rows[:, y] += rows[:, :y] @ (chosen * generator.uniform(0.5, 1.0, y) * generator.choice([-1, 1], y))
    return rows


def strained(seed: int) -> Iterator[Strained]:
    """Yield cases of all families, drawn with a seed."""
    for make in (tables, few_rows, weighted, matrices, methods, mixed, environments, gaps):
        yield from make(seed)


def tables(seed: int) -> Iterator[Strained]:
    """Yield complete tables of numbers."""
    generator = np.random.default_rng([seed, 21])
    plain = model(5, 40, seed)
    yield Strained("as they are", plain)
    for power in range(1, 17):
        noise, size = generator.normal(size=40), 10.0**-power
        yield Strained(f"near copy: 1e-{power}", np.column_stack([plain[:, :4], plain[:, 1] + size * noise]))
        total = plain[:, 0] + plain[:, 1] - plain[:, 2]
        yield Strained(f"near sum: 1e-{power}", np.column_stack([plain[:, :4], total + size * noise]))
        steps = np.column_stack([plain[:, :1], size * generator.normal(size=(40, 4))])
        yield Strained(f"chain of small steps: 1e-{power}", steps.cumsum(axis=1))
    for p in range(3, 7):
        hilbert = 1.0 / (np.arange(p)[:, None] + np.arange(p) + 1.0)
        yield Strained(f"Hilbert matrix: {p}", generator.normal(size=(40, p)) @ np.linalg.cholesky(hilbert).T)
        yield Strained(f"powers: {p}", generator.uniform(size=(40, 1)) ** np.arange(1, p + 1))
    for power in (3, 6, 9, 12, 13, 14, 15):
        yield Strained(f"large means: 1e{power}", plain + 10.0**power)
        yield Strained(f"one large mean: 1e{power}", plain + 10.0**power * (np.arange(5) == 2))
    for power in (-320, -310, -300, -200, -140, -100, 100, 140, 200, 300, 306):
        unit, inverse = 10.0**power, 10.0 ** min(-power, 300)
        yield Strained(f"scale: 1e{power}", plain * unit)
        yield Strained(f"one scale: 1e{power}", plain * np.where(np.arange(5) == 1, unit, 1.0))
        yield Strained(f"two scales: 1e{power}", plain * np.array([1.0, unit, 1.0, inverse, 1.0]))
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8):
        unit = min(np.iinfo(kind).max // 16, 2**58)
        yield Strained(f"whole numbers: {kind.__name__}", np.round(plain * unit + unit * 6).clip(0).astype(kind))
    yield Strained("whole numbers: near 2⁶³", (np.round(plain * 2.0**40) + 2.0**62).astype(np.int64))
    yield Strained("0 and 1: bool", plain > 0)
    for kind in (np.float16, np.float32):
        yield Strained(f"short floats: {kind.__name__}", plain.astype(kind))
        yield Strained(f"short floats: {kind.__name__}, mean 100", (plain + 100).astype(kind))
    for p in (2, 3, 4, 5):
        yield Strained(f"two rows more than columns: {p}", model(p, p + 2, seed))
    for power in (3, 6, 9, 15):
        outlier = plain.copy()
        outlier[7, 2] = 10.0**power
        yield Strained(f"an outlier: 1e{power}", outlier)
        outlier[7, 4] = -(10.0**power)
        yield Strained(f"an outlier in two columns: 1e{power}", outlier)
        flat = plain.copy()
        flat[:, 3] = 1.0
        flat[11, 3] += 10.0**-power
        yield Strained(f"constant but for a row: 1e-{power}", flat)
    yield Strained("repeated rows: 10 times", np.repeat(plain[:12], 10, axis=0))
    yield Strained("opposite signs: all", np.column_stack([plain[:, :4], -plain[:, 0] + 1e-3 * plain[:, 4]]))


def near_copy(plain: NDArray[Any], power: float, generator: np.random.Generator) -> NDArray[Any]:
    """Return a table whose last column is the second but for noise."""
    noise = generator.normal(size=len(plain))
    return np.column_stack([plain[:, :-1], plain[:, 1] + 10.0**-power * noise])


def few_rows(seed: int) -> Iterator[Strained]:
    """Yield tables with fewer rows than columns."""
    generator = np.random.default_rng([seed, 24])
    for p, n in ((8, 4), (8, 6), (8, 8), (9, 10), (12, 9)):
        yield Strained(f"fewer rows than columns: {n} × {p}", model(p, n, seed))
    plain = model(8, 7, seed)
    for power in (-200, 9, 200):
        yield Strained(f"fewer rows than columns: scale 1e{power}", plain * 10.0**power)
    yield Strained("fewer rows than columns: large means", plain + 1e9)
    for power in (2, 4, 6, 8, 12, 15):
        yield Strained(f"fewer rows than columns: near copy 1e-{power}", near_copy(plain, power, generator))
    # An average of sparse models stands for the sample here.
    more = model(5, 6, seed)
    for power in (2, 4, 6, 8, 12, 15):
        yield Strained(f"hardly more rows than columns: near copy 1e-{power}", near_copy(more, power, generator))


def weighted(seed: int) -> Iterator[Strained]:
    """Yield tables whose rows count differently."""
    generator = np.random.default_rng([seed, 25])
    plain = model(4, 40, seed)
    for power in (1, 3, 6, 9, 12, 15):
        spread = 10.0 ** generator.uniform(-power, power, 40)
        yield Strained(f"weights: 1e±{power}", plain, options={"weights": spread})
        one = np.ones(40)
        one[3] = 10.0**power
        yield Strained(f"weights: one of 1e{power}", plain, options={"weights": one})
    for size in (1e-320, 1e-300, 1e-100, 1e-3, 0.1, 1e3, 1e100, 1e300, 1e308):
        yield Strained(f"weights: all {size:g}", plain, options={"weights": np.full(40, size)})
    counts = generator.integers(0, 4, 40).astype(float)
    yield Strained("weights: whole", plain, options={"weights": counts})
    yield Strained("weights: none but 7", plain, options={"weights": (np.arange(40) < 7).astype(float)})
    yield Strained("weights: none but 2", plain, options={"weights": (np.arange(40) < 2).astype(float)})
    for power in (3, 6, 9, 12):
        spread = 10.0 ** generator.uniform(-2, 2, 40)
        yield Strained(
            f"weights: near copy 1e-{power}", near_copy(plain, power, generator), options={"weights": spread}
        )
        yield Strained(f"weights: means 1e{power}", plain + 10.0**power, options={"weights": spread})
    for power in (-300, -150, 150, 300):
        yield Strained(f"weights: scale 1e{power}", plain * 10.0**power, options={"weights": spread})


def matrices(seed: int) -> Iterator[Strained]:
    """Yield matrices of moments and graphs: near-singular, of extreme scales, not quite symmetric."""
    generator = np.random.default_rng([seed, 26])
    plain = model(5, 60, seed)
    for power in range(1, 18, 2):
        rows = near_copy(plain, power / 2, generator)
        covariance = np.cov(rows.T)
        correlation = np.corrcoef(rows.T)
        np.fill_diagonal(correlation, 1.0)
        options = {"input": "correlation", "n_samples": 60}
        yield Strained(f"correlation matrix: 1 − 1e-{power}", correlation, "matrix", options)
        options = {"input": "covariance", "n_samples": 60}
        yield Strained(f"covariance matrix: 1 − 1e-{power}", covariance, "matrix", options)
        try:
            precision = np.linalg.inv(covariance)
        except np.linalg.LinAlgError:
            continue
        precision = (precision + precision.T) / 2
        options = {"input": "precision", "n_samples": 60}
        yield Strained(f"precision matrix: 1 − 1e-{power}", precision, "matrix", options)
    correlation = np.corrcoef(plain.T)
    np.fill_diagonal(correlation, 1.0)
    least = float(np.linalg.eigvalsh(correlation)[0])
    for power in range(2, 17, 2):
        skewed = np.triu(10.0**-power * generator.normal(size=(5, 5)), 1)
        options = {"input": "correlation", "n_samples": 60}
        yield Strained(f"not quite symmetric: 1e-{power}", correlation + skewed, "matrix", options)
        indefinite = correlation - np.eye(5) * (least + 10.0**-power)
        root = np.sqrt(np.diag(indefinite))
        indefinite = indefinite / root / root[:, None]
        np.fill_diagonal(indefinite, 1.0)
        yield Strained(f"not quite positive definite: 1e-{power}", indefinite, "matrix", options)
    for size in (6, 8, 100, 10**6, 10**12):
        options = {"input": "correlation", "n_samples": size}
        yield Strained(f"rows behind a matrix: {size:g}", correlation, "matrix", options)
    weights = np.triu(generator.uniform(0.5, 1.0, (5, 5)) * (generator.random((5, 5)) < 0.6), 1)
    whole = np.round(8 * weights) / 8
    exact = (np.eye(5) - whole) @ (np.eye(5) - whole).T
    for power in (-320, -300, -150, 0, 150, 300, 306):
        unit = 10.0**power
        uneven = 10.0 ** np.array([power, 0, -power / 2, power / 2, 0]).clip(-140, 140)
        for kind, matrix in (("covariance", np.cov(plain.T)), ("precision", np.linalg.inv(np.cov(plain.T)))):
            matrix = (matrix + matrix.T) / 2
            options = {"input": kind, "n_samples": 60}
            yield Strained(f"scale of a matrix: {kind} 1e{power}", matrix * unit, "matrix", options)
            matrix = matrix * np.outer(uneven, uneven)
            yield Strained(f"scale of a matrix: {kind}, uneven 1e{power}", matrix, "matrix", options)
        yield Strained(f"exact precision matrix: scale 1e{power}", exact * unit, "exact", {"input": "precision"})
        options = {"input": "precision"}
        yield Strained(f"sparse precision matrix: scale 1e{power}", csr_array(exact * unit), "exact", options)
        options = {"input": "precision", "n_samples": 500, "method": "rfd"}
        yield Strained(f"sparse precision matrix: scale 1e{power}, 500 rows", csr_array(exact * unit), "exact", options)
    for power in range(1, 9):
        large = np.eye(5) - whole * 2.0 ** (3 * power)
        matrix = large @ large.T
        options = {"input": "precision"}
        yield Strained(f"exact precision matrix: weights 2^{3 * power}", matrix, "exact", options)
        yield Strained(f"sparse precision matrix: weights 2^{3 * power}", csr_array(matrix), "exact", options)
    for p in (2, 5, 7):
        dag = np.triu(generator.random((p, p)) < 0.5, 1).astype(np.int8)
        for kind in (np.int8, np.float16, np.float64, bool):
            yield Strained(f"DAG: {p} nodes, {kind.__name__}", dag.astype(kind), "graph", {"input": "dag"})
        yield Strained(f"DAG: {p} nodes, sparse", csr_array(dag), "graph", {"input": "dag"})
        heavy = csr_array(dag * 10.0 ** generator.uniform(-300, 300, (p, p)))
        yield Strained(f"DAG: {p} nodes, sparse, weights 1e±300", heavy, "graph", {"input": "dag"})


METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rfd", {"method": "rfd"}),
    ("rfd, depth 2", {"method": "rfd", "depth": 2, "pairs": "neighbours"}),
    ("rfd, refined", {"method": "rfd", "refine": True}),
    ("gsp", {"method": "gsp"}),
    ("sp", {"method": "sp"}),
    ("sp by tests", {"method": "sp", "parents": "threshold"}),
    ("min-degree", {"method": "min-degree"}),
    ("min-fill", {"method": "min-fill"}),
    ("max-remove", {"method": "max-remove"}),
    ("random", {"method": "random"}),
    ("soft, unrefined", {"method": "soft", "refine": False}),
    ("soft by tests", {"method": "soft", "refine": False, "parents": "threshold"}),
)


def methods(seed: int) -> Iterator[Strained]:
    """Yield strained tables for every method."""
    generator = np.random.default_rng([seed, 27])
    plain = model(5, 60, seed)
    some = [("plain", plain), ("two rows more than columns", model(4, 6, seed)), ("fewer rows", model(6, 5, seed))]
    some += [
        (f"near copy 1e-{power}", near_copy(plain, power, generator)) for power in (1, 2, 3, 4, 5, 6, 7, 8, 10, 14)
    ]
    some += [(f"scale 1e{power}", plain * 10.0**power) for power in (-310, 300)]
    some += [("large means", plain + 1e9), ("whole numbers", np.round(4 * plain).astype(int))]
    for name, options in METHODS:
        for strain, rows in some:
            yield Strained(f"method {name}: {strain}", rows, options=options)


def mixed(seed: int) -> Iterator[Strained]:
    """Yield tables with categories, some of whose levels are rare."""
    generator = np.random.default_rng([seed, 28])
    n = 60
    plain = model(4, n, seed)

    def cut(values: NDArray[Any], *shares: float) -> NDArray[Any]:
        return np.searchsorted(np.quantile(values, shares), values).astype(float)

    three = cut(plain[:, 1] + generator.normal(size=n), 1 / 3, 2 / 3)
    table = np.column_stack([plain[:, 0], three, plain[:, 2:]])
    options = {"categorical": [1]}
    yield Strained("categories beside numbers: as they are", table, "categories", options)
    for rare in (1, 2, 3, 4, 5, 6):
        levels = np.where(np.arange(n) < rare, 3.0, three)
        yield Strained(f"rare levels: one of {counted(rare)}", _with(table, 1, levels), "categories", options)
        each = three.copy()
        each[: 3 * rare] = 3 + np.repeat(np.arange(3), rare)
        yield Strained(f"rare levels: three of {counted(rare)}", _with(table, 1, each), "categories", options)
    each = np.append(np.zeros(n - 2), [1.0, 2.0])
    yield Strained("rare levels: all but one", _with(table, 1, each), "categories", options)
    yield Strained("rare levels: a level in each row", _with(table, 1, np.arange(n)), "categories", options)
    for power in range(1, 16, 2):
        copied = _with(table, 3, plain[:, 0] + 10.0**-power * generator.normal(size=n))
        yield Strained(f"categories beside a near copy: 1e-{power}", copied, "categories", options)
    for power in (-320, -300, -150, 150, 300, 306):
        scaled = table * np.array([10.0**power, 1.0, 1.0, 10.0 ** -(power / 2)])
        yield Strained(f"categories beside scales: 1e{power}", scaled, "categories", options)
    for power in (3, 6, 9, 12, 14):
        shifted = table + np.array([10.0**power, 0.0, 0.0, 0.0])
        yield Strained(f"categories beside large means: 1e{power}", shifted, "categories", options)
    again = _with(table, 3, (three + 1) % 3)
    yield Strained("categories that repeat: renamed", again, "categories", {"categorical": [1, 3]})
    coarse = _with(table, 3, np.where(three == 2, 1.0, three))
    yield Strained("categories that repeat: coarser", coarse, "categories", {"categorical": [1, 3]})
    codes = np.column_stack([cut(plain[:, at] + generator.normal(size=n), 0.3, 0.7) for at in range(4)])
    every = {"categorical": [0, 1, 2, 3]}
    yield Strained("categories alone: as they are", codes, "counts", every)
    for rare in (1, 4, 5):
        levels = np.where(np.arange(n) < rare, 3.0, codes[:, 2])
        yield Strained(f"categories alone: a level of {counted(rare)}", _with(codes, 2, levels), "counts", every)
    yield Strained("categories alone: a copy", _with(codes, 3, codes[:, 0]), "counts", every)
    yield Strained("categories alone: few rows", codes[:8], "counts", every)
    yield Strained("categories alone: many equal rows", np.repeat(codes, 50, axis=0), "counts", every)


def environments(seed: int) -> Iterator[Strained]:
    """Yield rows from three environments, some of few rows, with known targets."""
    generator = np.random.default_rng([seed, 29])

    def drawn(counts: tuple[int, ...], held: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
        labels = np.repeat(["a", "b", "c"], counts)
        rows = model(4, len(labels), seed)
        there = labels == "b"
        rows[there, 1] = 0.0 if held else 2 + 0.5 * generator.normal(size=there.sum())
        rows[labels == "c", 2] += 1.5
        return rows, labels

    def case(name: str, rows: NDArray[Any], labels: NDArray[Any], **more: Any) -> Strained:
        targets = {"a": [], "b": [1], "c": [2]}
        return Strained(name, rows, "environments", {"environments": labels, "targets": targets, **more})

    plain, labels = drawn((40, 20, 15))
    yield case("environments: as they are", plain, labels)
    for size in (1, 2, 3, 4, 5, 8):
        yield case(f"environments of few rows: {counted(size)}", *drawn((40, size, 15)))
        yield case(f"environments of few rows: {counted(size)} in two", *drawn((40, size, size)))
        yield case(f"environments of few rows: {counted(size)} without targets", *drawn((size, 20, 15)))
    yield case("environments: a target held fixed", *drawn((40, 20, 15), held=True))
    for power in range(1, 16, 2):
        copied = _with(plain, 3, plain[:, 0] + 10.0**-power * generator.normal(size=len(plain)))
        yield case(f"environments with a near copy: 1e-{power}", copied, labels)
    for power in (-320, -300, -150, 150, 300, 306):
        yield case(f"environments of scales: 1e{power}", plain * 10.0**power, labels)
        yield case(f"environments of scales: one 1e{power}", plain * np.array([10.0**power, 1, 1, 1]), labels)
    for power in (3, 6, 9, 12, 14):
        yield case(f"environments with large means: 1e{power}", plain + 10.0**power, labels)
        apart = plain + 10.0**power * ((labels == "c")[:, None] & (np.arange(4) == 2))
        yield case(f"environments far apart: 1e{power}", apart, labels)
        wide = plain * np.where((labels == "b")[:, None] & (np.arange(4) == 1), 10.0**power, 1.0)
        yield case(f"environments of other spreads: 1e{power}", wide, labels)


def gaps(seed: int) -> Iterator[Strained]:
    """Yield tables with missing values."""
    generator = np.random.default_rng([seed, 30])
    plain = model(4, 60, seed)
    holes = generator.random(plain.shape) < 0.08

    def case(name: str, rows: NDArray[Any], way: str, holes: NDArray[Any] = holes) -> Strained:
        return Strained(f"{name}, {way}", np.where(holes, np.nan, rows), "gaps", {"missing": way})

    one = np.zeros_like(holes)
    one[5, 2] = True
    most = holes.copy()
    most[12:, 3] = True
    apart = np.zeros_like(holes)
    apart[:30, 0] = apart[30:, 1] = True
    for way in ("em", "pairwise"):
        yield case("gaps: as they are", plain, way)
        yield case("gaps: a single one", plain, way, one)
        yield case("gaps: most of a column", plain, way, most)
        yield case("gaps: columns never together", plain, way, apart)
        yield case("gaps: half of all", plain, way, generator.random(plain.shape) < 0.5)
        yield case("gaps: two rows more than columns", model(4, 6, seed), way, one[:6])
        for power in range(1, 16, 2):
            copied = near_copy(plain, power / 2, generator)
            yield case(f"gaps with a near copy: 1e-{power / 2}", copied, way)
        for power in (-320, -300, -150, 150, 300, 306):
            yield case(f"gaps and scales: 1e{power}", plain * 10.0**power, way)
            yield case(f"gaps and scales: one 1e{power}", plain * np.array([10.0**power, 1, 1, 1]), way)
        for power in (3, 6, 9, 12, 14):
            yield case(f"gaps and large means: 1e{power}", plain + 10.0**power, way)


def _with(table: NDArray[Any], at: int, column: NDArray[Any]) -> NDArray[Any]:
    changed = table.copy()
    changed[:, at] = column
    return changed


def counted(rows: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if rows == 1 else f"{rows} rows"
