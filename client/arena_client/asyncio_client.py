"""The visit of a bot on asyncio. `trio_shell.py` stands beside it, function by function.

A shell moves bytes and waits; what they mean is the player's, what to answer the bot's. It
must not know: verbs, games, the order of lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

from arena_client.bot import Bot, Choose, as_bot
from arena_client.bot_thread import Mind
from arena_client.protocol import Player, logger
from arena_client.retry import PATIENT, Patience, Tries
from arena_client.transport import READ_SIZE, LinkError, Veil, cause, describe, tune, where


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
    return asyncio.run(play(bot, host, port, name=name, token=token, patience=patience, tls=tls))


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


async def connect(host: str, port: int) -> socket.socket:
    """Open a connection to the first address of `host` that answers. Raises OSError."""
    loop = asyncio.get_running_loop()
    failure = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
        except OSError as error:
            failure = error
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            tune(sock)
            return sock
    raise failure


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
        self._woken = asyncio.Event()
        self._sending = asyncio.Lock()
        self._torn = False
        self._mind = Mind(player, asyncio.get_running_loop().call_soon_threadsafe, self._woken.set)

    async def stay(self) -> str:
        """Connect, and connect again, until BYE; return its reason."""
        try:
            while True:
                began = asyncio.get_running_loop().time()
                reason = await self._connection()
                if self.player.farewell is not None:
                    break
                await self._pause(reason, asyncio.get_running_loop().time() - began)
            await self._settle()
        finally:
            self._mind.close()
        return self.player.farewell

    async def _pause(self, reason: str, lasted: float) -> None:
        """Wait for the next try after a connection that lasted for so many seconds."""
        player = self.player
        wait = self._tries.after(reason, welcomed=player.welcomed, at_least=player.retry_after, lasted=lasted)
        logger.info("%s: no connection (%s), next try in %.1f s", player.name, reason, wait)
        await asyncio.sleep(wait)

    async def _settle(self) -> None:
        """Let the bot hear of the games that ended before BYE."""
        self._mind.think()
        while self.player.settling:
            await self._woken.wait()
            self._woken.clear()
            self._mind.think()

    async def _connection(self) -> str:
        """Open one connection, keep it as long as it lives, and return why it ended."""
        self.player.opened()
        try:
            async with asyncio.timeout(self._patience.greeting):
                sock = await connect(self._host, self._port)
        except OSError as error:
            return describe(error)
        try:
            await self._converse(sock)
        except LinkError as lost:
            return self.player.why(str(lost))
        except BaseException:
            await self._leave(sock)
            raise
        finally:
            self.player.lost()
            sock.close()
        return "BYE"

    async def _converse(self, sock: socket.socket) -> None:
        """Read and answer until BYE. Raises LinkError, ClientError or what the bot raised."""
        self._torn = False
        self._veil.begin()
        try:
            async with asyncio.TaskGroup() as tasks:
                answering = tasks.create_task(self._answer(sock))
                await self._read(sock)
                answering.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None

    async def _read(self, sock: socket.socket) -> None:
        """Feed the player until BYE; reading waits for what must be sent, so nothing piles up."""
        try:
            async with asyncio.timeout(self._patience.greeting) as limit:
                await self._flush(sock)
                while self.player.farewell is None:
                    self.player.receive_data(await self._receive(sock))
                    if self.player.welcomed:
                        limit.reschedule(None)
                    await self._flush(sock)
        except TimeoutError:
            if not limit.expired():
                raise
            raise LinkError("the server did not log the bot in") from None

    async def _answer(self, sock: socket.socket) -> None:
        """Send what the bot thought of, whenever it has."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            await self._flush(sock)

    async def _receive(self, sock: socket.socket) -> bytes:
        try:
            data = await asyncio.get_running_loop().sock_recv(sock, READ_SIZE)
        except OSError as error:
            raise LinkError(describe(error)) from error
        if not data:
            raise LinkError("the server closed the connection")
        return self._veil.receive(data)

    async def _flush(self, sock: socket.socket) -> None:
        """Ask the bot what is to be asked and send what is to be sent."""
        self._mind.think()
        async with self._sending:
            if data := self._veil.send(self.player.data_to_send()):
                await self._send(sock, data)

    async def _send(self, sock: socket.socket, data: bytes) -> None:
        self._torn = True  # until the whole of it is out, QUIT would land inside a line
        try:
            await asyncio.get_running_loop().sock_sendall(sock, data)
        except OSError as error:
            raise LinkError(describe(error)) from error
        self._torn = False

    async def _leave(self, sock: socket.socket) -> None:
        """Say QUIT if that can still be understood, and do not wait long for it."""
        if self._torn:
            return
        self.player.quit()
        if data := self._veil.send(self.player.data_to_send()):
            with contextlib.suppress(LinkError, TimeoutError):
                async with asyncio.timeout(self._patience.farewell):
                    await self._send(sock, data)
