"""`arena why`: the post-mortem of a bot's game: its faults, its time, the plies that decided the points.

`examine` computes it from the record, `report` prints it; `--json` prints the fields of `PostMortem`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json

if TYPE_CHECKING:
    from arena_protocol.record import FaultRecord, GameRecord, PlyRecord, UsageRecord

#: How many of the slowest, largest and missed plies are printed, unless --top changes it.
TOP = 5
#: Times per line of the table of all plies.
COLUMNS = 10
#: Less of lost time in a whole game is not worth a cause.
LATE_MS = 100
#: Characters of an offending line that are printed; --json has all of it.
QUOTED = 200


def command(
    game: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id or a record file.", show_default=False)
    ],
    bot: Annotated[str, typer.Option(metavar="NAME", help="The bot whose game is explained.")],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    top: Annotated[int, typer.Option(min=1, help="How many plies each list has.")] = TOP,
    as_json: Json = False,
) -> None:
    """Explain why a bot won or lost a game.

    Prints each fault with its ply and the offending line, the time of every ply with the slowest
    ones, from which ply on the winner led, the plies with the most points, and own plies at which another
    move would have scored more at once. A note that the bot sent by INFO stands beside its ply.

    Example: arena why g4 --bot mine --contest friday
    """
    from arena_cli.replay import load_record
    from arena_protocol.games.base import GameError
    from arena_server.errors import ConfigError, StoreError

    record = load_record(game, contest, database)
    if bot not in record.names:
        raise ConfigError(f"--bot: no {bot!r} in game {record.game_id} of {', '.join(record.names)}")
    try:
        found = examine(record, record.names.index(bot) + 1)
    except GameError as error:
        raise StoreError(f"{game}: {error}; the record is not true, see `arena verify {game}`") from None
    if as_json:
        print_json(asdict(found))
        return
    for line in report(found, top):
        typer.echo(line)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of any seat; `line` is the offending line with escapes, `legal` the moves that were legal."""

    bot: str | None
    ply: int
    kind: str
    text: str
    line: str
    legal: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnPly:
    """A ply of the bot: milliseconds, points, and the best move by points at once.

    `waited_ms` is from TURN to the answer; `time_ms` is the charge, less lag and stalls. `best` is None
    where no move scores more than `move`.
    """

    ply: int
    move: str
    zombie: bool
    time_ms: int
    waited_ms: int
    clock_ms: int
    points: int
    best: str | None
    best_points: int
    note: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A ply of any seat with points; `margin` is the bot's total less that of the best other seat."""

    ply: int
    bot: str
    move: str
    points: int
    margin: int


@dataclass(frozen=True, slots=True)
class PostMortem:
    """Everything that `arena why` knows. `led_from` is the ply from which the leader led to the end."""

    contest: str
    game_id: str
    game: str
    bot: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    outcome: str
    end: str
    ply_count: int
    clock_ms: int
    faults: tuple[Fault, ...]
    plies: tuple[OwnPly, ...]
    scored: tuple[Scored, ...]
    leader: str | None
    led_from: int | None
    usage: UsageRecord | None = None
    #: Of the other seats.
    others: tuple[UsageRecord, ...] = ()


def examine(record: GameRecord, seat: int) -> PostMortem:
    """Play a record again from the view of `seat`. Raises GameError for a record that is not true."""
    from arena_cli.render import describe_note
    from arena_protocol.games import printed_game
    from arena_protocol.games.base import Deal

    game = printed_game(record.game, record.options, len(record.names))
    position = game.start(Deal(record.board, record.sequence))
    notes = {info.ply: describe_note(info) for info in record.infos if info.seat == seat}
    own: list[OwnPly] = []
    scored: list[Scored] = []
    leaders: list[int | None] = []
    legal: dict[int, tuple[str, ...]] = {}
    wanted = {fault.ply for fault in record.faults if fault.kind == "illegal"}
    for number, ply in enumerate(record.plies, start=1):
        if number in wanted:
            legal[number] = game.legal_moves(position)
        if ply.seat == seat:
            own.append(_own_ply(game, position, number, ply, notes.get(number, "")))
        position = game.play(position, ply.move).position
        if ply.points:
            margin = _margin(ply.total, seat)
            scored.append(Scored(number, record.names[ply.seat - 1], ply.move, ply.points, margin))
        leaders.append(_leader(ply.total))
    if len(record.plies) + 1 in wanted:  # the illegal move ended the game
        legal[len(record.plies) + 1] = game.legal_moves(position)
    leader, led_from = _led_from(leaders, _leader(record.totals))
    margin = _margin(record.totals, seat)
    return PostMortem(
        contest=record.contest,
        game_id=record.game_id,
        game=record.game,
        bot=record.names[seat - 1],
        names=record.names,
        totals=record.totals,
        outcome="has no result"
        if record.end == "void"
        else ("drew", "won", "lost")[(margin > 0) - (margin < 0)],
        end=record.end,
        ply_count=len(record.plies),
        clock_ms=record.clock_ms,
        faults=tuple(_fault(record, game.zombie_move, fault, legal) for fault in record.faults),
        plies=tuple(own),
        scored=tuple(scored),
        leader=None if leader is None else record.names[leader - 1],
        led_from=led_from,
        usage=next((each for each in record.usage if each.seat == seat), None),
        others=tuple(each for each in record.usage if each.seat != seat),
    )


def _own_ply(game: Any, position: Any, number: int, ply: PlyRecord, note: str) -> OwnPly:
    best, points = None, ply.points
    for move in game.legal_moves(position):
        gain = game.play(position, move).points
        if gain > points:
            best, points = move, gain
    waited = (ply.arrived_ns - ply.handed_ns) // 1_000_000
    clock = ply.clock[ply.seat - 1]
    return OwnPly(number, ply.move, ply.zombie, ply.time_ms, waited, clock, ply.points, best, points, note)


def _margin(totals: tuple[int, ...], seat: int) -> int:
    return totals[seat - 1] - max(total for other, total in enumerate(totals, start=1) if other != seat)


def _leader(totals: tuple[int, ...]) -> int | None:
    """The seat with the most points, None if several have them."""
    most = max(totals)
    return totals.index(most) + 1 if totals.count(most) == 1 else None


def _led_from(leaders: list[int | None], last: int | None) -> tuple[int | None, int | None]:
    """The leader at the end, and the first ply of its lead; no ply if a verdict gave it the points."""
    if last is None or not leaders or leaders[-1] != last:
        return last, None
    ply = len(leaders)
    while ply > 1 and leaders[ply - 2] == last:
        ply -= 1
    return last, ply


def _fault(
    record: GameRecord, zombie_move: str | None, fault: FaultRecord, legal: dict[int, tuple[str, ...]]
) -> Fault:
    from arena_protocol.record import describe_fault

    line = json.dumps(fault.line.decode("latin-1"))[1:-1]
    if not fault.seat:
        return Fault(None, fault.ply, fault.kind, f"the server aborted the game at ply {fault.ply}", line)
    bot = record.names[fault.seat - 1]
    text = describe_fault(bot, fault.kind, fault.ply, fault.line, zombie_move=zombie_move)
    moves = legal.get(fault.ply, ()) if fault.kind == "illegal" else ()
    return Fault(bot, fault.ply, fault.kind, text, line, moves)


# -- text --------------------------------------------------------------------------------------------


def report(found: PostMortem, top: int = TOP) -> Iterator[str]:
    """Yield the lines for people."""
    rivals = ", ".join(name for name in found.names if name != found.bot)
    totals = ", ".join(f"{name} {total}" for name, total in zip(found.names, found.totals, strict=True))
    yield f"{found.contest} {found.game_id}, {found.game}: {found.bot} against {rivals}"
    yield f"{found.bot} {found.outcome} after {found.ply_count} plies (end: {found.end}): {totals}"
    yield ""
    yield from _faults(found)
    yield ""
    yield from _times(found, top)
    yield ""
    yield from _points(found, top)


def _faults(found: PostMortem) -> Iterator[str]:
    own = [fault for fault in found.faults if fault.bot == found.bot]
    others = [fault for fault in found.faults if fault.bot != found.bot]
    yield f"faults of {found.bot}: {len(own) or 'none'}"
    for fault in own:
        yield f"  {fault.kind} at ply {fault.ply}: {fault.text}"
        if fault.line:
            yield f'    line   "{fault.line[:QUOTED]}"{"..." if len(fault.line) > QUOTED else ""}'
        if fault.legal:
            yield f"    legal  {' '.join(fault.legal[:30])}{' ...' if len(fault.legal) > 30 else ''}"
    taken = [ply for ply in found.plies if ply.zombie]
    if taken:
        points = sum(ply.points for ply in taken)
        yield f"  the server moved for {found.bot} at {len(taken)} plies, for {points} points"
    for fault in others:
        yield f"  of others: {fault.text}"


def _times(found: PostMortem, top: int) -> Iterator[str]:
    """The time of each ply that the bot was charged for, in milliseconds."""
    charged = [ply for ply in found.plies if not ply.zombie or ply.time_ms]
    if not charged:
        yield f"time of {found.bot}: no ply was charged"
        return
    times = [ply.time_ms for ply in charged]
    left = charged[-1].clock_ms
    yield (
        f"time of {found.bot}: {sum(times)} ms of {found.clock_ms} ms at {len(times)} plies, median "
        f"{median(times):.0f} ms, {left} ms left on the clock"
    )
    slowest = sorted(charged, key=lambda ply: -ply.time_ms)[:top]
    for ply in [ply for ply in slowest if ply.time_ms]:
        lag = f", {ply.waited_ms} ms with lag" if ply.waited_ms > ply.time_ms else ""
        yield f"  ply {ply.ply:<4} {ply.time_ms:>7} ms{lag}, {ply.clock_ms} ms left{_with_note(ply)}"
    yield "  ms per ply, in order:"
    width = max(len(str(time)) for time in times)
    for start in range(0, len(charged), COLUMNS):
        row = charged[start : start + COLUMNS]
        yield f"    ply {row[0].ply:<4} " + " ".join(f"{ply.time_ms:>{width}}" for ply in row)
    if found.usage is not None:
        yield from _usage(found.usage)
    for other in found.others:
        if other.pressure_ms is not None:
            name = found.names[other.seat - 1]
            yield f"  the program of {name}: {other.pressure_ms:,} ms kept waiting by a busy machine"


def _usage(usage: UsageRecord) -> Iterator[str]:
    """What its program got of the processor, and which of the two causes of lateness was the larger one."""
    from arena_protocol.record import describe_usage

    yield f"  its program: {describe_usage(usage)}"
    held, waited = usage.throttled_ms or 0, usage.pressure_ms or 0
    if max(held, waited) >= LATE_MS:
        why = "the limit `cpus` of its container" if held > waited else "other programs on its machine"
        yield f"  what kept it from running most was {why}"


def _with_note(ply: OwnPly) -> str:
    return f"   ({ply.note})" if ply.note else ""


def _points(found: PostMortem, top: int) -> Iterator[str]:
    if found.leader is None:
        yield "points: no bot has most"
    elif found.led_from is None:
        yield f"points: {found.leader} has most by the verdict on the fault, not by a ply"
    else:
        yield f"points: {found.leader} led from ply {found.led_from} to the end"
    # Of equal plies the later ones decided more.
    largest = sorted(found.scored, key=lambda ply: (-ply.points, -ply.ply))[:top]
    if largest:
        yield "  most points at one ply:"
    for scored in sorted(largest, key=lambda ply: ply.ply):
        yield (
            f"  ply {scored.ply:<4} {scored.bot} plays {scored.move} for {scored.points}; "
            f"{found.bot} {_signed(scored.margin)}"
        )
    missed = [ply for ply in found.plies if ply.best is not None and not ply.zombie]
    missed.sort(key=lambda ply: ply.points - ply.best_points)
    if missed:
        lost = sum(ply.best_points - ply.points for ply in missed)
        yield f"  more was there at once at {len(missed)} own plies, {lost} points together; the most:"
    for ply in missed[:top]:
        yield (
            f"  ply {ply.ply:<4} {ply.move} scored {ply.points}, {ply.best} scores {ply.best_points}"
            f"{_with_note(ply)}"
        )


def _signed(margin: int) -> str:
    return f"leads by {margin}" if margin > 0 else f"is behind by {-margin}" if margin else "is level"
