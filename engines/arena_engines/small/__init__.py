"""Engines of the small games: solvers, and the open-lines heuristic."""
