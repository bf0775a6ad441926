"""The cards of all players of a Swiss, by their numbers in the table: `12w1` is a win against number 12.

    [{"no": 1, "bot": "ann", "rounds": ["3w1", "2b1/2", "bye"], "score": 2.5}, ...]

`w` is the first seat and `b` the second; the result is 1, 0 or 1/2, by walkover `+` or `-`, and `*` while the
games go on. A round without the player is `-`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_server.core.formats.history import History
from arena_server.core.formats.swiss import Swiss

#: What a game won, lost and tied is, and one that was not played.
_PLAYED, _NOT_PLAYED = ("1", "0", "1/2"), ("+", "-", "-")
#: Of a round without the player.
ABSENT: Final = "-"


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
    fields = {}
    for match in round_["matches"]:
        first, second = match["names"]
        if match["state"] == "bye":
            fields[first] = "bye"
            continue
        win, loss, tied = _NOT_PLAYED if match["state"] == "walkover" else _PLAYED
        for name, other, colour in ((first, second, "w"), (second, first, "b")):
            result = tied if match["winner"] is None else win if match["winner"] == name else loss
            fields[name] = f"{numbers[other]}{colour}{'*' if match['state'] == 'open' else result}"
    return fields
