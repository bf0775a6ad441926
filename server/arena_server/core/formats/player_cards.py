"""The cards of all players of a Swiss, by their numbers in the table: `12w1` is a win against number 12.

    [{"no": 1, "bot": "ann", "rounds": ["3w1", "2b1/2", "bye"], "score": 2.5}, ...]

`w` is the first seat and `b` the second; the result is 1, 0 or 1/2, by walkover `+` or `-`, and `*` while the
games go on. A round without the player is `-`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from arena_server.core.formats.history import History
from arena_server.core.formats.swiss import Swiss


class RoundResult(Enum):
    """What a pairing was to one of its players."""

    WON = auto()
    LOST = auto()
    TIED = auto()
    OPEN = auto()
    WON_UNPLAYED = auto()
    #: Also of both players of a walkover without a winner.
    LOST_UNPLAYED = auto()


class Side(NamedTuple):
    """A player of a pairing; `colour` is `w` of the first seat, else `b`."""

    name: str
    other: str
    colour: str
    result: RoundResult


RESULTS: Final = {
    RoundResult.WON: "1",
    RoundResult.LOST: "0",
    RoundResult.TIED: "1/2",
    RoundResult.OPEN: "*",
    RoundResult.WON_UNPLAYED: "+",
    RoundResult.LOST_UNPLAYED: "-",
}
#: Of a round without the player.
ABSENT: Final = "-"


def sides_of(round_: Mapping[str, Any]) -> Iterator[Side]:
    """Both sides of each pairing of a round (`rounds_json.py`); a bye has none."""
    for match in round_["matches"]:
        if match["state"] == "bye":
            continue
        first, second = match["names"]
        for name, other, colour in ((first, second, "w"), (second, first, "b")):
            yield Side(name, other, colour, _result(match, name))


def byes_of(round_: Mapping[str, Any]) -> list[str]:
    return [match["names"][0] for match in round_["matches"] if match["state"] == "bye"]


def _result(match: Mapping[str, Any], name: str) -> RoundResult:
    won = match["winner"] == name
    match match["state"]:
        case "open":
            return RoundResult.OPEN
        case "walkover":
            return RoundResult.WON_UNPLAYED if won else RoundResult.LOST_UNPLAYED
    if match["winner"] is None:
        return RoundResult.TIED
    return RoundResult.WON if won else RoundResult.LOST


def cards_of(history: History, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The cards, in the order of the table `rows`; None of a format that is no Swiss."""
    if not isinstance(history.form, Swiss):
        return None
    return player_cards(rows, history.document()["rounds"])


def player_cards(
    rows: Sequence[Mapping[str, Any]], rounds: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A card for each of `rows`, with a field for each of the `rounds` (`rounds_json.py`)."""
    numbers = {row["bot"]: number for number, row in enumerate(rows, start=1)}
    fields = [_fields(each, numbers) for each in rounds]
    return [
        {
            "no": number,
            "bot": name,
            "rounds": [each.get(name, ABSENT) for each in fields],
            "score": row["score"],
        }
        for (name, number), row in zip(numbers.items(), rows, strict=True)
    ]


def _fields(round_: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, str]:
    fields = dict.fromkeys(byes_of(round_), "bye")
    for side in sides_of(round_):
        fields[side.name] = f"{numbers[side.other]}{side.colour}{RESULTS[side.result]}"
    return fields
