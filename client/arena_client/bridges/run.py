"""The asyncio shell of a bridge: one seat, one program, an adapter between them.

A program that ends during a game loses it: the seat leaves the game by QUIT, the program is started again,
and the next game begins. Between games it is only started again. A program that ends three
times in a row, without a game to its end, is given up.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO

from arena_client.bridges.adapters import Adapter
from arena_client.bridges.seat import Seat
from arena_client.errors import ClientError
from arena_client.retry import DEFAULT, RetryState
from arena_client.transport import describe, server_name
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.text import unmarked

CHUNK_BYTES = 4096
#: A program that ends this often in a row without a whole game is given up.
MAX_ENDS = 3
#: Seconds that a program has from the end of its stdin to its own end.
GOODBYE_S = 2.0
#: Seconds for the last output of a program that has ended.
REST_S = 1.0
#: Bytes that a program may leave unread in its stdin; it has hung up on us then.
UNREAD_BYTES = 1 << 20
#: Last lines of stderr that an error quotes.
TAIL_LINES = 3

#: What the shell reacts to: bytes of the server, a line of the program, their ends (None).
Event = tuple[str, int, bytes | None]


class _ProgramStreams(asyncio.subprocess.SubprocessStreamProtocol):
    """The pipes of a process, and its end: `asyncio.subprocess.Process` waits for that of the pipes too."""

    def __init__(self) -> None:
        super().__init__(CHUNK_BYTES, asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Program:
    """One process of the program: its pipes, its stderr, its end.

    It has ended when its process has: a child of it may hold its pipes for ever.
    """

    def __init__(self, transport: asyncio.SubprocessTransport, streams: _ProgramStreams) -> None:
        self._transport = transport
        self._streams = streams
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._reading: list[asyncio.Task[None]] = []
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, command: Sequence[str]) -> Program:
        """Start it, in a process group of its own. Raises ClientError if there is no such program."""
        environment = {key: value for key, value in os.environ.items() if key != "ARENA_TOKEN"}
        try:
            transport, streams = await asyncio.get_running_loop().subprocess_exec(
                _ProgramStreams,
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                # Ctrl-C does not reach it; a referee that stops or ends the session of the bridge does.
                process_group=0,
            )
        except OSError as error:
            raise ClientError(f"cannot start {command[0]}: {error.strerror or error}") from None
        return cls(transport, streams)

    def watch(self, put: Callable[[bytes | None], None], sink: BinaryIO) -> None:
        """Put each line of its stdout, and None at its end; copy its stderr to `sink`."""
        self._reading = [
            asyncio.create_task(self._read(put)),
            asyncio.create_task(self._keep_stderr(sink)),
        ]
        self._watching = asyncio.create_task(self._put_end(put))

    async def _put_end(self, put: Callable[[bytes | None], None]) -> None:
        """Put None at the end of stdout, or REST_S after that of the process."""
        exited = asyncio.ensure_future(self._streams.exited.wait())
        try:
            await asyncio.wait([self._reading[0], exited], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([self._reading[0]], timeout=REST_S)
        finally:
            exited.cancel()
        put(None)

    def write(self, data: bytes) -> None:
        """Give it these bytes. One that has ended, or reads nothing, gets them no more."""
        stdin = self._streams.stdin
        assert stdin is not None
        if stdin.is_closing():
            return
        if stdin.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.kill()
            return
        stdin.write(data)

    async def _read(self, put: Callable[[bytes | None], None]) -> None:
        """Put each line of its stdout. CR LF, LF and CR end a line; blank ones are left out."""
        assert self._streams.stdout is not None
        lines, is_first = LineReader(SERVER_LINE_LIMIT), True
        while data := await self._streams.stdout.read(CHUNK_BYTES):
            for line in lines.feed(data.replace(b"\r", b"\n")):
                if isinstance(line, Overlong):
                    continue
                text, is_first = unmarked(line) if is_first else line, False
                if text:
                    put(text)

    async def _keep_stderr(self, sink: BinaryIO) -> None:
        """Copy its stderr to `sink` and keep the last lines."""
        assert self._streams.stderr is not None
        lines = LineReader(SERVER_LINE_LIMIT)
        while data := await self._streams.stderr.read(CHUNK_BYTES):
            sink.write(data)
            sink.flush()
            for line in lines.feed(data):
                text = line.head if isinstance(line, Overlong) else line
                if text.strip():
                    self.tail.append(text.decode("utf-8", "replace").strip())

    def kill(self) -> None:
        """Kill it and its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    async def end(self, within_s: float) -> int:
        """Close its stdin, wait, and kill it if it does not end by itself; return its exit status."""
        stdin = self._streams.stdin
        assert stdin is not None
        stdin.close()
        try:
            async with asyncio.timeout(within_s):
                await self._streams.exited.wait()
        except TimeoutError:
            pass
        self.kill()
        await self._streams.exited.wait()
        if self._reading:
            await asyncio.wait(self._reading, timeout=REST_S)
        for descriptor in range(3):
            pipe = self._transport.get_pipe_transport(descriptor)
            if pipe is not None:
                pipe.close()
        tasks = [*self._reading, *([] if self._watching is None else [self._watching])]
        await asyncio.gather(*tasks)
        status = self._transport.get_returncode()
        assert status is not None
        return status


class Bridge:
    """Plays a contest with a program. `stderr` gets what the program writes there, and the bridge's notes."""

    def __init__(
        self,
        command: Sequence[str],
        adapter: Adapter,
        seat: Seat,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None = None,
        stderr: BinaryIO | None = None,
    ) -> None:
        self._command = list(command)
        self._adapter = adapter
        self._seat = seat
        self._host, self._port, self._tls = host, port, tls
        self._stderr = stderr or sys.stderr.buffer
        self._retry = RetryState(DEFAULT, server_name(host, port))
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._starts = 0
        #: How often the program has ended since it last answered in a game that is over.
        self._ends = 0
        self._answered = False
        self._connections = 0
        self._reason = ""

    async def run(self) -> str:
        """Play until BYE and return its reason. Raises ClientError if that does not come about."""
        await self._start()
        try:
            while self._seat.link.bye is None:
                began = asyncio.get_running_loop().time()
                welcomed = await self._visit()
                lasted = asyncio.get_running_loop().time() - began
                if self._seat.link.bye is None:
                    reason = self._seat.link.refusal or self._reason
                    link = self._seat.link
                    taken = welcomed or link.awaits_next
                    wait = self._retry.after(
                        reason, welcomed=taken, at_least=link.retry_after_s, lasted=lasted
                    )
                    if not link.awaits_next:
                        self._note(f"no connection ({reason}), next try in {wait:.1f} s")
                    await self._play_alone(wait)
        except BaseException:
            self._program.kill()
            raise
        finally:
            self._adapter.goodbye()
            self._flush_program()
            await self._program.end(GOODBYE_S)
        return self._seat.link.bye

    # -- connections ---------------------------------------------------------------------------------

    async def _visit(self) -> bool:
        """Open one connection and use it to its end; return whether it was logged in."""
        # They are of the connection before.
        self._seat.link.refusal, self._seat.link.awaits_next = None, False
        try:
            async with asyncio.timeout(DEFAULT.greeting_s):
                reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._tls)
        except OSError as error:
            self._reason = describe(error)
            return False
        self._seat.link.opened()
        self._connections += 1
        reading = asyncio.create_task(self._read(reader, self._connections))
        welcomed = False
        try:
            greeted_by = asyncio.get_running_loop().time() + DEFAULT.greeting_s
            while self._seat.link.bye is None:
                event = await self._next(None if self._seat.link.welcomed else greeted_by)
                if event == ("server", self._connections, None):
                    break
                await self._take(event)
                welcomed = welcomed or self._seat.link.welcomed
                await self._flush_seat(writer)
        except ClientError:
            await self._flush_seat(writer)  # a QUIT, so that no rival waits for the clock
            raise
        finally:
            reading.cancel()
            self._seat.link.closed()
            writer.close()
        return welcomed

    async def _flush_seat(self, writer: asyncio.StreamWriter) -> None:
        writer.write(self._seat.link.data_to_send())
        with suppress(ConnectionError):
            await writer.drain()

    async def _read(self, reader: asyncio.StreamReader, number: int) -> None:
        """Put what the server sends, then None."""
        self._reason = "the server closed the connection"
        try:
            while data := await reader.read(CHUNK_BYTES):
                self._events.put_nowait(("server", number, data))
        except OSError as error:
            self._reason = describe(error)
        self._events.put_nowait(("server", number, None))

    async def _next(self, deadline: float | None) -> Event:
        """The next event; the end of the connection if it is not logged in by the deadline."""
        try:
            async with asyncio.timeout_at(deadline):
                return await self._events.get()
        except TimeoutError:
            self._reason = "the server did not log the bot in"
            return ("server", self._connections, None)

    async def _play_alone(self, seconds: float) -> None:
        """Wait; meanwhile the program goes on thinking, and may end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._take(await self._events.get())

    # -- events --------------------------------------------------------------------------------------

    async def _take(self, event: Event) -> None:
        """Act on one event, and on what follows from it."""
        source, number, data = event
        if source == "server" and number == self._connections and data is not None:
            self._seat.receive_data(data)
            for line in self._seat.lines_for_program():
                await self._pass_on(line)
        elif source == "program" and number == self._starts:
            if data is None:
                await self._ended("ended by itself")
            else:
                self._adapter.from_program(data)
        await self._follow_up()

    async def _pass_on(self, line: bytes) -> None:
        """Give the program a line; after a game, see whether the program is still of use."""
        self._adapter.from_server(line)
        if not line.startswith(b"OVER "):
            return
        if self._answered:
            self._ends, self._answered = 0, False
        if self._seat.unanswered or self._adapter.busy:
            self._note("the program has not answered in this game; it is started again")
            await self._restart()

    async def _follow_up(self) -> None:
        """Do what the adapter wants done."""
        for note in self._adapter.notes:
            self._note(note)
        self._adapter.notes.clear()
        for line in self._adapter.for_server:
            # A program may say HELLO at each start, and end at each.
            self._answered = self._answered or line.startswith((b"READY", b"MOVE"))
            self._seat.answer(line)
        self._adapter.for_server.clear()
        if self._adapter.broken is not None:
            await self._ended(f"failed: {self._adapter.broken}")
        elif self._adapter.wants_restart:
            await self._restart()
        self._flush_program()

    def _flush_program(self) -> None:
        if self._adapter.for_program:
            self._program.write(bytes(self._adapter.for_program))
            self._adapter.for_program.clear()

    def _note(self, text: str) -> None:
        """Print a line for people, where the program's own stderr goes."""
        self._stderr.write(f"{self._seat.link.name}: {text}\n".encode("utf-8", "replace"))
        self._stderr.flush()

    # -- the program ---------------------------------------------------------------------------------

    async def _start(self) -> None:
        """Start the program and greet it."""
        self._program = await Program.start(self._command)
        self._starts += 1
        number = self._starts

        def put(line: bytes | None) -> None:
            self._events.put_nowait(("program", number, line))

        self._program.watch(put, self._stderr)
        self._adapter.for_program.clear()
        self._adapter.begin()
        self._flush_program()

    async def _restart(self) -> None:
        """Kill the program and start it again."""
        self._program.kill()
        await self._program.end(0)
        await self._start()

    async def _ended(self, how: str) -> None:
        """Give the game at hand up, and start the program again. Raises ClientError if it ends too often."""
        status = await self._program.end(0 if self._adapter.broken else GOODBYE_S)
        game = self._seat.game_id
        where = f" in game {game} after ply {self._seat.ply}" if game else ""
        said = " | ".join(self._program.tail)
        text = f"the program {how}{where} (exit status {status})" + (f": {said}" if said else "")
        self._ends += 1
        if game is not None:
            self._seat.leave_game()
            self._adapter.game_lost()
        if self._ends >= MAX_ENDS:
            raise ClientError(f"{self._seat.link.name}: {text}; given up after {self._ends} times")
        self._note(text)
        await self._start()
