"""The cases of `arena check bot` about games: clauses 4.3 to 4.8, 5, 6.6 and 7."""

from __future__ import annotations

from arena_check.bot.bench import SUITE, BotBench
from arena_check.bot.causes import LOBBY
from arena_check.bot.said import is_note, shown
from arena_check.cases import NEGATIVE, POSITIVE, Finding, Kind, Verdict, failed, reaching
from arena_protocol.errors import ProtocolError
from arena_protocol.messages import Move, parse_server
from arena_protocol.session import ServerSession

case = SUITE.case


_SEATS = "Take your seat from seat= of GAME, and the number of seats from seats=."


@case("4.3/2", POSITIVE, does="seats the bot second", expects="a whole game is played", advice=_SEATS)
def seat_2(bench: BotBench) -> None:
    bench.reach_lobby()
    table = bench.begin(2)
    bench.expect_nothing(
        "MOVE before TURN", clause="3.2", advice="Move when TURN comes; START is for all seats."
    )
    bench.play(table)
    bench.finish(table)


def _only_insertion(bench: BotBench) -> None:
    if bench.settings.game != "insertion":
        raise Finding(Verdict.NOT_IMPLEMENTED, "a bot for insertion", f"one for {bench.settings.game}")


@case(
    "4.3/3",
    NEGATIVE,
    does="plays games of three and of four seats, the bot last and second",
    expects="both games are played",
    advice="Lists such as clock= and total= have one value a seat.",
    needs=("4.3/2", "6.6/1"),
)
def more_seats(bench: BotBench) -> None:
    _only_insertion(bench)
    bench.reach_lobby()
    bench.play_game(3, seats=3)
    bench.play_game(2, seats=4)


@case(
    "4.3/4",
    POSITIVE,
    does="offers a game with increment, move_limit=, byoyomi= and lag_quota=",
    expects="a whole game is played",
    advice="PROTOCOL.md, Clocks: these options of GAME are the server's, not the game's.",
)
def clock_options(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.play_game(increment=100, extra=" move_limit=10000 byoyomi=1000 lag_quota=500")


_START = "RULES.md, A game: a board is full, partial or empty; read it from STATE, not from what is usual."


def _insertion_game(id_: str, kind: Kind, shown_: str, advice: str, **options: str) -> None:
    """Enter a case that plays insertion with these options from both seats."""

    @case(
        id_,
        kind,
        does=f"offers insertion with {shown_}, from both seats",
        expects="both games are played",
        advice=advice,
        needs=("4.3/2", "6.6/1"),
    )
    def play(bench: BotBench) -> None:
        _only_insertion(bench)
        bench.reach_lobby()
        bench.play_game(1, options=options)
        bench.play_game(2, options=options)


_insertion_game("4.4/1", POSITIVE, "start=full", _START, start="full")
_insertion_game("4.4/2", POSITIVE, "start=partial", _START, start="partial")
_insertion_game("4.4/3", POSITIVE, "start=empty", _START, start="empty")
_insertion_game("4.4/4", POSITIVE, "a given board", _START, board="5.351/6.423/1.552/44215/44526")
_insertion_game("4.4/5", POSITIVE, "colours=3", _START, colours="3")
_insertion_game("4.4/6", POSITIVE, "colours=7", _START, colours="7")

_SIGHT = "lookahead= says how many pictures NEXT shows; each PLAYED shows one more by reveal=, until all are."
_insertion_game("4.4/7", NEGATIVE, "lookahead=1", _SIGHT, lookahead="1")
_insertion_game("4.4/8", NEGATIVE, "all pictures in sight", _SIGHT, lookahead="8")
_insertion_game("4.4/9", NEGATIVE, "lookahead= above plies=", _SIGHT, lookahead="20")
_insertion_game("4.4/10", NEGATIVE, "a single ply", _SIGHT, plies="1", lookahead="1")
_insertion_game("4.4/11", POSITIVE, "200 plies", _SIGHT, plies="200", lookahead="20")


@case(
    "4.5/1",
    POSITIVE,
    does="sends TURN with lag and credit",
    expects="a whole game is played",
    advice="Find clock= by its key: lag= and credit= are other numbers than 0 in some contests.",
)
def lag_and_credit(bench: BotBench) -> None:
    table = bench.reach_game()
    bench.alter = lambda line: line.replace("lag=0 credit=0", "lag=35 credit=35")
    bench.play(table)
    bench.finish(table)


@case(
    "4.7/1",
    POSITIVE,
    does="makes the bot a zombie, plays on in its place, and offers the next game",
    expects="no MOVE after ZOMBIE, and the next game is played",
    advice="Wait for OVER after your own ZOMBIE; the next game begins normally.",
    needs=("6.6/1",),
)
def own_zombie(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.send(f"ZOMBIE ply={table.ply} reason=malformed")
    while not table.is_over and len(table.told) < 8:
        bench.send(table.play(table.rival_move()))
    bench.expect_nothing("line from a zombie")
    bench.send(table.over(table.rules.end(table.position) or "forfeit"))
    bench.play_game()


@case(
    "4.7/2",
    NEGATIVE,
    does="announces that another seat is a zombie",
    expects="the game is played on",
    advice="A ZOMBIE with the seat= of another is news, not an end.",
)
def other_zombie(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.send(f"ZOMBIE ply={table.ply} reason=timeout seat=2")
    bench.play(table)
    bench.finish(table)


_OVER = "OVER ends a game in any state: forget the game and be ready for the next GAME."


@case(
    "4.8/1",
    NEGATIVE,
    does="ends a game by OVER end=void before START, then offers another",
    expects="the next game is played",
    advice=_OVER,
    needs=("6.6/1",),
)
def void_before_start(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.table()
        bench.offer(table)
    bench.send(table.over("void"))
    bench.play_game()


@case(
    "4.8/2",
    NEGATIVE,
    does="ends a game by OVER end=void while another seat moves, then offers another",
    expects="the next game is played",
    advice=_OVER,
    needs=("6.6/1",),
)
def void_off_move(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.send(table.over("void"))
    bench.play_game()


@case(
    "4.8/3",
    POSITIVE,
    does="ends a game early by OVER end=forfeit, because the rival has forfeited",
    expects="the next game is played",
    advice=_OVER,
    needs=("6.6/1",),
)
def forfeit(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.send(table.over("forfeit"))
    bench.play_game(2)


@case(
    "5.1/1",
    POSITIVE,
    does="plays three games on one connection and sends BYE",
    expects="the bot sends in each state only what the table of states allows",
    advice="PROTOCOL.md, States, lists what a client may send in each state.",
    needs=("4.9/1", "6.6/1"),
)
def states(bench: BotBench) -> None:
    bench.play_contest({"seat": 1}, {"seat": 2}, {"seat": 1})
    session = ServerSession()
    for entry in bench.log.entries:
        line = entry.data.removesuffix(b"\r")
        if entry.side == "S" and line:
            _advance(session, line)
        elif entry.side == "C" and line and not is_note(line):
            try:
                session.receive(line)
            except ProtocolError as problem:
                raise failed("a line that its state allows", f"{shown(line)} ({problem.text})") from problem


def _advance(session: ServerSession, line: bytes) -> None:
    """Move a session on by a line of the bench's own."""
    message = parse_server(line)
    assert message is not None
    session.send(message)


@case(
    "5.1/2",
    NEGATIVE,
    does="ends a game by OVER end=void together with a TURN, then offers another",
    expects="one MOVE at most for the TURN, then READY for the next game",
    advice="A line of yours may cross OVER on its way; after OVER is read the game has no more moves.",
    needs=("6.6/1",),
)
def crossing(bench: BotBench) -> None:
    table = bench.reach_game()
    bench.send(table.turn(), table.over("void"))
    following = bench.table(2)
    bench.send(*following.offer)
    # Whether it answers the TURN depends on how much it had read: both are right.
    if isinstance(bench.expect("MOVE", "READY"), Move):
        bench.expect_ready(following)
    bench.send(f"START {following.id}")
    bench.play(following)
    bench.finish(following)


@case(
    "6.6/1",
    POSITIVE,
    does="offers three games on one connection, one after the other",
    expects="all of them are played",
    advice="After OVER the connection goes on: the next GAME comes on it.",
    needs=("4.3/2",),
)
def three_games(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    _expect_a_quiet_lobby(bench)
    bench.play_game(2)
    _expect_a_quiet_lobby(bench)
    bench.play_game(1)


def _expect_a_quiet_lobby(bench: BotBench) -> None:
    try:
        bench.expect_nothing("line in the lobby", clause=LOBBY.clause, advice=LOBBY.advice)
    except Finding as finding:
        if finding.actual != "QUIT":
            raise
        raise failed("the bot to wait for its next game", "QUIT") from None


@case(
    "6.6/2",
    NEGATIVE,
    does="sends OVER of a game and GAME, STATE, NEXT of the following one in one segment",
    expects="the following game is played",
    advice="OVER may be followed by GAME at once: forget the old game before you read on.",
    needs=("6.6/1",),
)
def back_to_back(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.begin()
        bench.play(table)
    following = bench.table(2)
    bench.send(table.over(), *following.offer)
    bench.expect_ready(following)
    bench.send(f"START {following.id}")
    bench.play(following)
    bench.finish(following)


@case(
    "7.5/2",
    NEGATIVE,
    does="plays a game with a clock of 2 s for all plies together",
    expects="the flag does not fall",
    advice="Take the time that is left from clock= of each TURN; think less when it is short.",
)
def short_clock(bench: BotBench) -> None:
    bench.door.watch_machine()
    bench.reach_lobby()
    bench.play_game(clock=2_000)


@case(
    "7.5/3",
    NEGATIVE,
    does="plays a game with move_limit=500",
    expects="each MOVE within 500 ms",
    advice="move_limit= of GAME bounds each ply, however much the clock holds.",
)
def move_limit(bench: BotBench) -> None:
    bench.door.watch_machine()
    table = bench.reach_game(extra=" move_limit=500")
    while not table.is_over:
        before = table.clocks[table.seat - 1]
        bench.play(table, 1)
        spent = before - table.clocks[table.seat - 1]
        if spent > 500:
            raise bench.late("MOVE within 500 ms", spent)
    bench.finish(table)
