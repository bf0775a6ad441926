"""Each scripted bot does what its name says, in its script and on a real connection."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.slices import all_of

from arena_client import Bot, ClientError, GameView
from arena_client.protocol import ClientProtocol
from arena_client.script import (
    HONEST,
    OPEN,
    Act,
    Close,
    On,
    Raw,
    Say,
    Script,
    ScriptedClient,
    StopReading,
    Wait,
    drip,
    run_script,
)
from arena_client.scripted import MOMENTS, SCRIPTED, create, run
from arena_protocol import messages as wire

from .fake_server import (
    BYE,
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    START,
    TURN_1,
    TURN_3,
    Connection,
    FakeServer,
)

CONTEST = ["ARENA 1 fake/1", "WELCOME me session=s1 resume=r1", OFFER, *DEALT, START]
CONTEST += [TURN_1, PLAYED_1, PLAYED_2, TURN_3, OVER]
GOOD = ("READY g1", "MOVE 6", "MOVE 6")


def script_of(spec: str) -> Script:
    made = create(spec)
    assert isinstance(made, Script)
    return made


def acts(spec: str, lines: list[str] = CONTEST) -> list[Act]:
    """All acts of a script in the contest."""
    client = ScriptedClient(script_of(spec), "me")
    done = list(client.opened())
    for line in lines:
        done += client.receive(line.encode())
    return done


def says(*texts: str) -> list[Act]:
    return [Say(text) for text in texts]


def moves(spec: str, plies: int = 20) -> list[str]:
    """The moves of a scripted bot that is asked at every other ply of a game that goes on."""
    bot = create(spec)
    assert isinstance(bot, Bot)
    view = GameView.of(wire.Game("g1", "hex", 1, 2, ("me", "rival"), 1000, 0))
    bot.new_game(view)
    given = []
    for ply in range(1, plies + 1):
        if ply % 2:
            given.append(str(bot.choose(view)))
        view = view.after(wire.Played(ply, 2 - ply % 2, "x", 0, (1, 1), 0, (0, 0)))
    return given


class TestBots:
    def test_counts_from_zero(self) -> None:
        """0, 1, ... 14, 0, ...; a new game begins with 0 again."""
        bot = create("zero-based")
        assert isinstance(bot, Bot)
        view = GameView.of(wire.Game("g1", "hex", 1, 2, ("me", "rival"), 1000, 0))
        bot.new_game(view)
        assert [bot.choose(view) for _ in range(17)] == [*range(15), 0, 1]
        bot.new_game(view)
        assert bot.choose(view) == 0

    def test_plays_the_first_legal_move(self) -> None:
        assert moves("first-legal") == ["1"] * 10
        bot = create("first-legal")
        assert isinstance(bot, Bot)
        view = GameView.of(wire.Game("g1", "tictactoe", 1, 2, ("me", "rival"), 1000, 0))
        view = view.after(wire.State(".../.../..."))
        assert bot.choose(view) == view.legal_moves[0] != "1"

    def test_always_plays_the_same_move(self) -> None:
        assert moves("fixed") == ["6"] * 10
        assert moves("fixed:move=a1") == ["a1"] * 10

    def test_is_illegal_from_a_ply_on(self) -> None:
        assert moves("illegal") == ["99"] * 10
        assert moves("illegal:ply=6") == ["1"] * 3 + ["99"] * 7

    @pytest.mark.parametrize("name", ["zero-based", "first-legal", "fixed", "illegal"])
    def test_needs_no_thread(self, name: str) -> None:
        bot = create(name)
        assert isinstance(bot, Bot)
        assert bot.instant
        assert ClientProtocol(bot, "me").name == "me"


FAULTS: list[tuple[str, list[Act]]] = [
    ("silent", says("READY g1")),
    ("never-ready", says("MOVE 6", "MOVE 6")),
    ("out-of-turn", says("READY g1", "MOVE 6", "MOVE 6", "MOVE 6")),
    ("malformed", says("READY g1", "MOVE", "MOOVE 6", "MOVE 6")),
    ("malformed:ply=2", says("READY g1", "MOVE 6", "MOVE", "MOOVE 6")),
    ("garbage", [Say("READY g1"), Raw(b"\xff\xfe\x00\x80\r\x07\n"), Say("MOVE 6")]),
    ("overlong", [Say("READY g1"), Raw(b"MOVE " + b"6" * 5000 + b"\n"), Say("MOVE 6")]),
    ("overlong:size=2,ply=3", [Say("READY g1"), Say("MOVE 6"), Raw(b"MOVE 66\n")]),
    ("flooder", [Say("READY g1"), Say("READY g1", 150), Say("MOVE 6")]),
    ("flooder:moment=lobby,size=9", [Say("READY -", 9), *says(*GOOD)]),
    ("move-flooder:ply=2", [Say("READY g1"), Say("MOVE 6"), Say("MOVE 7", 150)]),
    ("quitter:ply=3", says("READY g1", "MOVE 6", "QUIT")),
    ("disconnector", [Say("READY g1"), Close(), Say("MOVE 6")]),
    ("resetter:moment=waiting", [Say("READY g1"), Say("MOVE 6"), Close(reset=True), Say("MOVE 6")]),
    ("half-line:moment=over", [*says(*GOOD), Raw(b"MOV"), Close()]),
    ("vanisher:moment=offer", [StopReading(), Say("MOVE 6"), Say("MOVE 6")]),
    ("never-reads:size=3", [Say("PING x", 3), StopReading(), *says(*GOOD)]),
]


class TestScripts:
    @all_of(("spec", "done"), FAULTS)
    def test_does_what_it_is_named_for(self, spec: str, done: list[Act]) -> None:
        assert acts(spec) == [Say("HELLO 1 me"), *done]

    def test_every_script_is_in_this_client(self) -> None:
        scripts = {name for name in SCRIPTED if isinstance(create(name), Script)}
        assert scripts == {spec.partition(":")[0] for spec, _ in FAULTS} | {"slow-bytes"}

    def test_sends_its_moves_byte_by_byte(self) -> None:
        byte_by_byte = acts("slow-bytes:gap=7")[2:16]
        assert [act for act in byte_by_byte if isinstance(act, Wait)] == [Wait(7)] * 7
        assert b"".join(act.data for act in byte_by_byte if isinstance(act, Raw)) == b"MOVE 6\n"
        assert drip("a", 1) == (Wait(1), Raw(b"a"), Wait(1), Raw(b"\n"))

    @all_of("moment", sorted(MOMENTS))
    @all_of("name", sorted(n for n, r in SCRIPTED.items() if "moment" in r.defaults))
    def test_every_fault_can_be_had_at_every_moment(self, name: str, moment: str) -> None:
        """At that moment, and nowhere before it, the fault's own acts are done."""
        fault = list(script_of(f"{name}:moment={moment}").rules[-1].acts)
        done = acts(f"{name}:moment={moment}")
        honest = ScriptedClient(HONEST, "me")
        before: list[Act] = list(honest.opened())
        if moment != "open":
            for line in CONTEST:
                told = moment == "waiting" and line == PLAYED_1
                if told or line.startswith(f"{MOMENTS[moment]} "):
                    break
                before += honest.receive(line.encode())
        assert done[: len(before)] == before
        game = "-" if moment in ("open", "login", "lobby") else "g1"
        filled = [
            Say(act.text.format(game=game), act.times) if isinstance(act, Say) else act for act in fault
        ]
        assert done[len(before) : len(before) + len(fault)] == filled

    def test_a_fault_of_a_ply_happens_once_a_game(self) -> None:
        game = [OFFER, TURN_1, TURN_3]
        assert acts("quitter:ply=2", [*game, *game]) == says(*["READY g1", "MOVE 6", "QUIT"] * 2)

    def test_the_last_rule_that_matches_is_followed(self) -> None:
        script = HONEST.but(On("TURN", (Say("MOVE a{ply}"),)), On("TURN", (), ply=3))
        client = ScriptedClient(script, "me")
        assert client.receive(b"TURN 1 clock=1,1 lag=0 credit=0") == (Say("MOVE a1"),)
        assert client.receive(b"TURN 3 clock=1,1 lag=0 credit=0") == ()
        assert client.receive(b"TURN 5 clock=1,1 lag=0 credit=0") == (Say("MOVE a5"),)

    def test_the_fields_of_a_line(self) -> None:
        client = ScriptedClient(HONEST.but(On("STATE", (Say("{game} {move} {ply}"),))), "me", "s3cret")
        assert client.receive(b"ARENA 1 x") == (Say("HELLO 1 me token=s3cret"),)
        assert client.receive(b"STATE s") == (Say("- 1 s"),)
        client.receive(OFFER.encode())
        assert client.receive(b"STATE s") == (Say("g1 6 s"),)
        client.receive(b"GAME g2 xo seat=2 seats=2 names=a,b clock=1 increment=0")
        assert client.receive(b"STATE s") == (Say("g2 1 s"),)
        assert client.receive(b"PING p9") == (Say("PONG p9"),)

    @all_of("line", [b"", b"  ", b"TURN", b"\xff\xfe", b"PLAYED 1 seat=", b"TURN x"])
    def test_any_line_is_survived(self, line: bytes) -> None:
        client = ScriptedClient(script_of("quitter"), "me")
        client.receive(line)

    def test_only_its_own_plies_are_its_own(self) -> None:
        client = ScriptedClient(script_of("out-of-turn"), "me")
        assert client.receive(PLAYED_1.encode()) == ()
        client.receive(OFFER.encode())
        assert client.receive(PLAYED_2.encode()) == ()
        assert client.receive(PLAYED_1.encode()) == (Say("MOVE 6"),)


class TestNames:
    def test_an_unknown_name(self) -> None:
        with pytest.raises(ClientError, match=r"^no scripted bot 'angel'; there are: first-legal, fixed, "):
            create("angel")

    @all_of(
        ("spec", "text"),
        [
            ("silent:ply=1", "silent has no parameter 'ply'; it has: none"),
            ("quitter:size=1", "quitter has no parameter 'size'; it has: moment, ply"),
            ("quitter:ply=x", "quitter: ply is a whole number, not 'x'"),
            ("quitter:ply=1234567890", "quitter: ply is a whole number, not '1234567890'"),
            (
                "quitter:moment=noon",
                "quitter: moment is one of open, login, lobby, offer, turn, waiting, over, not 'noon'",
            ),
        ],
    )
    def test_a_wrong_parameter(self, spec: str, text: str) -> None:
        with pytest.raises(ClientError) as caught:
            create(spec)
        assert str(caught.value) == text

    def test_every_one_says_what_it_does(self) -> None:
        assert all(recipe.help for recipe in SCRIPTED.values())


class TestRealConnections:
    def test_an_honest_script_plays_on_until_the_server_closes(self, server: FakeServer) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            connection.send_lines("X" * 70_000, OFFER, *DEALT)
            connection.expect("READY g1")
            connection.send_lines(START, TURN_1)
            connection.expect("MOVE 6")
            connection.sync()
            connection.send_lines(BYE)

        server.follow(script)
        assert run_script(ScriptedClient(HONEST, "me"), "127.0.0.1", server.port) == "gone"

    def test_closing_in_the_middle_of_a_line(self, server: FakeServer) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            connection.send_lines(OFFER, TURN_1, TURN_3)
            connection.expect("READY g1")
            assert connection.read_all() == b"MOV"

        server.follow(script)
        assert run_script(ScriptedClient(script_of("half-line"), "me"), "127.0.0.1", server.port) == "closed"

    def test_resetting(self, server: FakeServer) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            connection.expect_reset()

        server.follow(script)
        spec = "resetter:moment=lobby"
        assert run_script(ScriptedClient(script_of(spec), "me"), "127.0.0.1", server.port) == "closed"

    def test_flooding(self, server: FakeServer) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            for _ in range(50):
                connection.expect("READY -")

        server.follow(script)
        spec = "flooder:moment=lobby,size=50"
        assert run_script(ScriptedClient(script_of(spec), "me"), "127.0.0.1", server.port) == "gone"

    def test_slow_bytes_wait_before_each(self, server: FakeServer) -> None:
        waits: list[float] = []

        def script(connection: Connection) -> None:
            connection.log_in()
            connection.send_lines(OFFER, TURN_1)
            connection.expect("READY g1")
            connection.expect("MOVE 6")

        server.follow(script)
        client = ScriptedClient(script_of("slow-bytes"), "me")
        assert run_script(client, "127.0.0.1", server.port, sleep=waits.append) == "gone"
        assert waits == [0.05] * 7

    @pytest.mark.parametrize("end", ["close", "reset"])
    def test_after_it_stops_reading_it_stays_until_the_server_closes(
        self, server: FakeServer, end: str
    ) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            connection.send_lines("PING unread")
            assert not connection.has_sent()
            getattr(connection, end)()

        server.follow(script)
        spec = "vanisher:moment=lobby"
        assert (
            run_script(ScriptedClient(script_of(spec), "me"), "127.0.0.1", server.port) == "stopped reading"
        )

    def test_one_that_never_reads_is_stuck_until_it_is_cut_off(self, server: FakeServer) -> None:
        def script(connection: Connection) -> None:
            connection.log_in()
            connection.expect("PING x")
            connection.reset()

        server.follow(script)
        client = ScriptedClient(script_of("never-reads:size=2000000"), "me")
        assert run_script(client, "127.0.0.1", server.port) == "gone"

    def test_speaking_first(self, server: FakeServer) -> None:
        server.follow(lambda connection: connection.expect("QUIT"))
        spec = "quitter:moment=open"
        assert script_of(spec).rules[-1].verb == OPEN
        assert run_script(ScriptedClient(script_of(spec), "me"), "127.0.0.1", server.port) == "gone"


def contest(connection: Connection) -> None:
    connection.log_in()
    connection.send_lines(OFFER, *DEALT)
    connection.expect("READY g1")
    connection.send_lines(START, TURN_1)
    assert connection.read_line() in ("MOVE 0", "MOVE")
    connection.send_lines("ZOMBIE ply=1 reason=illegal", PLAYED_1, PLAYED_2, OVER, BYE)


@pytest.mark.parametrize(("spec", "end"), [("zero-based", "finished"), ("malformed", "gone")])
def test_run_plays_either_kind(server: FakeServer, spec: str, end: str) -> None:
    server.follow(contest)
    assert run(spec, "127.0.0.1", server.port, name="me") == end


def test_run_tells_in_one_line_that_nobody_is_there(server: FakeServer) -> None:
    port = server.port
    server.close()
    with pytest.raises(ClientError, match=f"^cannot reach 127.0.0.1:{port}: Connection refused$"):
        run("malformed", "127.0.0.1", port, name="me")


def test_a_script_in_a_thread_harms_nobody(server: FakeServer) -> None:
    """`run` in a thread, as the tests of the server use it."""
    ends: list[Any] = []
    server.follow(contest)
    thread = threading.Thread(
        target=lambda: ends.append(
            run_script(ScriptedClient(script_of("malformed"), "me"), "127.0.0.1", server.port)
        )
    )
    thread.start()
    thread.join(150)
    assert ends == ["gone"]
