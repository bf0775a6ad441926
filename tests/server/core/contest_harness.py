"""Connections with names, and their transcripts, on top of `Harness`.

Secrets are numbered words, so that a transcript can be read and compared.
"""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import count
from textwrap import dedent
from typing import Any

from arena_protocol.record import FaultRecord
from arena_server.core.contest import Contest
from arena_server.core.effects import CloseConnection, Journal, Marker, Reply
from arena_server.core.events import Command, LineTooLong, Lost, Opened, Received, Stop, Stored, Tick
from arena_server.core.journal import Entry, Live, Past
from arena_server.core.log_events import GameStarted
from arena_server.stats.standings import Row
from arena_server.terms.config import ContestConfig, Entrant

from .harness import MS, Harness, numbered_secrets, past_game

__all__ = [
    "MS", "ONE_PLY", "SHORT", "ContestHarness", "check_sums", "faults", "finish", "offers", "play_on",
    "play_rematches", "restarted", "rows", "seated", "text",
]  # fmt: skip

#: Two columns can never make a run within four plies of an empty board.
SHORT: dict[str, object] = {"plies": 4, "start": "empty", "lookahead": 2}
ONE_PLY: dict[str, object] = {"plies": 1, "start": "empty"}


class ContestHarness(Harness):
    """A contest of `entrants` (names suffice); `config`: all but two games of four plies a pair."""

    def __init__(
        self,
        *entrants: str | Entrant,
        options: dict[str, object] | None = None,
        past: Past | None = None,
        now: int = 0,
        logs: bool = False,
        lease_ms: int | None = None,
        ended: str | None = None,
        quorum: int = 0,
        keeps_plies: bool = True,
        **config: object,
    ) -> None:
        given = {
            "name": "test", "seed": 7, "games_per_pair": 2, "spectator_delay_ms": 0,
            "options": SHORT if options is None else options,
        } | config  # fmt: skip
        self.entrants = [Entrant(bot) if isinstance(bot, str) else bot for bot in entrants]
        self.config = ContestConfig(**given)  # type: ignore[arg-type]
        self.past = past or Past()
        secrets = numbered_secrets("new-" if past else "")
        terms = past, lease_ms, ended, quorum
        contest = Contest(self.config, self.entrants, secrets, now, *terms, keeps_plies=keeps_plies)
        super().__init__(contest, now, logs=logs)
        self.conns: dict[str, int] = {}
        #: Every line of each connection, in both directions.
        self.lines: dict[int, list[str]] = {}
        self.numbers = count(1)
        #: What the last command journaled, and the values of the order itself.
        self.last_entries: list[Entry] = []
        self.last_orders: list[Entry] = []

    def sent(self, conn: int, data: bytes, marker: Marker | None) -> None:
        self.lines.setdefault(conn, []).extend(f"S  {line}" for line in data.decode("ascii").splitlines())

    # -- what happens

    def connect(self, name: str) -> int:
        """A new connection, known by `name` from now on."""
        conn = self.conns[name] = next(self.numbers)
        self.event(Opened(conn, f"peer-{conn}"))
        return conn

    def log_in(self, name: str, options: str = "", conn: str | None = None) -> None:
        self.connect(conn or name)
        self.send(conn or name, f"HELLO 1 {name}{options}")

    def send(self, name: str, *lines: str, arrived: int | None = None) -> None:
        """Lines of `name`, which arrive now, or were there at `arrived` already."""
        conn = self.conns[name]
        for line in lines:
            self.lines.setdefault(conn, []).append(f"C  {line}")
            stamp = self.now if arrived is None else arrived
            self.event(Received(conn, line.encode("latin-1"), stamp))

    def send_overlong(self, name: str, head: bytes = b"") -> None:
        self.lines[self.conns[name]].append("C  (a line too long)")
        self.event(LineTooLong(self.conns[name], self.now, head))

    def disconnect(self, name: str) -> None:
        self.event(Lost(self.conns[name], "gone"))

    def flush_next(self, name: str) -> None:
        """The oldest TURN, PING or chunk that waits reaches the socket of `name`."""
        self.flush(self.conns[name])

    def take_chunks(self, name: str) -> None:
        """The socket of `name` takes its chunk, and all chunks that follow."""
        self.takes = True
        self.flush_next(name)

    def stored(self, game_id: str) -> None:
        self.event(Stored(game_id))

    def stop(self) -> None:
        self.event(Stop())

    def command(self, verb: str, target: str = "", **more: Any) -> str | None:
        """Give a command of the organiser; returns why it was refused, or None."""
        number = next(self.numbers)
        effects = self.event(Command(number, verb, target, **more))
        (reply,) = [effect for effect in effects if isinstance(effect, Reply)]
        assert reply.number == number
        journal = [effect for effect in effects if isinstance(effect, Journal)]
        entries = [entry for effect in journal for entry in effect.entries]
        self.last_entries = [entry for entry in entries if entry[1] != "order"]
        self.last_orders = [entry[2:] for entry in entries if entry[1] == "order"]
        return reply.problem

    # -- what came of it

    def received(self, name: str) -> list[str]:
        """The lines that were sent to `name` on its connection."""
        return [line[3:] for line in self.lines[self.conns[name]] if line.startswith("S")]

    def last_line(self, name: str) -> str:
        return self.received(name)[-1]

    def transcript(self, name: str, since: str = "ARENA") -> str:
        """The lines of the connection of `name` in both directions, from the first of that verb on."""
        lines = [_readable(line) for line in self.lines[self.conns[name]]]
        first = next(i for i, line in enumerate(lines) if line[3:].startswith(since))
        return "\n".join(lines[first:])

    def game(self, name: str, since: str = "START") -> str:
        """The transcript of the first game, to its OVER."""
        lines = self.transcript(name, since).splitlines()
        last = next((i for i, line in enumerate(lines) if line.startswith("S  OVER")), len(lines))
        return "\n".join(lines[: last + 1])

    def is_closed(self, name: str) -> bool:
        return CloseConnection(self.conns[name]) in self.effects

    def is_gone(self, name: str) -> bool:
        """Whether the contest or the shell closes the connection of `name`."""
        return self.conns[name] not in self.open

    def is_muted(self, name: str) -> bool:
        return self.conns[name] in self.muted

    def durable(self) -> Past:
        """What a server that is started again finds, if every write so far is durable."""
        live, results = Live(), list(self.past.results)
        entries = (*self.past.entries, *self.entries)
        live.add(entries)
        if self.stores:
            results += (past_game(record, entries) for record in self.records.values())
        for game in results:
            live.forget(game.number)
        return Past(tuple(results), tuple(live))


def _readable(line: str) -> str:
    """A line without what is long and checked elsewhere: nonces, and GAME beyond the names."""
    return re.sub(r"nonce=[0-9a-f]+", "nonce=...", re.sub(r"( names=\S+) .*", r"\1 ...", line))


def seated(*names: str, ready: bool = True, **more: object) -> ContestHarness:
    """A contest in which these bots have been offered their first game, or have started it."""
    harness = ContestHarness(*names, **more)  # type: ignore[arg-type]
    for name in names:
        harness.log_in(name)
    if ready:
        for name in names:
            harness.send(name, "READY g1")
    return harness


def restarted(harness: ContestHarness, pause_ms: int = 0) -> ContestHarness:
    """The same contest on a new server with another clock, `pause_ms` after its start; every bot is away."""
    config = {each.name: getattr(harness.config, each.name) for each in fields(harness.config)}
    again = ContestHarness(*harness.entrants, past=harness.durable(), now=10_000_000 * MS, **config)
    again.event(Tick())
    again.now += pause_ms * MS
    return again


def text(literal: str) -> str:
    """A transcript, as a test has it indented."""
    return dedent(literal).strip()


def faults(harness: ContestHarness, game_id: str = "g1") -> tuple[FaultRecord, ...]:
    """The faults in the record of a game."""
    return harness.records[game_id].faults


def finish(harness: ContestHarness, milliseconds: int = 5) -> None:
    """The good bot, in seat 2, plays both its plies."""
    for _ in range(2):
        harness.wait(milliseconds)
        harness.send("good", "MOVE 9")


def offers(harness: ContestHarness, name: str) -> list[str]:
    """The games that were offered to `name` on its connection."""
    return [line.split()[1] for line in harness.received(name) if line.startswith("GAME")]


def play_on(harness: ContestHarness, **moves: str) -> None:
    """Every bot gets ready and answers every TURN, by 7 or as `moves` has it, until nothing more happens."""
    read = dict.fromkeys(harness.conns, 0)
    while any(read[name] < len(harness.received(name)) for name in harness.conns):
        for name in harness.conns:
            lines = harness.received(name)
            fresh, read[name] = lines[read[name] :], len(lines)
            for line in fresh:
                if line.startswith("GAME"):
                    harness.send(name, f"READY {line.split()[1]}")
                elif line.startswith("TURN"):
                    harness.send(name, f"MOVE {moves.get(name, '7')}")


def play_first(harness: ContestHarness) -> str:
    """Play the first of the games that run, of one ply each; returns its id."""
    game = harness.contest.status.overview().running[0]
    for name in game.names:
        harness.send(name, f"READY {game.game_id}")
    harness.send(game.names[0], "MOVE 7")
    return game.game_id


def play_rematches(again: ContestHarness) -> None:
    """Both bots log in again and play games 2 and 3 to the end of the contest."""
    for name in ("ann", "bob"):
        again.log_in(name)
    for game in (2, 3):
        for name in ("ann", "bob"):
            again.send(name, f"READY g{game}")
        for name in ("ann", "bob"):
            again.send(name, "MOVE 7")
    assert again.finished == "finished"


def rows(harness: ContestHarness) -> dict[str, Row]:
    return {row.name: row for row in harness.contest.status.progress().standings}


def check_sums(harness: ContestHarness) -> None:
    """Every game that was started is finished, void or running."""
    progress = harness.contest.status.progress()
    assert len(harness.logged(GameStarted)) == progress.done + progress.void + progress.running
