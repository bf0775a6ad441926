"""Programs that know no sockets, joined to a contest: what `arena bridge` and `arena brain` run.

seat     a bot's seat over all its connections; a program behind it sees one unbroken contest
adapters what is between that seat and a program's pipes: line ends, or a manager of Gomocup brains
brain    the brain's side of the same protocol, around any function that chooses a move
run      the asyncio shell: connections, the program, its crashes and its stderr
"""
