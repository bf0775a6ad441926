"""The organiser's side: the referee's core, the shell round it, and the `arena` command.

`core` judges and touches nothing; the modules beside it move bytes, keep results and read
configurations; `cli` alone knows client and engines too.
"""
