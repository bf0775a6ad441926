"""Players for the games of the arena; `registry.create` makes one by its name."""
