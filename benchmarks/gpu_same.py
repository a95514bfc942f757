"""Small data sets on the CPU and on a GPU: how often score, class and order differ.

    python benchmarks/gpu_same.py [--data 499] [--seed 1]

Needs a CUDA device and CuPy. Tables of 3 to 24 columns, as those of soak_load.py, are learnt from with the default
search, without a proof, without restarts, and by the rule of the paper. Writes benchmarks/results/gpu_same.csv and its
section of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import rfdag
from report import ROOT, markdown, provenance, update_section, write_tables
from rfdag.runtime.progress import Progress
from soak_load import data_of

SEARCHES: dict[str, dict[str, Any]] = {
    "default": {},
    "exact=False": {"exact": False},
    "exact=False, restarts=0": {"exact": False, "restarts": 0},
    'method="rfd"': {"method": "rfd"},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=int, default=499)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    rows: dict[str, dict[str, Any]] = {
        name: {"search": name, "data sets": 0, "other score": 0, "other class": 0, "other DAG": 0, "other order": 0}
        for name in SEARCHES
    }
    warnings.simplefilter("ignore")
    with Progress() as progress:
        report = progress.stage("Comparing")
        for number in range(1, options.data + 1):
            report(number / options.data)
            data = data_of(number, options.seed)
            if data.shape[1] < 3:
                continue
            for name, search in SEARCHES.items():
                here, there = (rfdag.learn(data, device=device, progress=False, **search) for device in ("cpu", "cuda"))
                row = rows[name]
                row["data sets"] += 1
                row["other score"] += abs((here.score or 0.0) - (there.score or 0.0)) > 1e-6
                row["other class"] += bool((here.cpdag != there.cpdag).any())
                row["other DAG"] += bool((np.asarray(here.dag) != np.asarray(there.dag)).any())
                row["other order"] += here.order != there.order
    found = list(rows.values())
    write_tables("gpu_same", found)
    about = f"Seed {options.seed}; an {device_name()} beside the processor of the same machine."
    update_section(ROOT / "docs" / "reliability.md", "gpu", f"{markdown(found)}\n{about}\n\n{provenance()}")
    print(markdown(found))


def device_name() -> str:
    """Return what the GPU is called."""
    import cupy

    name: bytes = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    return name.decode()


if __name__ == "__main__":
    main()
