"""Seats a bot whose program is not started: the referee plays its game for it, and its record has the fault.

stand_in: connects, logs in -> GAME -> the bot's game is abandoned: the fault `disconnect` ... BYE
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from arena_protocol import messages as wire
from arena_server.places.base import BotGames, LocalBot


async def stand_in(bot: LocalBot, host: str, port: int, games: BotGames) -> None:
    """Return when the server has closed the connection."""
    with suppress(ConnectionError):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            async for line in reader:
                match line.split():
                    case [b"ARENA", *_]:
                        writer.write(f"HELLO {wire.VERSION} {bot.name} token={bot.token}\n".encode())
                    case [b"PING", number]:
                        writer.write(b"PONG " + number + b"\n")
                    case [b"GAME", game, *_]:
                        await games.abandon(bot.name, bot.slot, game.decode(), "")
        finally:
            writer.close()
