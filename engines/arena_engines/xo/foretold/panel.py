"""How many of those who may be the opponent would answer as a plan has it.

It must not know: how plans are made, who of them the opponent is, the clock.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from arena_engines.xo.foretold.suspects import Suspect
from arena_engines.xo.foretold.watched import Step, Story

#: So many seats are given, each to one of those that stand for an equal part of all belief.
SEATS = 24
#: The patience with each; who needs more at a step is as likely as this to go along with it.
PATIENCE = 20_000
DOUBT = 0.8


class Vote(NamedTuple):
    """The part of the panel, by weight, that goes along with the first `heard` steps of a plan.

    `against` is the heaviest one who does not.
    """

    share: float
    heard: int
    against: Suspect | None


class Panel:
    """Some of the suspects, asked about plans in one position."""

    def __init__(self, suspects: Sequence[Suspect], story: Story, in_time: Callable[[], bool]) -> None:
        self._seats = seated(suspects)
        self._story = story
        self._in_time = in_time

    def vote(self, steps: Sequence[Step], guide: Suspect, least: float) -> Vote:
        """Ask about a plan step by step, as long as the share may come to `least`; without time it is 0.

        Where the guide alone has the share, nobody needs to be asked.
        `guide` is the one whose answers the plan has.
        """
        faith = dict.fromkeys(self._seats, 1.0)
        share = self._seats.get(guide, 0) / SEATS
        if share >= least:
            return Vote(share, len(steps), None)
        for heard in range(1, len(steps) + 1):
            for seat in [seat for seat, belief in faith.items() if belief and seat is not guide]:
                if not self._in_time():
                    return Vote(0.0, heard, None)
                faith[seat] = self._belief(seat, steps[:heard], faith[seat])
            share = sum(self._seats[seat] * belief for seat, belief in faith.items()) / SEATS
            if share < least:
                break
        against = [seat for seat, belief in faith.items() if not belief]
        return Vote(share, heard, max(against, key=lambda seat: self._seats[seat], default=None))

    def _belief(self, seat: Suspect, steps: Sequence[Step], before: float) -> float:
        """What is left of the belief in a seat when the last one of these steps was put to it."""
        told = self._answer(seat, steps)
        if told is None:
            return DOUBT * before
        return before if told == steps[-1].answer else 0.0

    def _answer(self, seat: Suspect, steps: Sequence[Step]) -> int | None:
        """What it answers to the last step; None if it cannot tell."""
        side, marks = self._story.side, self._story.marks()
        for cell, answer in steps:
            marks[side].append(cell)
            marks[1 - side].append(answer)
        marks[1 - side].pop()
        return seat.mind.reply(*marks, 1 - side, PATIENCE)


def seated(suspects: Sequence[Suspect]) -> dict[Suspect, int]:
    """How many seats each has that has any, in the order of the suspects."""
    reach = list(accumulate(suspect.belief for suspect in suspects))
    seats = [bisect(reach, reach[-1] * (seat + 0.5) / SEATS) for seat in range(SEATS)]
    return {suspects[at]: seats.count(at) for at in dict.fromkeys(seats)}
