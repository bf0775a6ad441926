"""Symbolic integration by reduction of problems, over SymPy's expressions but not its integrator."""

from arena_engines.andor.integrals.solve import Integrated, integrate, parse

__all__ = ["Integrated", "integrate", "parse"]
