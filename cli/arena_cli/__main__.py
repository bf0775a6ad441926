"""`python -m arena_cli`: the `arena` command where its script is not on the path."""

from arena_cli import main

main()
