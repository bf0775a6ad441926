"""Mistakes in a configuration: one line for each, which names file, key, expected and found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.terms.test_config_file import (
    BOTS,
    HIDDEN,
    HOOK,
    toml,
)
from tests.slices import all_of

from arena_protocol.games import GAMES
from arena_server.core.formats import FORMATS
from arena_server.errors import ConfigError
from arena_server.terms.file import check_remote_bots, parse_contest
from arena_server.terms.mistakes import KEYS
from arena_server.terms.schema import ContestFile

EVENTS = "game, probation, absence, begun, round, walkover, validation, stall, over, jury"


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_contest(text, "c.toml")
    assert caught.value.exit_code == 2
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("c.toml: ")
    return line.removeprefix("c.toml: ")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('open = "18-23"', "contest.open: expected hours such as '18:00-23:00', got '18-23'"),
        ("open = true", "contest.open: expected a text in quotes, got true"),
        (
            "ends_at = 9999-12-31T23:59:59-12:00",
            "contest.ends_at: expected a date with a time and without quotes, such as 2026-12-24T18:00:00, "
            "got 9999-12-31T23:59:59-12:00",
        ),
        (
            'ends_at = "tomorrow"',
            "contest.ends_at: expected a date with a time and without quotes, such as 2026-12-24T18:00:00, "
            "got 'tomorrow'",
        ),
        (
            "freeze_at = 2026-12-24",
            "contest.freeze_at: expected a date with a time and without quotes, such as 2026-12-24T18:00:00, "
            "got 2026-12-24",
        ),
    ],
)
def test_a_wrong_time(line: str, text: str) -> None:
    assert refusal(toml(contest=line)) == text


@all_of(
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
            f"webhook 1: events: expected some of {EVENTS}, each once, got ['games']",
        ),
        (
            f'secret = "{HIDDEN}"\nevents = []',
            f"webhook 1: events: expected some of {EVENTS}, each once, got []",
        ),
        (f'secret = "{HIDDEN}"\nbatch = 0', "webhook 1: batch: expected 1 or more, got 0"),
        (f'secret = "{HIDDEN}"\nbatch = 1001', "webhook 1: batch: expected 1000 or less, got 1001"),
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


@all_of(
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


@all_of(
    ("text", "line"),
    [
        (
            toml(contest=f"seed = 1{'0' * 400}"),
            f"contest.seed: expected a number of at most 400 digits, got 1{'0' * 56}...",
        ),
        (
            toml(contest=f"seed = 1{'0' * 5000}"),
            "not a TOML file: a number has too many digits",
        ),
        *(
            (text, f"{key}: expected a text without the character \\u0000")
            for key, text in {
                "game.library": toml(game='library = "a\\u0000"'),
                "bot.command": toml(bots='[[bot]]\nname = "a"\ncommand = ["a", "\\u0000"]'),
            }.items()
        ),
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
        (
            toml(more='[site]\ntitle = "a\\u202eb"'),
            "site.title: expected a text of one line without control characters, got 'a\\u202eb'",
        ),
        (
            toml(more='[[bot]]\nname = "zoe"\nauthor = "a\\nb"'),
            "bot 1: author: expected a text of one line without control characters, got 'a\\nb'",
        ),
        (toml(more='[site]\ntitel = "x"'), "site.titel: unknown key; did you mean 'title'?"),
        (toml(more="x = " + "[" * 5000), "not a TOML file: too many brackets within each other"),
        (toml(more="[sever]\nport = 1"), "sever: unknown key; did you mean 'server'?"),
        (
            toml(more="[server]\nzzz = 1"),
            "server.zzz: unknown key; known here: admin_host, admin_port, bot_logs, host, journal_commit, "
            "max_connections, max_spectators, play, port, role, spectators_per_address, tls_certificate, "
            "tls_key, web, web_embed, web_host, web_names, web_port, web_proxies",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\n[[bot]]\nname = "b"\nengin = "x"'),
            "bot 2: engin: unknown key; did you mean 'engine'?",
        ),
        (
            toml(more='[server]\nweb_proxies = ["nginx"]'),
            'server.web_proxies: expected addresses or networks such as "127.0.0.1", "10.0.0.0/8", got '
            "'nginx'",
        ),
        (
            toml(more='[server]\nweb_embed = ["https://example.org/page"]'),
            'server.web_embed: expected origins such as "https://example.org", got '
            "'https://example.org/page'",
        ),
        (toml(contest='seed = "x"'), "contest.seed: expected a whole number, got 'x'"),
        (toml(contest="seed = -1"), "contest.seed: expected 0 or more, got -1"),
        (toml(contest="announce_zombies = 1"), "contest.announce_zombies: expected true or false, got 1"),
        (toml(contest="games_per_pair = true"), "contest.games_per_pair: expected a whole number, got true"),
        (
            toml(contest="scoring = 3"),
            "contest.scoring: expected 'points', 'wins' or values such as { win = 3, draw = 1, loss = 0 }, "
            "got 3",
        ),
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
        (
            toml(contest="teams = { best = 0 }"),
            "contest.teams: expected { best = k }, how many bots of a team count, 1 to 1,000, "
            "got { best = 0 }",
        ),
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
            toml(bots='[[bot]]\nname = "a"\nresources = { GPU = 0 }\n[[bot]]\nname = "b"'),
            "bot 1: resources: expected amounts above 0 by name, such as { GPU = 1 }, got GPU = 0",
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
            "bot 1: pids: expected image, build or submit beside it, got none of them",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nengine = "x"\nponder = "off"\n[[bot]]\nname = "b"'),
            "bot 1: ponder: expected image, build or submit beside it, got none of them",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nimage = "x"\nponder = "no"\n[[bot]]\nname = "b"'),
            "bot 1: ponder: expected 'on' or 'off', got 'no'",
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
            toml(bots='[[bot]]\nname = "a"\nurl = "javascript:alert(1)"\n[[bot]]\nname = "b"'),
            "bot 1: url: expected a url such as https://HOST/PATH, or none, got 'javascript:alert(1)'",
        ),
        (
            toml(bots='[[bot]]\nname = "a"\nsubmit = true\n[[bot]]\nname = "b"'),
            "bot 1: submit: expected token_sha256 beside it, the digest of its author's token, got none",
        ),
        (
            toml(more="[submissions]\nimages = []"),
            "submissions.images: expected a list with an entry, got []",
        ),
        (
            toml(more='[submissions]\nimages = ["--privileged"]'),
            "submissions.images: expected names of images such as \"python:3.12-slim\", got '--privileged'",
        ),
        (
            toml(more='[submissions.languages]\nperl = "perl:5"'),
            "submissions.languages: expected languages among bash, c, cpp, go, java, javascript, python, "
            "rust, got 'perl'",
        ),
        (
            toml(more='[submissions]\nimages = ["a:1", "b"]\nlanguages = { c = "gcc:13" }'),
            "submissions.languages: c: expected one of images (a:1, b), got 'gcc:13'",
        ),
        (
            toml(more='[submissions]\nbuild_time = "0s"'),
            "submissions.build_time: expected a duration of at least 1s, got '0s'",
        ),
        (
            toml(more="[submissions]\nper_hour = 0"),
            "submissions.per_hour: expected 1 or more, got 0",
        ),
        (
            toml(more="[server]\nbot_logs = true"),
            'server.bot_logs: expected the folder for the files, in quotes, such as "bot-logs", got true',
        ),
    ],
)
def test_every_mistake_is_one_clear_line(text: str, line: str) -> None:
    assert refusal(text) == line


def test_every_table_of_a_file_has_its_keys_for_a_misspelt_one() -> None:
    assert KEYS.keys() >= ContestFile.model_fields.keys()


def test_a_long_value_is_cut() -> None:
    line = refusal(toml(contest=f'format = "{"x" * 500}"'))
    assert len(line) < 190
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
