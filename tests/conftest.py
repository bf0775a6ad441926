"""What holds for all tests: they leave no process behind."""

from __future__ import annotations

import pytest

from . import tether


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is started."""
    config.add_cleanup(tether.begin())
