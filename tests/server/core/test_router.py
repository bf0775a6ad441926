"""Which contest a connection belongs to, and what comes before its HELLO."""

from __future__ import annotations

import pytest

from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_server.core.contest import Contest
from arena_server.core.events import Command, Flushed, LineTooLong, Lost, Stop, Tick
from arena_server.core.log_events import ConnectionLost, ConnectionRefused
from arena_server.core.ratelimit import LINES, LOG_INS
from arena_server.core.router import Member
from arena_server.errors import NAMED
from arena_server.terms.config import ContestConfig, Entrant

from ...slices import all_of, rows
from .harness import MS, numbered_secrets
from .routed import Routed, bot, contest

TRIES = LOG_INS.burst


@pytest.fixture
def two() -> Routed:
    return Routed(contest("friday"), contest("saturday"))


class TestOneContest:
    def test_it_needs_no_name(self) -> None:
        routed = Routed(contest("friday"))
        assert routed.welcomed("HELLO 1 ann token=ann-friday") == "friday"
        assert routed.welcomed("HELLO 1 bob token=bob-friday contest=friday") == "friday"

    def test_a_denial_is_that_of_the_contest(self) -> None:
        routed = Routed(contest("friday"))
        assert routed.greet("HELLO 1 ann token=x").startswith("ERROR token no such name")
        assert routed.greet("HELLO 1 ann token=ann-friday contest=monday") == (
            "ERROR contest no contest monday here; there are: friday"
        )

    def test_an_unlisted_contest_is_not_found_without_its_name(self) -> None:
        hidden = Member(contest("hidden"), listed=False)
        routed = Routed(contest("friday"), hidden)
        assert routed.welcomed("HELLO 1 ann token=ann-hidden") is None
        assert routed.welcomed("HELLO 1 ann token=ann-hidden contest=hidden") == "hidden"
        assert "hidden" not in routed.greet("HELLO 1 ann contest=monday")

    def test_nothing_is_listed(self) -> None:
        routed = Routed(Member(contest("hidden"), listed=False))
        assert routed.greet("HELLO 1 ann token=ann-hidden") == (
            "ERROR contest no such name, or a wrong token or resume key; there is none"
        )


class TestContestsToCome:
    """A server that has just started plays before all contests that are over are shown."""

    @pytest.mark.parametrize("name", ["", " contest=saturday"])
    def test_who_may_mean_one_of_them_waits_for_it(self, name: str) -> None:
        routed = Routed(contest("friday"))
        routed.router.expect(["saturday"])
        conn = routed.open()
        assert len(routed.say(conn, f"HELLO 1 ann token=ann-saturday{name}")) == 1
        assert routed.router.deadline is None, "it is not late"
        assert routed.say(conn, "HELLO 1 ann") == []
        saturday = contest("saturday")
        routed.contests.append(saturday)
        routed.router.add(Member(saturday))
        routed.router.expect([])
        routed.router.feed(Tick(), 0)
        assert [line.split()[0] for line in routed.lines(conn)][:1] == ["WELCOME"]
        assert routed.router.routes[conn] is saturday

    def test_a_key_of_a_contest_that_is_played_means_that_one(self) -> None:
        routed = Routed(contest("friday"))
        routed.router.expect(["saturday"])
        assert routed.welcomed("HELLO 1 ann token=ann-friday") == "friday"
        assert routed.greet("HELLO 1 ann token=ann-friday contest=sunday") == (
            "ERROR contest no contest sunday here; there are: friday"
        )

    def test_one_that_never_comes_is_not_there(self) -> None:
        routed = Routed(contest("friday"))
        routed.router.expect(["saturday"])
        conn = routed.open()
        routed.say(conn, "HELLO 1 ann token=x contest=saturday")
        routed.router.expect([])
        routed.router.feed(Tick(), 0)
        assert routed.lines(conn) == ["ERROR contest no contest saturday here; there are: friday"]

    def test_nobody_is_told_that_all_are_over_before_all_are_there(self) -> None:
        friday = contest("friday")
        routed = Routed(friday)
        friday.handle(Stop(), 0)
        routed.router.expect(["saturday"])
        conn = routed.open()
        assert len(routed.lines(conn)) == 1

    def test_who_floods_while_it_waits_is_refused(self) -> None:
        routed = Routed(contest("friday"))
        routed.router.expect(["saturday"])
        conn = routed.open()
        routed.say(conn, "HELLO 1 ann token=ann-saturday")
        said = [line for _ in range(LINES.burst + 1) for line in routed.say(conn, "")]
        assert [line.split()[0] for line in said] == ["ERROR"]
        assert conn in routed.closed


def test_where_there_is_no_contest_hello_says_so_within_the_default_time() -> None:
    """A host has none before the first begins, and after one failed."""
    routed = Routed()
    conn = routed.open()
    assert len(routed.lines(conn)) == 1
    assert routed.router.deadline == ContestConfig.login_ms * MS
    assert routed.say(conn, "HELLO 1 ann token=x")[-1] == (
        "ERROR contest no such name, or a wrong token or resume key; there is none"
    )


class TestSeveralContests:
    @pytest.mark.parametrize("name", ["friday", "saturday"])
    def test_the_key_tells_which(self, two: Routed, name: str) -> None:
        assert two.welcomed(f"HELLO 1 ann token=ann-{name}") == name

    def test_a_resume_key_tells_too(self, two: Routed) -> None:
        conn = two.open()
        welcome = two.say(conn, "HELLO 1 ann token=ann-saturday")[1]
        key = welcome.rpartition("resume=")[2]
        assert two.welcomed(f"HELLO 1 ann resume={key}") == "saturday"

    def test_a_resume_key_that_fits_nowhere_is_a_wrong_key(self, two: Routed) -> None:
        assert two.greet("HELLO 1 ann resume=spent").startswith("ERROR token no such name")

    def test_a_key_of_both_has_to_name_one(self) -> None:
        ann = bot("ann", "both")
        routed = Routed(contest("friday", ann, Entrant("b")), contest("saturday", ann, Entrant("c")))
        assert routed.greet("HELLO 1 ann token=ann-both") == (
            "ERROR contest say which contest with contest=NAME; there are: friday, saturday"
        )
        assert routed.welcomed("HELLO 1 ann token=ann-both contest=saturday") == "saturday"

    def test_the_games_of_hello_tell_which(self) -> None:
        ann = bot("ann", "both")
        xo = contest("boards", ann, Entrant("c"), game="tictactoe", options={})
        routed = Routed(contest("friday", ann, Entrant("b")), xo)
        assert routed.welcomed("HELLO 1 ann token=ann-both games=tictactoe") == "boards"

    def test_a_contest_that_goes_on_comes_before_one_that_is_over(self) -> None:
        ann = bot("ann", "both")
        over, running = contest("friday", ann, Entrant("b")), contest("saturday", ann, Entrant("c"))
        over.feed(Stop(), 0)
        assert Routed(over, running).welcomed("HELLO 1 ann token=ann-both") == "saturday"

    def test_one_that_is_archived_is_found_by_its_name_alone(self) -> None:
        """Also among others that are over: the bot learns how the contest ended that was played last."""
        ann = bot("ann", "both")
        old, over = contest("friday", ann, Entrant("b")), contest("saturday", ann, Entrant("c"))
        playing = contest("sunday", Entrant("d"), Entrant("e"))
        old.feed(Command(1, "abort"), 0)
        old.feed(Command(2, "archive"), 0)
        over.feed(Command(1, "abort"), 0)
        assert (old.life.is_archived, over.life.is_archived) == (True, False)
        routed = Routed(old, over, playing)
        conn = routed.open()
        assert routed.say(conn, "HELLO 1 ann token=ann-both")[-1] == "BYE reason=aborted"
        assert routed.router.routes[conn] is over
        assert routed.greet("HELLO 1 ann token=x").endswith("there are: saturday, sunday")
        named = routed.say(routed.open(), "HELLO 1 ann token=ann-both contest=friday")
        assert named[-1] == "BYE reason=aborted"
        alone = Routed(old)
        alone.now = 5_000 * MS  # its spectators' delay
        assert alone.lines(alone.open())[-1] == "BYE reason=aborted"

    def test_a_bot_of_contests_that_are_over_learns_how_the_last_ended(self) -> None:
        ann = bot("ann", "both")
        friday, saturday = contest("friday", ann, Entrant("b")), contest("saturday", ann, Entrant("c"))
        friday.feed(Stop(), 0)
        saturday.feed(Command(1, "abort", "", "me", 0, ""), 0)
        routed = Routed(friday, saturday, contest("sunday", Entrant("d"), Entrant("e")))
        assert routed.say(routed.open(), "HELLO 1 ann token=ann-both")[-1] == "BYE reason=aborted"
        hello = "HELLO 1 ann token=ann-both contest=friday"
        assert routed.say(routed.open(), hello)[-1] == "BYE reason=stopped"
        assert routed.greet("HELLO 1 ann token=ann-both role=log").startswith("ERROR contest say which")

    def test_a_bot_comes_again_while_a_contest_is_planned_that_may_have_it(self) -> None:
        """The last line says when: to who plays and has the right key, in a contest that leads to another."""
        ann = bot("ann", "both")
        east, west = contest("east", ann, bot("bob", "east")), contest("west", ann, Entrant("c"))
        east.leads_on = True
        routed = Routed(east, west)
        conn, guest = routed.open(), routed.open()
        assert routed.say(conn, "HELLO 1 bob token=bob-east")[-1].startswith("WELCOME")
        assert routed.say(guest, "HELLO 1 guest role=spectator contest=east")[-1].startswith("WELCOME")
        for each in (east, west):
            each.feed(Command(1, "abort"), 0)
        routed.router.ended(0)
        assert routed.lines(conn) == ["BYE reason=aborted again=2000"]
        assert routed.lines(guest) == []
        for hello, answer in (
            ("HELLO 1 ann token=ann-both", "BYE reason=aborted again=2000"),
            ("HELLO 1 ann token=ann-both contest=west", "BYE reason=aborted"),
            ("HELLO 1 bob token=x contest=east", "ERROR token"),
            ("HELLO 1 bob token=bob-east", "BYE reason=aborted again=2000"),
        ):
            assert routed.say(routed.open(), hello)[-1].startswith(answer)
        final = contest("final", ann, Entrant("d"))
        routed.router.add(Member(final))
        routed.contests.append(final)
        east.leads_on = False
        assert routed.welcomed("HELLO 1 ann token=ann-both") == "final"
        assert routed.say(routed.open(), "HELLO 1 bob token=bob-east")[-1] == "BYE reason=aborted"

    def test_a_server_that_stops_calls_no_bot_again(self) -> None:
        """The next one goes on with the contest."""
        east = contest("east")
        east.leads_on = True
        routed = Routed(east)
        conn = routed.open()
        routed.say(conn, "HELLO 1 ann token=ann-east")
        east.feed(Stop(), 0)
        assert routed.lines(conn) == ["BYE reason=stopped"]

    def test_a_wrong_name_and_a_wrong_token_get_the_same_answer(self, two: Routed) -> None:
        answers = {two.greet(f"HELLO 1 {name} token=x") for name in ("ann", "stranger")}
        assert answers == {
            "ERROR contest no such name, or a wrong token or resume key; there are: friday, saturday"
        }

    def test_guesses_are_limited(self, two: Routed) -> None:
        for _ in range(TRIES):
            assert two.greet("HELLO 1 ann token=x").startswith("ERROR contest")
        assert two.greet("HELLO 1 ann token=x").startswith("ERROR rate")
        assert two.greet("HELLO 1 ann token=x", "5.6.7.8").startswith("ERROR contest")
        assert two.greet("HELLO 1 ann token=ann-friday contest=friday").startswith("WELCOME")

    def test_a_spectator_names_its_contest(self, two: Routed) -> None:
        assert two.greet("HELLO 1 eve role=spectator").startswith("ERROR contest say which")
        assert two.welcomed("HELLO 1 eve role=spectator contest=friday") == "friday"

    def test_a_log_is_found_by_its_token(self, two: Routed) -> None:
        conn = two.open()
        two.say(conn, "HELLO 1 ann token=ann-saturday role=log")
        assert two.router.routes[conn].name == "saturday"

    def test_only_some_names_are_listed(self) -> None:
        routed = Routed(*(contest(f"c{number}") for number in range(NAMED + 3)))
        answer = routed.greet("HELLO 1 ann token=x")
        assert answer.endswith(f"c{NAMED - 1} and 3 more")

    def test_two_contests_of_one_name(self, two: Routed) -> None:
        with pytest.raises(ValueError, match=r"^two contests are called friday$"):
            two.router.add(Member(contest("friday")))

    def test_a_contest_that_is_removed(self, two: Routed) -> None:
        two.router.remove("saturday")
        two.router.remove("saturday")  # as one that failed before it was added
        assert two.greet("HELLO 1 ann token=ann-saturday").startswith("ERROR token")


class TestGuesser:
    """What one client tries never keeps another out that has the right key."""

    @all_of("kind", ["token", "resume"])
    @all_of("guessed", ["token", "resume", "token contest=", "resume contest="])
    @all_of("address", ["1.2.3.4", "9.9.9.9"])
    @all_of("named", [False, True])
    @pytest.mark.parametrize("count", rows([2, 1, 3], 2))
    def test_the_right_key_passes(
        self, count: int, named: bool, address: str, guessed: str, kind: str
    ) -> None:
        names = ["friday", "saturday", "sunday"][:count]
        routed = Routed(*map(contest, names))
        of = f" contest={names[-1]}" if named else ""
        conn = routed.open()
        welcome = routed.say(conn, f"HELLO 1 ann token=ann-{names[-1]}{of}")[1]
        key = f"resume={welcome.rpartition('resume=')[2]}" if kind == "resume" else f"token=ann-{names[-1]}"
        routed.contests[-1].feed(Lost(conn, "closed"), routed.now)
        verb, _, wanted = guessed.partition(" ")
        guess = f"HELLO 1 ann {verb}=guessed" + (f" {wanted}{names[-1]}" if wanted else "")
        answers = [routed.greet(guess, address).split()[1] for _ in range(5 * TRIES)]
        denied = {"token", "contest"} - ({"contest"} if count == 1 or wanted or verb == "resume" else set())
        assert set(answers[:TRIES]) <= denied
        assert set(answers[TRIES:]) == {"rate"}
        conn = routed.open()
        assert routed.say(conn, f"HELLO 1 ann {key}{of}")[1].startswith("WELCOME ann ")
        assert routed.router.routes[conn].name == names[-1]

    def test_the_right_key_ends_the_count_and_a_spectator_of_that_name_does_not(self, two: Routed) -> None:
        for hello, after in (("role=spectator games=insertion", "rate"), ("token=ann-friday", "contest")):
            for _ in range(TRIES):
                two.greet("HELLO 1 ann token=x")
            two.greet(f"HELLO 1 ann {hello}")
            assert two.greet("HELLO 1 ann token=x").split()[1] == after

    def test_a_key_of_two_contests_is_no_guess(self) -> None:
        ann = bot("ann", "both")
        routed = Routed(contest("friday", ann, Entrant("b")), contest("saturday", ann, Entrant("c")))
        answers = {routed.greet("HELLO 1 ann token=ann-both").split()[1] for _ in range(2 * TRIES)}
        assert answers == {"contest"}


class TestBeforeHello:
    def test_another_version(self, two: Routed) -> None:
        assert two.greet("HELLO 2 ann token=ann-friday") == "ERROR version this server speaks version 1"

    @pytest.mark.parametrize("line", ["READY g1", "MOVE 4", "QUIT", "PING 1"])
    def test_another_line(self, two: Routed, line: str) -> None:
        conn = two.open()
        assert two.say(conn, line)[1].startswith("ERROR login the first line must be HELLO, not ")
        assert two.closed == {conn}
        assert two.logged == [ConnectionRefused(conn, "1.2.3.4:4001", None, "login")]
        assert two.say(conn, "HELLO 1 ann token=ann-friday") == []

    def test_a_line_too_long(self, two: Routed) -> None:
        conn = two.open()
        two.router.feed(LineTooLong(conn, 0, b"x"), 0)
        assert two.lines(conn)[1] == f"ERROR too-long a line may have {CLIENT_LINE_LIMIT} bytes at most"
        two.router.feed(LineTooLong(conn, 0, b"x"), 0)
        assert two.lines(conn) == []

    def test_blank_lines_are_free_up_to_a_rate(self, two: Routed) -> None:
        conn = two.open()
        for _ in range(LINES.burst):
            two.router.received(conn, b"", 0, 0)
        assert two.say(conn, "")[1].startswith("ERROR flood")

    def test_no_line_in_time(self) -> None:
        routed = Routed(contest("friday"), contest("saturday", login_ms=2_000))
        conn = routed.open()
        routed.router.feed(Tick(), 1_999 * MS)
        assert len(routed.lines(conn)) == 1
        assert routed.router.deadlines.next == 2_000 * MS
        routed.router.feed(Tick(), 2_000 * MS)
        assert routed.lines(conn) == ["ERROR login the first line did not come within 2000 ms"]

    def test_a_contest_that_is_not_listed_does_not_change_that_time(self) -> None:
        hidden = Member(contest("hidden", login_ms=9_000), listed=False)
        for listed, limit in (([contest("friday")], 1_000), ([], 9_000)):
            routed = Routed(*listed, hidden)
            conn = routed.open()
            routed.router.feed(Tick(), limit * MS)
            last = routed.lines(conn)[-1]
            assert last == f"ERROR login the first line did not come within {limit} ms"

    def test_a_spectator_has_the_rest_of_that_time_for_watch(self, two: Routed) -> None:
        conn = two.open()
        two.now = 900 * MS
        two.say(conn, "HELLO 1 eve role=spectator contest=friday")
        assert two.contests[0].deadlines.next == 1_000 * MS

    def test_a_connection_that_is_lost(self, two: Routed) -> None:
        conn = two.open()
        two.router.feed(Lost(conn, "reset"), 0)
        two.router.feed(Lost(conn, "reset"), 0)
        two.lines(conn)
        assert two.logged == [ConnectionLost(conn, "1.2.3.4:4001", None, "reset")]
        assert two.router.deadlines.next is None

    def test_what_is_nothing_to_it(self, two: Routed) -> None:
        conn = two.open()
        two.lines(conn)
        two.router.feed(Flushed(conn, None, 0), 0)  # type: ignore[arg-type] # it looks at no marker
        assert two.lines(conn) == []

    def test_a_route_ends_with_its_connection(self, two: Routed) -> None:
        conn = two.open()
        two.say(conn, "HELLO 1 ann token=ann-friday")
        two.router.released(conn)
        assert conn not in two.router.routes


class TestWhoOnlyReads:
    """A client that has ended its input: what it gets at once, or None if it is gone."""

    @pytest.mark.parametrize("hello", ["HELLO 1 guest role=spectator", "HELLO 1 tv token=tv-friday"])
    def test_who_watches_gets_a_line_and_who_plays_is_gone(self, hello: str) -> None:
        watcher = Entrant("tv", bot("tv", "friday").token_sha256, plays=False)
        friday = contest("friday", bot("ann", "friday"), bot("bob", "friday"), watcher)
        routed = Routed(friday)
        silent, watches, plays = (routed.open() for _ in range(3))
        assert routed.router.outlives_input(silent) is None
        routed.say(watches, hello)
        routed.say(plays, "HELLO 1 ann token=ann-friday")
        assert friday.outlives_input(watches) == b"PING reading\n"
        assert friday.outlives_input(plays) is None

    def test_to_who_has_been_sent_away_nothing_more_is_sent(self) -> None:
        friday = contest("friday")
        routed = Routed(friday)
        watches = routed.open()
        routed.say(watches, "HELLO 1 guest role=spectator")
        friday.feed(Stop(), 0)
        assert routed.lines(watches) == ["BYE reason=stopped"]
        assert friday.outlives_input(watches) == b""


class TestAfterTheEnd:
    def test_after_the_last_contest_everybody_is_sent_away(self, two: Routed) -> None:
        early = two.open()
        for each in two.contests:
            assert two.lines(early)[1:] == []
            each.feed(Stop(), 0)
            two.router.ended(0)
        assert two.lines(early) == ["BYE reason=stopped"]
        late = two.open()
        assert two.lines(late) == ["ARENA 1 arena/test", "BYE reason=stopped"]
        assert two.closed == {late}

    def test_logs_can_still_be_fetched(self) -> None:
        over = contest("friday")
        over.feed(Stop(), 0)
        routed = Routed(Member(over, logs=True))
        routed.router.ended(0)
        conn = routed.open()
        assert routed.lines(conn) == ["ARENA 1 arena/test"]

    def test_to_one_that_was_over_at_its_start_nobody_logs_in(self) -> None:
        """Its logs are there to be fetched; its bots are sent away with the ending of that time."""
        given = ContestConfig(name="friday", seed=7)
        over = Contest(
            given, [bot("ann", "friday"), bot("bob", "friday")], numbered_secrets(), 0, ended="incomplete"
        )
        routed = Routed(Member(over, logs=True))
        assert routed.greet("HELLO 1 ann token=ann-friday") == "BYE reason=incomplete"
        assert routed.greet("HELLO 1 guest role=spectator") == "BYE reason=incomplete"
        over.leads_on = True
        assert routed.greet("HELLO 1 ann token=ann-friday") == "BYE reason=incomplete again=2000"
        assert routed.greet("HELLO 1 ann token=x") == "BYE reason=incomplete"
        assert routed.greet("HELLO 1 guest role=spectator") == "BYE reason=incomplete"

    def test_a_router_without_contests_waits(self) -> None:
        routed = Routed()
        routed.router.ended(0)
        assert routed.lines(routed.open()) == ["ARENA 1 arena/test"]
