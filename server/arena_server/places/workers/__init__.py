"""Games of a contest that are played away from its server: by processes here, or on other machines."""
