"""The asyncio client. `trio_client.py` has the same functions and methods, one by one.

A client moves bytes and waits; `protocol.py` says what they mean, `bot_runner.py` runs the bot.
"""

from __future__ import annotations

import asyncio
import socket

from arena_client.bot import AsyncBot, BotLike, as_bot
from arena_client.bot_runner import BotRunner, Work
from arena_client.protocol import ClientProtocol, Job
from arena_client.retry import DEFAULT, RetryPolicy, RetryState
from arena_client.transport import (
    READ_SIZE,
    LinkError,
    TlsLike,
    TlsTransport,
    cause,
    debug_trace,
    describe,
    server_name,
    tls_context,
    tune,
)


def run(
    bot: BotLike,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    slot: int | None = None,
    contest: str | None = None,
    tls: TlsLike = None,
    policy: RetryPolicy = DEFAULT,
) -> str:
    """Play until the server sends BYE, in an event loop of its own; see `play`."""
    return asyncio.run(
        play(bot, host, port, name=name, token=token, slot=slot, contest=contest, tls=tls, policy=policy)
    )


async def play(
    bot: BotLike,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    slot: int | None = None,
    contest: str | None = None,
    tls: TlsLike = None,
    policy: RetryPolicy = DEFAULT,
) -> str:
    """Play until the server sends BYE, and return its reason.

    `slot`: which of the bot's simultaneous games this is, if it may play several; None: the first.
    `contest`: the one to log in to, if the server has several; None: the only one that the token opens.
    `tls`: True for a certificate of a known authority, the path of a PEM file to trust, or an
    SSLContext; the certificate has to be for `host`. A lost connection is opened again, with the
    waits of `policy`, and the game resumed. Raises ClientError if that fails or the server refuses the
    bot, and what the bot raises. Cancelling closes the connection without QUIT, so that another
    process can resume the seat; a search still running is abandoned.
    """
    protocol = ClientProtocol(as_bot(bot), name, token=token, slot=slot, contest=contest, trace=debug_trace())
    return await Connection(protocol, host, port, TlsTransport(tls_context(tls), host), policy).run()


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


class Connection:
    """The connection of one bot to one server, opened again whenever it is lost."""

    def __init__(
        self,
        protocol: ClientProtocol,
        host: str,
        port: int,
        transport: TlsTransport,
        policy: RetryPolicy = DEFAULT,
    ) -> None:
        self.protocol = protocol
        self._host, self._port = host, port
        self._transport = transport
        self._policy = policy
        self._retry = RetryState(policy, server_name(host, port))
        self._woken = asyncio.Event()
        self._sending = asyncio.Lock()
        post = asyncio.get_running_loop().call_soon_threadsafe
        self._runner = BotRunner(protocol, post, self._spawn, self._wake)
        self._bot_task: asyncio.Task[None] | None = None

    async def run(self) -> str:
        """Connect, and connect again, until BYE; return its reason."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                reason = await self._run_until_bye()
                if self._bot_task is not None:
                    self._bot_task.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None
        finally:
            self._runner.close()
            if isinstance(self.protocol.bot, AsyncBot):
                await self.protocol.bot.aclose()
        return reason

    def _spawn(self, work: Work, job: Job) -> None:
        """Start a job of an AsyncBot; it outlives the connection."""
        self._bot_task = self._tasks.create_task(work(job))

    def _wake(self) -> None:
        self._woken.set()

    async def _run_until_bye(self) -> str:
        while self.protocol.bye_reason is None:
            began = asyncio.get_running_loop().time()
            reason = await self._run_once()
            if self.protocol.bye_reason is None:
                await self._pause(reason, asyncio.get_running_loop().time() - began)
        await self._deliver_results()
        return self.protocol.bye_reason

    async def _pause(self, reason: str, lasted: float) -> None:
        """Wait for the next try after a connection that lasted for this number of seconds."""
        wait = self.protocol.wait_after(self._retry, server_name(self._host, self._port), reason, lasted)
        await asyncio.sleep(wait)

    async def _deliver_results(self) -> None:
        """Wait until the bot has received the results of games that ended before BYE."""
        self._runner.poll()
        while self.protocol.results_pending:
            await self._woken.wait()
            self._woken.clear()
            self._runner.poll()

    async def _run_once(self) -> str:
        """Open one connection, use it until its end, and return why it ended."""
        self.protocol.connection_made()
        try:
            async with asyncio.timeout(self._policy.greeting_s):
                sock = await connect(self._host, self._port)
        except OSError as error:
            self.protocol.connection_lost()
            return describe(error)
        try:
            await self._exchange(sock)
        except LinkError as lost:
            return self.protocol.end_reason(str(lost))
        finally:
            self.protocol.connection_lost()
            sock.close()
        return "BYE"

    async def _exchange(self, sock: socket.socket) -> None:
        """Read and answer until BYE. Raises LinkError, ClientError or what the bot raised."""
        self._transport.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                answering = tasks.create_task(self._answer(sock))
                await self._read(sock)
                answering.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None

    async def _read(self, sock: socket.socket) -> None:
        """Feed the protocol until BYE. A read waits for the pending writes, so that memory is bounded."""
        try:
            async with asyncio.timeout(self._policy.greeting_s) as limit:
                await self._flush(sock)
                while self.protocol.bye_reason is None:
                    self.protocol.receive_data(await self._receive(sock))
                    if self.protocol.link.welcomed:
                        limit.reschedule(None)
                    await self._flush(sock)
        except TimeoutError:
            if not limit.expired():
                raise
            raise LinkError("the server did not log the bot in") from None

    async def _answer(self, sock: socket.socket) -> None:
        """Send the bot's answers whenever there are any."""
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
        return self._transport.receive(data)

    async def _flush(self, sock: socket.socket) -> None:
        """Start the bot's next job and send the pending bytes."""
        self._runner.poll()
        async with self._sending:
            if data := self._transport.send(self.protocol.data_to_send()):
                try:
                    await asyncio.get_running_loop().sock_sendall(sock, data)
                except OSError as error:
                    raise LinkError(describe(error)) from error
