"""Whether there is a GPU to test on."""

from __future__ import annotations

import pytest

from rfdag.runtime.device import require_device


def missing():
    """Say why nothing can run on a GPU here; an empty string if it can."""
    try:
        require_device()
    except ImportError:
        return "CuPy is not installed"
    except RuntimeError as problem:
        return str(problem)
    return ""


on_gpu = pytest.mark.skipif(bool(missing()), reason=f"needs a GPU: {missing()}")
GPU = pytest.param("gpu", marks=on_gpu)
