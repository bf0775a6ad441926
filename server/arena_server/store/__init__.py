"""Results on disk: contests, bots, games, faults, and every game's record, in SQLite.

`probe` asks at once whether a database is usable, without SQLAlchemy; `writer` is the one
thread that owns the connection; `reader` gives the commands standings and records;
`tables` are the typed models of both.
"""
