"""The cases of `arena check bot` about messages and log-in: clauses 3, 4.1, 4.9, 4.10, 6.5 and 10."""

from __future__ import annotations

from arena_check.bot.bench import ARENA, BYE, SUITE, BotBench
from arena_check.bot.said import unanswered
from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_protocol.framing import CLIENT_LINE_LIMIT

case = SUITE.case


@case(
    "3.1/2",
    NEGATIVE,
    does="accepts the connection and sends nothing",
    expects="the bot sends nothing either",
    advice="Wait for ARENA before HELLO: the server speaks first.",
)
def speaks_second(bench: BotBench) -> None:
    with reaching():
        bench.connect()
    bench.expect_nothing("line before ARENA")


@case(
    "3.2/1",
    POSITIVE,
    does="offers a game",
    expects="READY with the id of the game",
    advice="Answer GAME by READY and the first value of GAME, once you are warm.",
)
def ready(bench: BotBench) -> None:
    bench.reach_lobby()
    table = bench.table()
    table.id = "g-1:x!~,7"
    bench.send(*[line.replace("GAME g1 ", f"GAME {table.id} ") for line in table.offer])
    bench.expect_ready(table)


@case(
    "3.2/2",
    NEGATIVE,
    does="starts a game in which another seat moves first",
    expects="no MOVE before TURN",
    advice="Move when TURN comes; START is for all seats.",
)
def waits_for_turn(bench: BotBench) -> None:
    bench.reach_game(seat=2)
    bench.expect_nothing("MOVE before TURN")


@case(
    "3.3/2",
    NEGATIVE,
    does="plays a game, with pauses after the plies of other seats",
    expects="no second MOVE for a TURN, and none for a PLAYED",
    advice="Answer TURN alone; PLAYED only tells what happened.",
)
def no_other_moves(bench: BotBench) -> None:
    table = bench.reach_game()
    bench.ask(table)
    bench.expect_nothing("MOVE without a TURN")
    bench.play(table, 1)
    bench.expect_nothing("MOVE without a TURN")


_PONG = "Answer PING by PONG and its token, at once if you can: so the server measures the lag."


@case(
    "3.6/1",
    POSITIVE,
    does="sends PING in the lobby, on offer and while another seat moves",
    expects="PONG with the same token each time",
    advice=_PONG,
)
def pong(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.ping("lobby")
    table = bench.table()
    bench.send(*table.offer)
    with reaching():
        bench.expect_ready(table)
    bench.ping("offered")
    bench.send(f"START {table.id}")
    with reaching():
        bench.ask(table)
    bench.ping("playing")


@case(
    "3.6/2",
    NEGATIVE,
    does="sends PING together with TURN",
    expects="both PONG and MOVE, in any order",
    advice=_PONG,
)
def pong_on_move(bench: BotBench) -> None:
    table = bench.reach_game()
    bench.send(table.turn(), "PING busy")
    seen: set[str] = set()
    while seen != {"MOVE", "PONG"}:
        wanted = {"MOVE", "PONG"} - seen
        try:
            answer = bench.expect(*wanted)
        except Finding as finding:
            if wanted == {"PONG"} and unanswered(finding):
                raise Finding(Verdict.NOT_IMPLEMENTED, "PONG busy", finding.actual) from finding
            raise
        seen.add(type(answer).__name__.upper())


@case(
    "3.6/3",
    NEGATIVE,
    does="sends PING with a token of 1,019 bytes, and one of all signs",
    expects="PONG with the same token",
    advice="Give the token back as it came; with it a line of PONG has 1,024 bytes.",
)
def pong_tokens(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        bench.ping("first")
    bench.ping("x" * (CLIENT_LINE_LIMIT - len("PONG ")))
    bench.ping("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@case(
    "3.6/4",
    NEGATIVE,
    does="sends 50 PINGs at once",
    expects="50 PONGs in the same order",
    advice=_PONG,
)
def many_pings(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        bench.ping("first")
    bench.send(*[f"PING {number}" for number in range(50)])
    for number in range(50):
        bench.expect_pong(str(number))


@case(
    "4.1/1",
    POSITIVE,
    does="greets the bot as another program, with an option",
    expects="HELLO",
    advice="Look at the version of ARENA; the name of the server's program is for people.",
)
def other_program(bench: BotBench) -> None:
    with reaching():
        bench.connect()
    bench.send("ARENA 1 another_server/9.9 motd=hi")
    bench.expect("HELLO")


@case(
    "4.1/2",
    NEGATIVE,
    does="greets the bot in version 2 and refuses what follows by ERROR version",
    expects="the bot leaves, and does not try again",
    advice="Leave, with a message, if the server does not speak your version.",
)
def other_version(bench: BotBench) -> None:
    with reaching():
        bench.connect()
    bench.send("ARENA 2 arena-check/1")
    if bench.receive("HELLO 1, or the end of the connection") is not None:
        bench.refuse("version this server speaks version 2")
    else:
        bench.cut()
    bench.expect_gone()
    bench.expect_exit_status(lambda status: status != 0, "an exit status other than 0")


_BYE = "Close the connection at BYE and end; do not connect again."


@case(
    "4.9/1",
    POSITIVE,
    does="sends BYE reason=finished after a game",
    expects="the bot closes the connection and ends with status 0",
    advice=_BYE,
    needs=("6.6/1",),
)
def leaves(bench: BotBench) -> None:
    bench.reach_lobby(games=1)
    bench.send(BYE)
    bench.expect_close()
    bench.expect_gone()
    bench.expect_exit_status(lambda status: status == 0, "exit status 0")


@case(
    "4.9/2",
    NEGATIVE,
    does="sends BYE with a reason that no version has, in the lobby",
    expects="the bot closes the connection and ends",
    advice=_BYE,
    needs=("4.9/1",),
)
def unknown_reason(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.send("BYE reason=moonrise")
    bench.expect_close()
    bench.expect_gone()


@case(
    "4.9/3",
    NEGATIVE,
    does="sends BYE reason=stopped in the midst of a game",
    expects="the bot closes the connection and ends",
    advice=_BYE,
    needs=("4.3/2", "4.9/1"),
)
def stopped(bench: BotBench) -> None:
    with reaching():
        bench.log_in()
        table = bench.begin(seat=2)
        bench.play(table, 1)
        bench.ask(table)
    bench.send("BYE reason=stopped")
    bench.expect_close()
    bench.expect_gone()


@case(
    "4.9/4",
    POSITIVE,
    does="sends BYE reason=finished again=500 in the lobby",
    expects="the bot leaves, or logs in by name and token 500 ms later or more",
    advice="With again= another contest may follow, which does not know your key: wait for so long and log "
    "in by name and token; or leave, as without it.",
    needs=("4.9/1",),
)
def next_contest(bench: BotBench) -> None:
    bench.reach_lobby()
    since = bench.log.now()
    bench.send(f"{BYE} again=500")
    bench.cut()
    found = bench.door.accept(bench.settings.patience)
    if isinstance(found, str):
        return
    waited = bench.log.now() - since
    bench.take(found)
    if waited < 0.5:
        raise failed("500 ms between the two connections", f"{int(waited * 1000)} ms")
    hello = bench.log_in()
    if hello.resume is not None:
        raise failed("HELLO without resume=", f"HELLO with resume={hello.resume}")
    bench.play_game()


@case(
    "4.10/1",
    NEGATIVE,
    does="sends ERROR in a game, with a known code and an unknown one",
    expects="the game is played on",
    advice="Report an ERROR after WELCOME and go on; only one before WELCOME ends the connection.",
)
def errors(bench: BotBench) -> None:
    table = bench.reach_game(moved=True)
    bench.send("ERROR not-your-turn MOVE answers a TURN, and none is open", "ERROR moonrise a newer code a=b")
    bench.play(table)
    bench.finish(table)


@case(
    "4.10/2",
    POSITIVE,
    does="sends ERROR in the lobby, then offers a game",
    expects="the game is played",
    advice="Report an ERROR after WELCOME and go on; only one before WELCOME ends the connection.",
)
def error_in_the_lobby(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.send("ERROR unexpected that line has no meaning here")
    bench.play_game()


@case(
    "11.2/1",
    POSITIVE,
    does="refuses the log-in by ERROR full",
    expects="the bot connects again",
    advice="full passes: wait a little and try again.",
)
def full(bench: BotBench) -> None:
    with reaching():
        bench.connect()
        bench.send(ARENA)
        bench.expect("HELLO")
    bench.refuse("full this server holds as many connections as it may")
    bench.reconnect()
    bench.log_in()
    bench.play_game()


@case(
    "11.2/2",
    POSITIVE,
    does="refuses the log-in by ERROR rate with retry_after=500",
    expects="the bot connects again, 500 ms later or more",
    advice="rate passes: wait for as many milliseconds as retry_after= says.",
)
def rate(bench: BotBench) -> None:
    with reaching():
        bench.connect()
        bench.send(ARENA)
        bench.expect("HELLO")
    since = bench.log.now()
    bench.refuse("rate too many log-ins from this address retry_after=500")
    bench.reconnect()
    waited = bench.log.now() - since
    if waited < 0.5:
        raise failed("500 ms between the two connections", f"{int(waited * 1000)} ms")
    bench.log_in()


@case(
    "11.2/3",
    NEGATIVE,
    does="refuses the log-in by ERROR token",
    expects="the bot leaves, does not try again, and ends with a status other than 0",
    advice="A wrong token stays wrong: print the line and end with an error.",
)
def refused(bench: BotBench) -> None:
    with reaching():
        bench.connect()
        bench.send(ARENA)
        bench.expect("HELLO")
    bench.refuse("token this name or token is wrong")
    bench.expect_gone()
    bench.expect_exit_status(lambda status: status != 0, "an exit status other than 0")
