"""A season by `arena tournament` and `arena serve`: its stages, what ends it early, what is refused."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.server.programs import PATIENCE_S, Outcome, Players, Server, inside
from tests.server.records import Kept, game

from arena_cli import tournament
from arena_cli.prepare import prepare
from arena_cli.progress import TournamentDisplay
from arena_cli.season import SeatedContest
from arena_cli.serve_options import ServeOptions, WebOptions
from arena_cli.tournament import TournamentOptions
from arena_server.core.facts import Joined, TokenSet
from arena_server.core.journal import CONTEST, entry_of
from arena_server.errors import StoreError
from arena_server.places.base import LocalBot
from arena_server.store import ownership
from arena_server.store.database import ContestHeader, Database, database_of
from arena_server.store.ownership import BeginLock
from arena_server.store.reader import Results
from arena_server.store.stages import check_entrants
from arena_server.terms.file import config_of
from arena_server.terms.spec import ContestSpec
from arena_server.terms.stages import idle_keys_of_stages, load_stages, load_whole

DIGEST = "d" * 64
NAMES = ("ann", "bob", "cid", "dan")
STAGES = (
    '[[stage]]\nname = "one"\n'
    '[[stage]]\nname = "two"\nentrants_from = { stage = "one", first = 3 }\n'
    '[[stage]]\nname = "three"\nformat = "knockout"\nentrants_from = { stage = "two", first = 2 }\n'
)
BOTS = "".join(f'[[bot]]\nname = "{name}"\n' for name in NAMES)
HEAD = (
    '[contest]\nname = "cup"\ngames_per_pair = 2\nspectator_delay = "0s"\n[game]\nplies = 6\nclock = "10s"\n'
)
SEASON = HEAD + STAGES + BOTS


class Stub:
    """Plays contests in a moment: who is first in the file wins all games. `endings` are of the stages.

    `late` comes late to the first one, and wins there.
    """

    def __init__(self, endings: dict[str, str], late: str = "") -> None:
        self.endings = endings
        self.late = late
        self.played: list[tuple[str, list[str]]] = []
        self.tokens: list[dict[str, str]] = []

    def __call__(
        self,
        contest: SeatedContest,
        bots: Sequence[LocalBot],
        options: TournamentOptions,
        display: TournamentDisplay,
    ) -> dict[str, Any]:
        file, names = contest.file, [bot.name for bot in contest.file.bot]
        status = self.endings.get(contest.stage.label, "finished")
        self.played.append((contest.stage.label, names))
        config = replace(config_of(file), origin=contest.origin)
        header = ContestHeader(config, {}, names, 2, new=not options.resume, seeded=False)
        kept = Kept(database_of(options.database), header)
        again = kept.start() is not None
        # A knockout would have to be drawn first: its table is of seeds alone.
        pairs = [] if again or config.format == "knockout" else [(names[0], name) for name in names[1:]]
        self.tokens.append({bot.name: bot.token_sha256 for bot in file.bot if bot.token_sha256})
        if self.late and contest.stage.label == "one" and not again:
            joined = Joined(self.late, 9, 1, "", "", "", ""), TokenSet(self.late, DIGEST)
            kept.append(*(entry_of(CONTEST, fact) for fact in joined))
            pairs.append((self.late, names[0]))
        for number, pair in enumerate(pairs, start=1):
            record = replace(game(number, pair, (30, 10)), contest=config.name)
            kept.writer.store(record.game_id, record)
            assert kept.next() == [record.game_id]
        kept.close(status)
        report = {"ended": status, "done": 3, "total": 4, "unplayed": {"absent: dan": 1}, "missing": ["dan"]}
        display.last = report
        display.listening("127.0.0.1:4711")
        display.web("http://127.0.0.1:4712")
        display.show_outcome()
        return report


def play(folder: Path, stub: Stub, *options: str) -> Outcome:
    (folder / "cup.toml").write_text(SEASON.replace('name = "cup"', 'name = "cup"\nseed = 1'))
    text = (folder / "cup.toml").read_text()
    for name in NAMES:
        text = text.replace(f'[[bot]]\nname = "{name}"\n', f'[[bot]]\nname = "{name}"\nengine = "random"\n')
    (folder / "cup.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament, "play_contest", stub)
        return inside("tournament", "cup.toml", *options, cwd=folder)


ALL = [("one", ["ann", "bob", "cid", "dan"]), ("two", ["ann"]), ("three", ["ann"])]


def test_all_stages_are_played_and_printed(tmp_path: Path) -> None:
    outcome = play(tmp_path, stub := Stub({}))
    assert outcome.code == 0, outcome.err
    assert [label for label, _ in stub.played] == ["one", "two", "three"]
    assert stub.played[1][1][0] == stub.played[2][1][0] == "ann"
    assert (len(stub.played[1][1]), len(stub.played[2][1])) == (3, 2)
    assert f"stage two begins: {', '.join(stub.played[1][1])}" in outcome.err.splitlines()
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[lines.index("cup: 3 stages") + 2 :][:5:2] != []
    assert "two round-robin 3 2 finished ann" in lines
    assert any(line.startswith("cup-two: insertion") for line in lines)
    assert "entrants: the first 3 of cup-one" in lines


def test_a_season_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """The first run is incomplete, and the table counts; what a later stage follows from is not played on."""
    outcome = play(tmp_path, Stub({"one": "incomplete", "two": "stopped"}))
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == (
        "arena: stage one: the contest is incomplete: 1 of 4 games have no result (1 absent: dan); "
        "missing bots: dan"
    )
    outcome = play(tmp_path, stub := Stub({}), "--resume", "--json")
    assert [label for label, _ in stub.played] == ["two", "three"]
    plain = json.loads(outcome.out)
    assert (plain["season"], plain["problem"]) == ("cup", "stage one: the contest is incomplete")
    assert outcome.code == 1
    stages = [(each["stage"], each["contest"]["name"], each["contest"]["status"]) for each in plain["stages"]]
    assert stages == [
        ("one", "cup-one", "incomplete"),
        ("two", "cup-two", "finished"),
        ("three", "cup-three", "finished"),
    ]
    outcome = play(tmp_path, stub := Stub({}), "--resume")
    assert stub.played == [], "all are over"


def test_a_late_entrant_comes_on_also_after_a_restart(tmp_path: Path) -> None:
    outcome = play(tmp_path, stub := Stub({"two": "stopped"}, late="zoe"))
    assert outcome.code == 1, outcome.err
    assert (stub.played[1][1][0], stub.tokens[1]) == ("zoe", {"zoe": DIGEST})
    outcome = play(tmp_path, again := Stub({}, late="zoe"), "--resume")
    assert outcome.code == 0, outcome.err
    assert again.played[0] == stub.played[1]
    assert [
        ("zoe" in names, tokens) for (_, names), tokens in zip(again.played, again.tokens, strict=True)
    ] == [(True, {"zoe": DIGEST})] * 2
    with Results(tmp_path / "arena.db") as results:
        assert [check_entrants(results, contest) for contest in results.contests()] == [None] * 3


def test_stages_that_get_no_bots_from_others_are_not_played_twice(tmp_path: Path) -> None:
    stub = Stub({})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament, "play_contest", stub)
        groups = (
            '[[stage]]\nname = "a"\nbots = ["ann", "bob"]\n[[stage]]\nname = "b"\nbots = ["cid", "dan"]\n'
        )
        (tmp_path / "cup.toml").write_text(HEAD + groups + BOTS)
        for options in ((), ("--resume",)):
            assert inside("tournament", "cup.toml", *options, cwd=tmp_path).code == 0
    assert [label for label, _ in stub.played] == ["a", "b"]


ENDED = [("finished", 0), ("short", 1), ("aborted", 1)]


@pytest.mark.parametrize(("ending", "code"), ENDED)
def test_a_contest_that_is_over_is_shown_by_resume(tmp_path: Path, ending: str, code: int) -> None:
    """As a season: a script that starts `--resume` again and again plays one contest, not one each time."""
    (tmp_path / "cup.toml").write_text(HEAD + BOTS)
    command = ("tournament", "cup.toml", "--resume")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament, "play_contest", stub := Stub({"cup": ending}))
        first = inside(*command, cwd=tmp_path)
        again, plain = inside(*command, cwd=tmp_path), inside(*command, "--json", cwd=tmp_path)
        assert len(stub.played) == 1
        (tmp_path / "cup.toml").write_text(HEAD.replace("games_per_pair = 2", "games_per_pair = 4") + BOTS)
        other = inside(*command, cwd=tmp_path)
        assert len(stub.played) == 1
        assert inside("tournament", "cup.toml", cwd=tmp_path).code == code
    assert len(stub.played) == 2, "without --resume each run is a contest of its own"
    assert (first.code, again.code, plain.code, other.code) == (code, code, code, 2)
    assert first.out.endswith(again.out), "behind the addresses"
    assert json.loads(plain.out)["contest"]["status"] == ending
    assert again.err.splitlines()[0] == (
        "it is shown as it ended; without --resume another contest of this name begins"
    )
    assert "where there is 4 now; show it by the same configuration" in other.line


def test_a_stage_that_was_aborted_ends_the_season(tmp_path: Path) -> None:
    outcome = play(tmp_path, stub := Stub({"two": "aborted"}))
    assert [label for label, _ in stub.played] == ["one", "two"]
    assert outcome.code == 1
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "three knockout not begun" in [line.replace(" - -", "").removesuffix(" -") for line in lines]
    assert outcome.err.splitlines()[-1].startswith("arena: stage two: the contest is aborted: ")
    outcome = play(tmp_path, stub := Stub({}), "--resume")
    assert stub.played == []
    assert outcome.err.splitlines()[-1] == "arena: stage two: the contest is aborted"


def refused(folder: Path, text: str, *command: str) -> str:
    (folder / "cup.toml").write_text(text)
    outcome = inside(*command, "cup.toml", cwd=folder)
    assert outcome.code == 2
    return outcome.line


def test_what_is_refused_before_a_game(tmp_path: Path) -> None:
    (tmp_path / "again.toml").write_text(SEASON)
    assert refused(tmp_path, SEASON, "serve", "--port", "0", "again.toml") == (
        "arena: cup.toml: contest.name: 'cup-one' is that of again.toml, too"
    )
    late = SEASON.replace('name = "three"\n', 'name = "three"\nends_at = 2000-01-01T00:00:00\n')
    for command in (("serve", "--port", "0"), ("tournament",)):
        line = refused(tmp_path, late, *command)
        assert line.startswith("arena: cup.toml: stage 3: ends_at: expected a moment to come, got 2000-01-01")
    sent = SEASON + f'submit = true\ntoken_sha256 = "{"0" * 64}"\n'
    assert refused(tmp_path, sent, "serve") == (
        "arena: cup.toml: stage: expected no bot with submit, and no submissions.late, in a file of stages: "
        "a version is sent to one contest"
    )
    (tmp_path / "cup.toml").write_text(SEASON)
    # Where one file says how pages look, or what a game is, it may be that of a season.
    assert load_whole(tmp_path / "cup.toml").contest.name == "cup-one"
    assert refused(tmp_path, SEASON, "rehearse").endswith(
        "stage: expected a file of one contest here, got one of stages; "
        "arena serve, tournament and simulate play one"
    )


def test_owners_are_asked_for_by_one_stage(tmp_path: Path) -> None:
    """A round-robin and a knockout have no rule for them, a Swiss has."""
    path = tmp_path / "cup.toml"
    for form, count in (("round-robin", 3), ("swiss", 0)):
        path.write_text(SEASON.replace('format = "knockout"', f'format = "{form}"') + 'owner = "x"\n')
        idle = list(idle_keys_of_stages(load_stages(path), datetime.now(UTC)))
        assert len(idle) == count


OTHER = HEAD.replace('"cup"', '"vase"') + (
    '[[stage]]\nname = "all"\n[[stage]]\nname = "end"\nentrants_from = { stage = "all", after = 1 }\n'
    '[[bot]]\nname = "eve"\n[[bot]]\nname = "fay"\n[[bot]]\nname = "gus"\n'
)


def test_two_servers_between_two_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The season was read before the other one had begun the next stage: it begins once."""
    path, database = tmp_path / "cup.toml", tmp_path / "arena.db"
    path.write_text(SEASON)
    options = ServeOptions(database=f"sqlite:///{database}", port=0, web=WebOptions(web=False))

    def begun(spec: ContestSpec | None) -> Kept:
        assert spec is not None
        names = [entrant.name for entrant in spec.entrants]
        kept = Kept(database, ContestHeader(spec.config, {}, names, games=2, new=spec.new))
        entered = threading.Event()
        kept.find()
        kept.writer.enter(spec.config, entered.set)
        assert entered.wait(PATIENCE_S)
        return kept

    first = prepare([path], options)
    one = begun(first.specs[0])
    first.close()
    one.writer.store("g1", replace(game(1, ("ann", "bob"), (30, 10)), contest="cup-one"))
    assert one.next() == ["g1"]
    one.close("finished")
    first = prepare([path], options)
    (make, *_) = [each.make for each in first.planned]
    first.beginning.release()
    two: list[Kept] = []

    def lock(where: Database) -> BeginLock:
        two.append(begun(make()))
        return BeginLock(where)

    with monkeypatch.context() as patch:
        patch.setattr(ownership, "BeginLock", lock)
        with pytest.raises(StoreError) as refused:
            prepare([path], options)
    assert str(refused.value) == (
        f"{database}: contest 2 cup-two was begun by another server just now; "
        "stop that one, or start this one again"
    )
    with pytest.raises(StoreError) as refused:
        make()
    assert str(refused.value) == (
        f"{database}: contest 2 cup-two was begun by another server; one server is enough: stop this one"
    )
    two[0].close()
    first.close()
    prepare([path], options).close()  # it goes on with the second stage
    prepare([path], replace(options, new=True)).close()


@pytest.mark.real
def test_a_server_of_two_seasons_that_is_killed_between_stages(tmp_path: Path) -> None:
    """The same command goes on: each stage begins once, with the first of those before it."""
    (tmp_path / "other.toml").write_text(OTHER)
    other = str(tmp_path / "other.toml")
    players = [(name, "first-legal") for name in (*NAMES, "eve", "fay", "gus")]
    with Server(SEASON, tmp_path, "--web-port", "0", other) as server:
        assert server.process.stdout is not None
        url = server.process.stdout.readline().removeprefix("web on ").strip()
        Players(server.port, players).join()
        with urlopen(f"{url}/api/v1/site.json", timeout=PATIENCE_S) as answer:
            site = json.load(answer)
        server.end(signal.SIGKILL)
    stages = ["cup-one", "cup-two", "cup-three", "vase-all", "vase-end"]
    assert [each["contest"] for each in site["stages"]] == stages
    assert site["stages"][1] == {
        "id": None,
        "season": "cup",
        "stage": "two",
        "contest": "cup-two",
        "from": [{"stages": ["cup-one"], "first": 3, "after": 0, "by": "table"}],
    }
    for _ in range(2):  # the second time all is over
        with Server(SEASON, tmp_path, "--until-finished", other) as server:
            while server.process.poll() is None:  # they log in again after each BYE
                Players(server.port, players).join()
            outcome = server.end()
        assert outcome.code == 0, outcome.err
    with Results(tmp_path / "arena.db") as results:
        contests = results.contests()
        assert sorted(contest.name for contest in contests) == sorted(stages)
        tables = {contest.name: results.sums.standings(contest) for contest in contests}
    assert [len(tables[name]) for name in stages] == [4, 3, 2, 3, 2]
    second = tables["cup-two"][1].name  # who comes on is drawn by the seed of the first stage
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    for name in stages:
        assert inside("verify", "--contest", name, "--database", database).code == 0
    (tmp_path / "contest.toml").write_text(SEASON.replace("first = 3", "first = 2"))
    command = ("serve", "contest.toml", "--port", "0", "--database", database)
    outcome = inside(*command, cwd=tmp_path)
    assert (outcome.code, outcome.line.partition(" as contest")[0]) == (
        2,
        "arena: contest.toml: stage two: entrants_from: expected what it was when it began",
    )
    (tmp_path / "contest.toml").write_text(SEASON.replace(f'[[bot]]\nname = "{second}"\n', ""))
    outcome = inside(*command, cwd=tmp_path)
    assert (outcome.code, outcome.line.partition(", which plays in contest ")[0]) == (
        2,
        f"arena: contest.toml: stage two: expected [[bot]] {second}",
    )


def test_the_plan_of_a_season(tmp_path: Path) -> None:
    text = SEASON.replace("games_per_pair = 2", "games_per_pair = 2\nseed = 1").replace(
        'name = "two"\n', 'name = "two"\nformat = "ladder"\n'
    )
    (tmp_path / "cup.toml").write_text(text)
    outcome = inside(
        "simulate", "cup.toml", "--move-time", "5ms", "--runs", "3", "--time", "200ms", cwd=tmp_path
    )
    assert outcome.code == 0, outcome.err
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "cup: 3 stages"
    rows = {line.split()[0]: line.split() for line in lines if line.split()[1:2] != []}
    assert [rows[name][1:3] for name in ("one", "two", "three")] == [
        ["round-robin", "4"],
        ["ladder", "3"],
        ["knockout", "2"],
    ]
    assert "3 simulated seasons, seed 1" in lines
    assert "stage two has no end of its own: it is closed after 0.2s of play" in lines
    plain = json.loads(
        inside(
            "simulate",
            "cup.toml",
            "--move-time",
            "5ms",
            "--runs",
            "3",
            "--time",
            "200ms",
            "--json",
            cwd=tmp_path,
        ).out
    )
    assert (plain["season"], plain["runs"]) == ("cup", 3)
    assert [each["bots"]["p50"] for each in plain["stages"]] == [4, 3, 2]
    outcome = inside("simulate", "cup.toml", "--compare", cwd=tmp_path)
    assert (outcome.code, outcome.line) == (
        2,
        "arena: --compare: expected a file of one contest, got one of stages",
    )
    late = text.replace('name = "three"\n', 'name = "three"\nends_at = 2000-01-01T00:00:00\n')
    assert "stage 3: ends_at: expected a moment to come" in refused(tmp_path, late, "simulate")


def test_a_stage_that_ends_short_in_the_plan(tmp_path: Path) -> None:
    """Of two owners, whose bots do not meet each other: of three rounds two can be drawn."""
    owned = "".join(
        f'[[bot]]\nname = "{name}"\nowner = "{owner}"\n' for name, owner in zip(NAMES, "xxyy", strict=True)
    )
    stage = '[[stage]]\nname = "one"\nformat = "swiss"\nrounds = 3\nsame_owner = "never"\n'
    (tmp_path / "cup.toml").write_text(HEAD + stage + owned)
    outcome = inside("simulate", "cup.toml", "--move-time", "5ms", "--runs", "3", cwd=tmp_path)
    assert "stage one ends before its last round in 3 of them" in outcome.out.splitlines()
