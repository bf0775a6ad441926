"""Bots that are added, withdrawn or given a new token while the contest is played."""

from __future__ import annotations

from typing import Any

import pytest
from tests.slices import all_of

from arena_protocol.messages import LOG_READER, VERSION, Hello
from arena_server.core.deal import token_digest
from arena_server.core.events import Replace
from arena_server.core.journal import JournalError, Past
from arena_server.core.log_events import BotAbsent, BotJoined, BotLeft
from arena_server.terms.config import NO_TOKEN, Entrant

from .contest_harness import (
    ONE_PLY,
    ContestHarness,
    check_sums,
    play_on,
    restarted,
    rows,
    seated,
)

TOKEN = "a-token-of-cid"


def add(harness: ContestHarness, name: str = "cid", token: str = TOKEN, **more: Any) -> str | None:
    return harness.command("add", name, entrant=Entrant(name, token_digest(token), **more))


def token(harness: ContestHarness, name: str, text: str) -> str | None:
    return harness.command("token", name, entrant=Entrant(name, token_digest(text)))


def where(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.where for bot in harness.contest.status.overview().bots}


class TestAdd:
    @pytest.mark.parametrize("restarts", [False, True])
    def test_an_order_whose_answer_is_lost_is_given_again(self, restarts: bool) -> None:
        """Until the bot has logged in, and only as it was given."""
        harness = seated("ann", "bob", options=ONE_PLY)
        assert add(harness, token="lost", owner="jan") is None
        harness = restarted(harness) if restarts else harness
        assert add(harness, owner="eve") == "cid is a bot of this contest already"
        assert add(harness, owner="jan") is None
        assert harness.last_entries == [(0, "token", "cid", token_digest(TOKEN))]
        harness.log_in("cid", " token=lost")
        assert harness.last_line("cid").startswith("ERROR token")
        harness.log_in("cid", f" token={TOKEN}")
        assert any(line.startswith("WELCOME cid") for line in harness.received("cid"))
        harness = restarted(harness) if restarts else harness
        assert add(harness, owner="jan") == "cid is a bot of this contest already"

    def test_a_bot_of_the_file_keeps_its_token(self) -> None:
        harness = ContestHarness("ann", Entrant("bob", token_digest("of-the-file")))
        assert add(harness, "bob") == "bob is a bot of this contest already"
        assert add(harness, "ann") == "ann is a bot of this contest already"

    def test_a_bot_that_comes_again_gets_another_token_until_it_logs_in(self) -> None:
        harness = seated("ann", "bob", "cid")
        assert harness.command("remove", "bob") is None
        assert add(harness, "bob", token="lost") is None
        assert add(harness, "bob") is None
        harness.log_in("bob", f" token={TOKEN}", conn="again")
        assert add(harness, "bob") == "bob is a bot of this contest already"

    def test_a_late_entrant_logs_in_by_its_token_and_plays_everybody(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.log_in("cid", f" token={TOKEN}")
        assert harness.last_line("cid").startswith("ERROR token")
        assert add(harness, owner="jan", author="Jan", language="C", url="https://example.org") is None
        assert harness.last_entries == [
            (0, "joined", "cid", 3, 1, "jan", "Jan", "C", "https://example.org"),
            (0, "games", "", 6),
            (0, "token", "cid", token_digest(TOKEN)),
        ]
        assert harness.logged(BotJoined) == [BotJoined("cid")]
        assert harness.contest.status.progress().total == 6
        assert harness.contest.slots == 3
        harness.log_in("cid")
        assert harness.last_line("cid").startswith("ERROR token"), "its name alone is not enough"
        harness.log_in("cid", f" token={TOKEN}")
        play_on(harness)
        assert harness.finished == "finished"
        assert {name: row.games for name, row in rows(harness).items()} == {"ann": 4, "bob": 4, "cid": 4}
        assert sorted(harness.records) == ["g1", "g2", "g3", "g4", "g5", "g6"]
        check_sums(harness)

    def test_places_are_kept_for_it(self) -> None:
        harness = seated("ann", "bob")
        assert add(harness) is None
        assert (harness.contest.slots, restarted(harness).contest.slots) == (3, 3)
        assert harness.command("remove", "ann") is None
        assert (harness.contest.slots, restarted(harness).contest.slots) == (2, 2)

    def test_after_a_restart_it_is_an_entrant_with_its_games(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        assert harness.command("replay", "g1") is None  # g3
        assert add(harness) is None
        assert harness.last_entries[0][:4] == (0, "joined", "cid", 4)
        assert harness.command("replay", "g3") is not None  # it has not begun
        harness.log_in("cid", f" token={TOKEN}")
        running = [each.game_id for each in harness.contest.status.overview().running]
        assert harness.command("replay", running[0]) is None  # g8
        again = restarted(restarted(harness))
        assert again.contest.status.progress().total == 6
        for name in ("ann", "bob"):
            again.log_in(name)
        again.log_in("cid", f" token={TOKEN}")
        play_on(again)
        assert again.finished == "finished"
        assert rows(again)["cid"].games == 4
        check = {game_id for game_id in again.records if again.records[game_id].end != "void"}
        assert check <= {f"g{number}" for number in range(1, 9)}

    def test_the_contest_waits_for_it_and_its_absence_expires(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=1000)
        assert add(harness) is None
        play_on(harness)
        assert harness.finished is None
        harness.wait(1000)
        assert harness.finished == "incomplete"
        assert BotAbsent("cid") in harness.logged(BotAbsent)
        assert harness.contest.status.progress().unplayed == {"absent: cid": 4}

    def test_after_a_restart_its_absence_expires_too(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY, absent_ms=1000)
        assert add(harness) is None
        again = restarted(harness)
        again.wait(999)
        assert again.logged(BotAbsent) == []
        again.wait(1)
        assert BotAbsent("cid") in again.logged(BotAbsent)

    @pytest.mark.parametrize(
        ("name", "more", "problem"),
        [
            ("ann", {}, "ann is a bot of this contest already"),
            ("no name", {}, "a bot cannot be called 'no name': see the names in PROTOCOL.md"),
            ("cid", {"concurrency": 65}, "concurrency of cid must be from 1 to 64, not 65"),
        ],
    )
    def test_who_cannot_be_added(self, name: str, more: dict[str, Any], problem: str) -> None:
        harness = seated("ann", "bob")
        assert add(harness, name, **more) == problem
        assert harness.last_entries == []
        assert harness.contest.status.progress().total == 2

    @all_of("verb", ["add", "token"])
    @all_of("entrant", [None, Entrant("cid"), Entrant("bob", token_digest("x"))])
    def test_without_a_token_nothing_is_done(self, verb: str, entrant: Entrant | None) -> None:
        harness = seated("ann", "bob")
        assert harness.command(verb, "cid", entrant=entrant) == f"{verb} needs the token of 'cid'"

    def test_a_format_that_takes_no_late_entrants_says_so(self) -> None:
        harness = seated("ann", "bob", format="matches")
        problem = 'contest.format: "matches" takes no late entrants: who meets whom is fixed'
        assert add(harness) == problem
        harness.log_in("cid", f" token={TOKEN}")
        assert harness.last_line("cid").startswith("ERROR token")
        past = Past(entries=((0, "joined", "cid", 3, 1, "", "", "", ""),))
        with pytest.raises(JournalError, match='"matches" takes no late entrants'):
            ContestHarness("ann", "bob", format="matches", past=past)


class TestRemove:
    def test_its_games_are_void_and_the_others_are_not_played(self) -> None:
        harness = seated("ann", "bob", "cid", options=ONE_PLY)
        assert harness.command("remove", "ann") is None
        assert harness.last_entries[0] == (0, "left", "ann", True)
        assert (0, "games", "", 2) in harness.last_entries
        assert harness.logged(BotLeft) == [BotLeft("ann")]
        assert harness.last_line("ann") == "BYE reason=kicked"
        assert {record.end for record in harness.records.values()} == {"void"}
        assert harness.contest.status.progress().total == 2
        assert harness.contest.slots == 2
        assert where(harness) == {"ann": "withdrawn", "bob": "playing", "cid": "playing"}
        assert harness.contest.status.held()[1] == ()
        harness.log_in("ann", conn="again")
        assert harness.last_line("again").startswith("ERROR token")
        for again in (restarted(harness), harness):
            for name in ("bob", "cid"):
                if again is not harness:
                    again.log_in(name)
            play_on(again)
            assert again.finished == "finished"
            assert {name: row.games for name, row in rows(again).items()} == {"ann": 0, "bob": 2, "cid": 2}

    def test_its_results_stand(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        harness.send("ann", "MOVE 7")
        assert harness.command("remove", "bob") is None
        assert harness.finished == "finished"
        assert rows(harness)["bob"].games == 1
        assert harness.contest.status.progress().missing == ()

    def test_a_key_does_not_bring_it_back(self) -> None:
        harness = seated("ann", "bob", "cid")
        key = next(line for line in harness.received("cid") if line.startswith("WELCOME")).split()[3]
        assert harness.command("remove", "cid") is None
        harness.log_in("cid", f" {key}", conn="again")
        assert harness.last_line("again").startswith("ERROR token")
        assert harness.command("remove", "cid") == (
            "cid has left the contest; arena admin add cid brings it back"
        )
        for verb in ("kick", "lift"):
            assert harness.command(verb, "cid") is not None

    def test_it_can_be_added_again_and_plays_what_is_left(self) -> None:
        harness = seated("ann", "bob", "cid", options=ONE_PLY, absent_ms=1000)
        harness.command("kick", "ann")
        assert harness.command("remove", "ann") is None
        harness.wait(2000)
        assert BotAbsent("ann") not in harness.logged(BotAbsent)
        assert add(harness, "ann") is None
        assert harness.last_entries == [
            (0, "left", "ann", False),
            (0, "games", "", 6),
            (0, "token", "ann", token_digest(TOKEN)),
            (0, "conduct", "ann", 0, False, 0),
            (0, "trial", "ann", False),
        ]
        assert harness.contest.status.progress().total == 6
        for again in (restarted(harness), harness):
            for name in ("bob", "cid"):
                if again is not harness:
                    again.log_in(name)
            again.log_in("ann", f" token={TOKEN}")
            play_on(again)
            assert again.finished == "finished"
            assert {row.games for row in rows(again).values()} == {4}

    def test_when_it_comes_back_the_others_do_not_wait_until_it_has_caught_up(self) -> None:
        harness = seated("ann", "bob", "cid", "dan", games_per_pair=10, options=ONE_PLY, ready=False)

        def others_play(times: int) -> None:
            for _ in range(times):
                for game in harness.contest.status.overview().running:
                    if "dan" not in game.names:
                        for name in game.names:
                            harness.send(name, f"READY {game.game_id}")
                        harness.send(game.names[0], "MOVE 7")

        assert harness.command("remove", "dan") is None
        others_play(12)
        assert add(harness, "dan") is None
        known = {*harness.records, *(game.game_id for game in harness.contest.status.overview().running)}
        harness.log_in("dan", f" token={TOKEN}")
        others_play(6)
        assert any("dan" in game.names for game in harness.contest.status.overview().running), (
            "it takes its time"
        )
        assert set(harness.records) - known, "a game of two others has started, and is over"

    def test_in_a_format_that_takes_no_late_entrants_it_can_come_back(self) -> None:
        harness = seated("ann", "bob", format="matches", options=ONE_PLY)
        assert harness.command("remove", "ann") is None
        assert harness.finished == "incomplete", "without a game nothing is finished"
        harness = ContestHarness("ann", "bob", "cid", "dan", format="knockout", options=ONE_PLY)
        assert harness.command("remove", "ann") is None
        assert add(harness, "ann") is None
        assert where(harness)["ann"] == "away"

    def test_a_conduct_that_is_read_later_does_not_let_it_in(self) -> None:
        harness = seated("ann", "bob", "cid")
        for verb in ("kick", "lift", "remove"):
            assert harness.command(verb, "ann") is None
        again = restarted(harness)
        assert where(again)["ann"] == "withdrawn"


def ladder(**more: Any) -> ContestHarness:
    return seated("ann", "bob", "cid", format="ladder", options=ONE_PLY, ready=False, **more)


class TestLadder:
    def test_a_late_entrant_plays_at_once_and_after_a_restart(self) -> None:
        harness = ContestHarness("ann", "bob", "cid", format="ladder", options=ONE_PLY)
        assert add(harness, "dan") is None
        assert harness.last_entries[0][:3] == (0, "joined", "dan")
        assert harness.contest.status.progress().total is None
        before = restarted(harness)
        for again in (before, restarted(before)):
            again.log_in("dan", f" token={TOKEN}")
            again.log_in("ann")
            (game,) = again.contest.status.overview().running
            assert set(game.names) == {"ann", "dan"}
            for name in ("ann", "dan"):
                again.send(name, f"READY {game.game_id}")
            again.send(game.names[0], "MOVE 7")
            assert rows(again)["dan"].games == 1

    def test_what_is_owed_to_a_bot_that_has_left_is_not_played_until_it_is_back(self) -> None:
        harness = ladder(deals="paired", format_options={"games": 4})
        game = harness.contest.status.overview().running[0]
        gone = game.names[0]
        assert harness.command("remove", gone) is None
        assert harness.contest.status.progress().total == 2, (
            "its game is void, and so is the other of the deal"
        )
        again = restarted(harness)
        assert again.contest.status.progress().total == 2
        assert add(again, gone) is None
        assert again.contest.status.progress().total == 4
        for name in {"ann", "bob", "cid"} - {gone}:
            again.log_in(name)
        again.log_in(gone, f" token={TOKEN}")
        play_on(again)
        assert again.finished == "finished"
        assert sum(row.games for row in rows(again).values()) == 8


class TestToken:
    def test_the_old_token_and_its_keys_are_dead_at_once(self) -> None:
        harness = ContestHarness(Entrant("ann", token_digest("old")), "bob", options=ONE_PLY)
        harness.log_in("ann", " token=old")
        harness.log_in("bob")
        key = next(line for line in harness.received("ann") if line.startswith("WELCOME")).split()[3]
        assert token(harness, "ann", "new") is None
        assert harness.last_entries == [
            (0, "token", "ann", token_digest("new")),
            (0, "keys", "ann", (None,)),
            (0, "former-keys", "ann", (None,)),
        ]
        assert harness.last_line("ann") == "BYE reason=kicked"
        for again in (harness, restarted(harness)):
            for login in (" token=old", f" {key}"):
                again.log_in("ann", login)
                assert again.last_line("ann").startswith("ERROR token")
            again.log_in("ann", " token=new")
            assert any(line.startswith("WELCOME") for line in again.received("ann"))

    def test_its_game_goes_on_when_it_is_back(self) -> None:
        harness = seated("ann", "bob", options=ONE_PLY)
        assert token(harness, "ann", "new") is None
        assert harness.records == {}
        harness.log_in("ann", " token=new")
        harness.send("ann", "MOVE 7")
        assert harness.records["g1"].end == "complete"

    def test_an_unknown_bot_has_none(self) -> None:
        harness = seated("ann", "bob")
        assert token(harness, "eve", "x") == "no bot of this contest is called 'eve'"


class TestSent:
    """A late entrant whose author sends versions, which the server starts."""

    AUTHOR = token_digest(TOKEN)

    def harness(self) -> ContestHarness:
        harness = seated("ann", "bob", options=ONE_PLY)
        entrant = Entrant("cid", NO_TOKEN, author_sha256=self.AUTHOR, ponders=False)
        assert harness.command("add", "cid", entrant=entrant) is None
        assert harness.last_entries[1:] == [
            (0, "sent", "cid", False),
            (0, "games", "", 6),
            (0, "token", "cid", self.AUTHOR),
        ]
        return harness

    @pytest.mark.parametrize("again", [False, True])
    def test_it_plays_as_its_versions_and_by_no_other_token(self, again: bool) -> None:
        harness = restarted(restarted(self.harness())) if again else self.harness()
        assert harness.contest.entrants.sent == {"cid": True}
        assert ("cid", "no-version") in [
            (each.name, each.reason) for each in harness.contest.status.held()[1]
        ]
        harness.log_in("cid", f" token={TOKEN}")
        assert harness.last_line("cid").startswith("ERROR token")
        harness.event(Replace("cid", token_digest("run"), "v1"))
        for name in ("ann", "bob") if again else ():
            harness.log_in(name)
        harness.log_in("cid", " token=run")
        bot = next(bot for bot in harness.contest._bots if bot.name == "cid")
        assert not bot.entrant.ponders
        play_on(harness)
        assert harness.finished == "finished"
        assert rows(harness)["cid"].games == 4

    def test_a_new_token_is_its_authors_and_its_program_is_not(self) -> None:
        harness = self.harness()
        assert token(harness, "cid", "newer") is None
        for text, is_right in ((TOKEN, False), ("newer", True)):
            hello = Hello(VERSION, "cid", token=text, role=LOG_READER)
            assert harness.contest.recognises(hello) is is_right
            assert restarted(harness).contest.recognises(hello) is is_right
        assert harness.contest.entrants.sent == {"cid": True}

    def test_one_that_left_and_comes_again_plays_as_before(self) -> None:
        harness = self.harness()
        assert harness.command("remove", "cid") is None
        assert harness.contest.entrants.sent == restarted(harness).contest.entrants.sent == {"cid": False}
        assert add(harness, token="newest") is None
        assert harness.contest.entrants.sent == restarted(harness).contest.entrants.sent == {"cid": True}

    def test_one_of_whom_the_journal_knows_nothing_more(self) -> None:
        harness = self.harness()
        past = harness.durable()
        entries = tuple(entry for entry in past.entries if entry[1] != "joined")
        with pytest.raises(JournalError, match="no bot of this contest is called 'cid'"):
            ContestHarness("ann", "bob", past=Past(past.results, entries))
