"""A contest with its bots. `supervisor`: the server is a process; `local`: it is here; `reporter` reports."""
