"""Bots in containers, with limits, and without any network but a way to the referee.

    bot's container --loopback--> relay's container --Unix socket--> this process --TCP--> referee

The two containers share one network without any interface but loopback, so that a bot reaches the referee
and nothing else: no other bot, no other port of this machine, no address outside. No rule of a firewall and
no right of root is needed for that, and it holds for every version of the engine.

Every container has a label of the contest: those that an earlier run left are removed at the start. When this
process ends, also by SIGKILL, the sweeper, a process of its own, sees the end of its stdin and removes them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import TracebackType
from typing import Final, Self

from arena_server.places import relay
from arena_server.places.base import (
    BotEnded,
    LaunchError,
    LocalBot,
)
from arena_server.places.cgroup import ControlGroup, CpuTime
from arena_server.places.cores import describe_cores
from arena_server.places.docker import ANSWER_S, Docker, NoAnswerError
from arena_server.places.idle import IdleFreezer, Rests
from arena_server.places.process import (
    LAST_LINES,
    Child,
)
from arena_server.terms.sandbox import MB, ContainerLimits, Sandbox

#: The address at which a bot finds the referee in its container.
HOST, PORT = "127.0.0.1", 2006
#: Runs the relay: any image with `python`. This one is the base of the project's own images.
RELAY_IMAGE = "python:3.12-slim"
LABEL = "insertion-arena.contest"
#: The sweeper of a run that was killed removes its containers alone: the next run may have begun.
RUN_LABEL: Final = "insertion-arena.run"
#: The user of a bot in its container.
USER = "10001:10001"
#: Seconds for the relay's container to begin.
RELAY_S = 30.0
_SOCKET = "referee"
_MOUNT = "/run/arena"
#: What the engine says of a folder or file that is not on its machine.
_NO_SOURCE: Final = "bind source path does not exist"
#: Exit statuses of `docker run` for a container that did not begin.
_ENGINE_FAILED: Final = (125, 126, 127)
#: The exit status of a program that was killed, and how often the engine is asked whether that was for want
#: of memory: it learns of that on another way than of the end, on a busy machine later.
_KILLED: Final = 137
OOM_QUESTIONS: Final = 20
OOM_PAUSE_S: Final = 0.1

#: When a container began that never began.
_NEVER: Final = "0001-01-01T00:00:00Z"

_SWEEP: Final = """
docker=$1 label=$2
shift 2
sweep() {
  found=$($docker ps --all --quiet --filter "label=$label")
  [ -z "$found" ] || $docker rm --force --volumes $found
}
read -r word
sweep
[ "$word" = done ] || for seconds in "$@"; do sleep "$seconds"; sweep; done
"""
#: Seconds from one look to the next after a kill: a container that the engine was asked for appears later.
LOOKS_S: Final = (3, 10, 30)


#: What every container of ours gives up. Its output is read here; the engine would keep it without a limit.
CONFINED: Final = (
    *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init"),
    # Programs of a HEALTHCHECK are started by the engine, which pays for them.
    "--no-healthcheck",
    *("--ulimit", "core=0", "--ulimit", "nofile=1024:1024", "--log-driver", "none", "--pull", "never"),
)


def place_mark(place: str) -> str:
    """The value of the label for the containers of a place."""
    return sha256(place.encode()).hexdigest()[:16]


class ContainerLauncher:
    """Starts bots that have a `sandbox` in containers, an async context; the referee is `host`:`port`.

    `place` names the contest and its database: two runs at once differ in it. With a folder `logs` the output
    of each bot goes to a file there.
    """

    def __init__(
        self, host: str, port: int, place: str, logs: Path | None = None, docker: Docker | None = None
    ) -> None:
        self._address = host, port
        self._contest = f"{LABEL}={place_mark(place)}"
        self._run = f"{RUN_LABEL}={secrets.token_hex(8)}"
        self._labels = ("--label", self._contest, "--label", self._run)
        self._logs = logs
        self._docker = docker or Docker()
        self._stack = AsyncExitStack()
        self._folder = Path()
        self._ways: set[Way] = set()
        #: Of their folders: the path of a socket has at most 107 bytes.
        self._numbers = count()

    async def __aenter__(self) -> Self:
        """Remove what an earlier run left. Raises LaunchError without an engine."""
        await self._docker.remove(self._contest)
        await self._docker.image(RELAY_IMAGE)
        async with AsyncExitStack() as stack:
            # Under systemd /tmp may be this process's own (PrivateTmp=), which the engine does not see.
            runtime = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0] or None
            self._folder = Path(mkdtemp(prefix="arena-", dir=runtime))
            stack.callback(rmtree, self._folder, ignore_errors=True)
            stack.callback(self._close_ways)
            sweeper = await Child.start(
                ["sh", "-c", _SWEEP, "sweeper", self._docker.program, self._run, *map(str, LOOKS_S)],
                self._docker.environment,
                stdin=asyncio.subprocess.PIPE,
            )
            stack.push_async_callback(_finish, sweeper)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove all containers that are left."""
        await self._stack.aclose()

    def _close_ways(self) -> None:
        for way in self._ways:
            way.close()

    async def start(self, bot: LocalBot) -> BotContainer:
        """Start the containers of a bot. Raises LaunchError, with what the engine says."""
        assert bot.sandbox is not None
        name = f"arena-{bot.name}-{bot.slot}-{secrets.token_hex(4)}"
        try:
            limits = bot.sandbox.limits.options(await self._docker.volumes(bot.sandbox.image))
        except ValueError as error:
            raise LaunchError(str(error)) from None
        way = await Way.open(self._folder / str(next(self._numbers)), self._address)
        self._ways = {way, *(each for each in self._ways if each.is_open)}
        try:
            gate = await self._start_relay(f"{name}-relay", way.folder)
        except BaseException:
            way.close()
            raise
        try:
            variables = {
                key: value
                for key, value in bot.environment(HOST, PORT, {}).items()
                if key.startswith("ARENA_")
            }
            words = ["run", "--name", name, *self._labels, "--network", f"container:{name}-relay"]
            words += [*CONFINED, *limits, *self._cores(bot), "--user", USER]
            words += [word for variable in variables for word in ("--env", variable)]
            # With their values: a PATH of the bot must not be that of `docker`.
            words += [word for each in bot.variables.items() for word in ("--env", "=".join(each))]
            words += [bot.sandbox.image, *bot.command_line(HOST, PORT)]
            log = None if self._logs is None else self._logs / bot.log_name
            child = await self._docker.child(words, variables, log=log)
        except BaseException:
            way.close()
            await self._docker.end_runs({f"{name}-relay": gate})
            raise
        return BotContainer(self._docker, name, bot.sandbox, child, gate, way)

    def _cores(self, bot: LocalBot) -> list[str]:
        """The options for the cores of a bot; none for an engine that has a machine of its own."""
        return ["--cpuset-cpus", describe_cores(bot.cores)] if bot.cores and self._docker.is_local else []

    async def _start_relay(self, name: str, folder: Path) -> Child:
        """Start the container whose network the bot's container will share; wait until it listens."""
        words = ["run", "--rm", "--interactive", "--name", name, *self._labels, "--network", "none"]
        words += [*CONFINED, *ContainerLimits(memory=64 * MB, tmp=MB, pids=16).options()]
        # The socket belongs to our user, and its folder has mode 0700.
        words += ["--user", f"{os.getuid()}:{os.getgid()}"]
        # Not by --volume: the engine would make an empty folder in the place of one that it does not see.
        for source, target in ((folder, _MOUNT), (relay.__file__, "/relay.py")):
            words += ["--mount", f"type=bind,source={source},target={target},readonly"]
        words += [RELAY_IMAGE, "python", "-B", "/relay.py", f"{_MOUNT}/{_SOCKET}", str(PORT)]
        gate = await self._docker.child(words, stdin=asyncio.subprocess.PIPE, split=True)
        assert gate.process.stdout is not None
        try:
            async with asyncio.timeout(RELAY_S):
                if await gate.process.stdout.readline() == b"ready\n":
                    return gate
                await gate.wait()
        except TimeoutError:
            pass
        except BaseException:
            await self._docker.end_runs({name: gate})
            raise
        error = self._relay_error(gate)
        await self._docker.end_runs({name: gate})
        raise LaunchError(error)

    def _relay_error(self, gate: Child) -> str:
        """Why a relay did not begin; no bot is to blame for it."""
        if any(_NO_SOURCE in line for line in gate.last_lines(LAST_LINES)):
            return (
                f"the Docker engine does not see {self._folder}, which has the way to the referee, or "
                f"{relay.__file__}: its /tmp is another one (PrivateTmp= of systemd), or its machine; "
                "set RUNTIME_DIRECTORY to a folder that both see (docs/containers.md)"
            )
        return gate.last_error() or f"its relay did not begin within {RELAY_S:.0f} s"


class Way:
    """The Unix socket of the relay of one bot, in a folder of its own, and the referee behind it."""

    def __init__(self, folder: Path, address: tuple[str, int]) -> None:
        self.folder: Final = folder
        self._address = address
        self._server: asyncio.Server | None = None
        #: Awaited before each part that the referee sends is passed on.
        self.before: Callable[[], Awaitable[None]] | None = None

    @classmethod
    async def open(cls, folder: Path, address: tuple[str, int]) -> Self:
        """Listen in `folder`, which is made; the referee is at `address`. Raises LaunchError."""
        way = cls(folder, address)
        try:
            folder.mkdir(mode=0o700)
            way._server = await asyncio.start_unix_server(way._connect, folder / _SOCKET)
        except OSError as error:
            raise LaunchError(f"{folder / _SOCKET}: no socket can be made there: {error}") from None
        return way

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            referee = await asyncio.open_connection(*self._address)
        except OSError:
            writer.close()
            return
        await relay.join((reader, writer), referee, self._before)

    async def _before(self) -> None:
        if self.before is not None:
            await self.before()

    @property
    def is_open(self) -> bool:
        return self._server is not None and self._server.is_serving()

    def close(self) -> None:
        """Take no more connections; those that are there end with their containers."""
        if self._server is not None:
            self._server.close()
            rmtree(self.folder, ignore_errors=True)


class BotContainer(Rests):
    """A bot in a container (`base.Running`)."""

    def __init__(
        self, docker: Docker, name: str, sandbox: Sandbox, child: Child, gate: Child, way: Way
    ) -> None:
        self._docker = docker
        self._name = name
        self._sandbox = sandbox
        self._child = child
        self._gate = gate
        self._way = way
        self._idle = IdleFreezer(self.set_frozen)
        way.before = self._idle.wake
        self._orders = asyncio.Lock()
        self._group: ControlGroup | None = None
        self._group_sought = False
        self._ended = False

    async def wait(self) -> BotEnded:
        """Wait until its first process has ended: then all of them have."""
        child = self._child
        status = await child.wait()
        lines = child.last_lines(LAST_LINES)
        if status in _ENGINE_FAILED and await self._state("StartedAt") in ("", _NEVER):
            return BotEnded(None, _engine_error(child), (), lines)
        if await self._out_of_memory(status):
            limit = f"more than {self._sandbox.limits.memory // MB} MB of memory"
            text = f"it used {limit}"
            return BotEnded(status, text, (), [*lines, text], limit)
        return BotEnded(status, child.last_error(), child.trace(), lines)

    async def _out_of_memory(self, status: int) -> bool:
        said = await self._state("OOMKilled")
        more = OOM_QUESTIONS - 1 if status == _KILLED else 0
        while said == "false" and more:
            await asyncio.sleep(OOM_PAUSE_S)
            said = await self._state("OOMKilled")
            more -= 1
        return said == "true"

    async def _state(self, field: str) -> str:
        """A field of the container's state; empty if there is no such container."""
        with suppress(LaunchError):
            return await self._docker.call("inspect", "--format", f"{{{{.State.{field}}}}}", self._name)
        return ""

    async def set_frozen(self, frozen: bool) -> None:
        """Freeze or thaw all its programs: through its control group in microseconds, else by the engine.

        Returns when they run, or have ended; an engine that does not answer is asked again.
        """
        async with self._orders:
            group = await self._control_group()
            if group is None or not group.set_frozen(frozen):
                await self._ask_to_freeze(frozen)

    async def _ask_to_freeze(self, frozen: bool) -> None:
        """Have the engine do it. A program goes on when that is certain: until then no TURN is sent."""
        while not self._ended:
            try:
                await self._docker.call("pause" if frozen else "unpause", self._name)
            except NoAnswerError:
                if not frozen:
                    continue
            except LaunchError:  # it has ended, or was not frozen
                pass
            return

    async def set_resting(self, resting: bool) -> None:
        """Let it stand still while nothing is sent to it, from the next seconds on; or it plays."""
        await self._idle.set_resting(resting)

    async def cpu_time(self) -> tuple[str, CpuTime] | None:
        """What its programs got of the processor since it began."""
        async with self._orders:
            group = await self._control_group()
        found = None if group is None else group.cpu_time()
        return None if found is None else (self._name, found)

    async def _control_group(self) -> ControlGroup | None:
        """Its control group, once it runs; None if that is not on this machine."""
        if not self._group_sought and (pid := await self._state("Pid")) not in ("", "0"):
            with suppress(LaunchError):
                found = await self._docker.call("inspect", "--format", "{{.Id}}", self._name)
                self._group, self._group_sought = ControlGroup.of(found, int(pid)), True
        return self._group

    async def end(self) -> None:
        """Kill and remove its containers."""
        self._ended = True
        self._idle.close()
        await self._docker.end_runs({self._name: self._child, f"{self._name}-relay": self._gate})
        self._way.close()


def _engine_error(child: Child) -> str:
    """Why the engine did not start a container, in its own words."""
    lines = child.last_lines(LAST_LINES * 4)
    said = [line.removeprefix("docker: ") for line in lines if line.startswith("docker: ")]
    return said[0] if said else child.last_error()


async def _finish(sweeper: Child) -> None:
    """Have the sweeper remove what is left, and end it."""
    assert sweeper.process.stdin is not None
    sweeper.process.stdin.write(b"done\n")
    sweeper.process.stdin.close()
    with suppress(TimeoutError):  # the engine hangs: the next run removes what is left
        async with asyncio.timeout(ANSWER_S):
            await sweeper.wait()
    await sweeper.end(grace=0)
