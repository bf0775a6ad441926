"""Master: the strongest player of insertion in this house. Start reading at engine.py.

sight.py      which moves score, all fifteen at once, without making one
layout.py     the map of the one array that a search works in
tree.py       the exact search: principal variation, transposition table, frontier bounds
root.py       deepening, the first of equal moves, what an opponent would reply
beam.py       planning against predicted replies
kernel.py     the one compiled entry to all of them
workspace.py  the array, filled and read from the Python side
minds.py      models of the opponent, chosen by the moves seen
chances.py    pictures that are not in sight
timing.py     how long to think
engine.py     the player
"""
