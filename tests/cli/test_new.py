"""`arena new contest`: each file that it writes is a contest, and a wrong answer is asked again."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import Shell
from tests.slices import all_of

from arena_cli import proposal
from arena_cli.draft import Draft, DraftBot, check_place, new_tokens, parse_players
from arena_cli.proposal import propose, propose_format
from arena_protocol.games import GAMES
from arena_server.core.formats import FORMATS
from arena_server.errors import ConfigError
from arena_server.host.forecast import Forecast
from arena_server.terms.file import check_remote_bots, parse_contest
from arena_server.terms.idle_keys import idle_keys

NOW = datetime(2026, 12, 24, tzinfo=UTC)
HERE = ("--length", "1m", "--yes")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("ann", "bob", "cid"):
        Path(f"{name}.py").write_text("print()\n", encoding="utf-8")
    Path("prog").write_text("#!/bin/sh\n", encoding="utf-8")
    Path("prog").chmod(0o755)
    Path("data.txt").write_text("no program\n", encoding="utf-8")
    return tmp_path


def players(count: int, *, local: bool) -> list[DraftBot]:
    return [DraftBot(f"b{number}", engine="random" if local else "") for number in range(count)]


#: What was simulated, by the question.
SIMULATED: dict[str, Forecast] = {}


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proposed is simulated less often, and once for all tests: none is about how sure it is."""
    simulate = proposal._forecast

    def once(*question: Any) -> Forecast:
        key = repr(question)
        if key not in SIMULATED:
            SIMULATED[key] = simulate(*question)
        return SIMULATED[key]

    monkeypatch.setattr(proposal, "RUNS", 2)
    monkeypatch.setattr(proposal, "_forecast", once)


@all_of(("form", "count"), [*product(FORMATS, (4, 8))])
@all_of(("game", "remote"), [*product(sorted(GAMES), (False, True))])
def test_every_draft_is_a_contest(form: str, count: int, game: str, remote: bool) -> None:
    bots = players(count, local=not remote)
    draft = Draft("new", bots, game, remote, form, games=5 if form == "ladder" else 0)
    if remote:
        draft = Draft("new", bots, game, remote, form, games=draft.games, tokens=new_tokens(bots))
    file = parse_contest(draft.toml(["a note"]), "new.toml")
    assert list(idle_keys(file, NOW)) == []
    check_remote_bots(file, file.server.host, tournament=False)
    assert (file.contest.format, len(file.bot)) == (form, count)
    for bot in file.bot:
        token = draft.tokens.get(bot.name)
        assert bot.token_sha256 == (None if token is None else sha256(token.encode()).hexdigest())
        assert token is None or token not in draft.toml()


@all_of(
    ("text", "expected"),
    [
        ("ann, bob", [DraftBot("ann"), DraftBot("bob")]),
        (
            "ann.py,x=bob.py",
            [DraftBot("ann", command=("python", "ann.py")), DraftBot("x", command=("python", "bob.py"))],
        ),
        ("greedy,h=champion:depth=2", [DraftBot("greedy", "greedy"), DraftBot("h", "champion:depth=2")]),
        ("champion:depth=2,greedy", [DraftBot("champion", "champion:depth=2"), DraftBot("greedy", "greedy")]),
        ("prog,./prog x,", [DraftBot("prog", command=("./prog",)), DraftBot("x", command=("./prog", "x"))]),
        (
            "a=python ann.py --fast,b=arena bot greedy",
            [
                DraftBot("a", command=("python", "ann.py", "--fast")),
                DraftBot("b", command=("arena", "bot", "greedy")),
            ],
        ),
    ],
)
def test_who_plays(text: str, expected: list[DraftBot]) -> None:
    assert parse_players(text) == expected


@all_of(
    ("text", "problem"),
    [
        ("", "expected two bots or more with commas between them, got 0"),
        ("ann", "expected two bots or more with commas between them, got 1"),
        ("ann,ann", "'ann' is there twice: NAME=COMMAND gives another name"),
        ("ann.py,sub/ann.py", "no program"),
        ("ann,b!b", "a bot is called 1 to 32 letters"),
        ("ann,b=", "'b=': expected a command or an engine behind ="),
        ("ann,b=nothing", "no program 'nothing' here or on the path"),
        ("ann,b=python no.py", "no file 'no.py' here"),
        ("ann,b='", "No closing quotation"),
        ("ann,data.txt", "'data.txt' has no permission to run: chmod +x data.txt"),
    ],
)
def test_who_cannot_play(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)) as error:
        parse_players(text)
    assert "\n" not in str(error.value)


def test_where_they_run() -> None:
    away, here = players(2, local=False), players(2, local=True)
    check_place(away, remote=True)
    check_place(here, remote=False)
    check_place([*away, *here], remote=True)
    with pytest.raises(ConfigError, match=r"^b0, b1: expected a program of each bot here"):
        check_place(away, remote=False)
    with pytest.raises(ConfigError, match=r"^every bot has a program, so none comes from elsewhere"):
        check_place(here, remote=True)


def test_options_answer_all_questions(shell: Shell) -> None:
    said = shell(
        "new", "contest", "friday.toml", "--who", "ann.py,bob.py,random", "--game", "tictactoe", *HERE
    )
    assert (said.code, said.err) == (0, "")
    first, last = said.out.splitlines()
    assert first.startswith("written: friday.toml: round-robin, ")
    assert last == "next: arena tournament friday.toml"
    file = parse_contest(Path("friday.toml").read_text(encoding="utf-8"), "friday.toml")
    assert [bot.name for bot in file.bot] == ["ann", "bob", "random"]
    assert (file.contest.name, file.contest.game) == ("friday", "tictactoe")
    assert shell("simulate", "friday.toml").code == 0


def test_bots_from_elsewhere_get_tokens_which_the_file_has_not(shell: Shell) -> None:
    who = ("--who", "ann,bob,random", "--game", "tictactoe", "--format", "swiss", *HERE)
    said = shell("new", "contest", "away.toml", *who, "--json")
    answer = json.loads(said.out)
    assert (answer["next"], sorted(answer["tokens"])) == ("arena tournament away.toml", ["ann", "bob"])
    text = Path("away.toml").read_text(encoding="utf-8")
    assert not any(token in text for token in answer["tokens"].values())
    assert tomllib.loads(text)["contest"]["quorum"] == 3
    said = shell("new", "contest", "all.toml", "--who", "ann,bob", "--game", "tictactoe", *HERE)
    lines = said.out.splitlines()
    assert re.fullmatch("  ann: [0-9a-f]{32}", lines[2])
    assert lines[-2:] == [
        "each starts its bot, for example: python mybot.py HOST 2006 ann $TOKEN",
        "next: arena serve all.toml",
    ]


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_wrong_answer_is_asked_again(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("ann", "ann,bob.py", "chess", "tictactoe", "soon", "1m", "here", "", "chess960", "")
    typed(monkeypatch, *lines)
    said = shell("new", "contest", "asked.toml")
    assert said.code == 0, said.err
    for problem in (
        "expected two bots or more with commas between them, got 1",
        "expected one of disc, insertion, lastcoin, tictactoe, xo, got 'chess'",
        "the length: expected a duration such as '500ms', '20s', '2m' or '1h', got 'soon'",
        "ann: expected a program of each bot here",
        "got 'chess960'",
    ):
        assert problem in said.out
    assert said.out.count("Which game?") == 2
    assert "Proposed: round-robin, " in said.out
    assert Path("asked.toml").is_file()


@pytest.mark.parametrize("count", range(5))
def test_the_end_of_the_answers_writes_nothing(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    typed(monkeypatch, *("ann.py,bob.py", "tictactoe", "1m", "here")[:count])
    said = shell("new", "contest")
    assert (said.code, said.line) == (
        1,
        "arena: the answers ended before the last question: nothing was written",
    )
    assert not Path("contest.toml").exists()


def test_a_file_is_not_written_over_unasked(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.toml").write_text("mine", encoding="utf-8")
    write = ("new", "contest", "a.toml", "--who", "ann.py,bob.py", "--game", "tictactoe", "--length", "1m")
    rest = ("--here", "--format", "round-robin")
    refused = "arena: a.toml exists and stays as it is: --replace writes over it"
    said = shell(*write, "--yes")
    assert (said.code, said.line) == (2, refused)
    typed(monkeypatch, "n")
    assert shell(*write, *rest).line == refused
    assert Path("a.toml").read_text(encoding="utf-8") == "mine"
    typed(monkeypatch, "y")
    assert shell(*write, *rest).code == 0
    Path("a.toml").write_text("mine", encoding="utf-8")
    assert shell(*write, "--yes", "--replace").code == 0
    assert tomllib.loads(Path("a.toml").read_text(encoding="utf-8"))["contest"]["name"] == "a"
    assert shell("new", "contest", "no/a.toml", *write[3:], "--yes").line == (
        "arena: no/a.toml: cannot be written: No such file or directory"
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--yes",), "--who: expected an answer, because --yes knows none"),
        (("--who", "ann", "--yes"), "--who: expected two bots or more"),
        (("--who", "ann,bob", "--game", "go", "--yes"), "--game: expected one of disc, "),
        (("--who", "champion,bob", "--game", "tictactoe", "--yes"), "--game: champion: "),
        (("--who", "ann,bob", "--length", "x", "--yes"), "--length: the length: expected a duration"),
        (("--who", "ann,bob", "--here", "--yes"), "--here: ann, bob: expected a program of each bot here"),
        (("--who", "ann.py,bob.py", "--remote", "--yes"), "--remote: every bot has a program"),
        (("--who", "ann,bob", "--format", "cup", "--yes"), "--format: expected one of round-robin, "),
        (("--who", "ann,bob", "--format", "groups", "--yes"), "--format: groups is not possible with 2 bots"),
    ],
)
def test_a_wrong_option(shell: Shell, arguments: tuple[str, ...], problem: str) -> None:
    said = shell("new", "contest", "a.toml", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(f"arena: {problem}")
    assert not Path("a.toml").exists()


def test_a_file_that_is_no_name_of_a_contest(shell: Shell) -> None:
    assert shell("new", "contest", "my cup.toml").line == (
        "arena: my cup.toml: expected the name of a contest before .toml, got 'my cup'"
    )


def test_what_is_proposed_fits_where_anything_does() -> None:
    draft = Draft("new", players(4, local=True), "tictactoe", remote=False)
    found = propose_format(draft, 600_000)
    assert found is not None
    assert (found.draft.format, found.fits) == ("round-robin", True)
    assert found.forecast.duration.p90 <= 600_000
    shorter = propose_format(draft, 60_000)
    assert shorter is not None
    assert shorter.draft.clock_ms < found.draft.clock_ms
    never = propose_format(draft, 1)
    assert never is not None
    assert not never.fits
    ladder = propose(draft, 60_000, "ladder")
    assert ladder is not None
    assert ladder.draft.games > 0


def test_no_format_is_possible(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_cli.proposal.propose", lambda *_: None)
    said = shell("new", "contest", "a.toml", "--who", "ann,bob", "--game", "tictactoe", *HERE)
    assert said.line == "arena: no format is possible with 2 bots of tictactoe"
