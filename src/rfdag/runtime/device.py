"""The GPU: whether there is one, its free memory, and its kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DeviceError, Message, keyword

INSTALL = Message(
    f"{keyword('device', 'cuda')} needs CuPy. Install it with: pip install 'rfdag[cuda]' (for CUDA 13; with CUDA 12, "
    "pip install cupy-cuda12x)."
)

SPARE = 256 * 2**20
"""Bytes reserved for CUDA itself: its context, and the libraries' workspaces."""


def cupy() -> Any:
    """Return the CuPy module; raise with instructions if it is not installed."""
    try:
        import cupy
    except ImportError as missing:
        raise ImportError(INSTALL) from missing
    return cupy


def array_module(array: Any) -> Any:
    """Return the module that computes with an array: NumPy, or CuPy for one on the device.

    >>> array_module(np.ones(2)).__name__
    'numpy'
    """
    return np if isinstance(array, np.ndarray) else cupy()


def on_host(array: Any) -> NDArray[Any]:
    """Return an array in the memory of the host."""
    return array if isinstance(array, np.ndarray) else np.asarray(cupy().asnumpy(array))


@cache
def require_device() -> None:
    """Raise unless there is a GPU that completes a small computation without an error."""
    cp = cupy()
    try:
        if cp.cuda.runtime.getDeviceCount() == 0:
            raise DeviceError(f"{keyword('device', 'cuda')} found no GPU. Use {keyword('device', 'cpu')}.")
        with reporting():
            right = int(cp.arange(4).sum()) == 6
    except cp.cuda.runtime.CUDARuntimeError as problem:
        raise DeviceError(
            f"{keyword('device', 'cuda')} found no GPU that works: {problem}. Use {keyword('device', 'cpu')}."
        ) from None
    if not right:
        raise DeviceError(
            f"The GPU computed a small sum incorrectly. Use {keyword('device', 'cpu')}, and have the GPU checked."
        )


def free_memory() -> int:
    """Return the bytes of device memory that are free."""
    cp = cupy()
    free, _ = cp.cuda.runtime.memGetInfo()
    return int(free) + int(cp.get_default_memory_pool().free_bytes())


@contextmanager
def reporting_problems(device: str) -> Iterator[None]:
    """Raise errors of the device as `DeviceError`; on the CPU this does nothing."""
    if device == "cpu":
        yield
    else:
        require_device()
        with reporting():
            yield


@contextmanager
def reporting() -> Iterator[None]:
    """Raise errors of CUDA and its libraries as `DeviceError`."""
    cp = cupy()
    try:
        yield
    except cp.cuda.memory.OutOfMemoryError as problem:
        raise DeviceError(
            f"The GPU ran out of memory: {problem}. Free what else is on it, use a smaller beam, or "
            f"{keyword('device', 'cpu')}."
        ) from None
    except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError) as problem:
        raise DeviceError(f"The GPU reports: {problem}. Use {keyword('device', 'cpu')}.") from None


def require_memory(p: int, width: int, needed: Callable[[int, int], float], free: float | None = None) -> None:
    """Raise unless ``needed(p, width)`` bytes of device memory are free.

    Parameters
    ----------
    p, width
        Number of variables, and number of states in a beam; width 0 if there is no beam.
    needed
        The bytes that a problem of this size takes.
    free
        Bytes of free memory; by default those of the device.
    """
    free = (free_memory() if free is None else free) - SPARE
    if needed(p, width) <= free:
        return
    fits = _largest(lambda size: needed(size, width) <= free, p)
    cures = [f"at this setting up to {fits} variables fit"]
    narrower = _largest(lambda other: needed(p, other) <= free, width)
    if narrower:
        cures.append(f"or a beam of up to {narrower} ({keyword('beam', narrower)})")
    raise DeviceError(
        f"{p} variables{f' with a beam of {width}' if width else ''} need {needed(p, width) / 1e9:.1f} GB of device "
        f"memory; {max(free, 0) / 1e9:.1f} GB are free: {', '.join(cures)}. Otherwise use "
        f"{keyword('device', 'cpu')}."
    )


def _largest(fits: Callable[[int], bool], below: int) -> int:
    """Return the largest whole number below ``below`` that fits, 0 if none does."""
    low, high = 0, below
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@cache
def kernels(*names: str, package: str = "rfdag.eliminate.kernels", **constants: int) -> Any:
    """Return the compiled kernels of some CUDA files of a package, which are compiled as one module.

    ``constants`` are known to them by name.
    """
    folder = files(package).joinpath("cuda")
    source = "\n".join(folder.joinpath(f"{name}.cu").read_text(encoding="utf-8") for name in names)
    defined = tuple(f"-D{name}={value}" for name, value in constants.items())
    return Kernels(cupy().RawModule(code=source, options=("--std=c++17", *defined)))


class Kernels:
    """The kernels of a module by name, each launched as ``kernels.name(grid, block, arguments, shared_mem=0)``."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        kernel = self._module.get_function(name)
        setattr(self, name, kernel)
        return kernel


@cache
def shared_memory() -> int:
    """Return how many bytes of shared memory one block can have."""
    cp = cupy()
    return int(cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


def with_shared(kernel: Any, size: int) -> Any:
    """Return the kernel with at least this limit on its dynamic shared memory, in bytes."""
    if kernel.max_dynamic_shared_size_bytes < size:
        kernel.max_dynamic_shared_size_bytes = size
    return kernel


def blocks(count: int, threads: int) -> int:
    """Return how many blocks of this many threads cover ``count``."""
    return max(1, math.ceil(count / threads))
