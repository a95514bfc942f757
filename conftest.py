"""Settings for all tests, doctests of the documentation included."""

import pytest
from hypothesis import HealthCheck, settings

# Machines are shared and noisy: a slow example is no failure. Derandomised, so that a run can be repeated.
settings.register_profile(
    "rfdag", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rfdag")


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(request, monkeypatch, tmp_path):
    """Let the files that a documented example writes end up in a temporary folder."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
