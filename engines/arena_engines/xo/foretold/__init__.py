"""Opponents whose every move can be foretold, and how they are beaten."""
