"""Validation games: before a bot is paired it plays one against the server, whatever happens meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import GAMES, make_game
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.core.deal import REFEREE, Setting, game_id, number_of, other_move, own_move, token_digest
from arena_server.core.events import Tick
from arena_server.core.facts import Validated
from arena_server.core.formats.base import Pairing
from arena_server.core.journal import JournalError, Live, Past, fact_of
from arena_server.core.log_events import (
    BotAbsent,
    BotOnProbation,
    BotValidated,
    GameResumed,
    GameStarted,
    GameVoided,
    ValidationFailed,
    ValidationStarted,
)
from arena_server.core.overview import Awaited
from arena_server.terms.config import ContestConfig, ContestConfigError, Entrant

from .contest_harness import ContestHarness, check_sums, play_on, restarted, rows

TWO: dict[str, object] = {"plies": 2, "start": "empty", "lookahead": 1}


def begun(*names: str | Entrant, **config: Any) -> ContestHarness:
    """A contest with validation games, into which the bots have logged in."""
    given: dict[str, Any] = {"options": TWO, "validation": True} | config
    harness = ContestHarness(*names, **given)
    for name in names:
        if isinstance(name, str):
            harness.log_in(name)
    return harness


def where(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.where for bot in harness.contest.status.overview().bots}


def records(harness: ContestHarness) -> dict[str, GameRecord]:
    """The records of the validation games so far, by their id."""
    facts = [fact_of(entry) for entry in harness.entries if entry[1] == "validated"]
    return {game_id(-fact.number): decode(fact.record) for fact in facts if isinstance(fact, Validated)}


def play(harness: ContestHarness, name: str, move: str = "7") -> None:
    """`name` plays its validation game to the end, by this move."""
    (game,) = (each for each in harness.contest.status.overview().running if {name, REFEREE} == {*each.names})
    harness.send(name, f"READY {game.game_id}", f"MOVE {move}")
    harness.wait(0)


class TestBefore:
    def test_no_bot_is_paired_before_it_has_played_one_without_a_fault(self) -> None:
        harness = begun("ann", "bob")
        assert harness.logged(ValidationStarted) == [
            ValidationStarted("ann", "v1"), ValidationStarted("bob", "v2")
        ]  # fmt: skip
        assert "names=ann,referee" in harness.transcript("ann", "GAME v1")
        play(harness, "ann")
        assert harness.logged(GameStarted) == [], "bob has not played one yet"
        play(harness, "bob")
        assert harness.logged(BotValidated) == [BotValidated("ann", "v1"), BotValidated("bob", "v2")]
        assert len(harness.logged(GameStarted)) == 1
        play_on(harness)
        assert harness.finished == "finished"
        assert {row.games for row in rows(harness).values()} == {2}
        assert sorted(harness.records) == ["g1", "g2"], "a validation game is no result"
        check_sums(harness)

    def test_it_is_a_game_like_any_other(self) -> None:
        harness = begun("ann", "bob", increment_ms=10)
        play(harness, "ann")
        play(harness, "bob")
        for name, record in records(harness).items():
            verify(record)
            assert record.game_id == name
            seat = record.names.index(REFEREE) + 1
            (ply,) = (ply for ply in record.plies if ply.seat == seat)
            assert (ply.time_ms, ply.clock[seat - 1], ply.zombie) == (0, 20_010, False)
            assert other_move(record, harness.config.seed) == 0
            place = record.plies.index(ply)
            other = (ply._replace(move="1" if ply.move != "1" else "2"),)
            changed = replace(record, plies=record.plies[:place] + other + record.plies[place + 1 :])
            assert other_move(changed, harness.config.seed) == place + 1
        assert [record.names for record in records(harness).values()] == [("ann", REFEREE), (REFEREE, "bob")]
        assert harness.received("ann")[-2].startswith("OVER v1") or "OVER v1" in harness.transcript("ann")

    def test_a_server_that_was_killed_before_it_judged_one_gives_its_number_to_no_other(self) -> None:
        harness = begun("ann", "bob", "cid")
        play(harness, "ann")
        play(harness, "cid", move="99")
        kinds = [entry[1] for entry in harness.entries]
        judged = len(kinds) - kinds[::-1].index("validated") - 1
        live = Live()
        live.add(harness.entries[:judged])
        again = ContestHarness(*harness.entrants, past=Past((), tuple(live)), options=TWO, validation=True)
        again.event(Tick())
        again.log_in("cid")
        assert [each.game for each in again.logged(ValidationStarted)] == ["v4"]

    def test_spectators_do_not_see_it(self) -> None:
        harness = begun("ann", "bob", Entrant("eye", plays=False))
        harness.log_in("eye")
        harness.send("eye", "WATCH *", "WATCH v1")
        play(harness, "ann")
        assert harness.received("eye")[-1] == "ERROR no-such-game no such game is being played"
        assert not any("v1" in line for line in harness.received("eye"))

    def test_a_late_bot_plays_one_too(self) -> None:
        harness = begun("ann", "bob")
        entrant = Entrant("cid", token_digest("cids"))
        assert harness.command("add", "cid", entrant=entrant) is None
        for each in (restarted(harness), harness):
            each.log_in("cid", " token=cids")
            assert each.logged(ValidationStarted)[-1].bot == "cid"
            play(each, "cid")
            assert each.logged(BotValidated)[-1].bot == "cid"

    def test_one_that_comes_back_plays_one_too(self) -> None:
        harness = begun("ann", "bob", "cid")
        play(harness, "ann")
        assert harness.command("remove", "ann") is None
        assert harness.command("add", "ann", entrant=Entrant("ann", token_digest("new"))) is None
        for each in (restarted(harness), harness):
            each.log_in("ann", " token=new")
            assert each.logged(ValidationStarted)[-1].bot == "ann"

    def test_one_who_is_lifted_needs_none(self) -> None:
        harness = begun("ann", "bob")
        play(harness, "ann")
        assert harness.command("lift", "bob") is None
        assert harness.last_entries[:2] == [(0, "trial", "bob", False), (0, "conduct", "bob", 0, False, 0)]
        harness.wait(0)
        assert harness.logged(GameVoided) == [GameVoided("v2", "organiser", again=False)]
        assert len(harness.logged(GameStarted)) == 1, "bob has a free slot"
        again = restarted(harness)
        for name in ("ann", "bob"):
            again.log_in(name)
        assert again.logged(ValidationStarted) == []

    @pytest.mark.parametrize("name", sorted(GAMES))
    @given(data=st.data())
    def test_the_server_plays_legal_moves_in_every_game(self, name: str, data: st.DataObject) -> None:
        game = make_game(name, {})
        seat = data.draw(st.integers(0, game.seats - 1))
        names = tuple("ann" if each == seat else REFEREE for each in range(game.seats))
        config = ContestConfig(name="c", seed=data.draw(st.integers(0, 2**64)))
        setting = Setting.of(config, game, Pairing(-1, names, 1))
        assert setting.own_seats == {each + 1 for each in range(game.seats) if each != seat}
        position, ply = game.start(setting.deal), 1
        while game.end(position) is None:
            move = own_move(config.seed, "v1", ply, game.legal_moves(position))
            assert game.is_legal(position, move)
            position, ply = game.play(position, move).position, ply + 1


class TestFault:
    def test_the_bot_is_told_and_plays_another_when_it_connects_again(self) -> None:
        harness = begun("ann", "bob")
        play(harness, "bob")
        play(harness, "ann", "99")
        assert harness.logged(ValidationFailed) == [ValidationFailed("ann", "v1", "illegal", 1)]
        assert harness.received("ann")[-1] == (
            "ERROR validation v1 had a fault (illegal, ply 1): "
            "you are not paired until you connect again and play one without"
        )
        assert where(harness) == {"ann": "validation", "bob": "free"}
        assert [(each.name, each.reason) for each in harness.contest.status.held()[1]] == [
            ("ann", "validation")
        ]
        harness.wait(1_000_000)
        assert harness.finished is None
        assert len(harness.logged(ValidationStarted)) == 2
        harness.disconnect("ann")
        assert where(harness)["ann"] == "away"
        harness.log_in("ann")
        assert harness.logged(ValidationStarted)[-1] == ValidationStarted("ann", "v3")
        play_on(harness)
        harness.wait(0)
        play_on(harness)
        assert harness.finished == "finished"
        assert {row.games for row in rows(harness).values()} == {2}
        assert not any(row.faults for row in rows(harness).values())

    def test_it_plays_another_by_an_order(self) -> None:
        harness = begun("ann", "bob", absent_ms=1_000)
        play(harness, "ann", "99")
        assert harness.command("validate", "ann", reason="mended") is None
        assert harness.last_entries[0] == (0, "trial", "ann", True)
        harness.wait(1_000)
        assert harness.logged(BotAbsent) == [], "it is here"
        play(harness, "ann")
        assert harness.logged(BotValidated) == [BotValidated("ann", "v3")]

    def test_the_contest_waits_for_it_as_for_one_that_is_absent(self) -> None:
        harness = begun("ann", "bob", absent_ms=60_000)
        play(harness, "bob")
        play(harness, "ann", "99")
        harness.wait(59_999)
        assert harness.finished is None
        harness.wait(1)
        assert harness.logged(BotAbsent) == [BotAbsent("ann")]
        assert harness.finished == "incomplete"
        assert harness.contest.status.progress().unplayed == {"not validated: ann": 2}

    def test_several_in_a_row_are_a_probation(self) -> None:
        harness = begun("ann", "bob", probation=2)
        play(harness, "ann", "99")
        again = restarted(harness)
        again.log_in("ann")
        play(again, "ann", "99")
        assert again.logged(BotOnProbation) == [BotOnProbation("ann", 2)]
        assert again.received("ann")[-1].endswith("you are not paired until the organiser lets you")
        third = restarted(again)
        third.log_in("ann")
        assert where(third)["ann"] == "probation"
        assert third.contest.status.held()[1][0] == Awaited("ann", "probation", None, 0, 2)
        assert third.logged(ValidationStarted) == []
        assert third.command("validate", "ann") is None
        play(third, "ann")
        assert where(restarted(third))["ann"] == "away"

    def test_in_the_morning_the_contest_waits_again(self) -> None:
        harness = begun("ann", "bob", absent_ms=1_000)
        play(harness, "bob")
        play(harness, "ann", "99")
        assert harness.command("pause") is None
        harness.wait(10_000)
        assert harness.command("resume") is None
        harness.wait(999)
        assert harness.finished is None
        harness.wait(1)
        assert harness.finished == "incomplete"


class TestVoid:
    def test_one_that_is_broken_off_is_played_again(self) -> None:
        harness = begun("ann", "bob")
        assert harness.command("void", "v1") is None
        harness.wait(0)
        assert harness.logged(GameVoided) == [GameVoided("v1", "organiser", True)]
        assert records(harness)["v1"].end == "void"
        assert harness.logged(ValidationStarted)[-1] == ValidationStarted("ann", "v3")
        assert harness.contest.status.progress().void == 0
        assert harness.command("replay", "v1") is not None

    def test_a_new_version_plays_its_own(self) -> None:
        harness = begun("ann", "bob")
        assert harness.command("validate", "ann") is None
        harness.wait(0)
        assert [event.game for event in harness.logged(ValidationStarted)] == ["v1", "v2", "v3"]
        play(harness, "ann")
        play(harness, "bob")
        assert harness.command("validate", "ann") is None
        play_on(harness)  # g1, which is running
        assert harness.contest.status.progress().done == 1
        assert harness.logged(ValidationStarted)[-1] == ValidationStarted("ann", "v4")
        harness.wait(0)
        play_on(harness)
        assert harness.finished == "finished"

    def test_one_who_is_kicked_plays_no_more(self) -> None:
        harness = begun("ann", "bob")
        assert harness.command("kick", "ann") is None
        harness.wait(0)
        assert harness.logged(ValidationFailed) == []
        assert len(harness.logged(ValidationStarted)) == 2
        assert where(harness)["ann"] == "kicked"

    def test_the_contest_ends_behind_it(self) -> None:
        harness = begun("ann", "bob")
        harness.stop()
        assert harness.finished is None
        harness.wait(0)
        assert harness.finished == "stopped"


class TestRecovery:
    def test_one_that_runs_goes_on(self) -> None:
        harness = begun("ann", "bob")
        harness.send("bob", "READY v2")  # seat 1 is the server's
        again = restarted(harness)
        assert again.logged(GameResumed) == [
            GameResumed("v2", (REFEREE, "bob"), 1), GameResumed("v1", ("ann", REFEREE), 0)
        ]  # fmt: skip
        for name in ("ann", "bob"):
            again.log_in(name)
            play(again, name)
        assert [event.bot for event in again.logged(BotValidated)] == ["ann", "bob"]

    def test_one_that_was_over_is_judged(self) -> None:
        harness = begun("ann", "bob")
        harness.send("ann", "READY v1", "MOVE 7")  # and the server is killed before the next Tick
        assert harness.logged(BotValidated) == []
        again = restarted(harness)
        assert again.logged(BotValidated) == [BotValidated("ann", "v1")]

    def test_its_number_is_not_used_again(self) -> None:
        harness = begun("ann", "bob")
        play(harness, "ann", "99")
        again = restarted(harness)
        again.log_in("ann")
        assert again.logged(ValidationStarted) == [ValidationStarted("ann", "v3")]

    def test_a_damaged_journal(self) -> None:
        offer = (-1, "offer", ("eve", REFEREE), 1, (), ())
        with pytest.raises(JournalError, match=r"^no bot of this contest is called 'eve'$"):
            ContestHarness("ann", "bob", past=Past(entries=(offer,)))
        with pytest.raises(JournalError, match=r"^g1 was played by eve, referee, and the schedule has"):
            ContestHarness("ann", "bob", past=Past(entries=((1, *offer[1:]),)))


def test_the_name_of_the_servers_own_player_is_not_free() -> None:
    with pytest.raises(ContestConfigError, match=r"^a bot cannot be called referee: "):
        ContestHarness("ann", REFEREE)
    assert begun("ann", "bob").command("add", REFEREE, entrant=Entrant(REFEREE, "ab" * 32)) == (
        "a bot cannot be called referee: the server itself plays by this name"
    )


@given(st.integers(1, 10**17), st.booleans())
def test_the_ids_of_games(number: int, validation: bool) -> None:
    signed = -number if validation else number
    assert number_of(game_id(signed)) == signed
    assert game_id(signed)[0] == ("v" if validation else "g")
