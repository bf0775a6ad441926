"""The trio client. `asyncio_client.py` has the same functions and methods, one by one.

A client moves bytes and waits; `protocol.py` says what they mean, `bot_runner.py` runs the bot.
"""

from __future__ import annotations

import math
from functools import partial

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
from arena_protocol.errors import needs_extra

try:
    import trio
except ImportError as missing:
    raise ImportError(needs_extra("arena_client.trio_client", "trio")) from missing


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
    return trio.run(
        partial(
            play, bot, host, port, name=name, token=token, slot=slot, contest=contest, tls=tls, policy=policy
        )
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


async def connect(host: str, port: int) -> trio.SocketStream:
    """Open a connection to the first address of `host` that answers. Raises OSError."""
    stream = await trio.open_tcp_stream(host, port)
    tune(stream.socket)
    return stream


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
        self._woken = trio.Event()
        self._sending = trio.Lock()
        post = trio.lowlevel.current_trio_token().run_sync_soon
        self._runner = BotRunner(protocol, post, self._spawn, self._wake)

    async def run(self) -> str:
        """Connect, and connect again, until BYE; return its reason."""
        try:
            async with trio.open_nursery() as self._tasks:
                reason = await self._run_until_bye()
                self._tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None
        finally:
            self._runner.close()
            if isinstance(self.protocol.bot, AsyncBot):
                await self.protocol.bot.aclose()
        return reason

    def _spawn(self, work: Work, job: Job) -> None:
        """Start a job of an AsyncBot; it outlives the connection."""
        self._tasks.start_soon(work, job)

    def _wake(self) -> None:
        self._woken.set()

    async def _run_until_bye(self) -> str:
        while self.protocol.bye_reason is None:
            began = trio.current_time()
            reason = await self._run_once()
            if self.protocol.bye_reason is None:
                await self._pause(reason, trio.current_time() - began)
        await self._deliver_results()
        return self.protocol.bye_reason

    async def _pause(self, reason: str, lasted: float) -> None:
        """Wait for the next try after a connection that lasted for this number of seconds."""
        wait = self.protocol.wait_after(self._retry, server_name(self._host, self._port), reason, lasted)
        await trio.sleep(wait)

    async def _deliver_results(self) -> None:
        """Wait until the bot has received the results of games that ended before BYE."""
        self._runner.poll()
        while self.protocol.results_pending:
            await self._woken.wait()
            self._woken = trio.Event()
            self._runner.poll()

    async def _run_once(self) -> str:
        """Open one connection, use it until its end, and return why it ended."""
        self.protocol.connection_made()
        try:
            with trio.fail_after(self._policy.greeting_s):
                stream = await connect(self._host, self._port)
        except (OSError, trio.TooSlowError) as error:
            self.protocol.connection_lost()
            return describe(error)
        try:
            await self._exchange(stream)
        except LinkError as lost:
            return self.protocol.end_reason(str(lost))
        finally:
            self.protocol.connection_lost()
            stream.socket.close()
        return "BYE"

    async def _exchange(self, stream: trio.SocketStream) -> None:
        """Read and answer until BYE. Raises LinkError, ClientError or what the bot raised."""
        self._transport.start()
        try:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(self._answer, stream)
                await self._read(stream)
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise cause(group) from None

    async def _read(self, stream: trio.SocketStream) -> None:
        """Feed the protocol until BYE. A read waits for the pending writes, so that memory is bounded."""
        with trio.move_on_after(self._policy.greeting_s) as limit:
            await self._flush(stream)
            while self.protocol.bye_reason is None:
                self.protocol.receive_data(await self._receive(stream))
                if self.protocol.link.welcomed:
                    limit.deadline = math.inf
                await self._flush(stream)
        if limit.cancelled_caught:
            raise LinkError("the server did not log the bot in")

    async def _answer(self, stream: trio.SocketStream) -> None:
        """Send the bot's answers whenever there are any."""
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
        return self._transport.receive(bytes(data))

    async def _flush(self, stream: trio.SocketStream) -> None:
        """Start the bot's next job and send the pending bytes."""
        self._runner.poll()
        async with self._sending:
            if data := self._transport.send(self.protocol.data_to_send()):
                try:
                    await stream.send_all(data)
                except trio.BrokenResourceError as error:
                    raise LinkError(describe(error)) from error
