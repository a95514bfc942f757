"""Memory: how much is available, and how much a beam takes."""

from __future__ import annotations

import math
import os
from pathlib import Path

from rfdag.errors import OptionError, keyword

CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
"""Files with a container's memory limit, its usage, and the part of that which is file cache; cgroups v2 and v1."""


TRIFLE = 2**26
"""Bytes that always count as free: looking up the free memory takes longer than a beam of this size."""


def available_memory() -> float:
    """Return the bytes of available memory, or infinity if unknown.

    This is the smallest of what the system, the container's limit and the limit on this process's address space leave.
    """
    return min(_left_to_the_system(), _left_to_the_container(), _left_to_the_process())


def matrices_fit(p: int, count: int) -> bool:
    """Return whether so many p × p matrices of doubles fit into the free memory; small ones always do."""
    needed = 8.0 * count * p * p
    return needed <= TRIFLE or needed <= available_memory()


def require_matrix(p: int, name: str, otherwise: str = "") -> None:
    """Raise unless a p × p matrix of doubles fits into the free memory; ``name`` is the argument that p comes from."""
    if not matrices_fit(p, 1):
        raise OptionError(
            f"A matrix of {p} × {p} numbers takes {8.0 * p * p / 1e9:.1f} GB, and {available_memory() / 1e9:.1f} GB "
            f"are free. Lower {keyword(name)}{f', {otherwise}' if otherwise else ''}."
        )


def require_rows(rows: int, columns: int) -> None:
    """Raise unless so many rows of doubles fit into the free memory."""
    needed = 8.0 * rows * columns
    if needed > TRIFLE and needed > available_memory():
        raise OptionError(
            f"{rows} rows of {columns} numbers take {needed / 1e9:.1f} GB, and {available_memory() / 1e9:.1f} GB are "
            "free. Draw fewer rows."
        )


def bytes_of_beam(p: int, width: int) -> float:
    """Return the bytes that a beam over p variables takes: two matrices per state."""
    return 2.0 * 8 * width * p * p


def beam_fits(p: int, width: int) -> bool:
    """Return whether a beam takes less than half of the free memory; a small one always fits."""
    needed = bytes_of_beam(p, width)
    return needed < TRIFLE or needed < available_memory() / 2


def widest_beam(p: int) -> int:
    """Return the width of the widest beam that fits; 0 if none does."""
    free = available_memory() / 2
    return 2**30 if math.isinf(free) else max(0, math.ceil(free / bytes_of_beam(p, 1)) - 1)


def require_beam(p: int, width: int) -> None:
    """Raise unless a beam of this width fits; the message names a width that does."""
    if beam_fits(p, width):
        return
    free = available_memory()
    widest, most = widest_beam(p), int(math.sqrt(free / 2 / bytes_of_beam(1, width)))
    raise OptionError(
        f"A beam of width {width} over {p} variables needs {bytes_of_beam(p, width) / 1e9:.1f} GB; "
        f"{free / 1e9:.1f} GB are free, and a beam may take half of that: enough for {most} variables. "
        + (
            f"Use {keyword('beam', widest)} or less. "
            if widest
            else f"Use {keyword('method', 'rfd')}, which needs no beam. "
        )
        + f"Columns that fall into groups can be learnt with {keyword('blocks', True)}."
    )


def _left_to_the_system() -> float:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return math.inf


def _left_to_the_container() -> float:
    for limit, usage, details in CGROUPS:
        try:
            used = float(Path(usage).read_text())
            for line in Path(details).read_text().splitlines():
                name, _, number = line.partition(" ")
                used -= float(number) if name == "inactive_file" else 0.0
            return max(0.0, float(Path(limit).read_text()) - used)
        except (OSError, ValueError):
            # No such file, or "max": no limit.
            continue
    return math.inf


def _left_to_the_process() -> float:
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0.0, float(limit - pages * resource.getpagesize()))
    except (ImportError, OSError, ValueError):
        return math.inf
