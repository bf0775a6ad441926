"""Searches that explain games, and programs of the past: a package of plug-ins, installed beside arena."""
