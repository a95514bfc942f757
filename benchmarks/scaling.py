"""Write docs/scaling.md and its pictures from the results of the other benchmarks.

    python benchmarks/scaling.py [--results FOLDER] [--page FILE]

Reads scaling_dense.json, scaling_sparse.json, scaling_wide.json, scaling_gpu.json and scaling_streaming.json in
benchmarks/results. The page omits what has not been measured.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import scaling_dense
import scaling_gpu
import scaling_large
from look import begin
from report import RESULTS, ROOT
from rfdag.runtime.writing import write_text
from scaling_text import Check, Section, table

INTRODUCTION = """# Scaling

How time and memory grow with the size of the problem, and how close they are to the possible minimum. Every section has
a table of targets and results, including the targets that were missed.

## How to read it

- **A floor** is work that no method of the kind can avoid, timed in the same run on the same data: correlation and
  inverse for dense problems, moralising the DAG for sparse ones, reading the file for data larger than memory, moving
  the bytes for a GPU. Machines are shared and noisy, so the ratio to the floor is more informative than the seconds.
- Unless stated otherwise, times are medians of several runs that alternate between the contenders. Kernels are compiled
  beforehand.
- Unless stated otherwise, graphs are Erdős–Rényi DAGs with weights ±[.25, 1] and unit noise, columns are shuffled and
  standardised, and there are n = 2p rows and eight neighbours per variable on average (degree 8).
- Memory is the peak of the whole process, including the interpreter, libraries and data.
- rfdag scores by a BIC that charges 2 ln n per edge (`penalty=2`, the default; the textbook BIC is `penalty=1`).

## How to rerun it

```bash
make peers                                            # once: installs FLOP in its own environment
make scaling                                          # everything except the GPU, then this page
python benchmarks/dense.py --parts floor,growth       # parts: floor, learn, growth, small, rescoring
python benchmarks/sparse_input.py                     # a million variables; needs 8 GB of memory
python benchmarks/wide.py                             # many columns, few rows
python benchmarks/streaming.py --folder /big/disk     # writes a file of 8 GB there and deletes it afterwards
python benchmarks/gpu.py                              # on a machine with a CUDA device and CuPy
python benchmarks/scaling.py                          # this page, from the stored results
```

Results are stored in `benchmarks/results/scaling_*.json`. Rerunning a part replaces only its own rows.

"""


def sections(sources: dict[str, dict[str, Any]], folder: Path) -> list[Section]:
    """Return the sections that have rows, in the order of the page, and write their pictures into a folder."""
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
    if "wide" in sources:
        found.append(scaling_large.wide(sources["wide"], folder))
    if "gpu" in sources:
        found.append(scaling_gpu.gpu(sources["gpu"], folder))
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
            "met": "yes" if check.met else "**no**",
        }
        for check in checks
    ]
    met = sum(check.met for check in checks)
    return f"## Targets\n\n{met} of {len(checks)} targets are met.\n\n{table(lines)}\n" if checks else ""


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
        for name in ("dense", "sparse", "wide", "gpu", "streaming")
        if (path := options.results / f"scaling_{name}.json").exists()
    }
    begin()
    written = [section for section in sections(sources, options.page.parent / "figures") if section.text]
    checks = [check for section in written for check in section.checks]
    texts = (INTRODUCTION, summary(checks), *(section.text for section in written))
    write_text(options.page, "\n\n".join(text.strip() for text in texts if text) + "\n")
    for check in checks:
        print(f"{'met   ' if check.met else 'MISSED'}  {check.what}: {check.reached} (target {check.target})")


if __name__ == "__main__":
    main()
