"""The client library: write a bot as a function, a class or an async generator, and `run` it.

    from arena_client import run
    run(lambda view: view.legal_moves[0])

`run` reads the command line and the environment and reports errors to people. The coroutines below
it are `asyncio_client.play` and `trio_client.play`.
"""

from arena_client.bot import AsyncBot, Bot, GameView, Result, as_bot
from arena_client.errors import ClientError, LeaveContest
from arena_client.run import run

__all__ = ["AsyncBot", "Bot", "ClientError", "GameView", "LeaveContest", "Result", "as_bot", "run"]
