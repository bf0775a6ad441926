"""Reduction of problems to subproblems: AND/OR graphs, searches in them, three kinds of problems."""
