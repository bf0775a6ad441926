"""Both shells, test by test the same: one bot, one scripted server, real sockets, no waiting for time."""

from __future__ import annotations

import inspect
import itertools
import logging
import re
import threading

import pytest

from arena_client import Bot, ClientError, GameView, Result, asyncio_shell, trio_shell
from arena_client.patience import Patience
from arena_client.player import SILENT, Player

from .conftest import EAGER, Driver
from .fake_server import (
    BYE,
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    PLAYED_3,
    PLAYED_4,
    START,
    TURN_1,
    TURN_3,
    UNIT,
    Connection,
    FakeServer,
    play_game,
)


def four(view: GameView) -> int:
    return 4


class Diary(Bot):
    """Plays 4 and writes down what it was told, and on which thread."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.threads: set[threading.Thread] = set()

    def new_game(self, view: GameView) -> None:
        self.threads.add(threading.current_thread())
        self.told.append(("new", view.game_id))

    def choose(self, view: GameView) -> int:
        self.threads.add(threading.current_thread())
        self.told.append(("choose", view.ply, view.board, view.visible))
        return 4

    def game_over(self, view: GameView, result: Result) -> None:
        self.told.append(("over", result.totals))


class Instant(Diary):
    instant = True


class Thinker(Bot):
    """Thinks until it is let go; `asked` tells that it does."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.times = 0

    def choose(self, view: GameView) -> int:
        self.times += 1
        self.asked.set()
        assert self.let_go.wait(20)
        return 4


def whole_visit(connection: Connection) -> None:
    connection.log_in()
    play_game(connection)
    connection.say(BYE)
    connection.expect_end()


@pytest.mark.parametrize("make", [Diary, Instant])
def test_a_whole_visit(driver: Driver, server: FakeServer, make: type[Diary]) -> None:
    server.follow(whole_visit)
    bot = make()
    assert driver.play(bot, server.port) == "finished"
    assert bot.told == [
        ("new", "g1"),
        ("choose", 1, "53351/34233/13552/44215/44526", "61"),
        ("choose", 3, "1.351/5.423/6.552/14215/44526", "63"),
        ("over", (60, 0)),
    ]
    on_the_loop = bot.threads == {threading.main_thread()}
    assert len(bot.threads) == 1
    assert on_the_loop == bot.instant


def test_the_token_is_sent_and_games_are_listed(driver: Driver, server: FakeServer) -> None:
    class Picky(Diary):
        games = ("insertion", "xo")

    def script(connection: Connection) -> None:
        hello = connection.log_in()
        assert hello == "HELLO 1 me games=insertion,xo token=s3cret agent=arena-client"
        connection.say(BYE)

    server.follow(script)
    assert driver.play(Picky, server.port, token="s3cret") == "finished"


def test_ping_is_answered_while_the_bot_thinks(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        connection.settle("while-thinking")
        assert not connection.says_anything()
        bot.let_go.set()
        connection.expect("MOVE 4")
        connection.say(PLAYED_1, PLAYED_2, TURN_3)
        connection.expect("MOVE 4")
        connection.say(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_byte_by_byte(driver: Driver, server: FakeServer) -> None:
    """The server's bytes come one a segment; the answers do not change."""

    class Dripping(Connection):
        def send(self, data: bytes) -> None:
            for byte in data:
                super().send(bytes([byte]))

    server.follow(lambda connection: whole_visit(Dripping(connection.sock)))
    bot = Diary()
    assert driver.play(bot, server.port) == "finished"
    assert [entry[0] for entry in bot.told if isinstance(entry, tuple)] == ["new", "choose", "choose", "over"]


def test_pause_in_the_middle_of_a_line(driver: Driver, server: FakeServer) -> None:
    """Half a line asks for nothing; the client waits for the rest, however long it takes."""
    bot = Diary()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START)
        connection.send(b"PING a\nTURN 1 clock=20000,")
        connection.expect("PONG a")
        assert ("choose", 1) not in [entry[:2] for entry in bot.told if isinstance(entry, tuple)]
        connection.send(b"20000 lag=0 credit=0\n")
        connection.expect("MOVE 4")
        connection.say(PLAYED_1, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_slow_reader(driver: Driver, server: FakeServer) -> None:
    """A server that does not read is not read from: nothing piles up, and nothing is lost later."""
    token = "x" * 900

    def script(connection: Connection) -> None:
        connection.log_in()
        times, rest = connection.stuff(f"PING {token}")
        for _ in range(times - bool(rest)):
            connection.expect(f"PONG {token}")
        connection.send(rest)
        if rest:
            connection.expect(f"PONG {token}")
        connection.settle()
        connection.say(BYE)

    server.follow(script)
    assert driver.play(four, server.port) == "finished"


def test_the_end_of_a_connection_is_the_start_of_the_next(driver: Driver, server: FakeServer) -> None:
    """EOF in mid-game: the seat is taken up by the resume token, and the ply is answered there."""
    bot = Diary()

    def first(connection: Connection) -> None:
        assert "resume" not in connection.log_in(resume="secret1")
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("MOVE 4")
        connection.say(PLAYED_1)
        connection.settle()

    def second(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1")
        connection.expect("HELLO 1 me resume=secret1 agent=arena-client")
        connection.say("WELCOME me session=s2 resume=secret2")
        connection.say(OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3)
        heard = connection.hear()
        connection.expect("MOVE 4") if heard == "READY g1" else None
        connection.say(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port, token="t") == "finished"
    assert bot.told[0] == ("new", "g1")
    assert [entry[:2] for entry in bot.told[1:] if isinstance(entry, tuple)] == [
        ("choose", 1),
        ("choose", 3),
        ("over", (60, 0)),
    ]


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_search_outlives_its_connection(driver: Driver, server: FakeServer, how: str) -> None:
    """Thinking goes on while the connection is replaced; the bot is not asked twice."""
    bot = Thinker()

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        getattr(connection, how)()

    def second(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT, START, TURN_1)
        bot.let_go.set()
        while (heard := connection.hear()) == "READY g1":
            pass
        assert heard == "MOVE 4"
        connection.say(PLAYED_1, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port) == "finished"
    assert bot.times == 1


def test_cancelling_says_quit(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")
        connection.expect_end()

    server.follow(script)
    assert driver.play_until(bot.asked, bot, server.port)
    bot.let_go.set()


def test_cancelling_before_the_log_in_only_closes(driver: Driver, server: FakeServer) -> None:
    here = threading.Event()

    def script(connection: Connection) -> None:
        here.set()
        connection.expect_end()

    server.follow(script)
    assert driver.play_until(here, four, server.port)


def test_cancelling_amid_a_line_that_does_not_leave_says_nothing_more(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUIT would land inside the unfinished line; and nothing waits for a server that does not read."""
    stuck = threading.Event()
    closed = threading.Event()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.stuff("PING " + "x" * 900)
        stuck.set()
        assert closed.wait(5), "less than the 10 s after which the system gives the connection up by itself"
        *whole, _torn = connection.hear_all().split(b"\n")
        assert set(whole) == {b"PONG " + b"x" * 900}

    tried: list[Player] = []
    monkeypatch.setattr(Player, "quit", tried.append)
    server.follow(script)
    assert driver.play_until(stuck, four, server.port)
    assert tried == []
    closed.set()


@pytest.mark.parametrize("code", ["version", "name", "token", "name-taken", "game", "login"])
def test_a_refusal_ends_the_visit(driver: Driver, server: FakeServer, code: str) -> None:
    def script(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1")
        connection.hear()
        connection.say(f"ERROR {code} this will not do")
        connection.expect_end()

    server.follow(script)
    with pytest.raises(ClientError, match=f"^the server refuses me: {code}: this will not do$") as caught:
        driver.play(four, server.port)
    assert caught.value.code == code


def test_a_full_server_is_asked_again(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, whole_visit)
    assert driver.play(four, server.port) == "finished"


def test_giving_up_tells_the_last_reason(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, full)
    port = server.port
    with pytest.raises(
        ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: full: come back later$"
    ):
        driver.play(four, port)


def test_nobody_listens(driver: Driver, server: FakeServer) -> None:
    port = server.port
    server.close()
    with pytest.raises(ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: .*refused"):
        driver.play(four, port)


HASTY = Patience(delays=lambda: iter(()), greeting=0.05)


def test_a_server_that_never_greets_is_given_up(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.say("ARENA 1 test/1")
        connection.hear()
        connection.expect_end()

    server.follow(script)
    with pytest.raises(ClientError, match=r"127.0.0.1:[0-9]+: the server did not log the bot in$"):
        driver.play(four, server.port, patience=HASTY)


def test_who_says_nothing_may_be_no_arena_server(driver: Driver, server: FakeServer) -> None:
    server.follow(Connection.expect_end)
    with pytest.raises(ClientError, match=rf" the server did not log the bot in; {re.escape(SILENT)}$"):
        driver.play(four, server.port, patience=HASTY)


def test_who_says_nothing_is_not_tried_for_long(driver: Driver, server: FakeServer) -> None:
    server.follow(Connection.expect_end, Connection.expect_end)
    brief = Patience(delays=lambda: itertools.repeat(0.0), greeting=0.05, vain=0.08)
    with pytest.raises(ClientError, match=r" after 2 tries: the server did not log the bot in; nothing "):
        driver.play(four, server.port, patience=brief)


@pytest.mark.parametrize("line", ["SSH-2.0-OpenSSH_9.2", "HTTP/1.1 400 Bad Request", "+OK ready"])
def test_who_speaks_otherwise_is_no_arena_server(driver: Driver, server: FakeServer, line: str) -> None:
    server.follow(lambda connection: connection.say(line))
    with pytest.raises(ClientError) as caught:
        driver.play(four, server.port)
    assert str(caught.value) == (
        f"the server broke the protocol: a server says ARENA first: {line!r}; is it an arena server?"
    )


def test_once_logged_in_there_is_no_hurry(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit for the greeting does not count on into the games."""
    limit = driver.reading_limit(monkeypatch)
    server.follow(whole_visit)
    driver.play(four, server.port)
    assert limit() is None


def test_a_log_in_begins_the_count_of_tries_anew(driver: Driver, server: FakeServer) -> None:
    def gone_again(connection: Connection) -> None:
        connection.log_in()

    server.follow(*[gone_again] * 6, whole_visit)
    assert driver.play(four, server.port) == "finished"


@pytest.mark.parametrize("instant", [False, True])
def test_what_the_bot_raises_reaches_the_caller(driver: Driver, server: FakeServer, instant: bool) -> None:
    """Even an OSError of the bot's own is no lost connection."""

    class Broken(Bot):
        def choose(self, view: GameView) -> int:
            raise FileNotFoundError("no opening book")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")
        connection.expect_end()

    server.follow(script)
    bot = Broken()
    bot.instant = instant
    with pytest.raises(FileNotFoundError, match="no opening book"):
        driver.play(bot, server.port)


def test_a_time_limit_of_the_bots_own_is_no_lost_connection(driver: Driver, server: FakeServer) -> None:
    class Hasty(Instant):
        def choose(self, view: GameView) -> int:
            raise TimeoutError("the book did not answer")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(TimeoutError, match="the book did not answer"):
        driver.play(Hasty, server.port)


def test_a_reset_while_the_client_writes(driver: Driver, server: FakeServer) -> None:
    """The reset meets a client that waits for the server to read: it comes back all the same."""

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.stuff("PING " + "x" * 900)
        connection.reset()

    server.follow(first, whole_visit)
    assert driver.play(four, server.port) == "finished"


def test_quit_to_a_server_that_is_gone(driver: Driver, server: FakeServer) -> None:
    """Leaving does not mind that nobody is there to hear it."""
    gone = threading.Event()

    class Late(Bot):
        instant = True

        def choose(self, view: GameView) -> int:
            assert gone.wait(20)
            raise KeyError("late")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1, "PING unread")
        connection.reset()
        gone.set()

    server.follow(script)
    with pytest.raises(KeyError, match="late"):
        driver.play(Late, server.port)


def test_an_answer_that_is_no_move_ends_the_visit(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(ClientError, match=r"^choose\(\) must return a move as an int or a str, not None$"):
        driver.play(lambda view: None, server.port)


def test_a_server_that_breaks_the_protocol_ends_the_visit(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say("TURN 1 clock=1,1 lag=0 credit=0")
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(
        ClientError, match=r"^the server broke the protocol: TURN has no meaning in the lobby"
    ):
        driver.play(four, server.port)


def test_bye_does_not_wait_for_a_search_that_no_longer_matters(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        connection.say("BYE reason=stopped")
        connection.expect_end()

    server.follow(script)
    assert driver.play(bot, server.port) == "stopped"
    bot.let_go.set()


def test_bye_waits_until_the_bot_has_heard_the_last_result(driver: Driver, server: FakeServer) -> None:
    closed, ended = threading.Event(), threading.Event()

    class Mourner(Diary):
        def game_over(self, view: GameView, result: Result) -> None:
            assert closed.wait(20)
            self.told.append("too late" if ended.wait(UNIT) else "in time")

    def script(connection: Connection) -> None:
        whole_visit(connection)
        closed.set()

    bot = Mourner()
    server.follow(script)
    assert driver.play(bot, server.port) == "finished"
    ended.set()
    assert bot.told[-1] == "in time"


def test_small_lines_leave_at_once(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = []
    monkeypatch.setattr(driver.shell, "tune", lambda sock: tuned.append(sock))
    server.follow(whole_visit)
    driver.play(four, server.port)
    assert len(tuned) == 1


def test_a_lost_connection_is_told_in_one_line(
    driver: Driver, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.follow(lambda connection: None, whole_visit)
    with caplog.at_level(logging.INFO, "arena_client"):
        driver.play(four, server.port)
    assert caplog.messages == [
        f"me: no connection (the server closed the connection; {SILENT}), next try in 0.0 s"
    ] or caplog.messages == [f"me: no connection (Connection reset by peer; {SILENT}), next try in 0.0 s"]


def test_a_port_that_cannot_be_one(driver: Driver) -> None:
    with pytest.raises(ClientError, match=r"^a port is a number from 1 to 65535, not 70000$"):
        driver.play(four, 70000)


def test_the_shells_have_the_same_names() -> None:
    """Parallel files stay parallel: the same functions, the same methods, the same arguments."""

    def names(module: object) -> dict[str, list[str]]:
        visit = module.Visit  # type: ignore[attr-defined]
        functions = {f"Visit.{name}": f for name, f in vars(visit).items() if inspect.isfunction(f)}
        functions |= {name: getattr(module, name) for name in ("run", "play", "connect")}
        return {name: list(inspect.signature(f).parameters) for name, f in functions.items()}

    in_trio = names(trio_shell)
    assert in_trio.pop("Visit._wake") == ["self"], "a trio Event is replaced, not cleared"
    renamed = {
        name: ["sock" if value == "stream" else value for value in values] for name, values in in_trio.items()
    }
    assert names(asyncio_shell) == renamed


def test_the_patience_of_these_tests_is_finite() -> None:
    assert len(list(EAGER.delays())) == 2
