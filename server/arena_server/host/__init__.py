"""The shell of a server: one loop, one port, one driver, contests by name."""
