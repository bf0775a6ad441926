"""`arena mcp` by the client of the package `mcp`, which knows nothing but the tools that it is offered."""

from __future__ import annotations

import asyncio
import json
import queue
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.programs import inside
from tests.server.submissions.script import Script
from tests.server.web.test_submit import TOKEN, site
from tests.slices import all_of

from arena_protocol.errors import needs_extra

if TYPE_CHECKING:
    from mcp import Client

    from arena_cli.agent_tools import CommandEnd

#: Not `importorskip`: each process of the tests would import it, for 1.5 s.
pytestmark = pytest.mark.skipif(
    find_spec("mcp") is None, reason="NO TESTS OF arena mcp: needs the extra [mcp]"
)

ROOT = Path(__file__).parents[2]
TOOLS = ["rules", "protocol", "starter", "check", "match", "why", "submit"]


def client_of(call: Callable[[Sequence[str]], Awaitable[CommandEnd]] | None = None) -> Client:
    """A client of the tools, whose commands `call` runs instead of processes."""
    from mcp import Client

    from arena_cli.agent_tools import make_server

    return Client(make_server(call) if call else make_server())


def end(code: int, out: str, err: str) -> CommandEnd:
    from arena_cli.agent_tools import CommandEnd

    return CommandEnd(code, out, err)


class InThisProcess:
    """Runs the commands of the tools in the main thread, as signals need it, while the client has its own."""

    def __init__(self) -> None:
        self.commands: list[Sequence[str]] = []
        self._jobs: queue.Queue[tuple[Sequence[str], Future[CommandEnd]] | None] = queue.Queue()

    async def call(self, words: Sequence[str]) -> CommandEnd:
        done: Future[CommandEnd] = Future()
        self._jobs.put((words, done))
        return await asyncio.wrap_future(done)

    def run(self, script: Callable[[Client], Awaitable[None]]) -> None:
        """Let a script use the tools to its end."""
        failure: list[BaseException] = []

        async def talk() -> None:
            async with client_of(self.call) as client:
                await script(client)

        def run() -> None:
            try:
                asyncio.run(talk())
            except BaseException as error:
                failure.append(error)
            finally:
                self._jobs.put(None)

        thread = threading.Thread(target=run)
        thread.start()
        while (job := self._jobs.get()) is not None:
            words, done = job
            self.commands.append(words)
            ended = inside(*words)
            done.set_result(end(ended.code, ended.out, ended.err))
        thread.join()
        if failure:
            raise failure[0]


async def use(client: Client, tool: str, **arguments: object) -> Any:
    """The answer of a tool, which is no error."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    found = answer.structured_content
    return found["result"] if found is not None and list(found) == ["result"] else found


async def refused(client: Client, tool: str, **arguments: object) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text).partition(": ")[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_client_reads_the_rules_begins_measures_and_submits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", TOKEN)
    monkeypatch.setenv("ARENA_NAME", "ann")

    async def script(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        assert all(tool.description for tool in tools)
        assert "Runs, waves and points" in await use(client, "rules")
        assert "READY" in await use(client, "protocol")
        made = await use(client, "starter", name="mybot")
        assert "bot.py" in made["files"]
        answer = await use(client, "match", players=["random", "greedy"], deals=2)
        assert answer["points"][0] < answer["points"][1]
        assert len(answer["games"]) == 4
        lines = await use(client, "submit", folder="mybot")
        assert lines[-1] == "version 1 plays from the next game on"

    with site(folder / "store", Script()) as server:
        monkeypatch.setenv("ARENA_SITE", server.address)
        InThisProcess().run(script)


def test_the_rules_of_each_game() -> None:
    async def script(client: Client) -> None:
        insertion = await use(client, "rules", game="insertion")
        assert insertion.startswith("# Insertion\n")
        assert "# Games that are won" not in insertion
        others = await use(client, "rules", game="xo")
        assert others.startswith("# Games that are won")
        assert others.endswith("This one is xo.")

    InThisProcess().run(script)


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("rules", {"game": "chess"}, "no game 'chess'; this version has: disc, insertion, "),
        ("starter", {"name": "x", "language": "perl"}, "--language: expected one of bash, c, "),
        ("starter", {"name": "--list"}, "expected the name of a bot, "),
        ("check", {"command": "'"}, 'expected the words of a command, got "\'": No closing quotation'),
        ("check", {"command": "./nothing"}, "check bot: "),
        ("match", {"players": ["random", "nope"]}, "no engine 'nope'"),
        ("why", {"game": "g1", "bot": "x"}, "arena-mcp.db: no such database"),
        ("submit", {"folder": "."}, ".: expected a folder with a Dockerfile, got "),
    ],
)
def test_what_a_command_refuses_is_the_error_of_its_tool(
    tool: str, arguments: dict[str, object], why: str
) -> None:
    async def script(client: Client) -> None:
        assert why in await refused(client, tool, **arguments)

    InThisProcess().run(script)


@all_of(
    ("tool", "arguments", "line"),
    [
        ("match", {}, "players: missing"),
        ("match", {"players": "x"}, "players: expected a list of texts, got 'x'"),
        ("match", {"players": ["x"]}, "players: expected 2 entries or more, got ['x']"),
        ("match", {"players": ["x"] * 17}, f"players: expected at most 16 entries, got {['x'] * 17!r:.60}"),
        ("match", {"players": ["x", 5]}, "players.1: expected a text, got 5"),
        ("match", {"players": ["x", ""]}, "players.1: expected a text that is not empty, got ''"),
        ("match", {"players": ["x", "y"], "deals": "many"}, "deals: expected a whole number, got 'many'"),
        ("match", {"players": ["x", "y"], "deals": 1.5}, "deals: expected a whole number, got 1.5"),
        ("match", {"players": ["x", "y"], "deals": None}, "deals: expected a whole number, got None"),
        ("match", {"players": ["x", "y"], "deals": 0}, "deals: expected 1 or more, got 0"),
        ("match", {"players": ["x", "y"], "deals": 10_001}, "deals: expected 10000 or less, got 10001"),
        ("starter", {"name": "x" * 5000}, f"name: expected at most 4096 characters, got '{'x' * 59}"),
        ("check", {"command": "x", "clauses": 7}, "clauses: expected a list of texts, got 7"),
        (
            "match",
            {"players": ["x", "y"], "depth": 3},
            "no argument 'depth'; expected players, deals, clock, game",
        ),
        ("protocol", {"game": "xo"}, "no argument 'game'; it takes none"),
    ],
)
def test_a_wrong_argument_is_one_line(tool: str, arguments: dict[str, object], line: str) -> None:
    async def call(_: Sequence[str]) -> CommandEnd:
        raise AssertionError("no command is to run")

    async def talk() -> None:
        async with client_of(call) as client:
            assert await refused(client, tool, **arguments) == line
            answer = await client.call_tool("nosuch", {"x": 1})
            assert (answer.is_error, answer.content[0].text) == (True, "Unknown tool: nosuch")

    asyncio.run(talk())


def test_a_match_of_programs_is_kept_for_why() -> None:
    said = json.dumps({"points": [1, 2]})

    async def script(client: Client) -> None:
        answer = await use(client, "match", players=["./bot", "greedy"])
        assert answer == {"points": [1, 2], "games": ["g1: bot 1, greedy 2 | 1 of 1 deals"]}
        assert await refused(client, "match", players=["./bot", "greedy"]) == "it ended with status 2"

    seen: list[Sequence[str]] = []

    async def call(words: Sequence[str]) -> CommandEnd:
        seen.append(words)
        if len(seen) > 1:
            return end(2, "", "")
        return end(1, said, "loading\ng1: bot 1, greedy 2 | 1 of 1 deals\n")

    async def talk() -> None:
        async with client_of(call) as client:
            await script(client)

    asyncio.run(talk())
    assert list(seen[0])[-6:] == ["--new", "--keep", "sqlite:///arena-mcp.db", "--", "./bot", "greedy"]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "arena_cli.agent_tools", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    ended = inside("mcp")
    assert (ended.code, ended.out) == (2, "")
    assert ended.line == f"arena: {needs_extra('arena mcp', 'mcp', in_all=False)}"


def test_the_documents_are_in_the_package() -> None:
    for name in ("RULES.md", "PROTOCOL.md"):
        path = ROOT / "protocol" / "arena_protocol" / name
        assert path.is_symlink()
        assert path.read_bytes() == (ROOT / "protocol" / name).read_bytes()


@pytest.mark.soak
@pytest.mark.real
@pytest.mark.timeout(900)
def test_an_agent_plays_loses_reads_why_mends_and_submits(folder: Path) -> None:
    """Over stdio, with the client of the package; the server of the contest examines by a script."""
    from mcp import Client, StdioServerParameters

    async def talk(address: str) -> None:
        environment = {"ARENA_TOKEN": TOKEN, "ARENA_SITE": address, "ARENA_NAME": "ann"}
        words = ["-m", "arena_cli", "mcp"]
        started = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=folder)
        async with Client(started) as client:
            await _author(client, folder)

    with site(folder / "store", Script()) as server:
        asyncio.run(talk(server.address))


async def _author(client: Client, folder: Path) -> None:
    await use(client, "rules")
    made = await use(client, "starter", name="mybot")
    source = folder / made["folder"] / "bot.py"
    play = "python3 mybot/bot.py"
    text = source.read_text()
    (choose,) = [line for line in text.splitlines() if "return 6 +" in line]
    source.write_text(text.replace(choose, "    return 0  # from 0"))
    lost = await use(client, "match", players=[play, "greedy"], deals=1)
    bot = lost["games"][0].split(": ")[1].split()[0]
    assert lost["points"][0] < lost["points"][1]
    why = await use(client, "why", game="g1", bot=bot)
    assert "MOVE 0" in why
    source.write_text(text)
    found = await use(client, "check", command=play, clauses=["8.1"])
    assert found["passed"], found
    assert found["problems"] == []
    mended = await use(client, "match", players=[play, "greedy"], deals=1)
    assert (lost["faults"], mended["faults"]) == ({play: ["illegal", "illegal"]}, {})
    lines = await use(client, "submit", folder="mybot")
    assert lines[-1] == "version 1 plays from the next game on"


@pytest.mark.soak
@pytest.mark.real
@pytest.mark.asyncio
async def test_a_call_that_is_cancelled_ends_its_command(folder: Path) -> None:
    from arena_cli.agent_tools import run_command

    (folder / "slow.py").write_text("import time\nopen('started', 'w').close()\ntime.sleep(600)\n")
    words = ["match", "--deals", "1", "--clock", "1h", f"{sys.executable} slow.py", "greedy"]
    call = asyncio.create_task(run_command(words))
    while not (folder / "started").exists():
        await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_the_page_has_every_tool_with_its_arguments() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", page, re.MULTILINE)

    async def talk() -> dict[str, list[str]]:
        async with client_of() as client:
            tools = (await client.list_tools()).tools
        return {tool.name: list(tool.input_schema["properties"]) for tool in tools}

    assert {name: re.findall(r"`(\w+)`", words) for name, words in rows} == asyncio.run(talk())
    assert json.loads(page.partition("```json\n")[2].partition("```")[0])["mcpServers"]["arena"]["args"] == [
        "mcp"
    ]
