"""docs/scaling.md and its pictures, from what the other benchmarks measured.

    python benchmarks/scaling.py [--results FOLDER] [--page FILE]

Reads scaling_dense.json, scaling_sparse.json, scaling_gpu.json and scaling_streaming.json in benchmarks/results. What
has not been measured is left out of the page.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import scaling_dense
import scaling_large
from look import begin
from report import RESULTS, ROOT
from rfdag.runtime.writing import write_text
from scaling_text import Check, Section, table

INTRODUCTION = """# Scaling

What time and memory grow with, and how far they are from the least that is possible. Every section has a table with
what was asked for and what was reached, also where that was missed.

## How to read it

- **A floor** is work that no method of the kind can avoid, timed in the same run on the same data: correlation and
  inverse for dense problems, moralising the DAG for sparse ones, reading the file for data larger than memory, moving
  the bytes for a GPU. Machines are shared and noisy; the ratio to the floor says more than seconds.
- Times are medians of several runs in which the contenders take turns, unless told otherwise. Kernels are compiled
  beforehand.
- Unless told otherwise graphs are Erdős–Rényi DAGs with weights ±[.25, 1] and unit noise, columns shuffled and
  standardised, n = 2p rows, and average degree 8.
- Memory is the peak of the whole process: interpreter, libraries and data included.

## How to rerun it

```bash
make peers                                            # once: FLOP, in an environment of its own
make scaling                                          # all of it but the GPU, then this page
python benchmarks/dense.py --parts floor,growth       # parts: floor, learn, growth, small, rescoring
python benchmarks/sparse.py                           # a million variables; 8 GB of memory
python benchmarks/streaming.py --folder /big/disk     # writes a file of 8 GB there, and deletes it
python benchmarks/gpu.py                              # on a machine with a CUDA device and CuPy
python benchmarks/scaling.py                          # this page, from the results that are there
```

Results are kept in `benchmarks/results/scaling_*.json`. A part that is run again replaces its own rows only.

"""


def sections(sources: dict[str, dict[str, Any]], folder: Path) -> list[Section]:
    """Return the sections whose rows are there, in the order of the page; their pictures go into a folder."""
    dense, sparse = sources.get("dense", {}), sources.get("sparse", {})
    found = []
    for part, section in (
        ("floor", scaling_dense.floor),
        ("learn", scaling_dense.learn),
        ("growth", scaling_dense.growth),
        ("small", scaling_dense.small),
        ("rescoring", scaling_dense.rescoring),
    ):
        if part in dense:
            found.append(section(dense[part], folder))
    if "oracle" in sparse or "precision" in sparse:
        found.append(scaling_large.sparse(sparse, folder))
    if "blocks" in sparse:
        found.append(scaling_large.blocks(sparse, folder))
    if "gpu" in sources:
        found.append(scaling_large.gpu(sources["gpu"], folder))
    if "streaming" in sources:
        found.append(scaling_large.streaming(sources["streaming"], folder))
    return [*found, scaling_large.memory(sources)]


def summary(checks: list[Check]) -> str:
    """Return all targets in one table."""
    lines = [
        {
            "what": check.what,
            "target": check.target,
            "reached": check.reached,
            "held": "yes" if check.held else "**no**",
        }
        for check in checks
    ]
    held = sum(check.held for check in checks)
    return f"## Targets\n\n{held} of {len(checks)} targets hold.\n\n{table(lines)}\n" if checks else ""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs" / "scaling.md", help="pictures go to figures beside it"
    )
    options = parser.parse_args()
    sources = {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name in ("dense", "sparse", "gpu", "streaming")
        if (path := options.results / f"scaling_{name}.json").exists()
    }
    begin()
    written = [section for section in sections(sources, options.page.parent / "figures") if section.text]
    checks = [check for section in written for check in section.checks]
    texts = (INTRODUCTION, summary(checks), *(section.text for section in written))
    write_text(options.page, "\n\n".join(text.strip() for text in texts if text) + "\n")
    for check in checks:
        print(f"{'holds ' if check.held else 'MISSED'}  {check.what}: {check.reached} (target {check.target})")


if __name__ == "__main__":
    main()
