"""The laws of formats whose games are known in advance, for their tests.

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
    def test_the_laws_hold(law: Law) -> None:
        @given(st.data())
        def holds(data: st.DataObject) -> None:
            law(Ring, data)

        holds()

It needs hypothesis, which the extra [testing] installs; nothing else imports this module. A law fails by
AssertionError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from arena_server.core.formats.base import Format, Pairing, PairingError
from arena_server.terms.formats import FormatError, Option, Terms

Law = Callable[[type[Format], st.DataObject], None]


def draw_terms(kind: type[Format], data: st.DataObject) -> Terms:
    """Terms that the format accepts."""
    seats = data.draw(st.integers(2, 3))
    names = tuple(f"b{number}" for number in range(data.draw(st.integers(seats, 7))))
    options: dict[str, int | str] = {
        key: data.draw(st.integers(option.low, min(option.high, 5)))
        for key, option in kind.OPTIONS.items()
        if isinstance(option, Option) and data.draw(st.booleans())
    }
    games = seats * data.draw(st.integers(1, 2))
    terms = Terms(names, seats, games, data.draw(st.booleans()), options)
    fewer = replace(terms, games=games - 1)
    if data.draw(st.booleans()) and is_accepted(kind, fewer):
        return fewer
    assume(is_accepted(kind, terms))
    return terms


def is_accepted(kind: type[Format], terms: Terms) -> bool:
    try:
        kind.check(terms)
    except FormatError:
        return False
    return True


def total_of(form: Format) -> int:
    """The number of its games, all of which are known in advance."""
    assert form.total is not None
    return form.total


class Play:
    """Plays the games of a format: bots with slots, of which any may be busy for long."""

    def __init__(self, kind: type[Format], terms: Terms, rng: Random) -> None:
        self.kind, self.terms, self.rng = kind, terms, rng
        self.slots = {name: rng.choice((1, 1, 2)) for name in terms.names}
        self.form = kind(terms)
        self.here: set[str] = set()
        self.running: list[Pairing] = []
        self.handed_out: dict[int, Pairing] = {}
        self.repeats: list[Pairing] = []

    def enter(self, name: str) -> None:
        self.here.add(name)
        self.form.enter(name, late=self.rng.random() < 0.5)
        self._free(name)

    def leave(self, name: str) -> None:
        self.here.discard(name)
        self.form.withdraw(name)

    def _free(self, name: str) -> None:
        self.form.free(name, self.slots[name] - sum(name in game.names for game in self.running))

    def start(self) -> None:
        for game in iter(self.form.next, None):
            assert game.number not in self.handed_out, "handed out twice"
            assert set(game.names) <= self.here, "of a bot that is not present"
            assert len(set(game.names)) == len(game.names) == self.terms.seats
            self.running.append(game)
            self.handed_out[game.number] = game
            assert all(
                sum(name in each.names for each in self.running) <= self.slots[name] for name in game.names
            )

    def end(self, *, void: bool) -> None:
        game = self.running.pop(self.rng.randrange(len(self.running)))
        if void:
            number = self.form.next_number
            again = Pairing(number, game.names, game.deal if self.terms.paired else number)
            self.repeats.append(again)
            self.form.again(again, 0)
        for name in self.here & set(game.names):
            self._free(name)

    def restart(self) -> None:
        """A new format is given what the old one has handed out; the bots come again."""
        self.form = self.kind(self.terms)
        for again in self.repeats:
            assert again.number == self.form.next_number
            self.form.again(again, 0)
        for _, game in sorted(self.handed_out.items()):
            self.form.started(game)
        self.form.recalled()
        for name in sorted(self.here):
            self.form.enter(name)
            self._free(name)

    def finish(self) -> None:
        """All bots are present, and play until nothing starts any more."""
        for name in self.terms.names:
            if name not in self.here:
                self.enter(name)
        self.start()
        while self.running:
            self.end(void=False)
            self.start()


def some_of(play: Play, data: st.DataObject) -> Iterator[None]:
    """Bots come and go, games end or are void; stops at each step."""
    for step in data.draw(st.lists(st.sampled_from("cccwseeeeeeev"), max_size=60)):
        away = sorted(set(play.terms.names) - play.here)
        if step == "c" and away:
            play.enter(play.rng.choice(away))
        elif step == "w" and play.here:
            play.leave(play.rng.choice(sorted(play.here)))
        elif step in "ev" and play.running:
            play.end(void=step == "v")
        play.start()
        yield


def begin(kind: type[Format], data: st.DataObject) -> Play:
    return Play(kind, draw_terms(kind, data), Random(data.draw(st.integers(0, 1 << 32))))  # noqa: S311


def every_game_is_played_once(kind: type[Format], data: st.DataObject) -> None:
    """Whatever the order in which bots come and games end, all that is planned is played in the end."""
    play = begin(kind, data)
    for _ in some_of(play, data):
        left = total_of(play.form) + len(play.repeats) - len(play.handed_out)
        assert sum(games for _, games in play.form.unplayed()) == left
        of_bots = {name for names, _ in play.form.unplayed() for name in names}
        assert {name for name in play.terms.names if play.form.has_games(name)} == of_bots
    play.finish()
    planned = list(play.form.planned(1, total_of(play.form) + 1))
    assert list(play.handed_out.values()) != []
    assert sorted(play.handed_out) == list(range(1, total_of(play.form) + len(play.repeats) + 1))
    assert [play.handed_out[game.number] for game in planned] == planned
    assert play.form.exhausted(())
    assert list(play.form.unplayed()) == []


def it_never_stands_still(kind: type[Format], data: st.DataObject) -> None:
    """If no game runs, one can start among the bots that are present, unless none of theirs is left."""
    play = begin(kind, data)
    for _ in some_of(play, data):
        if not play.running:
            absent = set(play.terms.names) - play.here
            assert play.form.exhausted(absent)
            assert not any(set(names) <= play.here for names, _ in play.form.unplayed())


def an_interrupted_contest_goes_on(kind: type[Format], data: st.DataObject) -> None:
    """A format that is made again has handed out what the old one has, and no game is played twice."""
    play = begin(kind, data)
    for _ in some_of(play, data):
        if play.rng.random() < 0.1:
            play.restart()
            play.start()
    play.restart()
    play.finish()
    assert len(play.handed_out) == total_of(play.form) + len(play.repeats)


def what_it_has_not_handed_out_is_refused(kind: type[Format], data: st.DataObject) -> None:
    """A journal that is damaged is found: another number, other bots, another deal, a game twice."""
    play = begin(kind, data)
    for name in play.terms.names:
        play.enter(name)
    play.start()
    game = data.draw(st.sampled_from(list(play.handed_out.values())))
    beyond = total_of(play.form) + 1
    for wrong in (
        game,
        replace(game, names=game.names[::-1]),
        replace(game, deal=game.deal + 1),
        replace(game, number=beyond, deal=beyond),
    ):
        refused = ""
        try:
            play.form.started(wrong)
        except PairingError as error:
            refused = str(error)
        assert refused.startswith(f"g{wrong.number} ")


def every_bot_of_a_group_has_each_seat_equally_often(kind: type[Format], data: st.DataObject) -> None:
    """And with paired deals each deal from every seat.

    Where a group may play any number of games the contest makes it even: once more in one seat at most.
    """
    form = kind(terms := draw_terms(kind, data))
    games = list(form.planned(1, total_of(form) + 1))
    at_least, rest = divmod(terms.games, terms.seats)
    met = Counter(
        (frozenset(game.names), seat, name) for game in games for seat, name in enumerate(game.names)
    )
    assert set(met.values()) <= {at_least, at_least + (rest > 0)}
    sat = Counter((name, seat) for game in games for seat, name in enumerate(game.names))
    for name in terms.names if rest else ():
        counts = [sat[name, seat] for seat in range(terms.seats)]
        assert max(counts) - min(counts) <= 1


def planned_games_come_in_parts(kind: type[Format], data: st.DataObject) -> None:
    """As the page asks for them."""
    form = kind(draw_terms(kind, data))
    whole = list(form.planned(1, total_of(form) + 1))
    assert [game.number for game in whole] == list(range(1, total_of(form) + 1))
    first, end = sorted(
        (data.draw(st.integers(-2, total_of(form) + 3)), data.draw(st.integers(-2, total_of(form) + 3)))
    )
    assert list(form.planned(first, end)) == [game for game in whole if first <= game.number < end]


LAWS: tuple[Law, ...] = (
    every_game_is_played_once,
    it_never_stands_still,
    an_interrupted_contest_goes_on,
    what_it_has_not_handed_out_is_refused,
    every_bot_of_a_group_has_each_seat_equally_often,
    planned_games_come_in_parts,
)
