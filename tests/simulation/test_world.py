"""Whole contests out of one seed, with every kind of misbehaviour; what must hold holds.

The simulation itself checks what `invariants.py` lists, and refuses any line that the protocol does not
allow the server to send at that moment.
"""

from __future__ import annotations

from functools import cache

import pytest
from tests.simulation.bots import BAD, HONEST, Honest, Spectator
from tests.simulation.network import MS
from tests.simulation.world import World

from arena_protocol.messages import Next, Played, Zombie, parse_server
from arena_protocol.record_codec import encode
from arena_protocol.verify import verify
from arena_server.terms.config import ContestConfig

from ..slices import rows

HOUR = 3_600_000 * MS
#: Enough for every fault to come up, in games short enough for hundreds of them in a second.
PLIES = 10


def named(*kinds: type[Honest]) -> dict[str, type[Honest]]:
    return {f"{kind.__name__}-{number}": kind for number, kind in enumerate(kinds)}


def play(seed: int, kinds: tuple[type[Honest], ...], **more: object) -> World:
    given: dict[str, object] = {
        "name": "sim", "seed": seed, "options": {"plies": PLIES, "lookahead": 5}, "clock_ms": 600,
        "increment_ms": 5, "margin_ms": 10, "ready_ms": 2000, "handover_ms": 1000, "absent_ms": 6000,
        "games_per_pair": 2, "probation": 0,
    }  # fmt: skip
    world = World(seed, ContestConfig(**given | more), named(*kinds))  # type: ignore[arg-type]
    world.run(HOUR)
    return world


#: Bots that leave may leave games without a result; which end is right the checker decides.
ENDS = ("finished", "incomplete")
#: One of each kind, and two spectators.
ALL_KINDS = HONEST + BAD + (Spectator, Spectator)


@cache
def all_kinds(seed: int) -> World:
    """With the first seed three kinds of the honest."""
    return play(seed, ALL_KINDS if seed > 1 else (*HONEST[:3], *BAD, Spectator))


world_of_each_seed = pytest.mark.parametrize("seed", rows([1, 2, 3], 3))


@world_of_each_seed
def test_the_contest_ends_and_every_game_has_one_result(seed: int) -> None:
    world = all_kinds(seed)
    progress = world.contest.status.progress()
    assert world.checker.finished in ENDS
    assert progress.done == len(world.records) == len(world.checker.durable) > 200
    assert (progress.running, progress.void, progress.connected) == (0, 0, 0)
    assert progress.plies == sum(len(record.plies) for record in world.records.values())


@world_of_each_seed
def test_every_record_is_true(seed: int) -> None:
    for record in all_kinds(seed).records.values():
        verify(record)


@world_of_each_seed
def test_no_bot_has_a_fault_that_it_did_not_make(seed: int) -> None:
    world = all_kinds(seed)
    for record in world.records.values():
        for fault in record.faults:
            name = record.names[fault.seat - 1]
            assert fault.kind in world.kinds[name].may, (name, record.game_id, fault)


def test_every_kind_of_fault_comes_up() -> None:
    kinds = {fault.kind for record in all_kinds(1).records.values() for fault in record.faults}
    assert kinds == {
        "timeout", "illegal", "malformed", "flood", "out-of-turn", "disconnect", "never-ready", "quit"
    }  # fmt: skip


@world_of_each_seed
def test_the_points_in_the_lines_add_up(seed: int) -> None:
    for line in received(all_kinds(seed)):
        totals: dict[str, tuple[int, ...]] = {}
        game = ""
        for message in map(parse_server, line):
            verb = type(message).__name__
            if verb == "Game":
                game = message.game_id  # type: ignore[union-attr]
                totals[game] = (0,) * message.seats  # type: ignore[union-attr]
            elif isinstance(message, Played):
                key = message.game or game
                earned = [message.points if seat == message.seat else 0 for seat in (1, 2)]
                totals[key] = tuple(a + b for a, b in zip(totals[key], earned, strict=True))
                assert message.total == totals[key]
            elif verb == "Over" and message.end == "complete":  # type: ignore[union-attr]
                assert message.total == totals[message.game_id]  # type: ignore[union-attr]


def received(world: World, *kinds: type[Honest]) -> list[list[bytes]]:
    """What came on each connection, of bots of these kinds or of all."""
    return [
        line.lines
        for name, client in world.clients.items()
        if not kinds or world.kinds[name] in kinds
        for line in client.connections
    ]


@world_of_each_seed
def test_no_opponent_learns_of_a_zombie(seed: int) -> None:
    world = all_kinds(seed)
    for line in received(world, *HONEST):
        assert not any(text.startswith(b"ZOMBIE") for text in line)
    for line in received(world, *BAD):
        for message in map(parse_server, line):
            assert not isinstance(message, Zombie) or message.seat is None


@world_of_each_seed
def test_spectators_learn_of_every_fault_they_were_there_for(seed: int) -> None:
    world = all_kinds(seed)
    for name, client in world.clients.items():
        if world.kinds[name] is Spectator:
            messages = [parse_server(text) for line in client.connections for text in line.lines]
            zombies = {(m.game, m.seat, m.reason, m.line) for m in messages if isinstance(m, Zombie)}
            games = {m.game_id for m in messages if type(m).__name__ == "Over"}  # type: ignore[union-attr]
            assert len(games) > 100
            for game_id in games:
                for fault in world.records[game_id].faults:
                    assert (game_id, fault.seat, fault.kind, fault.line or None) in zombies or (
                        (game_id, fault.seat, fault.kind, b"") in zombies
                    )


@world_of_each_seed
def test_nothing_beyond_the_lookahead_is_sent_before_the_end(seed: int) -> None:
    """NEXT shows K pictures and each ply one more; the nonce and the rest come with OVER."""
    world = all_kinds(seed)
    for line in received(world):
        shown: dict[str, str] = {}
        game = ""
        for text in line:
            message = parse_server(text)
            verb = type(message).__name__
            if verb == "Game":
                game = message.game_id  # type: ignore[union-attr]
            elif verb == "Next":
                assert isinstance(message, Next)
                shown[message.game or game] = message.text
                assert len(message.text) == 5
            elif isinstance(message, Played):
                shown[message.game or game] += message.reveal or ""
                assert len(shown[message.game or game]) == min(PLIES, message.ply + 5)
            elif verb != "Over":
                assert b"nonce" not in text
                assert b"sequence" not in text
        for game_id, pictures in shown.items():
            if game_id in world.records:
                assert world.records[game_id].sequence.startswith(pictures)


@world_of_each_seed
def test_every_game_ends_within_its_clocks(seed: int) -> None:
    """READY, both banks with margin and increments, and what the network and the disk took."""
    world = all_kinds(seed)
    limit = (2000 + 2 * (600 + 10 + PLIES // 2 * 5) + 1000 + PLIES * 25) * MS
    assert max(world.checker.took.values()) < limit


@world_of_each_seed
def test_clocks_never_rise_without_cause(seed: int) -> None:
    for record in all_kinds(seed).records.values():
        clocks: tuple[int, ...] = (record.clock_ms,) * 2
        for ply in record.plies:
            for seat, (before, after) in enumerate(zip(clocks, ply.clock, strict=True), start=1):
                assert after <= before + record.increment_ms * (seat == ply.seat and not ply.zombie)
            clocks = ply.clock


@pytest.mark.soak
def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (play(seed, (Honest, *BAD[::3], Spectator)) for seed in (1, 1, 2))
    assert (
        first.checker.digest.hexdigest()
        == second.checker.digest.hexdigest()
        != other.checker.digest.hexdigest()
    )
    assert [encode(record) for record in first.records.values()] == [
        encode(record) for record in second.records.values()
    ]


def test_honest_bots_finish_all_their_games_with_each_other() -> None:
    world = all_kinds(1)
    honest = {name for name, kind in world.kinds.items() if kind in HONEST}
    played = [record for record in world.records.values() if honest.issuperset(record.names)]
    assert len(played) == len(honest) * (len(honest) - 1)
    assert not any(record.faults for record in played)


@pytest.mark.parametrize("every", rows([4, 1], 2))
def test_probation_ends_the_games_of_the_bad(every: int) -> None:
    """Beside all kinds of the honest, or every fourth."""
    world = play(5, (*HONEST[::every], *BAD), probation=2)
    assert world.checker.finished in ENDS
    for row in world.contest.status.progress().standings:
        assert sum(row.faults.values()) <= 2


@pytest.mark.parametrize("game", [pytest.param("xo", marks=pytest.mark.soak), "tictactoe"])
def test_games_in_which_a_fault_forfeits(game: str) -> None:
    """Honest bots play to the end there; a bot at fault has lost at once."""
    world = play(6, (Honest, Honest, *BAD), game=game, options={})
    assert world.checker.finished in ENDS
    ends = {(bool(record.faults), record.end) for record in world.records.values()}
    assert ends >= {(True, "forfeit"), (False, "win")}
    assert ends <= {(True, "forfeit"), (False, "win"), (False, "draw")}
    for record in world.records.values():
        verify(record)


@pytest.mark.parametrize("seats", rows([3, 4], 2))
def test_more_seats(seats: int) -> None:
    kinds = (Honest, *BAD[:4]) if seats == 4 else (Honest, Honest, *BAD[5::2])
    options = {"plies": 12, "seats": seats, "lookahead": 3}
    world = play(7, kinds, options=options, games_per_pair=seats)
    assert world.checker.finished in ENDS
    assert len(world.records) > 10 * (5 - seats)
    for record in world.records.values():
        verify(record)


@pytest.mark.soak
def test_hundreds_of_games_with_delayed_spectators() -> None:
    kinds = HONEST + BAD + (Spectator,)
    world = play(8, kinds, spectator_delay_ms=500, options={"plies": 8})
    assert world.checker.finished in ENDS
    assert len(world.records) > 400
    overs = [text for line in received(world, Spectator) for text in line if text.startswith(b"OVER")]
    assert len(overs) == len(set(overs)) > 300
