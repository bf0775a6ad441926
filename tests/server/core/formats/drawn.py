"""Plays the games of a format that draws: bots come and go, games end or are void, servers are killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

from arena_server.core.facts import Drawn, Joined, Repeat, Walkover
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.rounds import Rounds
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Terms

#: Totals of a game, for its names in the order of the seats.
Play = Callable[[tuple[str, ...], Random], tuple[int, ...]]


def by_chance(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
    return tuple(rng.randrange(4) for _ in names)


class Field:
    """A contest of one format without a server. `facts` are what its journal would have."""

    def __init__(self, kind: type[Rounds], terms: Terms, rng: Random, play: Play = by_chance) -> None:
        self.kind, self.terms, self.rng, self.play = kind, terms, rng, play
        self.form = kind(terms)
        self.here: set[str] = set()
        #: Those that are not waited for: `draw_due` and `exhausted` get them.
        self.absent: set[str] = set()
        self.running: list[Pairing] = []
        self.begun: list[Pairing] = []
        self.results: list[PastGame] = []
        self.void: list[int] = []
        self.facts: list[Drawn | Joined | Repeat | Walkover] = []
        #: Facts, results and the numbers of void games in the order in which they were decided.
        self.order: list[Drawn | Joined | Repeat | Walkover | PastGame | int] = []

    def log(self, lost: Mapping[int, PastGame]) -> list[Drawn | Joined | Repeat | Walkover | PastGame]:
        """Facts and results in the order of storing; `lost` are the results of void games."""
        return [lost[each] if isinstance(each, int) else each for each in self.order]

    def _decide(self, fact: Drawn | Joined | Repeat | Walkover) -> None:
        self.facts.append(fact)
        self.order.append(fact)

    @property
    def draws(self) -> list[Drawn]:
        return [fact for fact in self.facts if isinstance(fact, Drawn)]

    def enter(self, name: str) -> None:
        self.here.add(name)
        self.absent.discard(name)
        self.form.enter(name)
        self._free(name)

    def join(self, name: str, owner: str = "") -> None:
        """A late entrant, who is not present yet. Raises FormatError."""
        first = self.form.next_number
        self.form.join(name, owner)
        self._decide(Joined(name, first, 1, owner, "", "", ""))

    def leave(self, name: str, *, for_good: bool = False) -> None:
        self.here.discard(name)
        if for_good:
            self.absent.add(name)
        self.form.withdraw(name)

    def _free(self, name: str) -> None:
        self.form.free(name, 1 - sum(name in game.names for game in self.running))

    def start(self) -> None:
        """Start what can start, and draw if nothing can."""
        while True:
            for game in iter(self.form.next, None):
                assert set(game.names) <= self.here, "of a bot that is not present"
                assert game.number not in {each.number for each in self.begun}, "handed out twice"
                self.running.append(game)
                self.begun.append(game)
                busy = [name for each in self.running for name in each.names]
                assert len(set(busy)) == len(busy), "two games at once"
            if self.running or not self.next_round():
                return

    def next_round(self) -> bool:
        """Draw, if it is due; returns whether anything was decided."""
        if (walkover := self.form.walkover_due(self.absent)) is not None:
            stored = sum(isinstance(each, PastGame | int) for each in self.order)
            self._decide(walkover := walkover._replace(stored=stored))
            self.form.walk_over(walkover)
        if (draw := self.form.draw_due(self.absent)) is not None:
            drawn = draw.run()
            self._decide(drawn)
            self.form.drawn(drawn)
            return True
        return walkover is not None

    def end(self, *, void: bool = False, again: bool = True) -> None:
        """One of the running games ends."""
        game = self.running.pop(self.rng.randrange(len(self.running)))
        if void:
            self.void.append(game.number)
            self.order.append(game.number)
            self.form.void(game.number)
            if again:
                self.repeat(game)
        else:
            totals = self.play(game.names, self.rng)
            past = PastGame(game.number, game.names, game.deal, totals, "complete", 1)
            self.results.append(past)
            self.order.append(past)
            self.form.result(past)
        for name in self.here & set(game.names):
            self._free(name)

    def repeat(self, game: Pairing) -> None:
        number = self.form.next_number
        repeat = Repeat(number, game.number, game.deal if self.terms.paired else number)
        self._decide(repeat)
        self.form.again(Pairing(number, game.names, repeat.deal), game.number)
        self.void.remove(game.number)

    def restart(self) -> None:
        """A new format is given the facts of the old one, as recovery gives them."""
        self.form = form = self.kind(self.terms)
        games = {game.number: game for game in self.begun}
        numbered = [fact for fact in self.facts if not isinstance(fact, Walkover)]
        for fact in sorted(numbered, key=_decided_at):
            if isinstance(fact, Joined):
                form.join(fact.name, fact.owner)
            elif isinstance(fact, Drawn):
                form.drawn(fact)
            else:
                assert fact.number == form.next_number
                form.void(fact.void)
                form.again(Pairing(fact.number, games[fact.void].names, fact.deal), fact.void)
        for number in sorted(games):
            form.started(games[number])
        for each in self.facts:
            if isinstance(each, Walkover):
                form.walk_over(each)
        form.recalled()
        for void in self.void:
            form.void(void)
        for past in self.results:
            form.result(past)
        for name in sorted(self.here):
            form.enter(name)
            self._free(name)

    def state(self) -> tuple[object, ...]:
        """What two formats with the same past must agree on."""
        form = self.form
        return (
            form.scores(),
            form.total,
            form.next_number,
            sorted(form.unplayed()),
            form.exhausted(self.absent),
            form.walkover_due(self.absent),
            form.draw_due(self.absent),
            [form.has_games(name) for name in form.terms.names],
            list(form.planned(1, form.next_number)),
        )

    def finish(self) -> None:
        """All bots that are not absent for good are present, and play until nothing starts any more."""
        for name in self.form.terms.names:
            if name not in self.here | self.absent:
                self.enter(name)
        self.start()
        while self.running:
            self.end()
            self.start()
        assert self.form.exhausted(self.absent)


def _decided_at(fact: Drawn | Joined | Repeat) -> tuple[int, bool]:
    if isinstance(fact, Repeat):
        return fact.number, True
    return fact.first, isinstance(fact, Drawn)


def disturb(field: Field, steps: str) -> None:
    """Bots come (c), go (w), go for good (g) and join (j), games end (e) and are void (v, x).

    The server is killed (r).
    """
    rng = field.rng
    for step in steps:
        away = sorted(set(field.form.terms.names) - field.here)
        if step == "c" and away:
            field.enter(rng.choice(away))
        elif step in "wg" and field.here:
            field.leave(rng.choice(sorted(field.here)), for_good=step == "g")
        elif step in "evx" and field.running:
            field.end(void=step in "vx", again=step == "v")
        elif step == "j":
            with suppress(FormatError):
                field.join(f"late{len(field.facts)}")
        elif step == "r":
            before = field.state()
            field.restart()
            assert field.state() == before
        field.start()
