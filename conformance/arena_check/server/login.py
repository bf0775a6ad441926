"""The cases of `arena check server` about log-in, PING, QUIT and TLS: sections 3, 4.1, 4.2, 6, 10, 11.2."""

from __future__ import annotations

from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_check.server.bench import REFUSE, SUITE, ServerBench
from arena_check.server.client import shown
from arena_check.wire import ReceiveTimeoutError
from arena_protocol import messages as wire

case = SUITE.case

#: A name that no contest should have.
STRANGER = "no-such-bot"


@case(
    "3.1/1",
    POSITIVE,
    does="sends HELLO with the name and token of a bot of the contest",
    expects="WELCOME",
    advice="See which ERROR came, and whether --names and --token are those of the contest.",
)
def hello(bench: ServerBench) -> None:
    bench.client().log_in()


@case(
    "3.1/2", NEGATIVE, does="sends PING as its first line", expects="ERROR login, and the end", advice=REFUSE
)
def ping_first(bench: ServerBench) -> None:
    bench.refuses(b"PING x", "login")


@case(
    "3.4/1",
    POSITIVE,
    does="sends QUIT in the lobby",
    expects="BYE reason=quit, and the end of the connection",
    advice="QUIT is answered by BYE reason=quit in every state after log-in.",
)
def quits(bench: ServerBench) -> None:
    with reaching():
        client = bench.visitor()
    client.send("QUIT")
    bye = client.expect(wire.Bye)
    if bye.reason != "quit":
        raise failed("BYE reason=quit", f"BYE reason={bye.reason}")
    client.expect_end()


@case(
    "3.5/1",
    POSITIVE,
    does="sends PING in the lobby, on offer and in a game, on move and off move",
    expects="PONG with the same token each time",
    advice="PING is answered in every state after WELCOME.",
)
def ping(bench: ServerBench) -> None:
    bench.visitor().sync()
    with reaching():
        pair = bench.pair()
    for client in pair.seats:
        client.sync()
    with reaching():
        pair.begin()
    for client in pair.seats:
        client.sync()


@case(
    "3.5/2",
    NEGATIVE,
    does="sends 300 PINGs at once, in a game",
    expects="300 PONGs in the same order: PINGs are free",
    advice="PING, PONG and blank lines are no unasked lines.",
)
def many_pings(bench: ServerBench) -> None:
    pair = bench.begun()
    client = pair.waiter
    client.send(*[f"PING {number}" for number in range(300)])
    for number in range(300):
        pong = client.expect(wire.Pong)
        if pong.token != str(number):
            raise failed(f"PONG {number}", f"PONG {pong.token}")


@case(
    "3.6/1",
    NEGATIVE,
    does="sends a PONG that nothing asked for",
    expects="no answer",
    advice="A PONG of an unknown token means nothing.",
)
def unasked_pong(bench: ServerBench) -> None:
    with reaching():
        client = bench.visitor()
    client.send("PONG moonrise")
    seen = client.sync()
    if seen:
        raise failed("no answer", str(seen[0]))


@case(
    "4.1/1",
    POSITIVE,
    does="connects and sends nothing",
    expects="ARENA with version 1, at once",
    advice="The server speaks first.",
)
def arena(bench: ServerBench) -> None:
    version = bench.client().expect(wire.Arena).version
    if version != wire.VERSION:
        raise failed(f"ARENA {wire.VERSION}", f"ARENA {version}")


@case(
    "4.2/1",
    POSITIVE,
    does="logs in three times, by resume= each time",
    expects="a resume key of 22 signs or more in each WELCOME, never the same",
    advice="128 random bits are 32 hexadecimal digits, or 22 signs of Base64.",
)
def keys(bench: ServerBench) -> None:
    seen = []
    for _ in range(3):
        with reaching():
            seen.append(bench.client().log_in().resume)
        if len(seen[-1]) < 22:
            raise failed("a key of 128 bits or more", seen[-1])
    if len(set(seen)) < len(seen):
        raise failed("another key in each WELCOME", "the same key twice")


@case(
    "4.2/2",
    NEGATIVE,
    does="logs in under one name with the key of another",
    expects="ERROR token, and the end of the connection",
    advice="A key belongs to the name in whose WELCOME it was.",
)
def key_of_another(bench: ServerBench) -> None:
    with reaching():
        key = bench.client(0).log_in().resume
    client = bench.client(1)
    client.hello(f" resume={key}")
    client.expect_error("token")
    client.expect_end()


@case(
    "6.1/1",
    NEGATIVE,
    does="connects and sends nothing until the server has had enough",
    expects="ERROR login, and the end of the connection, within 45 s",
    advice="Bound the time from the connection to HELLO (10 s by default).",
)
def login_limit(bench: ServerBench) -> None:
    client = bench.client()
    with reaching():
        client.expect(wire.Arena)
    client.expect_error("login", bench.settings.limits)
    client.expect_end()


@case(
    "6.1/2",
    POSITIVE,
    does="stays in the lobby after HELLO",
    expects="the limit for HELLO is over with it",
    advice="The limit runs from the connection to HELLO alone.",
)
def stays(bench: ServerBench) -> None:
    with reaching():
        client = bench.visitor()
    client.expect_silence("line in the lobby")


@case(
    "6.2/1",
    NEGATIVE,
    does="logs in with a wrong token, and under a name that no bot has",
    expects="the same ERROR token, word for word, and the end of the connection",
    advice="Do not tell names apart from tokens: compare tokens in constant time, also for unknown names.",
)
def wrong_credentials(bench: ServerBench) -> None:
    texts = set()
    for name in (bench.settings.names[0], STRANGER):
        client = bench.anyone(name)
        with reaching():
            client.expect(wire.Arena)
        client.send(f"HELLO 1 {name} token=certainly-wrong")
        if name == bench.settings.names[0] and bench.settings.token is None:
            raise Finding(Verdict.NOT_REACHED, "a contest with tokens", "--token was not given")
        texts.add(client.expect_error("token").text)
        client.expect_end()
    if len(texts) > 1:
        raise failed("the same text for a wrong name and a wrong token", " | ".join(sorted(texts)))


@case(
    "6.2/2",
    POSITIVE,
    does="logs in with the right token after a wrong one",
    expects="WELCOME",
    advice="A denial costs nothing but itself until there are many.",
)
def right_token(bench: ServerBench) -> None:
    wrong_credentials(bench)
    bench.client(1).log_in()


@case(
    "6.3/1",
    NEGATIVE,
    does="sends HELLO of version 2, in a form that version 1 does not know",
    expects="ERROR version, and the end of the connection",
    advice="Look at the version first: the rest of the line may be of another form.",
)
def other_version(bench: ServerBench) -> None:
    bench.refuses(b"HELLO 2 {mybot} [games]", "version")


@case(
    "6.3/2",
    POSITIVE,
    does="sends HELLO with the version that ARENA names",
    expects="WELCOME",
    advice="A server speaks the version of its ARENA.",
)
def same_version(bench: ServerBench) -> None:
    client = bench.client()
    version = client.expect(wire.Arena).version
    client.send(f"HELLO {version} {client.name}{client.credentials()}")
    client.expect_welcome()


@case(
    "6.4/1",
    NEGATIVE,
    does="logs in by name and token while the name is connected",
    expects="ERROR name-taken, and the first connection goes on",
    advice="Only a resume key takes a seat from a connection that is alive.",
)
def name_taken(bench: ServerBench) -> None:
    with reaching():
        first = bench.logged_in()
    second = bench.client()
    second.hello(bench.token_option)
    second.expect_error("name-taken")
    second.expect_end()
    first.sync()


@case(
    "6.4/2",
    POSITIVE,
    does="logs in by name and token after the connection of that name has ended",
    expects="WELCOME, at the latest once the server has noticed the end",
    advice="A name is free again when its connection has ended.",
)
def name_is_free(bench: ServerBench) -> None:
    with reaching():
        first = bench.logged_in()
    first.close()
    bench.keys.pop(first.name)
    bench.client().log_in()


@case(
    "6.5/1",
    NEGATIVE,
    does="lists a game in games= that no contest has",
    expects="ERROR game, and the end of the connection",
    advice="games= lists all that the bot plays.",
)
def no_common_game(bench: ServerBench) -> None:
    line = f"HELLO 1 {bench.settings.names[0]} games=moonrise{bench.token_option}".encode()
    bench.refuses(line, "game")


@case(
    "6.7/1",
    NEGATIVE,
    does="logs in with slot=0, and with a slot beyond any limit",
    expects="ERROR slot, and the end of the connection",
    advice="A bot has the slots from 1 to the limit that the organiser has set.",
)
def no_such_slot(bench: ServerBench) -> None:
    for slot in (0, 1_000_000):
        bench.refuses(f"HELLO 1 {bench.settings.names[0]} slot={slot}{bench.token_option}".encode(), "slot")


@case(
    "6.7/2",
    POSITIVE,
    does="logs in with slot=1, and a second time without slot=",
    expects="WELCOME, and then ERROR name-taken",
    advice="A HELLO without slot= is for slot 1.",
)
def first_slot(bench: ServerBench) -> None:
    bench.keys.pop(bench.settings.names[0], None)
    first = bench.client()
    first.hello(f" slot=1{bench.token_option}")
    first.expect_welcome()
    second = bench.client()
    second.hello(bench.token_option)
    second.expect_error("name-taken")
    first.sync()


@case(
    "10.1/1",
    POSITIVE,
    does="connects over TLS and logs in",
    expects="ARENA after the handshake, then WELCOME",
    advice="The lines are the same with TLS; the handshake comes before ARENA.",
)
def over_tls(bench: ServerBench) -> None:
    _needs_tls(bench)
    bench.client().log_in()


@case(
    "10.1/2",
    NEGATIVE,
    does="connects to the same port without TLS and sends HELLO",
    expects="no ARENA: nothing is sent in plain text",
    advice="A port with a certificate takes TLS alone, so that no token is sent in plain text by mistake.",
)
def without_tls(bench: ServerBench) -> None:
    _needs_tls(bench)
    wire_ = bench.open(plain=True)
    wire_.send(f"HELLO 1 {STRANGER}\n".encode())
    try:
        line = wire_.receive(bench.settings.quiet)
    except ReceiveTimeoutError:
        return
    finally:
        wire_.close()
    if isinstance(line, bytes) and line.startswith(b"ARENA"):
        raise failed("no line of the protocol", shown(line))


def _needs_tls(bench: ServerBench) -> None:
    if bench.settings.tls is None:
        raise Finding(Verdict.NOT_IMPLEMENTED, "a server with a certificate", "--tls was not given")


@case(
    "11.2/1",
    NEGATIVE,
    does="logs in with a wrong token 30 times under a name that no bot has",
    expects="ERROR rate with retry_after= at last",
    advice="Limit failed log-ins by address and name, so that tokens cannot be guessed.",
)
def guessing(bench: ServerBench) -> None:
    for _ in range(30):
        client = bench.anyone(f"{STRANGER}-2")
        client.hello(" token=guess")
        error = client.expect(wire.Error)
        if error.code == "rate":
            if error.retry_after is None:
                raise failed("retry_after=", "none")
            return
    raise Finding(Verdict.NON_STRICT, "ERROR rate", "30 guesses were looked at")
