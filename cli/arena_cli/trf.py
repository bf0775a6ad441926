"""The report of a Swiss in TRF16, the text format of FIDE (Handbook, C.04.A, annex 2).

    001    1      ann                ...   1.5    1     2 w 1  0000 - U     3 b =

Players have the numbers of their seeds; the first seat of a pairing is white. A result is that of the
pairing, however many games it has. A bye is `U`, and who was not paired has `Z`. Three kinds of lines are
those of the pairing program JaVaFo, which others read too: `XXR` has the planned rounds, `XXP` two players
that do not meet, `XXA` a player with its virtual points of each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from arena_server.core.formats.player_cards import RoundResult, byes_of, sides_of

if TYPE_CHECKING:
    from arena_server.core.formats.swiss import Swiss
    from arena_server.store.schema import ContestRow

_RESULTS: Final = {
    RoundResult.WON: "1",
    RoundResult.LOST: "0",
    RoundResult.TIED: "=",
    RoundResult.OPEN: " ",
    RoundResult.WON_UNPLAYED: "+",
    RoundResult.LOST_UNPLAYED: "-",
}


def report(
    contest: ContestRow,
    rows: Sequence[Mapping[str, Any]],
    swiss: Swiss,
    rounds: Sequence[Mapping[str, Any]],
) -> str:
    """The report of a contest with the rows of its table.

    `rounds` are those of `swiss` (`rounds_json.py`); the result of a pairing that is not over is blank.
    """
    numbers = {name: number for number, name in enumerate(swiss.terms.seeds, start=1)}
    fields = [_fields(each, numbers) for each in rounds]
    lines = [
        f"012 {contest.name}",
        f"042 {contest.started_at:%Y/%m/%d}",
        f"052 {contest.ended_at or contest.started_at:%Y/%m/%d}",
        f"062 {len(numbers)}",
        "072 0",
        "082 0",
        "092 Individual: Swiss-System",
        f"XXR {swiss.planned_rounds}",
        *_pairing_rules(swiss, numbers),
    ]
    by_name = {row["bot"]: row for row in rows}
    for name, number in numbers.items():
        row = by_name[name]
        # No sex, title, federation, FIDE number and date of birth; a rating of 0 is none.
        player = f"001 {number:4}{'':6}{name:33}    0{'':28}{row['score']:4.1f} {row['rank'] or '':>4}"
        lines.append(player + "".join(each.get(name, "  0000 - Z") for each in fields))
    return "\n".join(lines) + "\n"


def _pairing_rules(swiss: Swiss, numbers: Mapping[str, int]) -> Iterator[str]:
    """The pairs that do not meet, and virtual points up to the next round."""
    for pair in sorted(sorted(map(numbers.__getitem__, each)) for each in swiss.forbidden):
        yield "XXP" + "".join(f"{number:5}" for number in pair)
    rounds = min(len(swiss.draws.rounds) + 1, swiss.planned_rounds)
    virtual = [swiss.virtual_points(number) for number in range(1, rounds + 1)]
    for name, number in numbers.items():
        if any(each.get(name) for each in virtual):
            yield f"XXA {number:4}" + "".join(f" {float(each.get(name, 0)):4.1f}" for each in virtual)


def _fields(round_: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, str]:
    """The ten columns of a round for each of its players."""
    fields = dict.fromkeys(byes_of(round_), "  0000 - U")
    for side in sides_of(round_):
        fields[side.name] = f"  {numbers[side.other]:4} {side.colour} {_RESULTS[side.result]}"
    return fields
