"""The cases of `arena check server` about lines and values: sections 1, 2, 4.10 and 11.1 of the clauses."""

from __future__ import annotations

from arena_check.cases import NEGATIVE, POSITIVE, failed, reaching
from arena_check.server.bench import REFUSE, SUITE, ServerBench
from arena_protocol import messages as wire
from arena_protocol.framing import CLIENT_LINE_LIMIT

case = SUITE.case

_LINES = "PROTOCOL.md, Lines."


@case(
    "1.1/1", POSITIVE, does="sends HELLO and PING in one segment", expects="WELCOME, then PONG", advice=_LINES
)
def joined_lines(bench: ServerBench) -> None:
    client = bench.client()
    client.expect(wire.Arena)
    client.send(f"HELLO 1 {client.name}{client.credentials()}", "PING joined")
    client.expect_welcome()
    while not isinstance(message := client.receive("PONG joined"), wire.Pong):
        if message is None:
            raise failed("PONG joined", "the end of the connection")


@case(
    "1.1/2",
    NEGATIVE,
    does="sends HELLO with the first half of a PING in one segment, and the other half after WELCOME",
    expects="WELCOME, then PONG",
    advice="Keep what you have read until its LF comes; one read may bring a part of a line.",
)
def split_line(bench: ServerBench) -> None:
    client = bench.client()
    with reaching():
        client.expect(wire.Arena)
    client.send_bytes(f"HELLO 1 {client.name}{client.credentials()}\nPIN".encode())
    client.expect_welcome()
    client.send_bytes(b"G split\n")
    client.until(wire.Pong)


@case(
    "1.1/3",
    NEGATIVE,
    does="cuts the connection in the middle of a line in a game",
    expects="the half line is no fault: the game goes on after resume=",
    advice="A line without its LF is none; a lost connection is no fault.",
)
def half_line(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.mover.send_bytes(b"MOV")
    pair.mover.close()
    again = bench.client(bench.settings.names.index(pair.mover.name))
    again.log_in()
    for message in again.sync():
        if isinstance(message, wire.Zombie):
            raise failed("no fault", f"ZOMBIE reason={message.reason}")
    if again.turn is None:
        raise failed("TURN once more", "none")


@case("1.2/1", POSITIVE, does="ends a line in CR LF", expects="the line is read", advice=_LINES)
def cr_lf(bench: ServerBench) -> None:
    with reaching():
        client = bench.logged_in()
    client.send_bytes(b"PING cr\r\n")
    pong = client.expect(wire.Pong)
    if pong.token != "cr":  # noqa: S105 - what PING and PONG carry
        raise failed("PONG cr", f"PONG {pong.token}")


@case(
    "1.3/1",
    NEGATIVE,
    does="sends bytes above 126, a tab and a NUL in the lobby",
    expects="ERROR syntax each time",
    advice=REFUSE,
)
def not_printable(bench: ServerBench) -> None:
    with reaching():
        client = bench.visitor()
    for line in (b"PING \xff", b"PING\tx", b"PING x\x00"):
        client.sync()
        client.send_bytes(line + b"\n")
        error = client.expect(wire.Error)
        if error.code not in ("syntax", "unknown-verb"):
            raise failed("ERROR syntax", f"ERROR {error.code} {error.text}")
    client.sync()


@case("1.4/1", NEGATIVE, does="puts two spaces between tokens", expects="ERROR syntax", advice=REFUSE)
def two_spaces(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"PING  x", "syntax")


@case("1.4/2", NEGATIVE, does="puts a space behind the last token", expects="ERROR syntax", advice=REFUSE)
def trailing_space(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"PING x ", "syntax")


@case(
    "1.5/1",
    POSITIVE,
    does="sends the options of HELLO in another order",
    expects="WELCOME",
    advice="Find options by their key, not by their place.",
)
def option_order(bench: ServerBench) -> None:
    client = bench.client()
    client.hello(f" agent=arena-check/1{client.credentials()}")
    client.expect_welcome()


@case("1.5/2", NEGATIVE, does="sends a verb in small letters", expects="ERROR unknown-verb", advice=REFUSE)
def small_letters(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"ping x", "unknown-verb")


@case(
    "1.6/1",
    POSITIVE,
    does="sends a line of exactly 1,024 bytes",
    expects="the line is read",
    advice="The limit does not count the line end.",
)
def longest_line(bench: ServerBench) -> None:
    with reaching():
        client = bench.logged_in()
    token = "x" * (CLIENT_LINE_LIMIT - len("PING "))
    client.send(f"PING {token}")
    if client.expect(wire.Pong).token != token:
        raise failed("PONG with the same token", "PONG with another one")


@case(
    "1.6/2",
    NEGATIVE,
    does="sends a line of 1,025 bytes in the lobby",
    expects="ERROR too-long, once, and the next line is read",
    advice="Read on to the LF of a line that is too long, and keep no more of it than the limit.",
)
def too_long(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"PING " + b"x" * (CLIENT_LINE_LIMIT + 1 - len("PING ")), "too-long")


@case(
    "1.6/3",
    NEGATIVE,
    does="sends 100,000 bytes without a line end, then one",
    expects="ERROR too-long, once, and the next line is read",
    advice="Read on to the LF of a line that is too long, and keep no more of it than the limit.",
)
def much_too_long(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"x" * 100_000, "too-long")


@case(
    "1.7/1",
    POSITIVE,
    does="sends blank lines before and after HELLO",
    expects="no answer to them",
    advice=_LINES,
)
def blank_lines(bench: ServerBench) -> None:
    client = bench.client()
    client.expect(wire.Arena)
    client.send("", f"HELLO 1 {client.name}{client.credentials()}", "", "")
    client.expect_welcome()
    errors = [message for message in client.sync() if isinstance(message, wire.Error)]
    if errors:
        raise failed("no answer to a blank line", f"ERROR {errors[0].code} {errors[0].text}")


@case(
    "1.8/1",
    POSITIVE,
    does="adds an option that no version has to HELLO",
    expects="WELCOME",
    advice="Pass over options that you do not know: a newer client sends them.",
)
def unknown_option(bench: ServerBench) -> None:
    client = bench.client()
    client.hello(f" x-new=1=2{client.credentials()}")
    client.expect_welcome()


@case("1.8/2", NEGATIVE, does="sends the same key twice in HELLO", expects="ERROR syntax", advice=REFUSE)
def same_key_twice(bench: ServerBench) -> None:
    line = f"HELLO 1 {bench.settings.names[0]} agent=a agent=b".encode()
    bench.refuses(line, "syntax")


@case("1.10/1", NEGATIVE, does="leaves the name out of HELLO", expects="ERROR syntax", advice=REFUSE)
def no_name(bench: ServerBench) -> None:
    bench.refuses(b"HELLO 1", "syntax")


@case("1.10/2", NEGATIVE, does="sends HELLO with an empty token=", expects="ERROR syntax", advice=REFUSE)
def empty_value(bench: ServerBench) -> None:
    bench.refuses(f"HELLO 1 {bench.settings.names[0]} token=".encode(), "syntax")


@case(
    "1.10/3",
    POSITIVE,
    does="sends PING without its token in the lobby",
    expects="ERROR syntax",
    advice=REFUSE,
)
def no_token(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"PING", "syntax")


@case(
    "2.1/1",
    NEGATIVE,
    does="writes the version as 01, +1 and 1.0",
    expects="ERROR syntax each time",
    advice="A number has one form only.",
)
def number_forms(bench: ServerBench) -> None:
    for version in (b"01", b"+1", b"1.0"):
        bench.refuses(b"HELLO " + version + b" " + bench.settings.names[0].encode(), "syntax")


@case(
    "2.1/2",
    POSITIVE,
    does="plays a game and reads every line by the table of messages",
    expects="every line can be read",
    advice="PROTOCOL.md, Kinds of values, has a regular expression for each kind.",
)
def numbers(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.begin()
    pair.finish()


@case(
    "2.2/1",
    NEGATIVE,
    does="logs in with names that break the form: a slash, a sign first, 33 letters",
    expects="ERROR name each time",
    advice="A name is 1 to 32 letters, digits, `_`, `.` or `-`, a letter or digit first.",
)
def bad_names(bench: ServerBench) -> None:
    for name in (b"my/bot", b"-bot", b"b" * 33):
        bench.refuses(b"HELLO 1 " + name, "name")


@case(
    "2.2/2",
    POSITIVE,
    does="logs in under the name of a bot of the contest",
    expects="WELCOME with that name",
    advice="WELCOME repeats the name by which the bot is known.",
)
def own_name(bench: ServerBench) -> None:
    client = bench.client()
    name = client.log_in().name
    if name != client.name:
        raise failed(f"WELCOME {client.name}", f"WELCOME {name}")


@case(
    "4.10/2",
    POSITIVE,
    does="sends a line in the lobby that cannot be read, then WATCH",
    expects="ERROR, and an answer to WATCH: the connection goes on",
    advice="After log-in an ERROR is a warning.",
)
def lobby_goes_on(bench: ServerBench) -> None:
    with reaching():
        client = bench.visitor()
    client.send("DANCE", "WATCH no-such-game")
    client.expect_error("unknown-verb")
    client.expect_error("no-such-game")


@case(
    "11.1/1", POSITIVE, does="sends a verb that no version has", expects="ERROR unknown-verb", advice=REFUSE
)
def unknown_verb(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"DANCE now", "unknown-verb")


@case(
    "11.1/2",
    NEGATIVE,
    does="sends a server's verb",
    expects="ERROR unknown-verb",
    advice="A client may not send TURN: it is no verb of its direction.",
)
def servers_verb(bench: ServerBench) -> None:
    bench.refuses_in_lobby(b"TURN 1 clock=1,1 lag=0 credit=0", "unknown-verb")
