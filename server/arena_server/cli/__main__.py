"""`python -m arena_server.cli`: the `arena` command where its script is not on the path."""

from arena_server.cli import main

main()
