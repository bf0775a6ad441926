"""Bytes that bots keep: equal to a model after any games, void games, lost connections and killed servers."""

from __future__ import annotations

from random import Random

import pytest

from arena_protocol.messages import Keep
from arena_protocol.record import VOID
from arena_server.core.facts import Kept, Staged
from arena_server.core.journal import CONTEST, JournalError, Past, entry_of
from arena_server.core.news import Stores
from arena_server.terms.config import ContestConfigError

from .contest_harness import ContestHarness, restarted, seated

BOTS = ("ann", "bob")
QUOTA = 64
ASK = " storage=1"


def welcomed(harness: ContestHarness, name: str) -> bytes:
    """What the last WELCOME of `name` says is stored."""
    line = next(line for line in harness.received(name) if line.startswith("WELCOME"))
    assert f" storage={QUOTA} stored=" in line
    return bytes.fromhex(line.rpartition("=")[2])


def parts(data: bytes, size: int, game: str = "") -> list[str]:
    return [
        f"STORE {len(data)} at={at} data={data[at : at + size].hex()}{game}"
        for at in range(0, max(1, len(data)), size)
    ]


class Play:
    """Two bots of one contest, and the model of what they have stored."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.harness = ContestHarness(*BOTS, storage_bytes=QUOTA, games_per_pair=20)
        self.kept = dict.fromkeys(BOTS, b"")
        self.staged: dict[str, tuple[str, bytes]] = {}
        self.over: set[str] = set()
        self.voids = self.restarts = 0
        #: How many lines of its connection each bot has answered.
        self.read: dict[str, int] = {}
        for name in BOTS:
            self.log_in(name)

    def log_in(self, name: str) -> None:
        self.harness.log_in(name, ASK)
        self.read[name] = 0

    def game(self, name: str) -> str | None:
        """The game that `name` plays, as its lines say."""
        running = None
        for line in self.harness.received(name):
            verb, *words = line.split()
            running = words[0] if verb == "GAME" else None if verb == "OVER" else running
        return running

    def step(self) -> None:
        name = self.rng.choice(BOTS)
        match self.rng.randrange(20):
            case 0 | 1:
                self.store(name, None)
            case 2 | 3 | 4:
                if (game := self.game(name)) is not None:
                    self.store(name, game)
            case 5:
                self.harness.send(name, *parts(b"late", 4, " game=g999"))
            case 6:
                if (game := self.game(name)) is not None:
                    self.voids += self.harness.command("replay", game) is None
            case 7:
                self.harness.disconnect(name)
                self.log_in(name)
            case 8:
                self.restart()
            case _:
                self.answer(name)
        self.count()

    def store(self, name: str, game: str | None) -> None:
        data = self.rng.randbytes(self.rng.randrange(QUOTA + 1))
        self.harness.send(name, *parts(data, self.rng.choice((7, QUOTA)), f" game={game}" if game else ""))
        if game is None:
            self.kept[name] = data
        else:
            self.staged[name] = game, data

    def answer(self, name: str) -> None:
        """Answer what the bot has got since it answered last."""
        lines = self.harness.received(name)
        fresh, self.read[name] = lines[self.read[name] :], len(lines)
        for line in fresh:
            if line.startswith("GAME"):
                self.harness.send(name, f"READY {line.split()[1]}")
            elif line.startswith("TURN"):
                self.harness.send(name, "MOVE 7")

    def restart(self) -> None:
        """The server is killed; perhaps between the disk has a result and the core knows of it."""
        self.restarts += 1
        if self.rng.randrange(2):
            self.harness.stores = False
            for name in BOTS * 4:
                self.answer(name)
            self.harness.stores = True
        self.count()
        self.harness = restarted(self.harness)
        for name in BOTS:
            self.log_in(name)

    def count(self) -> None:
        """What waits for the games that are over."""
        for game, record in self.harness.records.items():
            if game not in self.over:
                self.over.add(game)
                for name, (of, data) in list(self.staged.items()):
                    if of == game and record.end != VOID:
                        self.kept[name] = data

    def check(self) -> None:
        assert self.harness.contest.stored.by_name | self.kept == self.kept
        if self.harness.contest.ended is not None:  # who comes then gets BYE
            return
        for name in BOTS:
            self.harness.disconnect(name)
            self.log_in(name)
            assert welcomed(self.harness, name) == self.kept[name]


def play(seed: int, steps: int) -> Play:
    run = Play(seed)
    for _ in range(steps):
        run.step()
        if run.rng.randrange(10) == 0:
            run.check()
    run.check()
    return run


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_what_is_stored_is_what_the_model_has(first: int) -> None:
    runs = [play(seed, 80) for seed in range(first, first + 10)]
    assert sum(run.voids for run in runs) > 5
    assert sum(run.restarts for run in runs) > 5
    assert sum(len(run.over) for run in runs) > 20
    assert any(run.kept["ann"] for run in runs)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_the_same_in_many_contests(seed: int) -> None:
    play(seed, 300)


def test_a_client_that_does_not_ask_sees_nothing_of_it() -> None:
    harness = ContestHarness(*BOTS, storage_bytes=QUOTA)
    harness.log_in("ann")
    harness.log_in("bob", ASK)
    assert "stor" not in harness.received("ann")[1]
    assert welcomed(harness, "bob") == b""
    harness.log_in("eye", " role=spectator storage=1")
    assert "stor" not in harness.received("eye")[1]


def test_where_nothing_can_be_stored_a_store_is_an_unasked_line() -> None:
    harness = seated(*BOTS, flood_limit=3)
    harness.send("ann", "STORE 1 data=00", "STORE 1 data=00")
    assert not any(line.startswith("ERROR") for line in harness.received("ann"))
    assert harness.contest._games.find("g1") is not None
    harness.send("ann", "STORE 1 data=00")
    assert any(line.startswith("ERROR flood") for line in harness.received("ann"))


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("STORE 2 data=beef", b"STORE"),
        ("STORE 2 data=beef game=g1 x", b"STORE"),
        ("  store 2 data=beef", b"store"),
        ("HELLO 1 ann token=beef", b"HELLO 1 ann"),
        ("HELLO 1 ann resume=beef x y z", b"HELLO 1 ann"),
        ("HELLO token=beef 1 ann", b"HELLO"),
        ("HELLO 1 ann beef", b"HELLO 1 ann"),
        ("HELLO  1", b"HELLO  1"),
        ("STORE", b"STORE"),
        ("WATCH beef", b"WATCH beef"),
        ("MOVES beef", b"MOVES beef"),
    ],
)
def test_the_record_of_a_fault_says_no_token_and_no_stored_bytes(line: str, kept: bytes) -> None:
    harness = seated(*BOTS, flood_limit=2)
    harness.send("ann", line, line)
    found = harness.contest._games.find("g1")
    assert found is not None
    assert [fault.line for fault in found.match.faults] == [kept]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("STORE 65 data=00",), "too-long a bot may store 64 bytes at most, not 65"),
        (("STORE 2 at=1 data=00",), "unexpected STORE: the parts do not follow each other; begin again"),
        (("STORE 3 data=00", "STORE 3 at=2 data=00"), "unexpected STORE: the parts"),
        (("STORE 3 data=00", "STORE 2 at=1 data=00"), "unexpected STORE: the parts"),
        (("STORE 3 data=00", "STORE 3 at=1 data=00 game=g1"), "unexpected STORE: the parts"),
        (("STORE 1 data=0000",), "unexpected STORE: the parts"),
    ],
)
def test_parts_that_do_not_fit_change_nothing(lines: tuple[str, ...], problem: str) -> None:
    harness = seated(*BOTS, storage_bytes=QUOTA)
    harness.send("ann", "STORE 2 data=6869", *lines)
    assert harness.received("ann")[-1].startswith(f"ERROR {problem}")
    assert not harness.contest._games.find("g1").match.faults  # type: ignore[union-attr]
    harness.disconnect("ann")
    harness.log_in("ann", ASK)
    assert welcomed(harness, "ann") == b"hi"


def test_bytes_of_a_game_whose_result_is_durable_before_its_seat_has_over() -> None:
    """They are kept at once: staged, they would be kept after a restart, over those that came later."""
    harness = seated(*BOTS, storage_bytes=QUOTA, options={"plies": 1, "colours": 6, "lookahead": 1})
    live = harness.contest._games.find("g1")
    assert live is not None
    first, second = (slot.name for slot in live.seated)
    (peer,) = (slot.peer for slot in live.seated if slot.name == second)
    assert peer is not None
    harness.contest._games.turns._chunks.busy.add(peer.conn)  # what it was sent is not read yet
    harness.send(first, "MOVE 6")
    assert harness.last_line(first).startswith("OVER")
    harness.send(second, "STORE 1 data=61 game=g1", "STORE 1 data=62")
    again = restarted(harness)
    again.log_in(second, ASK)
    assert welcomed(again, second) == b"b"


def test_a_refusal_is_not_sent_to_who_is_gone() -> None:
    harness = ContestHarness(*BOTS, storage_bytes=QUOTA)
    harness.log_in("ann", ASK)
    slot = harness.contest._bots[0].slots[0]
    harness.disconnect("ann")
    harness.contest._parts.take(Stores(slot, Keep(65, b"")), harness.now)
    assert harness.contest._authenticator.stored.of("ann") == b""


@pytest.mark.parametrize("fact", [Kept("zoe", b"x"), Staged(0, "zoe", 1, b"x")])
def test_bytes_of_a_bot_that_is_not_there(fact: Kept | Staged) -> None:
    with pytest.raises(JournalError, match="no bot of this contest is called 'zoe'"):
        ContestHarness(*BOTS, storage_bytes=QUOTA, past=Past((), (entry_of(CONTEST, fact),)))


def test_a_quota_out_of_its_range() -> None:
    with pytest.raises(ContestConfigError, match="storage_bytes must be from 0 to 16384, not 16385"):
        ContestHarness(*BOTS, storage_bytes=16385)
