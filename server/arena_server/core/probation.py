"""Whether a bot may be paired, by what it has done and what the organiser has ordered; no connections.

    a faulty game -> counted; `probation` of them that are not forgiven -> on probation
    `trial`: it plays a validation game before it is paired (`validation.py`)
        without a fault of its own -> its faulty games are forgiven
        with one -> `failed` until it connects again, or on probation: the `probation`-th in a row, or it was

It is new to a contest with `validation`, or has been on probation for `probation_for_ms`, or the organiser
orders it: then it has a trial. Without `probation_for_ms` only the organiser ends a probation.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.core.facts import Conduct, TrialSet


@dataclass(slots=True, eq=False)
class Participant:
    """One entrant. One that does not play may only watch; who is `withdrawn` cannot log in.

    `faulty_games` are those of the contest, of which `forgiven` do not count any more; `faulty_trials` are
    its latest validation games, as far back as each had a fault.
    """

    number: int
    name: str
    token_sha256: str | None
    plays: bool = True
    faulty_games: int = 0
    forgiven: int = 0
    faulty_trials: int = 0
    on_probation: bool = False
    trial: bool = False
    failed: bool = False
    kicked: bool = False
    withdrawn: bool = False

    @property
    def removed(self) -> bool:
        """Whether the organiser has removed it."""
        return self.kicked or self.withdrawn

    @property
    def barred(self) -> bool:
        """Whether no game of the contest starts with it."""
        return self.kicked or self.withdrawn or self.on_probation or self.trial

    @property
    def conduct(self) -> Conduct:
        return Conduct(self.name, self.forgiven, self.kicked, self.faulty_trials)

    # -- faulty games

    def blame(self, limit: int) -> bool:
        """Count a faulty game. Returns whether `limit` of them are not forgiven now; 0 is no limit."""
        self.faulty_games += 1
        reached = self.faulty_games - self.forgiven == limit > 0
        self.on_probation = self.on_probation or reached
        return reached

    def absolve(self, limit: int) -> None:
        """A faulty game does not count any more."""
        self.faulty_games -= 1
        self.forgiven = min(self.forgiven, self.faulty_games)
        self.on_probation = self.on_probation and self.faulty_games - self.forgiven >= limit

    def lift(self) -> None:
        """What it has done does not count any more, and neither does a kick; it needs no trial."""
        self.kicked = False
        self.prove()

    # -- validation games

    def prove(self) -> None:
        """Its validation game had no fault of its own."""
        self.forgiven, self.faulty_trials = self.faulty_games, 0
        self.on_probation = self.trial = self.failed = False

    def try_out(self) -> None:
        """It plays a validation game before it is paired."""
        self.trial, self.failed = True, False

    def fail(self, limit: int) -> bool:
        """Its validation game had a fault. Returns whether it is on probation by that; 0 is no limit."""
        self.faulty_trials += 1
        reached = self.faulty_trials == limit > 0 and not self.on_probation
        self.on_probation = self.on_probation or reached
        self.trial = self.failed = not self.on_probation
        return reached

    # -- orders

    def kick(self) -> None:
        """The organiser removes it."""
        self.kicked = True

    def withdraw(self) -> None:
        """It takes part no more."""
        self.withdrawn = True

    def readmit(self) -> None:
        """It takes part again; faults and kick are forgiven."""
        self.withdrawn = False
        self.lift()

    # -- an interrupted contest

    def restore(self, fact: Conduct | TrialSet, limit: int) -> None:
        """Take what the journal says of it, before results are counted again."""
        if isinstance(fact, TrialSet):
            self.trial = fact.trial
            return
        _, self.forgiven, self.kicked, self.faulty_trials = fact
        self.on_probation = self.faulty_trials >= limit > 0
