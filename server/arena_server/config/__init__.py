"""The configuration of a contest: one TOML file, read, checked and turned into a plan."""
