"""The cases of `arena check bot` about lost connections: section 8 of the clauses.

A bot that does not come back at all is `not implemented`: it loses the game, and breaks no rule.
"""

from __future__ import annotations

from arena_check.bot.bench import ARENA, SUITE, BotBench
from arena_check.bot.table import Table
from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_protocol.messages import Hello

case = SUITE.case

_BACK = "Connect again when a connection ends without BYE, and send HELLO with resume= of the last WELCOME."

_NEXT_KEY = "Keep the key of each WELCOME, also of one that resumed: the ones before it become void."
_AFRESH = "Begin afresh at GAME: clear the board, the pictures and the moves, then take every PLAYED again."


def _check_key(bench: BotBench, hello: Hello, key: str) -> None:
    """Check that a HELLO resumes with this key; a log-in by token instead is not strict."""
    if hello.resume == key:
        return
    if hello.resume is None and hello.token == bench.settings.token:
        raise Finding(
            Verdict.NON_STRICT, f"resume={key}", "a log-in by token, which the old connection may block"
        )
    old = hello.resume is not None and hello.resume in bench.old_keys
    clause, advice = ("8.3", _NEXT_KEY) if old else ("", "")
    raise failed(f"resume={key}", f"resume={hello.resume} token={hello.token}", clause=clause, advice=advice)


def _resume(bench: BotBench, table: Table, *, started: bool = True, zombie: str = "") -> None:
    """Let the bot come back to a game, with the right key."""
    key = bench.key
    _check_key(bench, bench.resume(table, started=started, zombie=zombie), key)


@case(
    "8.1/1",
    POSITIVE,
    does="cuts the connection in the lobby",
    expects="the bot comes back with resume= and plays the next game",
    advice=_BACK,
    needs=("6.6/1",),
)
def in_the_lobby(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    key = bench.key
    bench.cut()
    bench.reconnect()
    hello = bench.log_in()
    bench.play_game()
    _check_key(bench, hello, key)


@case(
    "8.1/2",
    POSITIVE,
    does="cuts the connection while another seat moves",
    expects="the bot comes back with resume= and plays the game to its end",
    advice=_BACK,
)
def off_move(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.cut()
    table.play(table.rival_move())
    _resume(bench, table)
    try:
        bench.play(table)
    except Finding as finding:  # it is back, and does not play on
        raise failed(finding.expected, finding.actual, clause="8.2", advice=_AFRESH) from None
    bench.finish(table)


@case(
    "8.1/3",
    POSITIVE,
    does="cuts the connection after TURN has been sent, before a MOVE has been taken",
    expects="the bot comes back with resume= and moves at the same ply",
    advice="TURN is sent again after resume=; answer it, even if you have sent a MOVE before the cut.",
)
def on_move(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.begin()
        bench.ask(table)
        bench.play(table, 1)
    bench.send(table.turn())
    bench.cut()
    _resume(bench, table)
    bench.play(table)
    bench.finish(table)


@case(
    "8.1/4",
    NEGATIVE,
    does="cuts the connection as a zombie",
    expects="the bot comes back, sends no MOVE in this game, and plays the next one",
    advice="Your own ZOMBIE is sent again after resume=; wait for OVER.",
    needs=("6.6/1", "8.2/3"),
)
def as_a_zombie(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    zombie = f"ZOMBIE ply={table.ply} reason=malformed"
    bench.send(zombie)
    bench.cut()
    _resume(bench, table, zombie=zombie)
    bench.expect_nothing("line but READY", "READY")
    bench.send(table.over("forfeit"))
    bench.play_game()


@case(
    "8.1/5",
    NEGATIVE,
    does="resets the connection (RST instead of FIN) while another seat moves",
    expects="the bot comes back with resume= and plays the game to its end",
    advice="A read or write may end in an error as well as in the end of the stream: come back either way.",
)
def by_reset(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.cut(reset=True)
    _resume(bench, table)
    bench.play(table)
    bench.finish(table)


@case(
    "8.1/6",
    NEGATIVE,
    does="sends BYE reason=slow in a game",
    expects="the bot comes back with resume= and plays the game to its end",
    advice="reason=slow ends the connection, not the contest: come back as after a cut.",
    needs=("4.3/2",),
)
def slow(bench: BotBench) -> None:
    table = bench.reach_game(seat=2)
    bench.send("BYE reason=slow")
    bench.cut()
    _resume(bench, table)
    bench.play(table)
    bench.finish(table)


@case(
    "8.1/7",
    NEGATIVE,
    does="cuts the connection before ARENA, and the next one after HELLO",
    expects="the bot tries again each time",
    advice=_BACK,
)
def before_log_in(bench: BotBench) -> None:
    with reaching():
        bench.connect()
    bench.cut()
    bench.reconnect()
    bench.send(ARENA)
    bench.expect("HELLO")
    bench.cut()
    bench.reconnect()
    bench.log_in()
    bench.play_game()


@case(
    "8.2/1",
    POSITIVE,
    does="cuts the connection, lets rivals move meanwhile, and sends the game again from its start",
    expects="the bot starts from what is sent again and moves legally to the end",
    advice=_AFRESH,
    needs=("4.3/2",),
)
def from_the_start(bench: BotBench) -> None:
    _play_with_cuts(bench, cuts=1)


@case(
    "8.2/2",
    NEGATIVE,
    does="cuts the connection three times in one game",
    expects="the bot comes back each time, with the key of the last WELCOME, and plays to the end",
    advice="Begin afresh at GAME each time, and count tries to connect from the last WELCOME.",
    needs=("4.3/2",),
)
def three_cuts(bench: BotBench) -> None:
    _play_with_cuts(bench, cuts=3)


def _play_with_cuts(bench: BotBench, cuts: int) -> None:
    table = bench.reach_game(seat=2)
    for _ in range(cuts):
        bench.play(table, 2)
        if table.is_over:
            break
        bench.cut()
        if table.to_move != table.seat:
            table.play(table.rival_move())
        _resume(bench, table)
    bench.play(table)
    bench.finish(table)


@case(
    "8.2/3",
    NEGATIVE,
    does="sends the game again a line at a time, with a PING before the TURN",
    expects="one MOVE, for the TURN alone",
    advice="Move when TURN comes: a PLAYED that is sent again is no question.",
)
def piecemeal(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.begin()
        bench.play(table, 2)
    bench.cut()
    bench.reconnect()
    bench.log_in()
    for line in (*table.offer, f"START {table.id}", *table.told):
        bench.send(line)
    bench.expect_nothing("line but READY", "READY")
    bench.send("PING 1", table.turn())
    bench.take_move(table)
    bench.play(table)
    bench.finish(table)


@case(
    "8.3/1",
    POSITIVE,
    does="cuts two connections, one after the other",
    expects="resume= has the key of the last WELCOME each time",
    advice=_NEXT_KEY,
    needs=("6.6/1",),
)
def next_key(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    for _ in range(2):
        key = bench.key
        bench.cut()
        bench.reconnect()
        _check_key(bench, bench.log_in(), key)


@case(
    "8.4/1",
    NEGATIVE,
    does="sends BYE reason=replaced: a newer connection has the seat",
    expects="the bot leaves and does not connect again",
    advice="Two copies of a bot that both come back would throw each other out for ever: leave at replaced.",
)
def replaced(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.send("BYE reason=replaced")
    try:
        bench.expect_close()
        bench.expect_gone()
    except Finding as finding:
        if finding.actual == "the bot connects again":
            raise Finding(Verdict.NON_STRICT, finding.expected, finding.actual) from finding
        raise


@case(
    "8.5/1",
    POSITIVE,
    does="cuts the connection after GAME, before READY has been taken",
    expects="the bot comes back and sends READY for the game that is sent again",
    advice="Answer each GAME by READY, also one that comes again after resume=.",
)
def on_offer(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.table()
    bench.send(*table.offer)
    bench.cut()
    _resume(bench, table, started=False)
    _get_ready(bench, table)


@case(
    "8.5/2",
    NEGATIVE,
    does="cuts the connection after READY, before START",
    expects="the bot comes back and sends READY once more",
    advice="Answer each GAME by READY, also one that comes again after resume=.",
)
def after_ready(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.table()
        bench.offer(table)
    bench.cut()
    _resume(bench, table, started=False)
    _get_ready(bench, table)


def _get_ready(bench: BotBench, table: Table) -> None:
    bench.expect_ready(table)
    bench.send(f"START {table.id}")
    bench.play(table)
    bench.finish(table)


@case(
    "8.6/1",
    NEGATIVE,
    does="cuts the connection and refuses the key by ERROR token",
    expects="the bot logs in by name and token",
    advice="A key may be spent or forgotten: after ERROR token for a resume=, try once more with the token.",
    needs=("6.6/1",),
)
def refused_key(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    key = bench.key
    bench.cut()
    bench.reconnect()
    bench.send(ARENA)
    with reaching():
        _check_key(bench, bench.expect("HELLO"), key)
    bench.refuse("token this name or token is wrong")
    bench.reconnect()
    hello = bench.log_in()
    if hello.resume is not None:
        raise failed("HELLO without resume=", f"resume={hello.resume}")
    bench.play_game()


@case(
    "8.6/2",
    NEGATIVE,
    does="cuts the connection and refuses the next log-in by ERROR name-taken",
    expects="the bot tries again: the server has not noticed the cut yet",
    advice="After a WELCOME, name-taken passes: it is your own old connection.",
    needs=("6.6/1",),
)
def name_taken(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    bench.cut()
    bench.reconnect()
    bench.send(ARENA)
    bench.expect("HELLO")
    bench.refuse("name-taken this name is connected already")
    bench.reconnect()
    bench.log_in()
