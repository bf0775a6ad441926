"""`python -m tests.simulation`: see `run.command`."""

import typer
from tests.simulation.run import command

typer.run(command)
