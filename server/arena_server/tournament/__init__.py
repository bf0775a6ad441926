"""A tournament's processes: the server and each bot in one of its own, watched until the end.

`child` is one process, `bots` restarts those that crash, `run` is the whole course. They know
command lines, not engines: what to start is told by the `arena` command.
"""
