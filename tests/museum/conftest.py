"""Positions from played games, as for the engines; the command line."""

from __future__ import annotations

from ..cli.conftest import shell as shell
from ..engines.conftest import cases as cases
