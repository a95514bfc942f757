"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# Machines are shared and noisy: a slow example is no failure. Derandomised, so that a run can be repeated.
settings.register_profile(
    "rfdag", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rfdag")
