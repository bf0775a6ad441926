"""The bot author's side: write one function or one small class, and `run` it.

    from arena_client import run
    run(lambda view: view.legal_moves[0])

`run` is the script's way in; `asyncio_shell.play` and `trio_shell.play` are the coroutines under it.
"""

from arena_client.bot import Bot, GameView, Result, as_bot
from arena_client.errors import ClientError
from arena_client.run import run

__all__ = ["Bot", "ClientError", "GameView", "Result", "as_bot", "run"]
