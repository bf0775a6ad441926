"""The page of the same process: it is shown what a spectator is sent, at the same moment, and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.messages import encode
from arena_server.core.effects import Effect, Finished, Journal, Reply, Show
from arena_server.core.events import Observe, Received
from arena_server.core.transcript import Transcript
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness

EYE = Entrant("eye", plays=False)


class Page:
    """Reads the transcripts of a harness as far as it may."""

    def __init__(self, harness: ContestHarness) -> None:
        self._harness = harness
        #: The end of what has been read of each, and the referee's position there.
        self._ends: dict[Transcript, tuple[int, Any]] = {}
        self._effects = 0
        self.text: dict[str, bytes] = {}

    def read(self) -> dict[str, bytes]:
        """The lines of each game so far."""
        effects = self._harness.effects
        for effect in effects[self._effects :]:
            if isinstance(effect, Show):
                begin, position = self._ends.get(effect.transcript, (0, None))
                assert begin < effect.end
                shown, position = effect.transcript.shown(begin, effect.end, position)
                self._ends[effect.transcript] = effect.end, position
                lines = [encode(each.message) for each in shown]
                game = effect.transcript.game_id
                self.text[game] = self.text.get(game, b"") + b"".join(lines)
        self._effects = len(effects)
        return self.text


def observed(*, on: bool = True, **config: object) -> tuple[ContestHarness, Page]:
    harness = ContestHarness("ann", "bob", EYE, **config)  # type: ignore[arg-type]
    if on:
        harness.event(Observe(1, on=True))
    return harness, Page(harness)


def begin(harness: ContestHarness, *, watch: bool = True) -> None:
    for name in ("ann", "bob", "eye"):
        harness.log_in(name)
    if watch:
        harness.send("eye", "WATCH *")
    for name in ("ann", "bob"):
        harness.send(name, "READY g1")


def of_spectator(harness: ContestHarness, game: str = "g1") -> bytes:
    """What the spectator was sent of a game."""
    marks = (f" game={game} ", *(f"{verb} {game} " for verb in ("GAME", "START", "OVER")))
    lines = [line for line in harness.received("eye") if any(mark in f"{line} " for mark in marks)]
    return "".join(f"{line}\n" for line in lines).encode()


PLAY: list[Callable[[ContestHarness], object]] = [
    lambda harness: harness.send("ann", "MOVE 7"),
    lambda harness: harness.send("bob", "MOVE 7"),
    lambda harness: harness.send("ann", "MOVE 0"),
    lambda harness: harness.send("bob", "INFO game=g1 ply=1 eval=30 text=a note"),
    lambda harness: harness.wait(300),
    lambda harness: harness.wait(1000),
]


@given(st.lists(st.sampled_from(PLAY), max_size=20), st.sampled_from([0, 1000]), st.booleans())
def test_the_page_is_shown_what_a_spectator_is_sent(
    steps: list[Callable[[ContestHarness], object]], delay: int, announce: bool
) -> None:
    harness, page = observed(spectator_delay_ms=delay, announce_zombies=announce)
    begin(harness)
    for step in steps:
        step(harness)
        for game in ("g1", "g2"):
            assert page.read().get(game, b"") == of_spectator(harness, game)


def test_nothing_comes_before_the_delay_and_notes_neither() -> None:
    harness, page = observed(spectator_delay_ms=1000)
    begin(harness, watch=False)
    harness.send("ann", "INFO game=g1 ply=1 eval=30 text=a secret")
    harness.send("ann", "MOVE 7")
    harness.wait(999)
    assert page.read() == {}
    harness.wait(1)
    verbs = [line.split()[0] for line in page.read()["g1"].splitlines()]
    assert verbs == [b"GAME", b"STATE", b"NEXT", b"START", b"INFO", b"PLAYED"]


def test_a_page_that_comes_late_is_told_of_every_game_and_then_answered() -> None:
    harness, page = observed(on=False)
    begin(harness)
    harness.send("ann", "MOVE 7")
    assert page.read() == {}
    effects = harness.event(Observe(7, on=True))
    assert [type(effect) for effect in effects] == [Show, Reply]
    assert effects[-1] == Reply(7)
    assert page.read()["g1"] == of_spectator(harness)


def test_a_page_that_comes_within_the_delay_is_told_of_no_game() -> None:
    harness, page = observed(on=False, spectator_delay_ms=1000)
    begin(harness, watch=False)
    assert harness.event(Observe(7, on=True)) == [Reply(7)]
    harness.wait(1000)
    assert page.read()["g1"].startswith(b"GAME g1 ")


def test_a_page_that_has_gone_is_told_nothing() -> None:
    harness, page = observed()
    begin(harness, watch=False)
    before = page.read()["g1"]
    assert harness.event(Observe(2, on=False)) == [Reply(2)]
    harness.send("ann", "MOVE 7")
    assert page.read()["g1"] == before
    harness.event(Observe(3, on=True))
    assert page.read()["g1"].startswith(before + b"PLAYED 1 ")


def test_nothing_is_shown_before_it_is_durable() -> None:
    """The journal of a ply comes before the news of it, and OVER when the record is stored."""
    harness, page = observed()
    begin(harness, watch=False)
    harness.stores = False
    effects = harness.event(Received(harness.conns["ann"], b"MOVE 7", harness.now))
    kinds: list[type[Effect]] = [type(effect) for effect in effects]
    assert kinds.index(Journal) < kinds.index(Show)
    for name in ("bob", "ann", "bob"):
        harness.send(name, "MOVE 7")
    assert b"OVER" not in page.read()["g1"]
    harness.stored("g1")
    assert b"OVER g1" in page.read()["g1"]


def test_the_contest_ends_when_all_has_been_shown() -> None:
    harness, page = observed(spectator_delay_ms=1000)
    begin(harness, watch=False)
    harness.stop()
    assert Finished("stopped") not in harness.effects
    harness.wait(1000)
    assert Finished("stopped") in harness.effects
    assert b"OVER g1" in page.read()["g1"]
