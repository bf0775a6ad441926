"""What holds for all tests: no process is left behind, and no example has a deadline."""

from __future__ import annotations

import pytest
from hypothesis import settings

from . import tether

# A deadline per example is a timing assertion: it fails on a busy machine.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is started."""
    config.add_cleanup(tether.begin())
