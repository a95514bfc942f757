"""Messages about rows from several environments that name an option; see `advice_data.Case`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from advice_data import NAMES, OUT, ROWS, SOURCE, Case, few_families, gpu, parquet

PLACES = ("here", "there")
LABELLED = pd.concat([ROWS, ROWS[::2] + 3]).reset_index(drop=True)
LABELLED = LABELLED.assign(place=np.repeat(PLACES, [len(ROWS), len(ROWS) // 2]))
"""A chain of four, all of which is shifted in a second environment; there ``d`` is taken for the target."""
TARGETS: dict[str, Any] = {"here": [], "there": ["d"]}
GIVEN: dict[str, Any] = {"environments": "place", "targets": TARGETS}
FOUND: dict[str, Any] = {"environments": "place", "targets": "unknown"}
NOWHERE = {"environments": OUT, "targets": OUT, "drop": ["place"]}
SEVERAL = np.random.default_rng(4).normal(size=(120, 4))
ALL_ELSE = pd.DataFrame(np.where(np.arange(120)[:, None] < 60, SEVERAL, np.exp(1.5 * SEVERAL)), columns=NAMES)
ALL_ELSE = ALL_ELSE.assign(place=np.repeat(PLACES, 60))

OF_ENVIRONMENTS = [
    # What rows and columns may be
    Case(
        "evidence/by_environment.py",
        "There is a single environment",
        ROWS.assign(place="here"),
        {"environments": "place", "targets": {"here": []}},
        (NOWHERE,),
        also=("evidence/environments.py:without_environments",),
    ),
    Case(
        "evidence/by_environment.py",
        "categorical, and environments are compared",
        LABELLED.assign(size=np.array(["s", "m", "l"])[np.digitize(LABELLED["a"], [-0.5, 0.5])]),
        GIVEN,
        ({"drop": ["size"]}, {"ordinal": ["size: s < m < l"]}),
    ),
    Case(
        "evidence/by_environment.py",
        "Values are missing in",
        LABELLED.assign(b=LABELLED["b"].where(LABELLED.index >= 5)),
        GIVEN,
        ({"missing": "drop"},),
    ),
    Case(
        "evidence/by_environment.py",
        "No environment is known to be without targets",
        LABELLED,
        FOUND,
        ({"observational": ["here"]},),
    ),
    Case(
        "input/environments.py",
        ", or leave",
        LABELLED,
        {"environments": "place", "targets": {"here": ["a"], "there": ["a", "d"]}},
        ({"drop": ["a"], "targets": TARGETS},),
    ),
    # What is said of them
    Case(
        "input/description.py",
        "go with what was done in each",
        LABELLED,
        {"environments": "place"},
        ({"targets": TARGETS}, {"targets": "unknown"}),
    ),
    Case(
        "input/description.py",
        "with targets given, an environment is observational",
        LABELLED,
        {**GIVEN, "observational": ["here"]},
        ({"observational": OUT}, {"targets": "unknown"}),
    ),
    Case(
        "input/separate.py",
        "go with environments: pass",
        LABELLED,
        {"targets": TARGETS},
        ({"environments": "place"}, {SOURCE: [ROWS, ROWS[::2] + 3], "targets": [[], ["d"]]}),
        terminal=False,
    ),
    Case(
        "input/preparation.py",
        "these are read in pieces. Put the labels",
        parquet,
        {**GIVEN, "environments": np.repeat(PLACES, len(ROWS) // 2)},
        ({"environments": "place", SOURCE: lambda folder: parquet(folder, LABELLED)},),
        restated=("weights",),
        terminal=False,
    ),
    # What goes with them
    Case(
        "methods/interventional.py",
        "tell of several. Leave it out",
        LABELLED,
        {**GIVEN, "clusters": True},
        ({"clusters": OUT},),
        restated=("environments", "targets"),
    ),
    Case(
        "methods/interventional.py",
        "tell of several environments, and there are",
        LABELLED,
        {**GIVEN, "exact": True},
        ({"exact": OUT},),
        restated=("environments", "targets"),
        under=few_families,
    ),
    Case(
        "methods/settings.py",
        "Several environments are compared on the CPU",
        LABELLED,
        {**GIVEN, "device": "cuda"},
        ({"device": OUT},),
        under=gpu(),
    ),
    Case(
        "methods/interventional.py",
        "more than half of the variables are",
        ALL_ELSE,
        FOUND,
        ({"targets": TARGETS},),
    ),
    Case(
        "methods/method.py",
        "learns from rows of one environment",
        LABELLED,
        {**GIVEN, "method": "rfd"},
        ({"method": "soft"}, NOWHERE),
    ),
    Case(
        "methods/settings.py",
        "decides in rows of one environment",
        LABELLED,
        {**GIVEN, "test": "fisher-z"},
        ({"test": OUT}, NOWHERE),
        also=("evidence/environments.py:without_environments",),
    ),
]
