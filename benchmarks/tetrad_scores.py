"""Local scores of the real Tetrad, frozen for the tests: its degenerate Gaussian score on a small mixed table.

    python benchmarks/tetrad_scores.py

Needs the environment of Tetrad (`rfdag bench --setup --contenders tetrad`). Writes
tests/tetrad_degenerate_gaussian.json: the table, and for pairs of a child and its parents how much larger Tetrad's
score is with these parents than without any, at the penalty discounts 2 and 1. Larger is better there; rfdag's score,
n ln det S(Y|P) + λ ln n · k_Y · rank(P), is the negative of it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report import ROOT
from rfdag.runtime.writing import write_text
from rfdag.studies.bench import environments, tetrad

TARGET = ROOT / "tests" / "tetrad_degenerate_gaussian.json"
SEED, ROWS, PAIRS = (18, 4), 250, 110
DISCOUNTS = (2.0, 1.0)
NAMES = ("x", "kind", "w", "z", "flag", "grade", "v")
CATEGORICAL = (1, 4, 5)
"""Columns of codes: kind has three levels, flag two, grade five, of which one is rare."""

RECIPE = (
    "benchmarks/tetrad_scores.py, table(): numpy.random.default_rng((18, 4)), 250 rows, rounded to four decimals; "
    "kind, flag and grade are codes of categories, the other columns numbers"
)
CONVENTIONS = (
    "difference = localScore(child, parents) - localScore(child, none) of Tetrad 7.6.8's DegenerateGaussianScore with "
    "that penalty discount; larger is better. The score is 2 L - c k ln n up to a constant, "
    "so that n ln det S_Y|P + c ln n k_Y rank(P) differs by the negative"
)

PROGRAM = """
import importlib.util, json, sys
import numpy as np
place, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location("tetrad", place)
tetrad = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tetrad)
asked = json.load(open(source))
rows, categorical = np.array(asked["rows"]), np.isin(np.arange(len(asked["rows"][0])), asked["categorical"])
found = {}
for discount in asked["discounts"]:
    score = tetrad.score("degenerate-gaussian", rows, categorical, discount)
    found[discount] = [score.localScore(y, p) - score.localScore(y, []) for y, p in asked["pairs"]]
json.dump(found, open(target, "w"))
"""


def table() -> NDArray[np.float64]:
    """Return the rows: numbers that depend on categories and categories that depend on numbers."""
    generator = np.random.default_rng(SEED)

    def level(*slopes: float, of: Any = 0.0) -> Any:
        return np.argmax(np.multiply.outer(of, slopes) + generator.gumbel(size=(ROWS, len(slopes))), axis=1)

    x, w = generator.normal(size=(2, ROWS))
    kind = level(1.5, 0.0, -1.5, of=x)
    z = 0.7 * w + (kind == 0) + generator.normal(size=ROWS)
    flag = level(0.0, 1.0, of=z)
    grade = level(-0.8, -0.4, 0.0, 0.4, 0.8, of=w + (kind == 2))
    grade[generator.random(ROWS) < 0.05] = 2
    v = 0.5 * x + np.array([0.8, -0.3, 0.0, 0.2, 0.5])[grade] + generator.normal(size=ROWS)
    return np.column_stack([x, kind, w, z, flag, grade, v]).round(4)


def pairs() -> list[tuple[int, list[int]]]:
    """Return a child with each single parent, and with random sets of two to four."""
    generator = np.random.default_rng([*SEED, 1])
    every = range(len(NAMES))
    chosen = [(child, [parent]) for child in every for parent in every if parent != child]
    larger = [
        (child, list(parents))
        for child in every
        for size in (2, 3, 4)
        for parents in combinations([other for other in every if other != child], size)
    ]
    places = sorted(generator.choice(len(larger), PAIRS - len(chosen), replace=False).tolist())
    return chosen + [larger[place] for place in places]


def main() -> None:
    """Ask Tetrad and write."""
    python = environments.python_of("tetrad", ROOT / environments.FOLDER)
    if python is None:
        raise SystemExit("Tetrad is not installed: run `rfdag bench --setup --contenders tetrad`.")
    asked = {"rows": table().tolist(), "categorical": CATEGORICAL, "pairs": pairs(), "discounts": DISCOUNTS}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "asked.json", Path(folder) / "found.json"
        source.write_text(json.dumps(asked), encoding="utf-8")
        words = [str(python), "-P", "-c", PROGRAM, str(Path(tetrad.__file__)), str(source), str(target)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = json.loads(target.read_text(encoding="utf-8"))
    scores = [
        {"child": child, "parents": parents}
        | {f"discount {discount:g}": round(found[str(discount)][number], 6) for discount in DISCOUNTS}
        for number, (child, parents) in enumerate(pairs())
    ]
    head = {"recipe": RECIPE, "conventions": CONVENTIONS, "names": NAMES, "categorical": CATEGORICAL}
    lines = [*(f' "{key}": {json.dumps(entry, ensure_ascii=False)},' for key, entry in head.items())]
    lines += [' "scores": [', ",\n".join(f"  {json.dumps(score)}" for score in scores), " ],"]
    lines += [' "rows": [', ",\n".join(f"  {json.dumps(row)}" for row in asked["rows"]), " ]"]
    write_text(TARGET, "\n".join(["{", *lines, "}"]) + "\n")
    print(f"{len(scores)} pairs at {len(DISCOUNTS)} penalty discounts: {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
