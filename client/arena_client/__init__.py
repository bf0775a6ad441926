"""The bot author's side: write one function or one small class, and `run` it."""
