"""Parts of kernels, which only kernels can call, made callable."""

from numba import njit


def entry(part):
    """Return a function that calls a part."""
    return njit(lambda *arguments: part(*arguments))
