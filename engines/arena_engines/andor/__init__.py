"""Reduction of problems to subproblems: AND/OR graphs, two searches in them, and three kinds of problems."""
