"""The configuration: defaults, and for every mistake one line that names file, key, expected and found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import GAMES
from arena_server.config_file import (
    check_remote_bots,
    config_of,
    entrants_of,
    load_contest,
    parse_contest,
    timetable_of,
    webhooks_of,
)
from arena_server.config_schema import ContestFile
from arena_server.core.config import LONGEST_MS
from arena_server.core.formats import FORMATS
from arena_server.errors import ConfigError
from arena_server.spec import Webhook
from arena_server.timetable import Timetable, parse_hours

DIGEST = "0" * 64
BOTS = '[[bot]]\nname = "a"\n[[bot]]\nname = "b"\n'


def toml(contest: str = "", game: str = "", more: str = "", bots: str = "") -> str:
    """A small right file, with these lines added to its tables."""
    tail = bots or BOTS
    return f'[contest]\nname = "trial"\n{contest}\n[game]\n{game}\n{more}\n{tail}'


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_contest(text, "c.toml")
    assert caught.value.exit_code == 2
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("c.toml: ")
    return line.removeprefix("c.toml: ")


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


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('open = "18-23"', "contest.open: expected hours such as '18:00-23:00', got '18-23'"),
        ("open = true", "contest.open: expected a text in quotes, got true"),
        (
            'ends_at = "tomorrow"',
            "contest.ends_at: expected a date with a time and without quotes, such as 2026-12-24T18:00:00, "
            "got 'tomorrow'",
        ),
        (
            "freeze_at = 2026-12-24",
            "contest.freeze_at: expected a date with a time and without quotes, such as 2026-12-24T18:00:00, "
            "got datetime.date(2026, 12, 24)",
        ),
    ],
)
def test_a_wrong_time(line: str, text: str) -> None:
    assert refusal(toml(contest=line)) == text


def test_every_key_reaches_the_config() -> None:
    text = toml(
        contest=(
            'deals = "paired"\ngames_per_pair = 8\nscoring = "wins"\nseed = 2006\nprobation = 0\n'
            'ready = "5s"\nabsent = "1m"\nrest = "2s"\n'
            'announce_zombies = true\nspectator_delay = "3s"\nout_of_turn_limit = 4\nflood_limit = 50'
        ),
        game=(
            'first_move_limit = "9s"\nclock = "7s"\nincrement = "100ms"\nmargin = "5ms"\n'
            'plies = 20\ncolours = 4\nstart = "empty"'
        ),
    )
    config = config_of(parse_contest(text, "c.toml"))
    assert (config.name, config.games_per_pair, config.scoring, config.seed) == ("trial", 8, "wins", 2006)
    assert (config.probation, config.ready_ms, config.absent_ms, config.announce_zombies) == (
        0,
        5_000,
        60_000,
        True,
    )
    assert (config.spectator_delay_ms, config.out_of_turn_limit, config.flood_limit) == (3_000, 4, 50)
    assert (config.clock_ms, config.increment_ms, config.margin_ms) == (7_000, 100, 5)
    assert (config.first_move_limit_ms, config.rest_ms) == (9_000, 2_000)
    assert config.options == {"plies": 20, "colours": 4, "start": "empty"}


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


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("", "webhook 1: expected secret or secret_file, got neither"),
        (
            f'secret = "{HIDDEN}"\nsecret_file = "x"',
            "webhook 1: expected secret or secret_file, got both",
        ),
        ('secret = "k3y"', "webhook 1: secret: expected a text of 16 or more characters, got another one"),
        ("secret = 13131313", "webhook 1: secret: expected a text of 16 or more characters, got another one"),
        (
            'secret = "whsec_k3y of the receiver"',
            "webhook 1: secret: expected base64 behind whsec_, got something else",
        ),
        (
            "secret_file = 7",
            "webhook 1: secret_file: expected the name of a file in quotes, got something else",
        ),
        (
            f'secret = "{HIDDEN}"\nevents = ["games"]',
            "webhook 1: events: expected some of game, probation, absence, each once, got ['games']",
        ),
        (
            f'secret = "{HIDDEN}"\nevents = []',
            "webhook 1: events: expected some of game, probation, absence, each once, got []",
        ),
        (f'secret = "{HIDDEN}"\nurls = 1', "webhook 1: urls: unknown key; did you mean 'url'?"),
        (
            f'secret = "{HIDDEN}"\n{HOOK}secret = "{HIDDEN}"',
            "webhook: expected every webhook to have a url of its own, got one twice",
        ),
    ],
)
def test_a_wrong_webhook_shows_no_value(keys: str, line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_contest(toml(bots=BOTS + HOOK + keys), "c.toml")
    assert str(refused.value) == f"c.toml: {line}"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/t0ken",
        "https://ann:k3y@example.org/",
        "https://example.org/t0ken k3y",
        "https://ex\u00e4mple.org/",
        "https:///t0ken",
        "t0ken",
    ],
)
def test_a_wrong_address_of_a_webhook(url: str) -> None:
    text = toml(bots=f'{BOTS}[[webhook]]\nurl = "{url}"\nsecret = "{HIDDEN}"')
    with pytest.raises(ConfigError) as refused:
        parse_contest(text, "c.toml")
    assert str(refused.value) == (
        "c.toml: webhook 1: url: expected https://HOST/PATH or http://HOST/PATH without a user name, "
        "got something else"
    )


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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (toml(contest="probatoin = 1"), "contest.probatoin: unknown key; did you mean 'probation'?"),
        (toml(contest='clock = "1s"'), "contest.clock: unknown key; it belongs in [game]"),
        (toml(game='engine = "x"'), "game.engine: unknown key; it belongs in [[bot]]"),
        (
            toml(bots='[[bot]]\nname = "a"\n[[bot]]\nname = "b"\ntoken = "x"'),
            "bot 2: token: unknown key; did you mean 'token_sha256'?",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\n[[bot]]\nname = "b"\ncommand = "python b.py"'),
            'bot 2: command: expected a list of words, ["python", "b.py"], got a text',
        ),
        (toml(game='clok = "1s"'), "game.clok: unknown key; did you mean 'clock'?"),
        (toml(more="[sever]\nport = 1"), "sever: unknown key; did you mean 'server'?"),
        (
            toml(more="[server]\nzzz = 1"),
            "server.zzz: unknown key; known here: admin_host, admin_port, bot_logs, host, journal_commit, "
            "max_connections, max_spectators, play, port, spectators_per_address, tls_certificate, tls_key, "
            "web, web_host, web_names, web_port",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\n[[bot]]\nname = "b"\nengin = "x"'),
            "bot 2: engin: unknown key; did you mean 'engine'?",
        ),
        (toml(contest='seed = "x"'), "contest.seed: expected a whole number, got 'x'"),
        (toml(contest="seed = -1"), "contest.seed: expected 0 or more, got -1"),
        (toml(contest="announce_zombies = 1"), "contest.announce_zombies: expected true or false, got 1"),
        (toml(contest="games_per_pair = true"), "contest.games_per_pair: expected a whole number, got true"),
        (toml(contest="scoring = 3"), "contest.scoring: expected 'points' or 'wins', got 3"),
        (
            toml(contest='format = "league"'),
            f"contest.format: expected one of {', '.join(FORMATS)}, got 'league'",
        ),
        (
            toml(contest='format = "single"'),
            f"contest.format: expected one of {', '.join(FORMATS)}, got 'single'",
        ),
        (
            toml(contest="challengers = 1"),
            "contest.challengers: not an option of round-robin; its options: none",
        ),
        (
            toml(contest='format = "gauntlet"\nchallengers = "b"'),
            "contest.challengers: expected a whole number, got 'b'",
        ),
        (
            toml(contest='format = "gauntlet"\nchallengers = 0'),
            "contest.challengers: expected 1 to 10000, got 0",
        ),
        (
            toml(contest='format = "gauntlet"\nchallengers = 2'),
            "contest.challengers: expected at most 1 of 2 bots, so that a field is left for 2 seats, got 2",
        ),
        (toml(contest="chalengers = 2"), "contest.chalengers: unknown key; did you mean 'challengers'?"),
        (toml(contest="format_options = {}"), "contest.format_options: unknown key; did you mean 'format'?"),
        (
            toml(contest='format = "matches"', bots="".join(f'[[bot]]\nname = "{name}"\n' for name in "abc")),
            'contest.format: expected a multiple of 2 bots for "matches" in 2 seats, got 3',
        ),
        (toml(contest='game = "go"'), f"contest.game: expected one of {', '.join(sorted(GAMES))}, got 'go'"),
        (
            toml(contest="games_per_pair = 3"),
            "contest.games_per_pair: expected a multiple of 2, so that every bot has each seat "
            "equally often, got 3",
        ),
        (
            toml(game="clock = 20"),
            "game.clock: expected a duration such as '500ms', '20s', '2m' or '1h', got 20",
        ),
        (toml(game='clock = "0s"'), "game.clock: expected a duration of at least 1ms, got '0s'"),
        (toml(game='clock = "241h"'), "game.clock: expected a duration of at most 240h, got '241h'"),
        (toml(game='increment = "1h"'), "game.increment: expected a duration of at most 10m, got '1h'"),
        (
            toml(game='increment = "1.5ms"'),
            "game.increment: expected a whole number of milliseconds, got '1.5ms'",
        ),
        (toml(game="plies = 0"), "game: insertion: plies is a whole number from 1 to 60000, not 0"),
        (toml(game='plies = "200"'), "game.plies: expected a number without quotes, got '200'"),
        (toml(game="seats = 3"), "bot: expected at least 3, for 3 seats, got 2"),
        (toml(more="[server]\nport = 70000"), "server.port: expected 65535 or less, got 70000"),
        (
            toml(more='[server]\njournal_commit = "off"'),
            "server.journal_commit: expected 'sync' or 'async', got 'off'",
        ),
        (toml(more='[server]\nhost = ""'), "server.host: expected a text that is not empty, got ''"),
        ('[contest]\nname = "t"', "bot: missing"),
        ("bot = []\ncontest = 3", "contest: expected a table, got 3"),
        ('bot = "x"\n[contest]\nname = "t"', "bot: expected a list, got 'x'"),
        ('bot = ["x"]\n[contest]\nname = "t"', "bot 1: expected a table, got 'x'"),
        (toml(bots='[[bot]]\nname = "a"'), "bot: expected at least 2, for 2 seats, got 1"),
        (toml(bots="[[bot]]\n[[bot]]\n"), "bot 1: name: missing (and 1 more)"),
        (
            toml(bots='[[bot]]\nname = "a b"\n[[bot]]\nname = "c"'),
            "bot 1: name: expected 1 to 32 letters, digits, '_', '.' or '-', "
            "a letter or digit first, got 'a b'",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\n[[bot]]\nname = "a"'),
            "bot: expected every bot to have a name of its own, got 'a' twice",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nengine = "x"\ncommand = ["y"]\n[[bot]]\nname = "b"'),
            "bot 1: expected at most one of engine, command, image, build, token_sha256 and person, "
            "got engine and command",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nimage = "x"\nbuild = "y"\n[[bot]]\nname = "b"'),
            "bot 1: expected at most one of engine, command, image, build, token_sha256 and person, "
            "got image and build",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nengine = "x"\npids = 3\n[[bot]]\nname = "b"'),
            "bot 1: pids: expected image or build beside it, got neither",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nimage = "x"\nmemory = 3\n[[bot]]\nname = "b"'),
            'bot 1: memory: expected a size such as "512MB", got 3',
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nimage = "x"\nmemory = "5MB"\n[[bot]]\nname = "b"'),
            "bot 1: memory: expected \"6MB\" or more, got '5MB'",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nimage = "x"\ncpus = 0\n[[bot]]\nname = "b"'),
            "bot 1: cpus: expected 0.01 or more, got 0",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\ncommand = []\n[[bot]]\nname = "b"'),
            "bot 1: command: expected a list with an entry, got []",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\ntoken_sha256 = "FF"\n[[bot]]\nname = "b"'),
            "bot 1: token_sha256: expected 64 hexadecimal digits in lower case, got 'FF'",
        ),
        (
            toml(contest="name = 1\n").replace('name = "trial"\n', ""),
            "contest.name: expected a text in quotes, got 1",
        ),
        (
            toml(more="[server]\nbot_logs = true"),
            'server.bot_logs: expected the folder for the files, in quotes, such as "bot-logs", got true',
        ),
    ],
    ids=lambda value: value[:40] if not value.startswith("[") else "",
)
def test_every_mistake_is_one_clear_line(text: str, line: str) -> None:
    assert refusal(text) == line


def test_a_long_value_is_cut() -> None:
    line = refusal(toml(contest=f'format = "{"x" * 500}"'))
    assert len(line) < 170
    assert line.endswith("...")


def test_text_that_is_no_toml() -> None:
    assert (
        refusal("[contest")
        == "not a TOML file: Expected ']' at the end of a table declaration (at end of document)"
    )


@given(st.text(max_size=60))
def test_any_text_gives_a_configuration_or_one_line(text: str) -> None:
    refused = ""
    try:
        parse_contest(toml(contest=text), "c.toml")
    except ConfigError as error:
        refused = str(error)
    assert "\n" not in refused


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


def remote_file(game: str = "", contest: str = "") -> ContestFile:
    return parse_contest(toml(contest, game), "c.toml")


@pytest.mark.parametrize(
    ("file", "options", "line"),
    [
        (
            remote_file('clock = "none"'),
            {},
            r"^game.clock: expected a clock where bots connect by themselves \(a, b\)",
        ),
        (remote_file(), {"debug_bot": "a"}, r"^--debug-bot: expected a contest without remote bots \(a, b\)"),
        (
            remote_file(),
            {"debug_bot": "x"},
            r"^--debug-bot: expected the name of a bot of the contest, got 'x'$",
        ),
        (
            remote_file(contest="seed = 1"),
            {},
            "^contest.seed: expected no seed where bots connect by themselves",
        ),
    ],
)
def test_what_is_refused_where_remote_bots_take_part(
    file: ContestFile, options: dict[str, str], line: str
) -> None:
    with pytest.raises(ConfigError, match=line):
        check_remote_bots(file, "0.0.0.0", tournament=False, **options)
    if options.get("debug_bot") != "x":
        check_remote_bots(file, "127.0.0.1", tournament=False, **options)


def test_no_clock_is_the_longest_one() -> None:
    assert config_of(remote_file('clock = "none"')).clock_ms == LONGEST_MS
