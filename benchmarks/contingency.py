"""How often the test of categories finds dependence where there is none, and where there is some, beside plain G².

    python benchmarks/contingency.py [--draws 2000] [--seed 32066]

Writes benchmarks/results/contingency_size.csv and contingency_power.csv and their sections of docs/tests.md. Two
variables of some levels each are drawn given others of as many levels. G² is the likelihood ratio against χ² with the
degrees of freedom of the rows and columns that occur in each stratum. The test's shrinkage was chosen on other seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.independence.g2 import G2

Row = dict[str, Any]
Codes = NDArray[np.int64]
PAGE = ROOT / "docs" / "tests.md"
LEVELS = (2, 3, 4, 6)
GIVEN = (0, 1, 2, 3)
ROWS = (50, 200, 1000, 5000)
MARGINS = ("even", "drawn", "a quarter each")
"""Probabilities of levels: equal; drawn evenly from all there are, anew in each stratum; each a quarter of the one
before."""
SHARE_OF_G2 = 4
"""One draw in so many is tested by G² as well where nothing depends."""
EFFECTS = {"copies": 0.15, "rarest level": 0.3}
"""Share of rows in which the second variable is the first, or, if the first has its rarest level, has it too."""


def probabilities(margins: str, levels: int, strata: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the probabilities of the levels of one variable in each stratum."""
    if margins == "drawn":
        return generator.dirichlet(np.ones(levels), size=strata)
    weights = np.ones(levels) if margins == "even" else 0.25 ** np.arange(levels)
    return np.broadcast_to(weights / weights.sum(), (strata, levels))


def drawn(margins: str, levels: int, given: int, n: int, generator: np.random.Generator) -> Codes:
    """Return two columns that are independent in every stratum of those that follow."""
    strata, columns = np.zeros(n, np.int64), []
    for number in range(given + 2):
        # The first ones drawn are conditioned on, and independent of each other.
        groups = 1 if number < given else levels**given
        steps = probabilities(margins, levels, groups, generator).cumsum(axis=1)[:, :-1]
        column = (generator.random(n)[:, None] > steps[strata if groups > 1 else np.zeros(n, np.int64)]).sum(axis=1)
        columns.append(column)
        if number < given:
            strata = strata * levels + column
    return np.column_stack([*columns[given:], *columns[:given]])


def with_effect(codes: Codes, effect: str, generator: np.random.Generator) -> Codes:
    """Return the columns with the second depending on the first."""
    concerned = generator.random(len(codes)) < EFFECTS[effect]
    if effect == "rarest level":
        concerned &= codes[:, 0] == codes[:, 0].max()
    codes[concerned, 1] = codes[concerned, 0]
    return codes


def likelihood_ratio(codes: Codes, levels: int) -> float:
    """Return the p-value of G² of the first two columns in the strata of the others."""
    width = codes.shape[1]
    places = codes @ levels ** np.arange(width)[::-1]
    # Axes: the first variable, the second, strata.
    tables = np.bincount(places, minlength=levels**width).reshape(levels, levels, -1).astype(float)
    of_i, of_j, total = tables.sum(axis=1, keepdims=True), tables.sum(axis=0, keepdims=True), tables.sum(axis=(0, 1))
    full = tables > 0
    statistic = 2 * (tables * np.log(tables, where=full, out=np.zeros_like(tables))).sum()
    for sums, sign in ((of_i, -1), (of_j, -1), (total, 1)):
        statistic += sign * 2 * (sums * np.log(sums, where=sums > 0, out=np.zeros_like(sums))).sum()
    occurring = [(sums > 0).sum(axis=(0, 1)) for sums in (of_i, of_j)]
    freedom = ((occurring[0] - 1) * (occurring[1] - 1))[total > 0].sum()
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def p_values(
    margins: str, levels: int, given: int, n: int, draws: int, generator: np.random.Generator, effect: str | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the p-values of our test, and of G² on the same data, or some of them where nothing depends."""
    ours, plain = [], []
    for number in range(draws):
        codes = drawn(margins, levels, given, n, generator)
        if effect is not None:
            codes = with_effect(codes, effect, generator)
        ours.append(G2(codes)(0, 1, tuple(range(2, given + 2))))
        if effect is not None or number % SHARE_OF_G2 == 0:
            plain.append(likelihood_ratio(codes, levels))
    return np.array(ours), np.array(plain)


def sizes_of(draws: int, seed: int) -> Iterator[Row]:
    """Yield how often either test rejects independence that holds."""
    for at, margins in enumerate(MARGINS):
        for levels in LEVELS:
            for given in GIVEN:
                for n in ROWS:
                    generator = np.random.default_rng([seed, at, levels, given, n])
                    ours, plain = p_values(margins, levels, given, n, draws, generator)
                    yield {
                        "margins": margins,
                        "levels": levels,
                        "given": given,
                        "rows": n,
                        "at .05": round(float((ours <= 0.05).mean()), 4),
                        "at .01": round(float((ours <= 0.01).mean()), 4),
                        "at .001": round(float((ours <= 0.001).mean()), 4),
                        "G² at .05": round(float((plain <= 0.05).mean()), 3),
                        "G² at .01": round(float((plain <= 0.01).mean()), 3),
                    }
                print(margins, levels, given, flush=True)


def short(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each kind of table, with a column for each number of rows."""
    kinds = dict.fromkeys((row["margins"], row["levels"], row["given"]) for row in rows)
    return [
        dict(zip(("margins", "levels", "given"), kind, strict=True))
        | {
            f"{column}, n = {n}": row[column]
            for n in ROWS
            for column in ("at .05", "G² at .05")
            for row in rows
            if (row["margins"], row["levels"], row["given"], row["rows"]) == (*kind, n)
        }
        for kind in kinds
    ]


def powers_of(draws: int, seed: int) -> Iterator[Row]:
    """Yield how often either test finds dependence at level .01."""
    for at, margins in enumerate(MARGINS):
        for levels in (2, 4, 6):
            for given in (0, 1):
                n = 300 if given == 0 else 1000
                row: Row = {"margins": margins, "levels": levels, "given": given, "rows": n}
                for number, effect in enumerate(EFFECTS):
                    generator = np.random.default_rng([seed, 1000 + at, levels, given, number])
                    ours, plain = p_values(margins, levels, given, n, draws, generator, effect)
                    row[f"{effect}, found"] = round(float((ours <= 0.01).mean()), 2)
                    row[f"{effect}, by G²"] = round(float((plain <= 0.01).mean()), 2)
                yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=32066)
    options = parser.parse_args(arguments)
    rows = list(sizes_of(options.draws, options.seed))
    write_tables("contingency_size", rows)
    worst = {level: max(row[f"at .{level}"] for row in rows) for level in ("05", "01", "001")}
    mean = {level: float(np.mean([row[f"at .{level}"] for row in rows])) for level in ("05", "01", "001")}
    errors = [(level * (1 - level) / options.draws) ** 0.5 for level in (0.05, 0.01, 0.001)]
    about = (
        f"{options.draws} tables in a cell, {options.draws // SHARE_OF_G2} of them by G²; seed {options.seed}. Over "
        f"all {len(rows)} cells, mean and worst size are {mean['05']:.3f} and {worst['05']:.3f} at level .05, "
        f"{mean['01']:.4f} and {worst['01']:.4f} at .01, {mean['001']:.4f} and {worst['001']:.4f} at .001; the "
        f"standard errors of one cell are {errors[0]:.4f}, {errors[1]:.4f} and {errors[2]:.4f}."
    )
    update_section(PAGE, "contingency size", f"{markdown(short(rows))}\n{about}\n\n{provenance()}")
    powers = list(powers_of(max(options.draws // 4, 1), options.seed))
    write_tables("contingency_power", powers)
    about = f"Shares found at level .01, {options.draws // 4} tables in a cell, the same ones by both tests."
    update_section(PAGE, "contingency power", f"{markdown(powers)}\n{about}\n\n{provenance()}")


if __name__ == "__main__":
    main()
