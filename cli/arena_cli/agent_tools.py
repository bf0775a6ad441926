"""The tools of `arena mcp`: the commands of a bot author, by the Model Context Protocol.

Each tool is a command: its words are built here, and a process of this program runs it. A match needs the
main thread of a process for its signals, and one that fails or is cancelled must not end the server.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Final

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import Field, ValidationError

from arena_protocol.errors import UserError

#: Seconds from SIGTERM to SIGKILL for a command whose answer is not wanted any more.
GRACE_S: Final = 10.0
#: Where matches are kept for `why`.
KEPT: Final = "arena-mcp.db"
#: The most characters of an argument in an error.
SHOWN: Final = 60
#: What was expected, by the kind of a mistake in an argument.
_EXPECTED: Final = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_too_long": "at most {max_length} characters",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "list_type": "a list of texts",
    "too_short": "{min_length} entries or more",
    "too_long": "at most {max_length} entries",
}
#: The sections of RULES.md that a game needs, by their titles.
_WON: Final = "# Games that are won, lost or drawn"
_INTRODUCTION: Final = """\
You write a program (a bot) that plays a board game against others in contests of this arena. Begin with
`rules` and `starter`, change the `choose` of the starter, run `check` and `match` against an engine such as
greedy, read `why` of a game that was lost, and `submit` the folder. `protocol` has every line that a bot
reads and writes; the starter has all of it already."""

Text = Annotated[str, Field(min_length=1, max_length=4096)]


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command has ended."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line that it wrote to stderr, without the name of the program."""
        lines = self.err.strip().splitlines() or [f"it ended with status {self.status}"]
        return lines[-1].removeprefix("arena: ")


Call = Callable[[Sequence[str]], Awaitable[CommandEnd]]


async def run_command(words: Sequence[str]) -> CommandEnd:
    """Run `arena WORDS` in a process; it ends with a call that is cancelled."""
    async with await anyio.open_process(
        [sys.executable, "-m", "arena_cli", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        said: dict[str, bytes] = {"out": b"", "err": b""}

        async def read(name: str, stream: Any) -> None:
            async for data in stream:
                said[name] += data

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, "out", process.stdout)
                tasks.start_soon(read, "err", process.stderr)
            status = await process.wait()
        except BaseException:
            # Its own end leaves no program behind that it has started.
            with suppress(ProcessLookupError), anyio.move_on_after(GRACE_S, shield=True):
                process.terminate()
                await process.wait()
            raise
    return CommandEnd(status, *(said[name].decode("utf-8", "replace") for name in ("out", "err")))


def rules_of(game: str) -> str:
    """The rules of a game, from the rule book. Raises ToolError."""
    from arena_protocol.games import GAMES, make_game

    try:
        make_game(game, {})
    except UserError as error:
        raise ToolError(str(error)) from None
    text = document("RULES.md")
    first = text.index("\n# Insertion\n")
    second = text.index(f"\n{_WON}\n")
    if game == "insertion":
        return text[first:second].strip()
    return f"{text[second:].strip()}\n\nGames: {', '.join(GAMES)}. This one is {game}."


def document(name: str) -> str:
    """A document that the package of the protocol has."""
    return (files("arena_protocol") / name).read_text(encoding="utf-8")


class Author:
    """The tools; `call` runs a command. Raises ToolError with the line that the command ends with."""

    def __init__(self, call: Call = run_command) -> None:
        self._call = call

    async def _answer(self, *words: str, statuses: Sequence[int] = (0,)) -> CommandEnd:
        ended = await self._call(words)
        if ended.status not in statuses:
            raise ToolError(ended.last)
        return ended

    async def rules(self, game: Text = "insertion") -> str:
        """The rules of a game: board, moves, points, and worked examples."""
        return rules_of(game)

    async def protocol(self) -> str:
        """Every line between a bot and the server, with clocks and faults (46 KB); a starter has it all."""
        return document("PROTOCOL.md")

    async def starter(self, name: Text, language: Text = "python") -> dict[str, Any]:
        """Make the folder NAME here with a whole bot, which plays badly but without a fault.

        Languages: bash, c, cpp, go, java, javascript, python, rust. The answer has its files; change
        `choose` in the source.
        """
        ended = await self._answer("new", "bot", "--language", language, "--json", "--", name)
        made: dict[str, Any] = json.loads(ended.out)
        return made

    async def check(
        self, command: Text, clauses: Annotated[list[Text] | None, Field(max_length=100)] = None
    ) -> dict[str, Any]:
        """Try a bot against the protocol, case by case; one to three minutes for all cases.

        COMMAND starts it, such as "python3 mybot/bot.py". CLAUSES are sections or cases such as 8 or 8.1/3.
        """
        words = [*(clauses or ()), *_words(command)]
        ended = await self._answer("check", "bot", "--", *words, statuses=(0, 1))
        lines = ended.out.splitlines()
        if not lines:
            raise ToolError(ended.last)
        problems = [line for line in lines[:-1] if not line.startswith("ok ")]
        return {"passed": ended.status == 0, "summary": lines[-1], "problems": problems}

    async def match(
        self,
        players: Annotated[list[Text], Field(min_length=2, max_length=16)],
        deals: Annotated[int, Field(ge=1, le=10_000)] = 5,
        clock: Text = "20s",
        game: Text = "insertion",
    ) -> dict[str, Any]:
        """Let players play each deal from every seat, and say who scores more.

        A player is a command such as "python3 mybot/bot.py", or an engine such as random, greedy or champion.
        Where a command plays, the games are kept as g1, g2, ... for `why`, until the next such match.
        """
        words = ["match", "--json", "--deals", str(deals), "--clock", clock, "--game", game]
        if any(" " in player or "/" in player for player in players):
            words += ["--new", "--keep", f"sqlite:///{KEPT}"]
        # With status 1 the first player was at fault in every game: the answer says it.
        ended = await self._answer(*words, "--", *players, statuses=(0, 1))
        if not ended.out.strip():
            raise ToolError(ended.last)
        answer: dict[str, Any] = json.loads(ended.out)
        return answer | {"games": [line for line in ended.err.splitlines() if line[:1] == "g"]}

    async def why(self, game: Text, bot: Text) -> str:
        """Explain a game of the last match: faults, time, the plies that decided, better moves.

        GAME is g1, g2, ... or a record file; BOT is the name that `match` gives to the player.
        """
        ended = await self._answer("why", "--database", f"sqlite:///{KEPT}", "--bot", bot, "--", game)
        return ended.out

    async def submit(self, folder: Text, connect: Text | None = None, name: Text | None = None) -> list[str]:
        """Send a folder to a contest that builds, checks and runs it; the answer ends with its admission.

        CONNECT is the address of the page, else ARENA_SITE; NAME the bot, else ARENA_NAME. Its token is in
        ARENA_TOKEN, in the environment of this server.
        """
        words = ["submit"]
        words += ["--connect", connect] if connect else []
        words += ["--name", name] if name else []
        ended = await self._call([*words, "--", folder])
        lines = ended.out.splitlines()
        if ended.status:
            raise ToolError("\n".join(lines[-20:]) or ended.last)
        return lines


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ToolError(f"expected the words of a command, got {command!r:.80}: {error}") from None


class _OneLineServer(MCPServer[Any]):  # type: ignore[misc]  # its module is not read
    """Refuses arguments in one line, and those that the tool does not have."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Any = None
    ) -> CallToolResult | InputRequiredResult:
        known = {tool.name: list(tool.input_schema["properties"]) for tool in await self.list_tools()}
        wrong = f"Error executing tool {name}"
        for argument in set(arguments).difference(known.get(name, arguments)):
            expected = f"expected {', '.join(known[name])}" if known[name] else "it takes none"
            raise ToolError(f"{wrong}: no argument {argument!r:.{SHOWN}}; {expected}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{wrong}: {_mistake(error.__cause__)}") from None
            raise


def _mistake(error: ValidationError) -> str:
    """The first mistake in the arguments of a tool."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"]))
    if detail["type"] == "missing":
        return f"{place}: missing"
    expected = _EXPECTED.get(detail["type"], detail["msg"]).format(**detail.get("ctx", {}))
    return f"{place}: expected {expected}, got {detail['input']!r:.{SHOWN}}"


def make_server(call: Call = run_command) -> MCPServer[Any]:
    """The server with the tools of an author."""
    from importlib.metadata import version

    server: MCPServer[Any] = _OneLineServer(
        "insertion-arena", instructions=_INTRODUCTION, version=version("insertion-arena"), log_level="WARNING"
    )
    author = Author(call)
    for tool in (
        author.rules,
        author.protocol,
        author.starter,
        author.check,
        author.match,
        author.why,
        author.submit,
    ):
        server.add_tool(tool)
    return server
