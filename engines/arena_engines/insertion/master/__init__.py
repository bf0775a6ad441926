"""Master, the strongest engine of insertion. Start reading at engine.py.

engine.py      the player and its time budget
opponent.py    opponent models and the game as the workspace knows it
planner.py     time-boxed searches, threads, pondering
workspace.py   the memory of a search and its compiled entry
layout.py      the map of that memory
beam.py        beam search against predicted replies
search.py      exact search and iterative deepening
leaf.py        the last two plies
movegen.py     the fifteen children of a node, vectorised
move_masks.py  which moves remove a run
"""
