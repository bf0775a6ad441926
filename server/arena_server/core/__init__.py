"""The referee's functional core: deterministic machines, `(event, now) -> effects`.

Nothing in this package may open a socket or a file, read a clock, start a thread or draw a
random number: times (integer nanoseconds of a monotonic clock) and secrets come in.
"""
