"""The processes of a tournament: `supervisor` runs the server and restarts bots, `process` is one of them."""
