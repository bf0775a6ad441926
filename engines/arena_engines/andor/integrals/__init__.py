"""Symbolic integration by reduction of problems, over SymPy's expressions but not its integrator."""

from arena_engines.andor.integrals.reading import parse
from arena_engines.andor.integrals.solve import Integrated, integrate

__all__ = ["Integrated", "integrate", "parse"]
