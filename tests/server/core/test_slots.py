"""Bots that play several games at once, each on a connection of its own."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.journal import JournalError, Past
from arena_server.core.log_events import GameResumed, GameStarted, LoggedIn
from arena_server.terms.config import ContestConfig, ContestConfigError, Entrant

from .contest_harness import ONE_PLY, SHORT, ContestHarness, offers, play_on, restarted
from .crash_harness import Bot, CrashHarness

ANN = Entrant("ann", concurrency=2)


def harness_of(*entrants: str | Entrant, **config: object) -> ContestHarness:
    """A contest in which slots 1 and 2 of ann, and bob and cid, are logged in."""
    harness = ContestHarness(*(entrants or (ANN, "bob", "cid")), **config)  # type: ignore[arg-type]
    harness.log_in("ann")
    harness.log_in("ann", " slot=2", conn="ann 2")
    return harness


def running(harness: ContestHarness) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((game.game_id, game.names) for game in harness.contest.status.overview().running)


class TestLogIn:
    def test_each_slot_is_a_connection_with_a_key_of_its_own(self) -> None:
        harness = harness_of()
        assert harness.received("ann")[1:] == ["WELCOME ann session=id2 resume=key1"]
        assert harness.received("ann 2")[1:] == ["WELCOME ann session=id4 resume=key3"]
        assert [login.slot for login in harness.logged(LoggedIn)] == [1, 2]
        assert harness.contest.status.progress().connected == 1

    @pytest.mark.parametrize(
        ("slot", "entrant", "text"),
        [
            (2, Entrant("ann"), "ann has slot 1 only, got slot 2"),
            (0, ANN, "ann has slots 1 to 2, got slot 0"),
            (3, ANN, "ann has slots 1 to 2, got slot 3"),
        ],
    )
    def test_a_slot_that_the_bot_does_not_have(self, slot: int, entrant: Entrant, text: str) -> None:
        harness = ContestHarness(entrant, "bob")
        harness.log_in("ann", f" slot={slot}")
        assert harness.last_line("ann") == f"ERROR slot {text}"
        assert harness.is_closed("ann")

    def test_the_token_is_checked_first(self) -> None:
        harness = ContestHarness(Entrant("ann", sha256(b"s3cret").hexdigest(), concurrency=2), "bob")
        harness.log_in("ann", " slot=9 token=wrong")
        assert harness.last_line("ann").startswith("ERROR token")

    @all_of(
        ("token", "given", "slot"),
        [
            ("s3cret", "token=s3cret", 1),
            ("s3cret", "token=s3cret.1", 1),
            ("s3cret", "token=s3cret.2", 2),
            ("s3cret", "token=s3cret.2 slot=1", 1),
            ("s3cret", "token=s3cret slot=2", 2),
            ("s3cret.2", "token=s3cret.2", 1),
            ("s3cret.2", "token=s3cret.2.2", 2),
            (None, "token=s3cret.2", 1),
        ],
    )
    def test_a_token_may_name_the_slot(self, token: str | None, given: str, slot: int) -> None:
        digest = None if token is None else sha256(token.encode()).hexdigest()
        harness = ContestHarness(Entrant("ann", digest, concurrency=2), "bob")
        harness.log_in("ann", f" {given}")
        assert [login.slot for login in harness.logged(LoggedIn)] == [slot]

    @all_of(
        ("given", "line"),
        [
            ("s3cret.3", "ERROR slot ann has slots 1 to 2, got slot 3"),
            ("s3cret.02", "ERROR token "),
            ("s3cret.100", "ERROR token "),
            ("s3cret.", "ERROR token "),
            (".2", "ERROR token "),
            ("wrong.2", "ERROR token "),
        ],
    )
    def test_a_token_that_names_no_slot(self, given: str, line: str) -> None:
        harness = ContestHarness(Entrant("ann", sha256(b"s3cret").hexdigest(), concurrency=2), "bob")
        harness.log_in("ann", f" token={given}")
        assert harness.last_line("ann").startswith(line)

    def test_a_slot_is_taken_until_its_connection_ends(self) -> None:
        harness = harness_of()
        harness.log_in("ann", " slot=2", conn="another")
        assert harness.last_line("another") == "ERROR name-taken slot 2 of ann is connected already"
        harness.disconnect("ann 2")
        harness.log_in("ann", " slot=2", conn="another")
        assert harness.last_line("another").startswith("WELCOME ann")

    def test_a_key_resumes_the_slot_that_it_was_given_for(self) -> None:
        harness = harness_of()
        harness.log_in("ann", " resume=key3 slot=1", conn="again")
        assert harness.received("ann 2")[-1] == "BYE reason=replaced"
        assert not harness.is_closed("ann")
        harness.log_in("ann", " resume=key5", conn="once more")
        harness.log_in("ann", " resume=key3", conn="a thief")
        assert harness.last_line("a thief").startswith("ERROR token")

    @pytest.mark.parametrize("concurrency", [0, 65])
    def test_the_bounds_of_concurrency(self, concurrency: int) -> None:
        with pytest.raises(ContestConfigError) as caught:
            ContestHarness(Entrant("ann", concurrency=concurrency), "bob")
        assert str(caught.value) == f"concurrency of ann must be from 1 to 64, not {concurrency}"


class TestGames:
    def test_a_bot_plays_as_many_games_as_slots_are_connected(self) -> None:
        harness = harness_of()
        for name in ("bob", "cid"):
            harness.log_in(name)
        assert running(harness) == [("g2", ("cid", "ann")), ("g3", ("ann", "bob"))]
        assert (offers(harness, "ann"), offers(harness, "ann 2")) == (["g3"], ["g2"])
        play_on(harness)
        assert harness.finished == "finished"
        assert len(harness.records) == 6

    def test_the_log_names_slots_only_where_they_are_not_all_the_first(self) -> None:
        harness = harness_of()
        for name in ("bob", "cid"):
            harness.log_in(name)
        started = [GameStarted("g2", ("cid", "ann"), (1, 2)), GameStarted("g3", ("ann", "bob"))]
        assert sorted(harness.logged(GameStarted), key=lambda event: event.game) == started
        assert sorted(restarted(harness).logged(GameResumed), key=lambda event: event.game) == [
            GameResumed("g2", ("cid", "ann"), 0, (1, 2)),
            GameResumed("g3", ("ann", "bob"), 0),
        ]

    def test_two_games_of_one_pair_at_once(self) -> None:
        harness = harness_of(ANN, Entrant("bob", concurrency=2))
        harness.log_in("bob")
        harness.log_in("bob", " slot=2", conn="bob 2")
        assert [names for _, names in running(harness)] == [("ann", "bob"), ("bob", "ann")]

    def test_slots_do_not_play_each_other(self) -> None:
        assert running(harness_of(ANN, "bob")) == []

    def test_one_slot_watches_and_the_other_plays(self) -> None:
        harness = harness_of(ANN, "bob")
        harness.send("ann", "WATCH *")
        harness.log_in("bob")
        assert offers(harness, "ann 2") == ["g1"]
        assert harness.command("lift", "ann") is None
        play_on(harness)
        assert harness.finished == "finished"
        seats = {line.split()[3] for line in harness.received("ann") if line.startswith("GAME")}
        assert seats == {"seat=0"}

    def test_kick_closes_every_slot_and_breaks_off_its_games(self) -> None:
        harness = harness_of()
        for name in ("bob", "cid"):
            harness.log_in(name)
        assert harness.command("kick", "ann") is None
        assert harness.received("ann")[-1] == harness.received("ann 2")[-1] == "BYE reason=kicked"
        assert running(harness) == [("g1", ("bob", "cid"))]
        assert harness.contest.status.progress().void == 2

    def test_the_contest_waits_while_one_slot_is_connected(self) -> None:
        harness = harness_of(ANN, "bob", absent_ms=5000)
        harness.log_in("bob")
        harness.disconnect("ann 2")
        harness.wait(6000)
        assert harness.finished is None
        play_on(harness)
        assert harness.finished == "finished"

    def test_quit_of_one_slot_leaves_the_others(self) -> None:
        harness = harness_of(ANN, "bob", absent_ms=5000)
        harness.send("ann", "QUIT")
        harness.log_in("bob")
        play_on(harness)
        assert harness.finished == "finished"
        assert {game.end for game in harness.records.values()} == {"complete"}

    def test_a_rest_is_that_of_a_slot(self) -> None:
        harness = harness_of(ANN, "bob", "cid", rest_ms=1000, options=ONE_PLY)
        harness.log_in("bob")
        play_on(harness)
        assert running(harness) == []
        harness.log_in("cid")
        (game,) = running(harness)
        assert set(game[1]) == {"ann", "cid"}, "the other slot of ann does not rest"


class TestRecovery:
    def test_every_game_goes_on_in_its_slot(self) -> None:
        harness = harness_of()
        for name in ("bob", "cid"):
            harness.log_in(name)
        games = offers(harness, "ann"), offers(harness, "ann 2")
        again = restarted(harness)
        again.log_in("ann", " resume=key3", conn="ann 2")
        again.log_in("ann")
        for name in ("bob", "cid"):
            again.log_in(name)
        assert (offers(again, "ann"), offers(again, "ann 2")) == games
        play_on(again)
        assert again.finished == "finished"

    def test_of_two_games_at_once_the_later_may_have_ended_first(self) -> None:
        harness = harness_of(ANN, Entrant("bob", concurrency=2), options=ONE_PLY, games_per_pair=4)
        harness.log_in("bob")
        harness.log_in("bob", " slot=2", conn="bob 2")
        assert [game for game, _ in running(harness)] == ["g1", "g2"]
        for name in ("ann 2", "bob 2"):
            harness.send(name, "READY g2")
        harness.send("bob 2", "MOVE 7")
        assert list(harness.records) == ["g2"]
        again = restarted(harness)
        assert [game for game, _ in running(again)] == ["g1", "g3"]
        for name in ("ann", "bob"):
            again.log_in(name)
            again.log_in(name, " slot=2", conn=f"{name} 2")
        play_on(again)
        assert again.finished == "finished"
        assert sorted(again.records) == ["g1", "g3", "g4"]

    def test_an_offer_has_the_agent_of_each_seat(self) -> None:
        harness = harness_of()
        harness.disconnect("ann 2")
        harness.log_in("ann", " slot=2 agent=ann/2", conn="ann 2")
        harness.log_in("bob")
        harness.log_in("cid")
        offers = {entry[0]: entry for entry in harness.durable().entries if entry[1] == "offer"}
        assert [entry[2:] for entry in offers.values()] == [
            (("ann", "bob"), 1, (), ()),
            (("cid", "ann"), 1, (1, 2), (None, "ann/2")),
        ]

    @pytest.mark.parametrize(
        ("slots", "text"),
        [
            ((2, 1), "ann plays {0} and {1} at once in slot 2"),
            ((1, 2, 1), "{1} has 2 seats, and 3 slots"),
            ((3, 1), "ann plays {1} in slot 3, and has a concurrency of 2"),
            ((0, 1), "ann plays {1} in slot 0, and has a concurrency of 2"),
        ],
    )
    def test_slots_that_no_contest_wrote(self, slots: tuple[int, ...], text: str) -> None:
        harness = harness_of()
        for name in ("bob", "cid"):
            harness.log_in(name)
        (first, _), (second, names) = running(harness)
        fitted = slots if len(slots) != 2 or names[0] == "ann" else slots[::-1]
        number = int(second[1:])
        entries = [
            (*entry[:4], fitted) if entry[:2] == (number, "offer") else entry
            for entry in harness.durable().entries
        ]
        with pytest.raises(JournalError) as caught:
            ContestHarness(*harness.entrants, past=Past((), tuple(entries)))
        assert str(caught.value) == text.format(first, second)

    @given(
        st.lists(st.integers(1, 3), min_size=2, max_size=3),
        st.dictionaries(st.integers(1, 60), st.booleans(), max_size=4),
    )
    def test_crashes_change_no_result(self, slots: list[int], fatal: dict[int, bool]) -> None:
        """Whenever the server dies, every game is played once and ends as it would have anyway."""

        def bots() -> list[Bot]:
            return [
                Bot(name, slot=slot + 1)
                for name, count in zip("abc", slots, strict=False)
                for slot in range(count)
            ]

        def results(harness: CrashHarness) -> dict[str, tuple[int, ...]]:
            return {game: record.totals for game, record in harness.disk.records.items()}

        config = ContestConfig(name="s", seed=5, games_per_pair=4, options=SHORT, clock_ms=1000)
        calm = CrashHarness(config, bots()).run()
        torn = CrashHarness(config, bots(), dict(fatal)).run()
        assert torn.finished == calm.finished == "finished"
        assert results(torn) == results(calm)
        assert len(results(calm)) == 4 * len(slots) * (len(slots) - 1) // 2
