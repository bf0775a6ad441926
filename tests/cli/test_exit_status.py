"""Exit statuses of every command: 1 failed at run time or a negative result, 2 wrong input."""

from __future__ import annotations

import gc
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.ports import deaf_port
from tests.server.programs import arena, contest, inside
from tests.slices import all_of

from arena_cli import app, main
from arena_server.errors import FAILED, INTERRUPTED, MISUSED

LOCAL = contest(bots="".join(f'[[bot]]\nname = "{name}"\nengine = "dummy"\n' for name in "ab"))
PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with good and bad files, and no database."""
    files = {
        "good.toml": LOCAL,
        "bad.toml": LOCAL.replace("[game]", "gmae = 1\n[game]"),
        "game.toml": LOCAL.replace("[game]", 'game = "chess"\n[game]'),
        "bad.positions": "no position\n",
        "bad.record": "no record",
        "other.db": "no database" * 100,
        "taken": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


@pytest.fixture
def closed() -> Iterator[int]:
    """A port without a listener."""
    with deaf_port() as port:
        yield port


#: Wrong input. PORT is a port without a listener.
WRONG_INPUT = """
ratings --all --contest x
standings --json --format csv
standings --rounds --cross
no-such-command
check bot
proxy nowhere 127.0.0.1:1
engines --game chess
engines --compile no-such-engine
engines --game insertion --compile no-such-engine
texts xx
serve
serve nowhere.toml
serve bad.toml
serve game.toml
serve good.toml --port 99999
serve good.toml --absent soon
serve good.toml --database mysql://x
tournament nowhere.toml
tournament bad.toml
tournament game.toml
tournament good.toml --database mysql://x
bot chmapion --connect 127.0.0.1:PORT
bot dummy
bot dummy --connect 127.0.0.1
bot dummy --game chess --connect 127.0.0.1:PORT
bot greedy:depth=x --connect 127.0.0.1:PORT
bot zero-based:size=2 --connect 127.0.0.1:PORT
bot dummy --name a=b --connect 127.0.0.1:PORT
bot dummy --tls-ca nowhere.pem --connect 127.0.0.1:PORT
watch --connect 127.0.0.1
log --name a=b --connect 127.0.0.1:PORT
log --connect nowhere --name a
watch --name a=b --connect 127.0.0.1:PORT
watch gé --connect 127.0.0.1:PORT
watch --tls-ca nowhere.pem --connect 127.0.0.1:PORT
standings --database mysql://x
replay g1 --database mysql://x
why g1 --bot mine --database mysql://x
site folder --database mysql://x
report page.html --database mysql://x
report page.html --megabytes 0
publish folder --database mysql://x
submit --list
mcp --nope
new bot good.toml
new bot mybot --language perl
verify --published folder --head abababababababababababababababababababababababababababababababab
backup copy --database mysql://x
archive x --database mysql://x
new
new contest --yes
new contest good.toml --yes
simulate nowhere.toml
rehearse nowhere.toml
web --database mysql://x
web --connect nowhere
bridge --connect 127.0.0.1:PORT
brain chess
verify --database mysql://x
verify --head zz
export folder --database mysql://x
export folder --grades A=1
export folder --format grades --grades A
admin
admin obey
check
check bot
check bot 99 -- true
proxy
proxy 1 2
admin kick
admin status g1
admin status --connect 127.0.0.1:PORT
play chess
play insertion --against chmapion
play insertion --against ./nowhere
play insertion --seat 3
play insertion --clock soon
play insertion --option plies
play insertion --option plies=x
play insertion --option colour=6
match dummy
match ./nowhere dummy
match dummy random --sprt --elo0 99
match dummy chmapion
match dummy greedy:depth=x
match dummy random --game chess
match dummy random --clock soon
match dummy random --option plies=x
tune champion:depth={d} --param d=9
climb
climb greedy --game chess
climb chmapion --games 2
climb greedy --games 0
tune champion:depth={d} --param d=1:3:int --against chmapion --games 16
analyse chess --positions bad.positions
analyse insertion --positions nowhere.positions
analyse insertion --positions bad.positions
analyse insertion --engine chmapion --positions bad.positions
analyse insertion --depth 99 --positions bad.positions
bench
bench engines
bench search --engine chmapion
bench search --depth 99
explain
explain tree chess
explain tree disc --depth 0
explain whole insertion
explain hanoi --discs 99
"""

#: Options that would have no effect, and which of them is refused.
NO_EFFECT = [
    ("standings --rounds --scoring wins", "--scoring"),
    ("replay g1 --json --html page.html", "--html"),
    ("replay g1 --gif game.gif --ply 3", "--ply"),
    ("simulate good.toml --share 0.3 --move-time 20ms", "--share"),
    ("web --tls", "--tls"),
    ("bridge --name a --turn 3s -- cat", "--turn"),
    ("bridge --name a --memory 10 -- cat", "--memory"),
    ("play insertion --games folder", "--games"),
    ("play insertion --web --seat 2", "--seat"),
    ("match dummy random --lease 5s", "--lease"),
    ("match dummy random --audit 0.1", "--audit"),
    ("admin pause --owner jan", "--owner"),
    ("admin status --reason none", "--reason"),
    ("match dummy random --margin 0.1", "--margin"),
    ("match dummy random --sprt --margin 0.1 --elo1 5", "--elo1"),
]

#: Failures at run time and negative results. TAKEN is a port on which another program listens.
RUN_TIME = """
serve good.toml --port TAKEN
serve good.toml --port 0 --admin-port TAKEN
serve good.toml --host 203.0.113.7
serve good.toml --database sqlite:///nowhere/arena.db
serve good.toml --port 0 --database sqlite:///other.db
tournament good.toml --database sqlite:///nowhere/arena.db
tournament good.toml --database sqlite:///other.db
tournament good.toml --logs taken
watch --connect 127.0.0.1:PORT
log --name a --connect 127.0.0.1:PORT
submit --list --name a --token t --connect 127.0.0.1:PORT
standings
standings --database sqlite:///other.db
ratings
replay g1
replay bad.record
highlights --contest 99
why g1 --bot mine
why bad.record --bot mine
site folder
report page.html
publish folder
verify --published nowhere
backup copy
archive x
web
verify
verify g1
verify bad.record
export folder
admin status
explain hanoi --svg nowhere/hanoi.svg
"""


def words(line: str, **ports: int) -> list[str]:
    return [re.sub("PORT|TAKEN", lambda found: str(ports[found[0]]), word) for word in line.split()]


@all_of("line", WRONG_INPUT.strip().splitlines())
def test_wrong_input_is_2(here: Path, closed: int, line: str) -> None:
    outcome = inside(*words(line, PORT=closed), cwd=here)
    assert outcome.code == MISUSED, outcome
    assert "Traceback" not in outcome.err
    assert not (here / "arena.db").exists()


@all_of(("line", "option"), NO_EFFECT)
def test_an_option_without_effect_is_refused(here: Path, line: str, option: str) -> None:
    outcome = inside(*words(line), cwd=here)
    assert outcome.code == MISUSED, outcome
    assert outcome.line.startswith(f"arena: {option}: ")


@all_of("line", RUN_TIME.strip().splitlines())
def test_a_failure_at_run_time_is_1(here: Path, taken: int, closed: int, line: str) -> None:
    outcome = inside(*words(line, TAKEN=taken, PORT=closed), cwd=here)
    assert outcome.code == FAILED, outcome
    assert outcome.line.startswith("arena: ")


@all_of("command", [name for name in app.COMMANDS if not name.startswith(("warm", "bench-"))])
def test_every_command_is_covered(command: str) -> None:
    covered = [line.split()[0] for line in f"{WRONG_INPUT}{RUN_TIME}".split("\n") if line]
    assert command in covered


def test_the_page_of_commands_has_the_table() -> None:
    table = re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert table == ["0", str(FAILED), str(MISUSED), str(INTERRUPTED)]


@pytest.mark.real
def test_a_taken_port_is_the_same_error_everywhere(here: Path, taken: int) -> None:
    for command in ("serve", "tournament"):
        outcome = arena(command, "good.toml", "--port", str(taken), cwd=here)
        assert (outcome.code, outcome.out) == (FAILED, "")
        assert outcome.err.splitlines()[-1] == (
            f"arena: cannot listen on 127.0.0.1:{taken}: the port is in use; "
            "choose another by --port (0 picks one)"
        )


def test_a_command_whose_reader_has_gone_ends_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `arena texts --template | head -1`: no traceback, nor one of a last flush."""
    read, write = os.pipe()
    os.close(read)
    with suppress(BrokenPipeError), open(write, "w") as pipe:
        for words in (("texts", "--template"), ("engines", "--json"), ("--help",)):
            monkeypatch.setattr(sys, "stdout", pipe)
            monkeypatch.setattr(sys, "argv", ["arena", *words])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == FAILED
            sys.stdout.flush()
    gc.enable()  # `main` begins without it
    assert capsys.readouterr().err == ""
