"""Programs that know no sockets, joined to a contest: what `arena bridge` and `arena brain` run.

seat     a bot's seat over all its connections; a program behind it sees one unbroken contest
adapter  what is between that seat and a program's pipes; the plain adapter passes lines on
manager  the adapter for Gomocup brains: the manager's side of their protocol
brain    the brain's side of the same protocol, around any function that chooses a move
run      the asyncio shell: connections, the program, its crashes and its stderr
"""
