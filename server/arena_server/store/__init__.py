"""Results and journal of contests, in an SQLite file or on a PostgreSQL server.

database        the URL, error texts
ownership       one server a contest: its lock
fence           the marks by which a server finds another one, and what it has committed
reconnect       a connection that is lost is made again
preflight       checks before a server listens
writer          the write path: a queue and its thread
contest_store   the rows of the contest that is played; journal_rows, result_rows: its parts
journal         entries as bytes; appending them
wal             SQLite's write-ahead log: syncing, restarting, checking it
reader          a database for the commands and pages; game_reader, fact_reader, sum_reader: its parts
unfinished      a contest that goes on
schema, chain   the tables; the hash chain over the records
"""
