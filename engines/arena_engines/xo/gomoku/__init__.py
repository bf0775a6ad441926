"""The engine `xo`: pattern tables, an incremental board, VCF and VCT searches, alpha-beta.

engine.py     the player: clock and parameters to limits, position to cells
searcher.py   one search: arrays, iterative deepening, limits
kernel.py     the one compiled entry
alphabeta.py  principal variation search, move ordering, transposition table
threats.py    victory by continuous fours (VCF) and by continuous threats (VCT)
board.py      the board: patterns of every cell, updated by each mark
patterns.py   the pattern tables
memory.py     arrays and registers of the searches
"""
