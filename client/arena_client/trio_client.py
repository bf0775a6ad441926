"""The visit of a bot on trio. `asyncio_shell.py` stands beside it, function by function.

A shell moves bytes and waits; what they mean is the player's, what to answer the bot's. It
must not know: verbs, games, the order of lines.
"""

from __future__ import annotations

import math
import ssl
from functools import partial

from arena_client.bot import Bot, Choose, as_bot
from arena_client.bot_thread import Mind
from arena_client.protocol import Player, logger
from arena_client.retry import PATIENT, Patience, Tries
from arena_client.transport import READ_SIZE, LinkError, Veil, cause, describe, tune, where

try:
    import trio
except ImportError as missing:
    raise ImportError("arena_client.trio_client needs trio: pip install 'insertion-arena[trio]'") from missing


def run(
    bot: Bot | type[Bot] | Choose,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    patience: Patience = PATIENT,
    tls: ssl.SSLContext | None = None,
) -> str:
    """Play until the server says BYE, in an event loop of its own; see `play`."""
    return trio.run(partial(play, bot, host, port, name=name, token=token, patience=patience, tls=tls))


async def play(
    bot: Bot | type[Bot] | Choose,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    patience: Patience = PATIENT,
    tls: ssl.SSLContext | None = None,
) -> str:
    """Play until the server says BYE and return its reason.

    With `tls`, say `ssl.create_default_context()`, the connection is encrypted, and the server's
    certificate has to be for `host`.

    A lost connection is opened again, with the waits of `patience`. Raises ClientError when
    that is in vain or the server refuses the bot, and whatever the bot itself raises.
    Cancelling it says QUIT and closes the connection; a search still going on is abandoned.
    """
    return await Visit(Player(as_bot(bot), name, token=token), host, port, patience, tls).stay()


async def connect(host: str, port: int) -> trio.SocketStream:
    """Open a connection to the first address of `host` that answers. Raises OSError."""
    stream = await trio.open_tcp_stream(host, port)
    tune(stream.socket)
    return stream


class Visit:
    """One bot's stay at a contest, over as many connections as it takes."""

    def __init__(
        self,
        player: Player,
        host: str,
        port: int,
        patience: Patience = PATIENT,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.player = player
        self._veil = Veil(tls, host)
        self._host, self._port = host, port
        self._patience = patience
        self._tries = Tries(patience, where(host, port))
        self._woken = trio.Event()
        self._sending = trio.Lock()
        self._torn = False
        self._mind = Mind(player, trio.lowlevel.current_trio_token().run_sync_soon, self._wake)

    def _wake(self) -> None:
        self._woken.set()

    async def stay(self) -> str:
        """Connect, and connect again, until BYE; return its reason."""
        try:
            while True:
                began = trio.current_time()
                reason = await self._connection()
                if self.player.farewell is not None:
                    break
                await self._pause(reason, trio.current_time() - began)
            await self._settle()
        finally:
            self._mind.close()
        return self.player.farewell

    async def _pause(self, reason: str, lasted: float) -> None:
        """Wait for the next try after a connection that lasted for so many seconds."""
        player = self.player
        wait = self._tries.after(reason, welcomed=player.welcomed, at_least=player.retry_after, lasted=lasted)
        logger.info("%s: no connection (%s), next try in %.1f s", player.name, reason, wait)
        await trio.sleep(wait)

    async def _settle(self) -> None:
        """Let the bot hear of the games that ended before BYE."""
        self._mind.think()
        while self.player.settling:
            await self._woken.wait()
            self._woken = trio.Event()
            self._mind.think()

    async def _connection(self) -> str:
        """Open one connection, keep it as long as it lives, and return why it ended."""
        self.player.opened()
        try:
            with trio.fail_after(self._patience.greeting):
                stream = await connect(self._host, self._port)
        except (OSError, trio.TooSlowError) as error:
            return describe(error)
        try:
            await self._converse(stream)
        except LinkError as lost:
            return self.player.why(str(lost))
        except BaseException:
            await self._leave(stream)
            raise
        finally:
            self.player.lost()
            stream.socket.close()
        return "BYE"

    async def _converse(self, stream: trio.SocketStream) -> None:
        """Read and answer until BYE. Raises LinkError, ClientError or what the bot raised."""
        self._torn = False
        self._veil.begin()
        try:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(self._answer, stream)
                await self._read(stream)
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None

    async def _read(self, stream: trio.SocketStream) -> None:
        """Feed the player until BYE; reading waits for what must be sent, so nothing piles up."""
        with trio.move_on_after(self._patience.greeting) as limit:
            await self._flush(stream)
            while self.player.farewell is None:
                self.player.receive_data(await self._receive(stream))
                if self.player.welcomed:
                    limit.deadline = math.inf
                await self._flush(stream)
        if limit.cancelled_caught:
            raise LinkError("the server did not log the bot in")

    async def _answer(self, stream: trio.SocketStream) -> None:
        """Send what the bot thought of, whenever it has."""
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            await self._flush(stream)

    async def _receive(self, stream: trio.SocketStream) -> bytes:
        try:
            data = await stream.receive_some(READ_SIZE)
        except trio.BrokenResourceError as error:
            raise LinkError(describe(error)) from error
        if not data:
            raise LinkError("the server closed the connection")
        return self._veil.receive(bytes(data))

    async def _flush(self, stream: trio.SocketStream) -> None:
        """Ask the bot what is to be asked and send what is to be sent."""
        self._mind.think()
        async with self._sending:
            if data := self._veil.send(self.player.data_to_send()):
                await self._send(stream, data)

    async def _send(self, stream: trio.SocketStream, data: bytes) -> None:
        self._torn = True  # until the whole of it is out, QUIT would land inside a line
        try:
            await stream.send_all(data)
        except trio.BrokenResourceError as error:
            raise LinkError(describe(error)) from error
        self._torn = False

    async def _leave(self, stream: trio.SocketStream) -> None:
        """Say QUIT if that can still be understood, and do not wait long for it."""
        if self._torn:
            return
        self.player.quit()
        if data := self._veil.send(self.player.data_to_send()):
            with trio.CancelScope(shield=True, deadline=trio.current_time() + self._patience.farewell):
                try:
                    await self._send(stream, data)
                except LinkError:
                    return
