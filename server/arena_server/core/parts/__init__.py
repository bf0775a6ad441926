"""Optional behaviour of a contest: each part is one file with its own state; `part.py` has what is asked."""
