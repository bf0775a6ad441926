"""The players of insertion: the ladder of the seed, one engine a file, and what they share."""
