"""The cases of `arena check bot` about lines: section 1 of the clauses."""

from __future__ import annotations

from contextlib import suppress

from arena_check.bot.bench import SUITE, BotBench
from arena_check.cases import NEGATIVE, POSITIVE, Finding, reaching
from arena_check.wire import Wire, plainly
from arena_protocol.framing import SERVER_LINE_LIMIT

case = SUITE.case


@case(
    "1.1/1",
    POSITIVE,
    does="sends GAME, STATE, NEXT in one segment, then START and TURN in one",
    expects="a whole game is played",
    advice="Split what you read at LF; one read may bring many lines.",
    needs=(),
)
def joined_lines(bench: BotBench) -> None:
    bench.reach_lobby()
    table = bench.table()
    bench.offer(table)
    bench.send(f"START {table.id}", table.turn())
    bench.take_move(table)
    bench.play(table)
    bench.finish(table)


@case(
    "1.1/2",
    NEGATIVE,
    does="sends a part of TURN behind a PING, the rest after its PONG, then all bytes one by one",
    expects="a whole game is played",
    advice="Keep what you have read until its LF comes; one read may bring a part of a line.",
)
def split_lines(bench: BotBench) -> None:
    table = bench.reach_game()
    turn = f"{table.turn()}\n".encode()
    # The bot that answers this PING has read what stands behind it.
    bench.wire.send(b"PING split\n" + turn[:3])
    with suppress(Finding):
        bench.expect_pong("split")
    bench.wire.send(turn[3:])
    bench.take_move(table)
    bench.form = lambda wire, lines: wire.send_bytewise("".join(f"{line}\n" for line in lines).encode())
    bench.play(table)
    bench.finish(table)


@case(
    "1.1/3",
    NEGATIVE,
    does="closes the connection in the middle of a TURN line",
    expects="no MOVE: a line without its LF is none",
    advice="Act on a line when its LF has come, not at the end of the connection.",
)
def unfinished_line(bench: BotBench) -> None:
    table = bench.reach_game()
    bench.wire.send(table.turn().encode()[:-1])
    bench.wire.half_close()
    bench.expect_nothing("MOVE for an unfinished line")


@case(
    "1.2/1",
    NEGATIVE,
    does="ends every line in CR LF, with PING and an id that the bot has to repeat",
    expects="a game is played, and no CR comes back",
    advice="Remove one CR before the LF when you read a line.",
)
def cr_lf(bench: BotBench) -> None:
    def form(wire: Wire, lines: list[str]) -> None:
        wire.send("".join(f"{line}\r\n" for line in lines).encode())

    bench.reach_lobby()
    bench.form = form
    bench.play_game()


def _reversed_options(line: str) -> str:
    tokens = line.split(" ")
    options = [token for token in tokens if "=" in token and not token.startswith("ERROR")]
    return " ".join([token for token in tokens if token not in options] + options[::-1])


@case(
    "1.5/1",
    NEGATIVE,
    does="sends the options of every line in the opposite order",
    expects="a whole game is played",
    advice="Find options by their key, not by their place.",
    needs=("4.9/1",),
)
def option_order(bench: BotBench) -> None:
    bench.alter = _reversed_options
    bench.play_contest({})


@case(
    "1.6/1",
    NEGATIVE,
    does="sends a line of 65,536 bytes, of a verb that the bot does not know",
    expects="a game is played",
    advice="Let your line buffer hold 65,536 bytes and a line end.",
    needs=("1.1/2", "1.9/1"),
)
def longest_line(bench: BotBench) -> None:
    bench.reach_lobby()
    head = "NEWS note="
    bench.send(head + "x" * (SERVER_LINE_LIMIT - len(head)))
    bench.play_game()


@case(
    "1.6/2",
    NEGATIVE,
    does="sends GAME with an option of the game's own of 60,000 bytes",
    expects="a game is played",
    advice="Let your line buffer hold 65,536 bytes and a line end.",
    needs=("1.1/2",),
)
def long_game_line(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.play_game(extra=" remark=" + "x" * 60_000)


@case(
    "1.7/1",
    NEGATIVE,
    does="sends blank lines, before ARENA and between all lines, some of them CR LF",
    expects="a whole game is played",
    advice="Pass over blank lines: they keep a connection alive.",
    needs=("4.9/1",),
)
def blank_lines(bench: BotBench) -> None:
    def form(wire: Wire, lines: list[str]) -> None:
        wire.send("".join(f"\n{line}\n\r\n\n" for line in lines).encode())

    bench.form = form
    bench.play_contest({})


@case(
    "1.8/1",
    POSITIVE,
    does="adds an option that no version has to every line",
    expects="a whole game is played",
    advice="Pass over options that you do not know: a newer server sends them.",
    needs=("4.9/1",),
)
def unknown_options(bench: BotBench) -> None:
    bench.alter = lambda line: line if line.startswith(("PONG", "PING")) else f"{line} x-new=1=2"
    bench.play_contest({})


@case(
    "1.9/1",
    NEGATIVE,
    does="sends verbs that no version has, in the lobby and between all lines of a game",
    expects="a whole game is played",
    advice="Pass over lines whose verb you do not know: a newer server sends them.",
)
def unknown_verbs(bench: BotBench) -> None:
    bench.reach_lobby()
    bench.form = lambda wire, lines: plainly(wire, [f"NEWS {line}\nX\n{line}" for line in lines])
    bench.play_game()


@case(
    "1.9/2",
    NEGATIVE,
    does="sends the first line of another kind of server",
    expects="no HELLO: the token is for an arena server only",
    advice="Leave, with a message, if the first line is not ARENA.",
    needs=("3.1/2",),
)
def another_server(bench: BotBench) -> None:
    with reaching():
        bench.connect()
    bench.send("SSH-2.0-OpenSSH_9.2")
    bench.expect_nothing("line to a server that is none")
