"""Nothing that is to be hidden is in any line that a client receives before OVER.

Read are the raw bytes of every connection, of players good and bad and of spectators, in random contests with
broken connections, stalls and a slow disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from tests.simulation.bots import HONEST, Spectator
from tests.simulation.client import Connection
from tests.simulation.scenario import LIMIT, draw
from tests.simulation.world import World
from tests.slices import rows

from arena_protocol.messages import Game, Next, Over, Played, parse_server
from arena_protocol.record import GameRecord

PLIES, SIGHT = 20, 4
#: As many pictures in a row are no chance: 6 to the power of 12.
TELLING = 12
#: Of the first deals are paired: a commit that is opened early is seen in the game from the other seat. Those
#: of the second are fresh, which `test_deals.py` has not in `make test`.
SEEDS = (1, 2)


@cache
def world(seed: int) -> World:
    """A drawn contest with much to hide, two more honest bots and two spectators."""
    drawn = draw(seed)
    options = {"plies": PLIES, "lookahead": SIGHT}
    deals = "paired" if seed % 2 else "fresh"
    config = replace(drawn.config, game="insertion", options=options, games_per_pair=2, deals=deals)
    kinds = {**drawn.kinds, "h1": HONEST[0], "h2": HONEST[2], "eye1": Spectator, "eye2": Spectator}
    world = World(seed, config, kinds, drawn.faults)
    world.run(LIMIT)
    return world


def received(world: World) -> Iterator[tuple[str, Connection]]:
    for name, client in world.clients.items():
        for line in client.connections:
            yield name, line


def before_over(line: Connection) -> Iterator[tuple[bytes, set[str]]]:
    """Each line that came, with the games whose OVER had come before it, or comes by it."""
    over: set[str] = set()
    for text in line.lines:
        if text.startswith(b"OVER "):
            over.add(text.split(b" ")[1].decode())
        yield text, over


@pytest.mark.parametrize("seed", rows(SEEDS, 2))
def test_no_seed_nonce_or_hidden_picture_comes_before_over(seed: int) -> None:
    here = world(seed)
    contest_seed = here.config.seed
    seeds = {form for record in here.records.values() for form in _forms(record.seed)} | {
        *_forms(contest_seed)
    }
    tails = {record.game_id: record.sequence[-TELLING:].encode() for record in here.records.values()}
    nonces = {record.game_id: record.nonce.encode() for record in here.records.values()}
    lines = 0
    for _, line in received(here):
        for text, over in before_over(line):
            lines += 1
            assert not any(form in text for form in seeds)
            for game_id in here.records.keys() - over:
                assert nonces[game_id] not in text
                if not text.startswith((b"NEXT", b"OVER")):
                    assert tails[game_id] not in text
    assert lines > 1000


def _forms(seed: int) -> tuple[bytes, bytes]:
    return str(seed).encode(), f"{seed:x}".encode()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_in_sight_is_what_the_rules_show(seed: int) -> None:
    """K pictures at first, then one a ply: neither more, nor others, on any connection.

    So a spectator sees what the players were sent, also of a deal that is played again.
    """
    here = world(seed)
    for _, line in received(here):
        for game_id, shown, plies in in_sight(line, here.records):
            sequence = here.records[game_id].sequence
            assert shown == sequence[: SIGHT + plies], game_id


def in_sight(line: Connection, records: dict[str, GameRecord]) -> Iterator[tuple[str, str, int]]:
    """After each line of a game: its id, the pictures shown so far, the plies sent so far."""
    shown: dict[str, str] = {}
    plies: dict[str, int] = {}
    mine = ""
    for message in map(parse_server, line.lines):
        if isinstance(message, Game):
            mine = message.game_id
            shown[mine], plies[mine] = "", 0
        elif isinstance(message, Next):
            game_id = message.game or mine
            shown[game_id] = message.text
        elif isinstance(message, Played):
            game_id = message.game or mine
            shown[game_id] += message.reveal or ""
            plies[game_id] = message.ply
        elif isinstance(message, Over):
            continue
        else:
            continue
        if not isinstance(message, Game) and game_id in records:
            yield game_id, shown[game_id], plies[game_id]


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_are_sent_to_their_owners_only(seed: int) -> None:
    """Tokens are sent to no client, a resume key in the WELCOME of its owner alone."""
    here = world(seed)
    tokens = [client.token.encode() for client in here.clients.values() if client.token]
    keys = {
        text.rpartition(b"resume=")[2]: name
        for name, line in received(here)
        for text in line.lines
        if text.startswith(b"WELCOME")
    }
    assert len(keys) >= len(here.clients)
    for name, line in received(here):
        for text in line.lines:
            assert not any(token in text for token in tokens)
            assert {keys[key] for key in keys if key in text} <= {name}


def test_the_contests_had_something_to_hide() -> None:
    records = list(world(2).records.values())
    assert len(records) > 10
    assert {len(record.sequence) for record in records} == {PLIES}
    watched = [name for name, line in received(world(2)) if name.startswith("eye") and len(line.lines) > 100]
    assert set(watched) == {"eye1", "eye2"}
