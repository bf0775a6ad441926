"""A client's log-in against a slow oracle that reads the whole history again for every line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena_protocol.errors import ClientError, ErrorCode
from arena_protocol.framing import SERVER_LINE_LIMIT
from arena_protocol.link import TEMPORARY, Link, ServerLine
from arena_protocol.messages import Hello, Move, Ping, Pong, Ready

GAME = "GAME g1 insertion seat=1 seats=2 names=a,b clock=5 increment=0"
#: What may begin a connection, in the order that a server keeps; and what may follow WELCOME.
LOGINS = [
    [],
    ["ARENA 1 x"],
    ["ARENA 1 x", "WELCOME me session=s resume={key}"],
    *(["ARENA 1 x", f"ERROR {code} no"] for code in ("token", "name-taken", "game", "new-code")),
    ["ARENA 1 x", "ERROR rate no retry_after=1500"],
    ["ERROR full no"],
    ["ARENA 1 x", "BYE reason=stopped"],
    ["ARENA 2 x"],
    ["TURN 1"],
]
LATER = [
    "PING p",
    "",
    "NEWS of a newer version",
    GAME,
    "ERROR token no",
    "BYE reason=slow",
    "BYE reason=kicked",
]
#: One connection: its lines; then it is lost.
connections = st.lists(
    st.tuples(st.sampled_from(LOGINS), st.lists(st.sampled_from(LATER), max_size=4)).map(
        lambda parts: parts[0] + (parts[1] if parts[0][-1:] == [LOGINS[2][1]] else [])
    ),
    max_size=6,
)


class Oracle:
    """What the lines of a server mean; every answer is found by a search through all that came before."""

    def __init__(self, token: str | None) -> None:
        self.token = token
        #: Of each connection the pairs of a line of the server and the lines that answer it.
        self.history: list[list[tuple[str, list[str]]]] = []

    @property
    def here(self) -> list[str]:
        return [line for line, _ in self.history[-1]]

    def key(self) -> str | None:
        """The key of the last WELCOME, unless a log-in by it was denied after that."""
        found = None
        for connection in self.history:
            for line, _ in connection:
                if line.startswith("WELCOME"):
                    found = line.rpartition("=")[2]
                elif line.startswith("ERROR token") and not any(
                    other.startswith("WELCOME") for other, _ in connection
                ):
                    found = None
        return found

    def was_in(self) -> bool:
        return any(line.startswith("WELCOME") for connection in self.history for line, _ in connection)

    def take(self, line: str) -> tuple[list[str], str | None]:
        """The answers to a line, and the beginning of the error that it is, if it is one."""
        welcomed = any(other.startswith("WELCOME") for other in self.here)
        verb, _, rest = line.partition(" ")
        answers: list[str] = []
        error = None
        if verb == "TURN":
            error = "the server broke the protocol: "
        elif line.startswith("ARENA 2"):
            error = "the server has version 2 of the protocol, this client 1"
        elif verb == "ARENA":
            key = self.key()
            secret = f" resume={key}" if key else f" token={self.token}" if self.token else ""
            answers.append(f"HELLO 1 me{secret}")
        elif verb == "PING":
            answers.append(f"PONG {rest}")
        elif verb == "ERROR" and not welcomed:
            code = rest.split()[0]
            passes = (
                code in ("full", "rate")
                or (code == "token" and self.key() is not None)
                or (code == "name-taken" and self.was_in())
            )
            error = None if passes else f"the server refuses me: {code}: no"
        self.history[-1].append((line, answers))
        return answers, error

    def refusal(self) -> tuple[str | None, float]:
        welcomed = False
        found: tuple[str | None, float] = (None, 0.0)
        for line in self.here:
            if line.startswith("ERROR") and not welcomed:
                code = line.split()[1]
                found = f"{code}: no", 1.5 if code == "rate" else 0.0
            elif line == "BYE reason=slow":
                found = "the server sent BYE: the client did not read what it was sent", found[1]
            welcomed = welcomed or line.startswith("WELCOME")
        return found

    def bye(self) -> str | None:
        ends = [line for connection in self.history for line, _ in connection if line.startswith("BYE")]
        return next((line.rpartition("=")[2] for line in ends if line != "BYE reason=slow"), None)


def feed(link: Link, data: bytes, size: int) -> tuple[list[str], ClientError | None]:
    """The lines that chunks of `size` bytes give, and the error at which they end."""
    found: list[str] = []
    try:
        for start in range(0, len(data), size):
            found += (
                received.line.decode("latin-1") for received in link.receive(data[start : start + size])
            )
    except ClientError as error:
        return found, error
    return found, None


@given(
    contest=connections,
    token=st.sampled_from([None, "t"]),
    checked=st.booleans(),
    size=st.sampled_from([1, 7, 4096]),
)
@example(  # a key that is denied, a name that is taken by the own old connection, and the token
    contest=[
        ["ARENA 1 x", "WELCOME me session=s resume={key}"],
        ["ARENA 1 x", "ERROR token no"],
        ["ARENA 1 x", "ERROR name-taken no"],
        ["ARENA 1 x", "WELCOME me session=s resume={key}", "BYE reason=slow"],
        ["ARENA 1 x"],
    ],
    token="t",
    checked=True,
    size=4096,
)
def test_a_log_in_is_what_the_whole_history_says(
    contest: list[list[str]], token: str | None, checked: bool, size: int
) -> None:
    trace: list[str] = []
    link = Link(Hello(1, "me", token=token), checked=checked, trace=lambda way, line: trace.append(way))
    oracle = Oracle(token)
    for number, lines in enumerate(contest):
        link.opened()
        oracle.history.append([])
        slow = False
        for line in (text.format(key=f"k{number}") for text in lines):
            answers, error = oracle.take(line)
            found, raised = feed(link, f"{line}\n".encode(), size)
            if error is not None:
                assert str(raised).startswith(error)
                assert raised is not None
                assert raised.code == (line.split()[1] if line.startswith("ERROR") else raised.code)
                return
            assert (found, raised) == ([line], None)
            if not slow or not checked:
                assert link.data_to_send().decode().splitlines() == answers
            slow = slow or line == "BYE reason=slow"
            assert link.welcomed == any(each.startswith("WELCOME") for each in oracle.here)
            assert (link.refusal, link.retry_after_s) == oracle.refusal()
            assert link.bye == oracle.bye()
            if link.bye is not None:
                assert list(link.receive(b"PING p\n")) == []
                return
        assert link.is_greeted == bool(lines)
        link.closed()
        assert not link.is_logged_in


def at_work(checked: bool = True, trace: list[str] | None = None) -> Link:
    """A link that is logged in."""
    lines = [] if trace is None else trace
    link = Link(
        Hello(1, "me", token="t"),
        checked=checked,
        trace=lambda way, line: lines.append(f"{way} {line.decode('latin-1')}"),
    )
    link.opened()
    list(link.receive(b"ARENA 1 x\nWELCOME me session=s resume=k\n"))
    link.data_to_send()
    return link


def sent(link: Link) -> list[str]:
    return link.data_to_send().decode().splitlines()


class TestTwoKindsOfLink:
    def test_one_that_is_checked_parses_all_and_refuses_what_is_not_due(self) -> None:
        link = at_work()
        (pong,) = list(link.receive(b"PONG x\n"))
        assert pong == ServerLine(b"PONG x", Pong("x"))
        with pytest.raises(
            ClientError, match=r"^the protocol cannot carry this: MOVE has no meaning in the "
        ):
            link.send(Move("4"))
        with pytest.raises(
            ClientError,
            match=r"^the server broke the protocol: TURN has no meaning in the lobby: 'TURN 1 clock=5,5 lag",
        ):
            list(link.receive(b"TURN 1 clock=5,5 lag=0 credit=0\n"))

    def test_one_that_is_not_passes_on_what_is_not_its_own(self) -> None:
        link = at_work(checked=False)
        lines = [b"TURN 1 nonsense", b"ERROR syntax no", b"WELCOME", b"PINGS", b""]
        assert list(link.receive(b"\n".join(lines) + b"\n")) == [ServerLine(line, None) for line in lines]
        link.send(Move("4"))
        link.send(Ready("g1"))
        link.send_line(b"NONSENSE of a program")
        assert sent(link) == ["MOVE 4", "READY g1", "NONSENSE of a program"]
        with pytest.raises(ClientError, match=r"^the protocol cannot carry this: "):
            link.send(Move("two words"))
        with pytest.raises(ClientError, match=r"^the server broke the protocol: PING: .*: 'PING'$"):
            list(link.receive(b"PING\n"))

    @pytest.mark.parametrize("checked", [True, False])
    def test_before_the_log_in_nothing_else_may_be_sent(self, checked: bool) -> None:
        link = Link(Hello(1, "me"), checked=checked)
        link.opened()
        with pytest.raises(
            ClientError, match=r"^the protocol cannot carry this: PING has no meaning before A"
        ):
            link.send(Ping("x"))

    def test_the_trace_has_both_directions(self) -> None:
        trace: list[str] = []
        link = at_work(trace=trace)
        list(link.receive(b"PING p\n"))
        link.send_line(b"x")
        assert trace == [
            "< ARENA 1 x",
            "> HELLO 1 me token=t",
            "< WELCOME me session=s resume=k",
            "< PING p",
            "> PONG p",
            "> x",
        ]


class TestLeaving:
    def test_quit_is_sent_at_once_or_at_welcome(self) -> None:
        link = at_work()
        link.quit()
        assert (sent(link), link.leaving) == (["QUIT"], True)
        link.closed()
        link.opened()
        list(link.receive(b"ARENA 1 x\nWELCOME me session=s resume=k2\n"))
        assert sent(link) == ["HELLO 1 me resume=k", "QUIT"]
        assert list(link.receive(b"BYE reason=quit\nPING p\n"))[1:] == []
        assert (link.bye, link.is_logged_in) == ("quit", False)

    def test_after_it_a_client_may_begin_again_by_its_token(self) -> None:
        link = at_work()
        link.quit()
        list(link.receive(b"BYE reason=quit\n"))
        link.begin_again()
        assert (link.bye, link.leaving) == (None, False)
        assert link.refusal == "the server sent BYE: the answer to QUIT"
        link.opened()
        list(link.receive(b"ARENA 1 x\n"))
        assert sent(link) == ["HELLO 1 me token=t"]

    def test_before_the_log_in_it_waits_for_welcome(self) -> None:
        link = Link(Hello(1, "me"))
        link.opened()
        link.quit()
        assert sent(link) == []
        list(link.receive(b"ARENA 1 x\nWELCOME me session=s resume=k\n"))
        assert sent(link) == ["HELLO 1 me", "QUIT"]

    def test_nothing_is_sent_of_a_connection_that_is_lost(self) -> None:
        link = at_work()
        link.quit()
        link.closed()
        assert sent(link) == []


class TestComingAgain:
    """BYE with `again=`: another contest may have this bot."""

    BYE = b"BYE reason=finished again=2000\n"

    def test_the_next_log_in_is_by_the_token(self) -> None:
        link = at_work()
        list(link.receive(self.BYE))
        assert (link.bye, link.awaits_next, link.retry_after_s) == (None, True, 2.0)
        assert link.refusal == "the contest is over (finished), and another one may follow"
        link.closed()
        link.opened()
        assert (link.awaits_next, link.retry_after_s) == (False, 0.0)
        list(link.receive(b"ARENA 1 x\n"))
        assert sent(link) == ["HELLO 1 me token=t"]
        list(link.receive(self.BYE))
        assert (link.bye, link.welcomed, link.awaits_next) == (None, False, True)
        link.opened()
        list(link.receive(b"ARENA 1 x\nBYE reason=finished\n"))
        assert (link.bye, link.awaits_next) == ("finished", False)

    def test_a_client_that_has_named_its_contest_leaves(self) -> None:
        link = Link(Hello(1, "me", contest="east"))
        link.opened()
        list(link.receive(b"ARENA 1 x\nWELCOME me session=s resume=k\n" + self.BYE))
        assert link.bye == "finished"

    def test_and_so_does_one_that_has_quit(self) -> None:
        link = at_work()
        link.quit()
        list(link.receive(self.BYE))
        assert link.bye == "finished"


class TestErrors:
    @pytest.mark.parametrize("hello", [Hello(1, "no name"), Hello(1, "me", token="two words")])
    def test_a_log_in_that_cannot_be_sent(self, hello: Hello) -> None:
        with pytest.raises(ClientError, match=r"^this log-in cannot be sent: "):
            Link(hello)

    @pytest.mark.parametrize("checked", [True, False])
    def test_an_overlong_line(self, checked: bool) -> None:
        trace: list[str] = []
        link = at_work(checked, trace)
        with pytest.raises(ClientError, match=r"^the server sent a line of more than 65536 bytes: 'xxx"):
            list(link.receive(b"x" * (SERVER_LINE_LIMIT + 2)))
        assert trace[-1].startswith("< xxx")

    def test_another_service_is_named_as_such(self) -> None:
        link = Link(Hello(1, "me"))
        link.opened()
        with pytest.raises(ClientError) as caught:
            list(link.receive(b"SSH-2.0-OpenSSH_9.2\r\n"))
        assert str(caught.value) == (
            "the server broke the protocol: the first line of a server is ARENA: 'SSH-2.0-OpenSSH_9.2'; "
            "is it an arena server?"
        )
        assert caught.value.code is None

    def test_another_version_has_its_code(self) -> None:
        link = Link(Hello(1, "me"))
        link.opened()
        with pytest.raises(ClientError) as caught:
            list(link.receive(b"ARENA 2 x\n"))
        assert caught.value.code is ErrorCode.VERSION

    def test_what_passes_by_itself(self) -> None:
        assert {code.value for code in TEMPORARY} == {"full", "rate"}

    @pytest.mark.parametrize("checked", [True, False])
    @given(
        chunks=st.lists(st.binary(max_size=40) | st.sampled_from([f"{line}\n".encode() for line in LATER]))
    )
    def test_any_bytes_lead_to_lines_or_one_error(self, checked: bool, chunks: list[bytes]) -> None:
        for link in (at_work(checked), Link(Hello(1, "me"), checked=checked)):
            if not link.welcomed:
                link.opened()
            for chunk in chunks:
                found, error = feed(link, chunk, 4096)
                assert not any("\n" in line for line in found)
                if error is not None:
                    assert "\n" not in str(error)
                    break
