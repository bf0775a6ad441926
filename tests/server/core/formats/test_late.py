"""Bots that join a contest late or leave it, in every format whose games are planned."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.formats import FORMATS, make_format
from arena_server.core.formats.base import Format, Pairing, PairingError
from arena_server.core.formats.groups import CirclePairs, GroupList, GrownGroups, companions
from arena_server.core.formats.scheduled import GameNumbers, Scheduled
from arena_server.core.formats.testing import Play, draw_terms
from arena_server.terms.formats import FormatError, Terms

#: The formats that take late entrants, and all others whose games are planned.
OPEN = ("gauntlet", "round-robin")
FIXED = sorted(name for name, form in FORMATS.items() if issubclass(form, Scheduled) and name not in OPEN)


class LatePlay(Play):
    """Plays a format whose bots join and leave; all that was decided is kept in its order."""

    def __init__(self, kind: type[Format], terms: Terms, rng: Random) -> None:
        super().__init__(kind, terms, rng)
        self.decided: list[Pairing | str] = []
        self.names = list(terms.names)
        self.left: set[str] = set()
        self.void: set[int] = set()

    def join(self) -> None:
        name = f"late{len(self.names)}"
        self.form.join(name)
        self.decided.append(name)
        self.names.append(name)
        self.slots[name] = 1

    def withdraw(self, name: str) -> None:
        """As the order does: not present any more, its running games void, then out."""
        if name in self.here:
            self.leave(name)
        for game in [game for game in self.running if name in game.names]:
            self.running.remove(game)
            self._repeat(game)
            for other in self.here & set(game.names):
                self._free(other)
        self.left.add(name)
        self.form.leave(name)
        self.start()

    def come_back(self, name: str) -> None:
        self.left.discard(name)
        self.form.come_back(name)

    def end(self, *, void: bool) -> None:
        game = self.running.pop(self.rng.randrange(len(self.running)))
        if void:
            self._repeat(game)
        for name in self.here & set(game.names):
            self._free(name)

    def _repeat(self, game: Pairing) -> None:
        number = self.form.next_number
        again = Pairing(number, game.names, game.deal if self.terms.paired else number)
        self.void.add(game.number)
        self.decided.append(again)
        self.form.again(again, game.number)

    def restart(self) -> None:
        self.form = self.kind(self.terms)
        for each in self.decided:
            if isinstance(each, str):
                self.form.join(each)
            else:
                assert each.number == self.form.next_number
                self.form.again(each, 0)
        for _, game in sorted(self.handed_out.items()):
            self.form.started(game)
        for name in sorted(self.left):
            self.form.leave(name)
        self.form.recalled()
        for name in sorted(self.here):
            self.form.enter(name)
            self._free(name)

    def step(self, word: str) -> None:
        away = sorted(set(self.names) - self.here - self.left)
        staying = sorted(set(self.names) - self.left)
        if word == "j" and len(self.names) < 9:
            self.join()
        elif word == "l" and staying:
            self.withdraw(self.rng.choice(staying))
        elif word == "b" and self.left:
            self.come_back(self.rng.choice(sorted(self.left)))
        elif word == "c" and away:
            self.enter(self.rng.choice(away))
        elif word == "w" and self.here:
            self.leave(self.rng.choice(sorted(self.here)))
        elif word in "ev" and self.running:
            self.end(void=word == "v")
        elif word == "r":
            self.restart()
        self.start()

    def check(self) -> None:
        """What is left is what the total says, among those who stay."""
        form = self.form
        results = len(self.handed_out) - len(self.void) - len(self.running)
        left = dict(form.unplayed())
        assert form.total == results + len(self.running) + sum(left.values())
        assert not any(self.left & set(names) for names in left)
        assert {name for names in left for name in names} == {
            name for name in self.names if form.has_games(name)
        }
        planned = list(form.planned(1, form.next_number))
        assert len({game.number for game in planned}) == len(planned)
        repeats = {each.number for each in self.decided if isinstance(each, Pairing)}
        assert {game.number for game in planned} | repeats == set(range(1, form.next_number))
        assert repeats.isdisjoint(game.number for game in planned)
        if not self.running:
            assert form.exhausted(set(self.names) - self.here), "it stands still"

    def finish(self) -> None:
        for name in self.names:
            if name not in self.here | self.left:
                self.enter(name)
        self.start()
        while self.running:
            self.end(void=False)
            self.start()


@pytest.mark.parametrize("name", OPEN)
def test_all_games_of_those_who_stay_are_played_once(name: str) -> None:
    @settings(deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        kind = FORMATS[name]
        play = LatePlay(kind, draw_terms(kind, data), Random(data.draw(st.integers(0, 1 << 32))))
        for word in data.draw(st.lists(st.sampled_from("jjllbcccwrseeeeeev"), max_size=50)):
            play.step(word)
            play.check()
        play.finish()
        play.check()
        assert list(play.form.unplayed()) == []
        assert play.form.exhausted(())
        again = play.form
        play.restart()
        assert play.form.total == again.total

    holds()


def starting(form: Format, *names: str) -> list[Pairing]:
    """The games that start when these bots are present, each free for one."""
    for name in names:
        form.enter(name)
        form.free(name, 1)
    return list(iter(form.next, None))


def test_the_numbers_of_a_late_entrants_games_follow_all_that_are_known() -> None:
    form = make_format("round-robin", Terms(("a", "b", "c"), 2, 2))
    assert (form.total, form.next_number) == (6, 7)
    form.again(Pairing(7, ("a", "b"), 7), 1)
    form.join("d")
    assert (form.total, form.next_number) == (12, 14)
    assert [game.number for game in form.planned(1, 20)] == [*range(1, 7), *range(8, 14)]
    late = list(form.planned(8, 20))
    assert late == [
        Pairing(8, ("a", "d"), 1),
        Pairing(9, ("d", "b"), 1),
        Pairing(10, ("c", "d"), 1),
        Pairing(11, ("d", "a"), 2),
        Pairing(12, ("b", "d"), 2),
        Pairing(13, ("d", "c"), 2),
    ]
    assert list(form.planned(9, 11)) == late[1:3]
    with pytest.raises(PairingError, match=r"^g7 is not a game of this contest"):
        make_format("round-robin", Terms(("a", "b", "c"), 2, 2)).started(Pairing(7, ("a", "b"), 7))


def test_the_total_follows_a_bot_that_leaves_with_a_void_game() -> None:
    """Its void game is to be played again, and counts only if the bot comes back."""
    form = make_format("round-robin", Terms(("a", "b", "c"), 2, 2))
    (game,) = starting(form, "a", "b")
    form.leave("a")
    assert (form.total, dict(form.unplayed())) == (3, {("b", "c"): 2})
    form.again(Pairing(7, game.names, 7), game.number)
    assert (form.total, dict(form.unplayed())) == (2, {("b", "c"): 2})
    form.come_back("a")
    assert form.total == 6
    with pytest.raises(PairingError, match=r"^g8 is not a game of this contest$"):
        form.started(Pairing(8, ("a", "b"), 1))
    with pytest.raises(PairingError, match=r"^g9 is not a game of this contest$"):
        scheduled_round_robin().pairing(9)


def scheduled_round_robin() -> Scheduled:
    form = make_format("round-robin", Terms(("a", "b"), 2, 2))
    assert isinstance(form, Scheduled)
    return form


def test_groups_that_had_no_game_left_are_open_after_an_extension() -> None:
    form = make_format("round-robin", Terms(("a", "b"), 2, 2))
    for _ in range(2):
        starting(form, "a", "b")
        for name in ("a", "b"):
            form.free(name, 1)
    assert starting(form, "a", "b") == []
    form.extend(2)
    assert form.total == 4
    assert len(starting(form, "a", "b")) == 1


def test_a_bot_that_has_left_is_not_part_of_an_extension() -> None:
    form = make_format("round-robin", Terms(("a", "b", "c"), 2, 2))
    form.leave("c")
    form.extend(2)
    assert (form.total, dict(form.unplayed())) == (4, {("a", "b"): 4})


def test_a_late_entrant_of_a_gauntlet_joins_the_field() -> None:
    form = make_format("gauntlet", Terms(("a", "b", "c", "d"), 2, 2, options={"challengers": 2}))
    form.join("e")
    assert {game.names for game in form.planned(9, 99)} == {("a", "e"), ("e", "a"), ("b", "e"), ("e", "b")}
    form = make_format("gauntlet", Terms(("a", "b", "c", "d"), 3, 3))
    form.join("e")
    groups = {frozenset(game.names) for game in form.planned(10, 99)}
    assert groups == {frozenset(("a", "e", other)) for other in "bcd"}


def test_the_field_does_not_wait_until_a_late_entrant_has_caught_up() -> None:
    form = make_format("round-robin", Terms(("a", "b", "c"), 2, 20))
    for _ in range(12):
        for game in starting(form, "a", "b", "c"):
            for name in game.names:
                form.free(name, 1)
    form.join("d")
    form.enter("d", late=True)
    form.free("d", 1)
    names = set()
    for _ in range(6):
        for game in starting(form, "a", "b", "c", "d"):
            names.add(game.names)
            for name in game.names:
                form.free(name, 1)
    assert any("d" not in each for each in names)
    assert any("d" in each for each in names)


def test_an_extension_opens_what_was_over_but_for_those_that_have_left() -> None:
    form = make_format("round-robin", Terms(("a", "b", "c"), 2, 2))
    for number in range(1, 7):
        form.started(form.pairing(number))  # type: ignore[attr-defined]
    form.leave("c")
    form.extend(2)
    assert (form.total, form.next_number) == (8, 13)
    assert dict(form.unplayed()) == {("a", "b"): 2}
    assert {game.names for game in starting(form, "a", "b", "c")} == {("a", "b")}
    form.come_back("c")
    assert form.total == 12
    with pytest.raises(PairingError, match=r"^g13 is not a game of this contest$"):
        form.pairing(13)  # type: ignore[attr-defined]


def test_a_game_that_is_played_again_waits_for_a_bot_that_has_left() -> None:
    form = make_format("round-robin", Terms(("a", "b"), 2, 2))
    (game,) = starting(form, "a", "b")
    form.leave("b")
    form.again(Pairing(3, game.names, 3), game.number)
    assert (form.total, list(form.unplayed())) == (0, [])
    form.come_back("b")
    assert dict(form.unplayed()) == {("a", "b"): 2}
    ladder = make_format("ladder", Terms(("a", "b", "c"), 2, 2, options={"games": 3}))
    (game,) = starting(ladder, "a", "b")
    ladder.leave("a")
    ladder.again(Pairing(2, game.names, 2), 1)
    assert ladder.total == 2
    ladder.come_back("a")
    assert ladder.total == 3
    assert dict(ladder.unplayed()) == {game.names: 1, (): 2}


@pytest.mark.parametrize("name", FIXED)
def test_a_format_whose_groups_are_fixed_takes_none_and_stays_as_it_was(name: str) -> None:
    form = make_format(name, Terms(("a", "b", "c", "d"), 2, 2))
    before = list(form.planned(1, 99))
    with pytest.raises(FormatError, match=f'"{name}" takes no late entrants'):
        form.join("e")
    assert (list(form.planned(1, 99)), form.next_number - 1) == (before, form.total)


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.lists(st.tuples(st.booleans(), st.integers(1, 4), st.integers(0, 3)), max_size=5),
)
def test_every_group_has_a_number_for_each_cycle_and_no_two_have_the_same(
    groups: int, cycles: int, changes: list[tuple[bool, int, int]]
) -> None:
    """Groups that come late, and extensions of all, in any order, with repeated games between them."""
    numbers, end = GameNumbers(groups, cycles), groups * cycles + 1
    for is_late, more, repeats in changes:
        end += repeats
        if is_late:
            end, groups = numbers.add(end, groups, more, 0, cycles), groups + more
        else:
            end, cycles = numbers.add(end, 0, groups, cycles, more), cycles + more
    found = {
        number: (group, cycle)
        for group in range(groups)
        for cycle in range(cycles)
        if (number := numbers.number(group, cycle)) is not None
    }
    assert len(found) == groups * cycles
    assert sorted(found) == sorted(numbers.between(1, end))
    for number in range(1, end + 2):
        assert numbers.find(number) == found.get(number)
    assert numbers.number(groups, 0) is numbers.number(0, cycles) is None


@given(st.integers(2, 12), st.integers(0, 4), st.data())
def test_groups_that_grow_are_found_by_their_players(players: int, more: int, data: st.DataObject) -> None:
    grown = GrownGroups(CirclePairs(players), players)
    for late in range(players, players + more):
        grown.add([(other, late) for other in range(late)])
    pairs = [grown[number] for number in range(len(grown))]
    assert sorted(tuple(sorted(pair)) for pair in pairs) == list(combinations(range(players + more), 2))
    for number, (one, other) in enumerate(pairs):
        assert grown.number(one, other) == grown.number(other, one) == number
    player = data.draw(st.integers(0, players + more - 1))
    others = [each for each in range(players + more) if each != player]
    some = data.draw(st.sets(st.sampled_from(others), min_size=1))
    first = grown.first((player,), sum(1 << other for other in some))
    assert grown.number(player, first) == min(grown.number(player, other) for other in some)


def test_a_group_of_groups_that_grow_is_none_of_others() -> None:
    grown = GrownGroups(GroupList([(0, 1, 2)]), 3)
    grown.add([(0, 1, 3), (0, 2, 3)])
    assert [grown.number(2, 0, 3), grown.first((0, 1), 0b1100), grown.first((0, 3), 0b110)] == [2, 2, 1]


@all_of(
    ("first", "end", "count", "groups"),
    [
        (1, 4, 0, [()]),
        (1, 4, 1, [(1,), (2,), (3,)]),
        (1, 4, 2, [(1, 2), (1, 3), (2, 3)]),
        (1, 4, 3, [(1, 2, 3)]),
        (1, 4, 4, []),
    ],
)
def test_companions(first: int, end: int, count: int, groups: list[tuple[int, ...]]) -> None:
    assert sorted(tuple(sorted(group)) for group in companions(first, end, count)) == groups
