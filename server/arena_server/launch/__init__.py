"""Places where bots run: `base` is the interface, `process` the first one, `restarts` keeps bots running."""
