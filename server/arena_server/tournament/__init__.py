"""A tournament in processes: `supervisor` runs the server and its bots, `reporter` is the server's end."""
