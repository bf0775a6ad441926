"""Master: the strongest player of insertion in this house. Start reading at engine.py.

sight.py      which moves score, all fifteen at once, without making one
layout.py     the map of the one array that a search works in
children.py   the fifteen children of a node, made, seen and valued together
frontier.py   the last two plies
tree.py       the exact search: principal variation, transposition table, order of moves
root.py       deepening, the first or last of equal moves, what an opponent would reply
beam.py       planning against predicted replies
kernel.py     the one compiled entry to all of them
workspace.py  the array, filled and read from the Python side
follower.py   the game as the array knows it, and what the moves seen tell of the opponent
minds.py      models of the opponent, chosen by the moves seen
planner.py    wider and wider plans until the time is over; averages over pictures not in sight
team.py       two threads, and the opponent's time
timing.py     how long to think
engine.py     the player
"""
