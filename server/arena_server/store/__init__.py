"""Results and journal of contests, in an SQLite file or on a PostgreSQL server.

database        the URL, error texts, the lock on a contest
preflight       checks before a server listens
writer          the write path: a queue and its thread
contest_store   the rows of the contest that is played
journal         entries as bytes; appends to SQLite; the WAL
reader          results for the commands; an unfinished contest
schema, chain   the tables; the hash chain over the records
"""
