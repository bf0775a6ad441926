"""What the site shows of a database: delay, standings, chunks of games, records."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from arena_protocol.record import FaultRecord
from arena_protocol.record_codec import encode
from arena_server.core.facts import Annulled
from arena_server.core.formats import format_of
from arena_server.core.journal import CONTEST, entry_of
from arena_server.stats.standings import Row, Standings
from arena_server.store.chain import GENESIS, link
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow
from arena_server.terms.config import ContestConfig
from arena_server.web import archive as module
from arena_server.web import shown_results
from arena_server.web.archive import Archive
from arena_server.web.documents import stored_record_json
from arena_server.web.shown_results import NotFoundError

from ..records import Kept, game, keep_early_end, opening, tomorrow
from .archives import ILLEGAL, Clock, fill, later


def test_before_the_server_has_made_its_tables_there_is_no_contest(path: Path) -> None:
    """The pages may be asked as soon as the server listens."""
    path.touch()
    archive = Archive(path)
    assert (archive.contests(), archive.latest("trial"), archive.running()) == ([], None, {})


class TestRows:
    def test_they_are_made_again_after_a_change_alone(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = []
        rows = Standings.rows

        def counted(table: Standings) -> tuple[Row, ...]:
            made.append(table.games)
            return rows(table)

        monkeypatch.setattr(Standings, "rows", counted)
        kept = Kept(path, opening())
        kept.start()
        archive = Archive(path, tomorrow)
        for number in range(1, 4):
            kept.writer.store(f"g{number}", game(number))
            assert kept.next() == [f"g{number}"]
            assert [archive.contest(1)["standings"][0]["points"] for _ in range(3)] == [30 * number] * 3
        assert made == [1, 2, 3]
        kept.close("stopped")
        assert archive.contest(1)["status"] == "stopped"
        assert made == [1, 2, 3]


def ends_of(archive: Archive) -> list[str]:
    return [row[3] for row in json.loads(archive.games(1, 0))]


def test_a_result_that_is_taken_back_counts_no_more(path: Path) -> None:
    """A page that was open before shows the game as void, too."""
    kept = Kept(path)
    kept.start()
    for number in (1, 2):
        kept.writer.store(f"g{number}", replace(game(number), worker="w1", host="box"))
        kept.next()
    archive = Archive(path, tomorrow)
    before = archive.contest(1)
    assert (before["games_played"], before["games_void"]) == (2, 0)
    assert ends_of(archive) == ["complete", "complete"]
    kept.append(entry_of(CONTEST, Annulled(1, "w1")))
    kept.writer.store("g3", game(3))  # in one transaction with what is taken back
    kept.next()
    for found in (archive, Archive(path, tomorrow)):
        after = found.contest(1)
        assert (after["games_played"], after["games_void"]) == (2, 1)
        assert [row["points"] for row in after["standings"]][:2] == [60, 20]
        assert ends_of(found) == ["void", "complete", "complete"]
    kept.close()


def test_a_clock_that_is_set_back_hides_no_result(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before, by a later clock, is there with the next result: on all pages, or on none."""
    kept, clock = Kept(path, opening()), Clock()
    monkeypatch.setattr("arena_server.store.schema.now", clock)
    kept.start()
    archive = Archive(path, clock, live=True)
    for number, back in ((1, 0), (2, 86_400)):
        clock.forward(-back)
        kept.writer.store(f"g{number}", game(number, ("a", "b"), (30, 10), ILLEGAL))
        kept.next()
    clock.forward(10)
    assert archive.contest(1)["games_played"] == 2
    assert [archive.state(1, f"g{number}") for number in (1, 2)] == ["over", "over"]
    assert archive.called_record(1, "g1").names == ("a", "b")
    assert [row[0] for row in archive.faults(1)["faults"]] == ["g2", "g1"]
    assert [each.game_id for each in archive.appearances(1, 0, 9)[1]] == ["g2", "g1"]
    with archive.open() as results:
        contest = archive.find(results, 1)
        assert results.games.over(contest, ["g1", "g2", "g3"], archive.last_shown(results, contest)) == {
            "g1",
            "g2",
        }
    kept.close()


class TestPace:
    def test_it_is_that_of_the_results_that_are_shown(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(path, status=None, delay_ms=60_000)
        with Results(path) as results:
            contest = results.contest()
            began, second = contest.started_at, results.games.stored_last(contest, 2)
        clock = Clock()
        archive = Archive(path, clock, live=True)
        assert archive.contest(1)["pace"] is None
        clock.now = began + timedelta(hours=1, seconds=60)
        # g3 is void: three records in an hour, two results of six games.
        assert archive.contest(1)["pace"] == {"games_per_hour": 3.0, "left_s": 4 * 1200}
        monkeypatch.setattr(module, "LAST_GAMES", 1)
        clock.now = second + timedelta(hours=2, seconds=60)
        assert archive.contest(1)["pace"] == {"games_per_hour": 0.5, "left_s": 4 * 7200}

    def test_a_contest_that_does_not_run_has_none(self, path: Path) -> None:
        fill(path)
        archive, _ = later(path)
        assert archive.contest(1)["pace"] is None


class TestFaults:
    TEXT = "b sent an illegal move{}; the referee plays 6 for it until the game ends"

    @pytest.mark.parametrize(
        ("deals", "status", "line"),
        [
            ("fresh", None, ' "16" at ply 1'),
            ("paired", "finished", ' "16" at ply 1'),
            # What a bot sends can tell of a deal that is still to be played.
            ("paired", None, " at ply 1"),
        ],
    )
    def test_the_line_of_a_game_whose_record_is_withheld_is_too(
        self, path: Path, deals: str, status: str | None, line: str
    ) -> None:
        header = opening()
        kept = Kept(path, replace(header, config=replace(header.config, deals=deals)))
        kept.start()
        kept.writer.store("g1", game(1, ("a", "b"), (30, 10), ILLEGAL))
        kept.close(status)
        archive, _ = later(path)
        assert archive.faults(1) == {"faults": [["g1", 1, 1, "illegal", self.TEXT.format(line)]]}

    def test_the_newest_come_first_and_few_enough(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shown_results, "MOST_FAULTS", 2)
        kept = Kept(path, opening())
        kept.start()
        for number in range(1, 4):
            kept.writer.store(f"g{number}", game(number, ("a", "b"), (30, 10), ILLEGAL))
        kept.writer.store("g4", game(4, ("a", "b"), (0, 0), (FaultRecord(0, 1, "void", b""),), end="void"))
        kept.close()
        archive, _ = later(path)
        assert [row[0] for row in archive.faults(1)["faults"]] == ["g3", "g2"]

    def test_spectators_see_them_after_their_delay(self, path: Path) -> None:
        fill(path, delay_ms=60_000)
        clock = Clock()
        archive = Archive(path, clock, live=True)
        assert archive.faults(1) == {"faults": []}
        clock.forward(61)
        assert [row[:4] for row in archive.faults(1)["faults"]] == [["g1", 1, 1, "illegal"]]


class TestChain:
    def test_the_digests_lead_to_the_head_in_the_order_of_the_list(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "CHUNK", 2)
        fill(path)
        archive, _ = later(path)
        listed = [row[0] for chunk in (0, 1) for row in json.loads(archive.games(1, chunk))]
        digests = [digest for chunk in (0, 1) for digest in json.loads(archive.chain(1, chunk))]
        assert digests == [sha256(archive.record(1, name)).hexdigest() for name in listed]
        value = GENESIS
        for digest in digests:
            value = link(value, bytes.fromhex(digest))
        assert value.hex() == archive.contest(1)["head"]
        for chunk in (2, -1):
            with pytest.raises(NotFoundError, match=rf"^contest 1 has no games of chunk {chunk}$"):
                archive.chain(1, chunk)

    def test_it_is_published_when_the_contest_is_over_for_spectators_too(self, path: Path) -> None:
        text = "^the chain of contest 1 is published when the contest is over$"
        fill(path, status=None)
        archive, _ = later(path)
        with pytest.raises(NotFoundError, match=text):
            archive.chain(1, 0)
        over, clock = path.with_name("over.db"), Clock()
        fill(over, delay_ms=60_000)
        delayed = Archive(over, clock, live=True)
        with pytest.raises(NotFoundError, match=text):
            delayed.chain(1, 0)
        clock.forward(61)
        assert len(json.loads(delayed.chain(1, 0))) == 3


class TestContests:
    def test_a_contest_with_its_standings(self, path: Path) -> None:
        fill(path)
        archive, _ = later(path)
        found = archive.contest(1)
        assert [(row["rank"], row["bot"], row["points"], row["games"]) for row in found["standings"]] == [
            (1, "a", 50, 2),
            (2, "c", 20, 1),
            (3, "b", 10, 1),
        ]
        assert found["standings"][2]["faults"] == {"illegal": 1}
        assert (found["games_played"], found["games_void"], found["status"]) == (2, 1, "finished")
        assert found["bots"] == ["a", "b", "c"]
        assert found["list"] == {"games": 3, "chunk": module.CHUNK}
        assert len(found["head"]) == 64

    def test_visitors_have_the_names_that_they_gave(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(path)
        monkeypatch.setattr(ContestRow, "called", {"b": "Мария"})
        found = Archive(path, tomorrow).contest(1)
        assert found["bots"] == ["a", "Мария", "c"]
        assert sorted(row["bot"] for row in found["standings"]) == ["a", "c", "Мария"]
        assert "Мария" in Archive(path, tomorrow).faults(1)["faults"][0][4]

    def test_why_it_ended_early(self, path: Path) -> None:
        keep_early_end(path)
        archive, _ = later(path)
        assert archive.contest(1)["separated"] == {"games": 2, "names": ("a",)}

    def test_the_seed_is_nowhere(self, path: Path) -> None:
        fill(path)
        archive, _ = later(path)
        text = json.dumps([archive.contests(), archive.contest(1)]) + archive.games(1, 0).decode()
        assert str(opening().config.seed) not in text

    def test_the_newest_contest_comes_first(self, path: Path) -> None:
        fill(path, name="spring")
        fill(path, name="autumn")
        archive, _ = later(path)
        assert [(each["id"], each["name"], each["games_played"]) for each in archive.contests()] == [
            (2, "autumn", 2),
            (1, "spring", 2),
        ]
        assert (archive.latest("spring"), archive.latest("winter")) == (1, None)

    @pytest.mark.parametrize("number", [0, 2, 2**70])
    def test_no_such_contest(self, path: Path, number: int) -> None:
        fill(path)
        archive, _ = later(path)
        for ask in (archive.contest, lambda n: archive.games(n, 0), lambda n: archive.record(n, "g1")):
            with pytest.raises(NotFoundError, match=f"^no contest {number}$"):
                ask(number)


class TestGames:
    def test_a_row(self, path: Path) -> None:
        fill(path)
        archive, _ = later(path)
        first, second, third = json.loads(archive.games(1, 0))
        at = first[5]
        assert abs(at - datetime.now(UTC).timestamp()) < 3600
        assert first == ["g1", [0, 1], [30, 10], "complete", 1, at, [[2, 1, "illegal"]], [3, 0]]
        assert second[:5] == ["g2", [2, 0], [20, 20], "complete", 1]
        assert third[:5] == ["g3", [1, 2], [900, 0], "void", 1]

    def test_chunks(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "CHUNK", 2)
        kept = Kept(path)
        kept.start()
        archive, _ = later(path)
        found: list[list[object]] = []
        for number in range(1, 6):
            kept.writer.store(f"g{number}", game(number))
            kept.next()
            chunks = [json.loads(archive.games(1, chunk)) for chunk in range(number // 2 + 1)]
            assert [len(chunk) for chunk in chunks] == [2] * (number // 2) + [number % 2]
            found = [row for chunk in chunks for row in chunk]
            assert [row[0] for row in found] == [f"g{each}" for each in range(1, number + 1)]
        for chunk in (-1, 3, 10**9):
            with pytest.raises(NotFoundError, match=f"^contest 1 has no games of chunk {chunk}$"):
                archive.games(1, chunk)
        kept.close("finished")

    def test_a_contest_that_is_over_is_read_once(self, path: Path) -> None:
        fill(path)
        archive, _ = later(path)
        assert archive.contest(1)["games_played"] == 2
        path.write_bytes(path.read_bytes())
        assert archive._indexes[1].complete


def test_a_record_as_json_is_that_of_arena_replay() -> None:
    record = game(1, ("a", "b"), (30, 10), ILLEGAL)
    found = json.loads(json.dumps(stored_record_json(encode(record))))
    assert found["seed"] == str(record.seed)
    assert found["faults"] == [{"seat": 2, "ply": 1, "kind": "illegal", "line": b"MOVE 16".hex()}]
    assert found["plies"][0]["clock"] == [997, 1000]
    assert found["names"] == ["a", "b"]


class TestSchedule:
    def test_the_chunks_are_the_schedule_that_the_referee_plays(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(path, status=None)
        monkeypatch.setattr(module, "CHUNK", 5)
        archive, _ = later(path)
        assert archive.contest(1)["schedule"] == {"games": 24, "chunk": 5}
        rows = [row for chunk in range(5) for row in json.loads(archive.schedule(1, chunk))]
        bots = archive.contest(1)["bots"]
        played = format_of(ContestConfig(name="trial", seed=0), bots, 2).planned(1, 25)
        assert [(row[0], tuple(bots[place] for place in row[1])) for row in rows] == [
            (f"g{pairing.number}", pairing.names) for pairing in played
        ]
        with pytest.raises(NotFoundError, match=r"^contest 1 has no games of chunk 5 in its schedule$"):
            archive.schedule(1, 5)
        with pytest.raises(NotFoundError, match=r"^no contest 2$"):
            archive.schedule(2, 0)

    def test_it_has_the_games_of_late_entrants_and_not_those_of_bots_that_left(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        kept.append((0, "joined", "late", 27, 1, "", "", "", ""), (0, "games", "", 48))
        kept.append((0, "left", "b", True), (0, "games", "", 40))
        kept.wait_for(2)
        kept.close("stopped")
        archive, _ = later(path)
        found = archive.contest(1)
        assert (found["games"], found["schedule"]["games"]) == (40, 50)
        assert found["bots"] == ["a", "b", "c", "late"]
        rows = json.loads(archive.schedule(1, 0))
        assert {tuple(sorted(seats)) for _, seats in rows} == {(0, 2), (0, 3), (2, 3)}
        assert min(int(game[1:]) for game, seats in rows if 3 in seats) == 27
