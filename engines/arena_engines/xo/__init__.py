"""Engines of XO (five in a row): the program of 1970 as its paper prints it, and a modern one, `xo`."""
