"""Valid and invalid lines, and messages generated from the table, for the tests of the wire."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from arena_protocol.codec import REQUIRED, Direction, Schema
from arena_protocol.errors import ErrorCode
from arena_protocol.kinds import NAME, WORD
from arena_protocol.messages import (
    TABLE,
    Arena,
    Bye,
    Error,
    Game,
    Hello,
    Info,
    Keep,
    Log,
    Message,
    Move,
    Next,
    Over,
    Ping,
    Played,
    Pong,
    Quit,
    Ready,
    Start,
    State,
    Turn,
    Watch,
    Welcome,
    Zombie,
    parse_client,
    parse_server,
)

COMMIT = "ca62e39358f33dca2aea0b96b1aec4a0d3d26b65e69400352a05109655a46bb0"

# The transcript of the design, byte for byte.
TRANSCRIPT = [
    ("S", b"ARENA 1 insertion-arena/0.1", Arena(1, "insertion-arena/0.1")),
    (
        "C",
        b"HELLO 1 mybot games=insertion,xo token=s3cret agent=cpp-starter/1",
        Hello(1, "mybot", ("insertion", "xo"), token="s3cret", agent="cpp-starter/1"),
    ),
    ("C", b"HELLO 1 eye role=spectator", Hello(1, "eye", role="spectator")),
    ("S", b"WELCOME mybot session=7f3a resume=9c1e", Welcome("mybot", "7f3a", "9c1e")),
    (
        "S",
        b"GAME g42 insertion seat=1 seats=2 names=mybot,rival plies=200 colours=6 lookahead=20 "
        b"clock=20000 increment=0 zombie=6 commit=" + COMMIT.encode(),
        Game(
            "g42",
            "insertion",
            1,
            2,
            ("mybot", "rival"),
            20000,
            0,
            "6",
            COMMIT,
            options={"plies": "200", "colours": "6", "lookahead": "20"},
        ),
    ),
    ("S", b"STATE 53351/34233/13552/44215/44526", State("53351/34233/13552/44215/44526")),
    ("S", b"NEXT 61634513435625445315", Next("61634513435625445315")),
    ("C", b"READY g42", Ready("g42")),
    ("S", b"START g42", Start("g42")),
    ("S", b"TURN 1 clock=20000,20000 lag=0 credit=0", Turn(1, (20000, 20000), 0, 0)),
    ("C", b"MOVE 4", Move("4")),
    (
        "S",
        b"PLAYED 1 seat=1 move=4 time=3 clock=19997,20000 points=30 total=30,0 reveal=1",
        Played(1, 1, "4", 3, (19997, 20000), 30, (30, 0), "1"),
    ),
    (
        "S",
        b"OVER g42 total=970,905 end=complete nonce=5f sequence=6163",
        Over("g42", (970, 905), "complete", "5f", "6163"),
    ),
    ("S", b"BYE reason=finished", Bye("finished")),
    ("S", b"BYE reason=finished again=2000", Bye("finished", 2000)),
    ("S", b"ZOMBIE ply=17 reason=illegal", Zombie(17, "illegal")),
    (
        "S",
        b"ZOMBIE ply=17 reason=illegal seat=2 line=4d4f56452030 game=g42",
        Zombie(17, "illegal", 2, b"MOVE 0", "g42"),
    ),
    (
        "S",
        b"ERROR rate too many log-ins retry_after=30",
        Error(ErrorCode.RATE, "too many log-ins", retry_after=30),
    ),
    ("C", b"WATCH *", Watch("*")),
    ("C", b"STORE 3 data=00ff at=1 game=g1", Keep(3, b"\x00\xff", 1, "g1")),
    ("C", b"STORE 0 data=", Keep(0, b"")),
    ("C", b"QUIT", Quit()),
    ("C", b"PING 17", Ping("17")),
    ("S", b"PING 17", Ping("17")),
    ("C", b"PONG 17", Pong("17")),
    ("C", b"INFO game=g1 ply=3 depth=9 eval=-30 text=a=b c", Info("g1", 3, depth=9, eval=-30, text="a=b c")),
    (
        "S",
        b"LOG 2026-11-22T18:00:00.1Z * lost reason=a=b c",
        Log("2026-11-22T18:00:00.1Z * lost reason=a=b c"),
    ),
    ("S", b"INFO game=g1 ply=3 seat=2 line=4,7", Info("g1", 3, seat=2, line="4,7")),
    ("S", b"PONG 17", Pong("17")),
]


BAD_LINES = [
    ("C", b"MOVE 4 ", "tokens have one space between them, and none before or after"),
    ("C", b" MOVE 4", "tokens have one space between them, and none before or after"),
    ("C", b"MOVE  4", "tokens have one space between them, and none before or after"),
    ("C", b" ", "tokens have one space between them, and none before or after"),
    ("C", b"MOVE\t4", "a line is printable ASCII, and a byte of this one is not"),
    ("C", b"MOVE \xd0\xb0", "a line is printable ASCII, and a byte of this one is not"),
    ("C", b"MOVE 4\n", "a line is printable ASCII, and a byte of this one is not"),
    (
        "C",
        b"\xef\xbb\xbfHELLO 1 ann",
        "a line is printable ASCII, and this one begins with a byte order mark (EF BB BF)",
    ),
    ("C", b"\x00", "a line is printable ASCII, and a byte of this one is not"),
    ("C", b"MOVE", "MOVE: move must be given"),
    ("C", b"HELLO", "HELLO: version, name must be given"),
    ("C", b"HELLO 1", "HELLO: name must be given"),
    ("C", b"MOVE 4 5", "MOVE: expected key=value, not '5'"),
    ("C", b"QUIT now", "QUIT: expected key=value, not 'now'"),
    ("C", b"QUIT now=", "QUIT: expected key=value, not 'now='"),
    ("C", b"QUIT Now=1", "QUIT: expected key=value, not 'Now=1'"),
    ("C", b"QUIT =1", "QUIT: expected key=value, not '=1'"),
    ("C", b"QUIT " + b"x" * 50, f"QUIT: expected key=value, not '{'x' * 40}...'"),
    ("C", b"QUIT a=1 a=2", "QUIT: a= may be given once only"),
    ("C", b"HELLO 1 mybot token=a token=b", "HELLO: token= may be given once only"),
    ("C", b"HELLO one mybot", "HELLO: version must be a whole number of at most 12 digits, not 'one'"),
    ("C", b"HELLO 01 mybot", "HELLO: version must be a whole number of at most 12 digits, not '01'"),
    ("C", b"HELLO +1 mybot", "HELLO: version must be a whole number of at most 12 digits, not '+1'"),
    ("C", b"HELLO -1 mybot", "HELLO: version must be a whole number of at most 12 digits, not '-1'"),
    ("C", b"HELLO 1_0 mybot", "HELLO: version must be a whole number of at most 12 digits, not '1_0'"),
    (
        "C",
        b"HELLO 1234567890123 mybot",
        "HELLO: version must be a whole number of at most 12 digits, not '1234567890123'",
    ),
    ("C", b"HELLO 1 mybot token=", "HELLO: token= must be printable ASCII without spaces, not ''"),
    (
        "C",
        b"HELLO 1 mybot games=xo,,go",
        "HELLO: games= must be words of printable ASCII with commas between them, not 'xo,,go'",
    ),
    ("S", b"TURN 1 lag=0", "TURN: clock=, credit= must be given"),
    (
        "S",
        b"TURN 1 clock=5, lag=0 credit=0",
        "TURN: clock= must be whole numbers of at most 12 digits with commas between them, not '5,'",
    ),
    (
        "S",
        b"OVER g1 total=--5 end=void",
        "OVER: total= must be whole or negative numbers of at most 12 digits with commas between them, "
        "not '--5'",
    ),
    (
        "S",
        b"PLAYED 1 seat=1 move=4 time=3 clock=1,2 points=-0 total=3,4",
        "PLAYED: points= must be a whole or negative number of at most 12 digits, not '-0'",
    ),
    (
        "S",
        b"GAME g1 xo seat=1 seats=2 names=a,-b clock=1 increment=0",
        "GAME: names= must be names with commas between them, not 'a,-b'",
    ),
    (
        "S",
        b"ZOMBIE ply=1 reason=illegal line=4D",
        "ZOMBIE: line= must be bytes as pairs of hexadecimal digits 0-9a-f, not '4D'",
    ),
    ("S", b"ERROR", "ERROR: code, text must be given"),
    ("S", b"ERROR full", "ERROR: text must be given"),
    (
        "S",
        b"ERROR rate wait retry_after=soon",
        "ERROR: retry_after= must be a whole number of at most 12 digits, not 'soon'",
    ),
]


VALUES = {
    "count": st.integers(0, 10**12 - 1),
    "counts": st.lists(st.integers(0, 10**12 - 1), min_size=1, max_size=4).map(tuple),
    "integer": st.integers(1 - 10**12, 10**12 - 1),
    "integers": st.lists(st.integers(1 - 10**12, 10**12 - 1), min_size=1, max_size=4).map(tuple),
    "word": st.from_regex(WORD.pattern, fullmatch=True),
    "words": st.lists(st.from_regex("[!-+.-~-]+", fullmatch=True), min_size=1, max_size=4).map(tuple),
    "name": st.from_regex(NAME.pattern, fullmatch=True),
    "names": st.lists(st.from_regex(NAME.pattern, fullmatch=True), min_size=1, max_size=4).map(tuple),
    "hex": st.binary(max_size=20),
    "text": st.lists(st.from_regex("[!-~]+", fullmatch=True).filter(lambda w: "=" not in w), min_size=1).map(
        " ".join
    ),
}
OWN = st.dictionaries(st.from_regex("own_[a-z0-9_-]{0,9}", fullmatch=True), VALUES["word"], max_size=3)


@st.composite
def messages(draw: st.DrawFn, schemas: Sequence[Schema] = TABLE) -> tuple[Schema, Message]:
    schema: Schema = draw(st.sampled_from(schemas))
    values = {name: draw(VALUES[kind.name]) for name, kind in schema.positionals.items()}
    for key, kind in schema.options.items():
        if schema.defaults[key] is REQUIRED or draw(st.booleans()):
            values[key] = draw(VALUES[kind.name])
    if schema.game_options_after:
        values["options"] = draw(OWN)
    return schema, schema.type(**values)


def naive_print(schema: Schema, message: Any) -> bytes:
    """Print a message by a loop over its row: the oracle of the generated printers."""
    tokens = [schema.verb]
    for name, kind in schema.positionals.items():
        tokens.append(naive_text(kind.name, getattr(message, name)))
    for name, kind in schema.options.items():
        value = getattr(message, name)
        if value != schema.defaults[name]:
            tokens.append(f"{name}={naive_text(kind.name, value)}")
        if name == schema.game_options_after:
            tokens += [f"{key}={text}" for key, text in message.options.items()]
    return " ".join(tokens).encode("ascii") + b"\n"


def naive_text(kind: str, value: Any) -> str:
    if kind in ("counts", "integers", "words", "names"):
        return ",".join(str(item) for item in value)
    return value.hex() if kind == "hex" else str(value)


def sides(schema: Schema) -> str:
    return {Direction.CLIENT: "C", Direction.SERVER: "S", Direction.BOTH: "CS"}[schema.direction]


def parse(side: str, line: bytes) -> Message | None:
    return parse_client(line) if side == "C" else parse_server(line)
