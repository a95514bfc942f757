"""Settings for all tests, doctests of the documentation included."""

import signal

import pytest
from hypothesis import HealthCheck, settings

import arithmetic

# A shell that runs the tests in the background may leave Ctrl-C ignored, and some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines are shared and noisy, so a slow example is not a failure. Derandomised, so that a run can be repeated.
settings.register_profile(
    "rfdag", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rfdag")


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(request, monkeypatch, tmp_path):
    """Run documented examples in a temporary folder, where their files end up."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


def pytest_collection_modifyitems(items):
    """Mark the tests that depend on arithmetic, which `make processors` runs as other processors would."""
    for item in items:
        if arithmetic.depends(item.path):
            item.add_marker("arithmetic")


def pytest_terminal_summary(terminalreporter):
    """List the packages that graphs were actually exchanged with, and those that were not installed."""
    found = {}
    for outcome in ("skipped", "passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            found |= dict(value for name, value in getattr(report, "user_properties", ()) if name == "exchange")
    if found:
        terminalreporter.section("packages that graphs were exchanged with")
        there = [f"{name} {version}" for name, version in sorted(found.items()) if version]
        missing = [name for name, version in sorted(found.items()) if not version]
        terminalreporter.line(f"ran: {', '.join(there) or 'none'}")
        terminalreporter.line(f"not installed: {', '.join(missing) or 'none'}")
        terminalreporter.line("tested against the documented format only: pcalg and dagitty (R), Tetrad (Java)")
