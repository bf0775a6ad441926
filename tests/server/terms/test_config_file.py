"""The configuration: defaults, what each key and table becomes, libraries, files that cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.terms.config import NO_TOKEN
from arena_server.terms.file import (
    config_of,
    entrants_of,
    late_versions_of,
    load_contest,
    parse_contest,
    submissions_of,
    timetable_of,
    webhooks_of,
)
from arena_server.terms.sandbox import ContainerLimits
from arena_server.terms.spec import LateVersions, Webhook
from arena_server.terms.submissions import SubmissionRules, SubmittedSeat
from arena_server.terms.terms import LONGEST_MS
from arena_server.terms.timetable import Timetable, parse_hours

DIGEST = "0" * 64
BOTS = '[[bot]]\nname = "a"\n[[bot]]\nname = "b"\n'


def toml(contest: str = "", game: str = "", more: str = "", bots: str = "") -> str:
    """A small right file, with these lines added to its tables."""
    tail = bots or BOTS
    return f'[contest]\nname = "trial"\n{contest}\n[game]\n{game}\n{more}\n{tail}'


def test_the_defaults_are_those_of_the_documents() -> None:
    config = config_of(parse_contest(toml(), "c.toml"))
    assert (config.game, config.format, config.games_per_pair, config.scoring) == (
        "insertion",
        "round-robin",
        8,
        "points",
    )
    assert (config.clock_ms, config.increment_ms, config.margin_ms, config.ready_ms) == (20_000, 0, 0, 30_000)
    assert (config.probation, config.absent_ms, config.announce_zombies) == (3, None, False)
    assert (config.out_of_turn_limit, config.flood_limit, config.spectator_delay_ms) == (10, 100, 5000)


def test_a_timetable() -> None:
    times = 'open = "22:00-06:00"\nends_at = 2026-12-24T18:00:00+01:00\nfreeze_at = 2026-12-24T17:00:00Z'
    file = parse_contest(toml(contest=times), "c.toml")
    table = timetable_of(file)
    assert table.hours == parse_hours("22:00-06:00")
    assert table.ends_at == table.freeze_at == datetime(2026, 12, 24, 17, tzinfo=UTC)
    assert config_of(file).freeze_at_ms == 1_798_131_600_000
    file = parse_contest(toml(contest="ends_at = 2026-12-24T18:00:00"), "c.toml")
    assert timetable_of(file).ends_at == datetime(2026, 12, 24, 18).astimezone()
    assert timetable_of(parse_contest(toml(), "c.toml")) == Timetable()
    file = parse_contest(toml(contest="starts_at = 2026-12-24T18:00:00+01:00\nquorum = 8"), "c.toml")
    assert timetable_of(file) == Timetable(starts_at=datetime(2026, 12, 24, 17, tzinfo=UTC))
    assert file.contest.quorum == 8


def test_a_contest_without_a_seed_draws_a_secret_of_256_bits() -> None:
    file = parse_contest(toml(), "c.toml")
    seeds = {config_of(file).seed for _ in range(20)}
    assert len(seeds) == 20
    assert 2**200 < max(seeds) < 2**256


def test_tokens_come_from_the_file_or_from_the_starter_of_the_bots() -> None:
    bots = f'[[bot]]\nname = "guest"\ntoken_sha256 = "{DIGEST}"\n[[bot]]\nname = "ours"\nengine = "greedy"\n'
    file = parse_contest(toml(bots=bots + '[[bot]]\nname = "open"\n'), "c.toml")
    entrants = entrants_of(file, {"ours": "1" * 64, "guest": "2" * 64})
    assert [(each.name, each.token_sha256) for each in entrants] == [
        ("guest", DIGEST),
        ("ours", "1" * 64),
        ("open", None),
    ]
    assert [bot.is_local for bot in file.bot] == [False, True, False]


HOOK = '[[webhook]]\nurl = "https://example.org/t0ken"\n'
HIDDEN = "k3y of the receiver"


def test_webhooks() -> None:
    file = parse_contest(toml(bots=BOTS + f'{HOOK}secret = "{HIDDEN}"\nevents = ["game"]'), "c.toml")
    assert webhooks_of(file) == [Webhook("https://example.org/t0ken", HIDDEN, frozenset({"game"}))]
    assert webhooks_of(parse_contest(toml(), "c.toml")) == []
    file = parse_contest(toml(bots=BOTS + f'{HOOK}secret = "{HIDDEN}"\nbatch = 100'), "c.toml")
    assert [hook.batch for hook in webhooks_of(file)] == [100]


def test_the_secret_of_a_webhook_in_a_file(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(toml(bots=f'{BOTS}{HOOK}secret_file = "hook.secret"'))
    with pytest.raises(ConfigError, match=r"c\.toml: webhook 1: secret_file: .*hook\.secret: no such file$"):
        load_contest(config)
    (tmp_path / "hook.secret").write_text("short")
    with pytest.raises(ConfigError, match="webhook 1: secret_file: expected a text of 16 or more") as refused:
        load_contest(config)
    assert "short" not in str(refused.value)
    (tmp_path / "hook.secret").write_text(f"{HIDDEN}\n")
    assert [hook.secret for hook in webhooks_of(load_contest(config))] == [HIDDEN]


def test_a_bot_in_a_container() -> None:
    bots = (
        '[[bot]]\nname = "a"\nimage = "x:1"\ncommand = ["./a"]\nmemory = "64MB"\n'
        '[[bot]]\nname = "b"\nbuild = "b"\n'
    )
    contained, built = parse_contest(toml(bots=bots), "c.toml").bot
    assert (contained.in_container, contained.is_local, contained.image, contained.memory) == (
        True,
        True,
        "x:1",
        64_000_000,
    )
    assert (built.in_container, built.is_local, built.build, built.memory) == (True, True, "b", None)


class TestLibrary:
    STARTS = ("x../.../...", ".x./.../...")

    def files(self, tmp_path: Path, game: str = 'library = "starts.jsonl"') -> Path:
        """A contest beside a library of two positions."""
        lines = [f'{{"game": "tictactoe", "state": "{state}"}}\n' for state in self.STARTS]
        (tmp_path / "starts.jsonl").write_text("".join(lines))
        path = tmp_path / "c.toml"
        path.write_text(toml(contest='game = "tictactoe"', game=game))
        return path

    def test_games_start_from_the_library_of_the_file_or_of_the_command_line(self, tmp_path: Path) -> None:
        path = self.files(tmp_path)
        assert config_of(load_contest(path)).options == {"board": "|".join(self.STARTS)}
        other = tmp_path / "other.jsonl"
        other.write_text('{"game": "tictactoe", "state": "../../.."}\n'.replace("../../..", "o../.x./..."))
        assert config_of(load_contest(path, other)).options == {"board": "o../.x./..."}

    @pytest.mark.parametrize(
        ("game", "line"),
        [
            ('library = "nowhere.jsonl"', "nowhere.jsonl: no such file"),
            ('library = "c.toml"', "c.toml: line 1 of the library: expected a JSON object"),
            ("library = 3", "game.library: expected a text in quotes, got 3"),
            (
                'library = "starts.jsonl"\nsize = 4',
                "starts.jsonl: a game starts from 1 to 256 positions of a library; 0 are of tictactoe",
            ),
            (
                'library = "starts.jsonl"\nboard = "x../.../..."',
                "c.toml: game.library: expected either game.board or a library, got both",
            ),
        ],
    )
    def test_a_wrong_library_is_one_line(self, tmp_path: Path, game: str, line: str) -> None:
        with pytest.raises(ConfigError) as refused:
            load_contest(self.files(tmp_path, game))
        assert line in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_an_opening_and_a_library_exclude_each_other(self, tmp_path: Path) -> None:
        path = self.files(tmp_path)
        path.write_text(toml(contest='game = "xo"', game='opening = 2\nlibrary = "xo.jsonl"'))
        (tmp_path / "xo.jsonl").write_text(f'{{"game": "xo", "state": "{"/".join(["." * 10] * 10)}"}}\n')
        with pytest.raises(ConfigError, match=r"xo.jsonl: xo: give either opening or board, not both"):
            load_contest(path)


class TestFiles:
    def test_a_file_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "c.toml"
        path.write_text(toml())
        assert load_contest(path).contest.name == "trial"

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"nowhere.toml: no such file$"):
            load_contest(tmp_path / "nowhere.toml")

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"cannot be read: Is a directory$"):
            load_contest(tmp_path)

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        path = tmp_path / "c.toml"
        path.write_bytes(b"name = '\xff'")
        with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 8\)$"):
            load_contest(path)


def test_no_clock_is_the_longest_one() -> None:
    assert config_of(parse_contest(toml(game='clock = "none"'), "c.toml")).clock_ms == LONGEST_MS


class TestSubmissions:
    BOTS = (
        '[[bot]]\nname = "a"\n[[bot]]\nname = "b"\nsubmit = true\nconcurrency = 2\ncpus = 0.5\n'
        f'token_sha256 = "{"1" * 64}"'
    )

    def test_the_bots_whose_authors_send_them(self, tmp_path: Path) -> None:
        more = '[submissions]\nper_hour = 2\nfolder = "sent"\ntime_per_day = "4h"\n'
        more += '[container]\nmemory = "64MB"'
        file = parse_contest(toml(bots=self.BOTS, more=more), "c.toml")
        setup = submissions_of(file, tmp_path / "c.toml", tmp_path / "beside")
        assert setup is not None
        limits = ContainerLimits(cpus=0.5, memory=64_000_000)
        assert setup.bots == {"b": SubmittedSeat(2, limits)}
        assert (setup.folder, setup.rules.per_hour, setup.seats) == (tmp_path / "sent", 2, 2)
        assert setup.rules.per_day_ms == SubmissionRules().per_day_ms  # the default may be said

    def test_without_a_folder_it_is_beside_the_database(self, tmp_path: Path) -> None:
        file = parse_contest(toml(bots=self.BOTS), "c.toml")
        setup = submissions_of(file, tmp_path / "c.toml", tmp_path / "beside")
        assert setup is not None
        assert setup.folder == tmp_path / "beside"
        with pytest.raises(ConfigError, match=r"^c\.toml: submissions\.folder: expected a folder"):
            submissions_of(file, Path("c.toml"), None)

    def test_those_that_come_late_have_the_limits_of_all(self, tmp_path: Path) -> None:
        more = '[submissions]\nlate = 3\n[container]\nmemory = "64MB"\nponder = "off"'
        file = parse_contest(toml(more=more), "c.toml")
        assert (file.takes_versions, late_versions_of(file)) == (True, LateVersions(3, ponders=False))
        setup = submissions_of(file, tmp_path / "c.toml", tmp_path / "beside")
        assert setup is not None
        assert (setup.bots, setup.seat("a").limits.memory) == ({}, 64_000_000)

    def test_none_is_sent(self) -> None:
        assert submissions_of(parse_contest(toml(), "c.toml"), Path("c.toml"), None) is None

    def test_only_what_the_server_starts_logs_in_to_play(self) -> None:
        remote, sent = entrants_of(parse_contest(toml(bots=self.BOTS), "c.toml"))
        assert (remote.token_sha256, remote.author_sha256) == (None, None)
        assert sent.author_sha256 == "1" * 64
        assert sent.token_sha256 == NO_TOKEN


@all_of(
    ("shared", "own", "frozen"),
    [("", "", ""), ("off", "", "bcd"), ("on", "off", "b"), ("off", "on", "cd"), ("", "off", "b")],
)
def test_who_is_frozen_in_the_time_of_the_others(shared: str, own: str, frozen: str) -> None:
    """Only what runs in containers: b has a key of its own, a is an engine."""
    container = f'[container]\nponder = "{shared}"\n' if shared else ""
    key = f'ponder = "{own}"\n' if own else ""
    text = (
        f'[contest]\nname = "x"\n{container}[[bot]]\nname = "a"\nengine = "dummy"\n'
        f'[[bot]]\nname = "b"\nimage = "b:1"\n{key}[[bot]]\nname = "c"\nbuild = "c"\n'
        f'[[bot]]\nname = "d"\nsubmit = true\ntoken_sha256 = "{"1" * 64}"\n'
    )
    entrants = entrants_of(parse_contest(text, "c.toml"))
    assert [each.name for each in entrants if not each.ponders] == list(frozen)
