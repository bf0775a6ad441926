"""`arena replay`: draw a recorded game in the terminal, or print its whole record as JSON."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import (
    DEFAULT_DATABASE,
    Color,
    ContestChoice,
    Database,
    Json,
    is_terminal,
    print_json,
    refuse,
    use_color,
)

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord

#: Clear the screen and go to its top left corner.
CLEAR = "\x1b[2J\x1b[H"


#: The first field of a record, within its first bytes; a file without it is something else.
FIRST_FIELD = b"format"


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Which game, and what is drawn of it, and where."""

    contest: ContestChoice = None
    database: Database = DEFAULT_DATABASE
    delay: Annotated[float, typer.Option(min=0, help="Seconds between two plies in a terminal.")] = 0.5
    ply: Annotated[
        int | None, typer.Option(min=0, help="Show only the position after this ply; 0 is the start.")
    ] = None
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a web page that replays the game to FILE.")
    ] = None
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the position after --ply, or the last, to FILE.")
    ] = None
    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the whole game as an animated GIF to FILE.")
    ] = None


def command(
    game: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id or a record file.", show_default=False)
    ],
    options: ReplayOptions = ReplayOptions(),
    color: Color = True,
    as_json: Json = False,
) -> None:
    """Draw a game in the terminal, ply by ply.

    If stdout is not a terminal, all plies are printed at once and without colours. --json prints
    the whole record: deal, clocks, every ply with its times, faults with the offending bytes
    in hexadecimal. --html writes one file that a browser plays without a server: board, clocks,
    graphs, and a check of the record. --svg draws one ply, --gif the game with --delay between plies.

    Example: arena replay g1 --contest local --delay 0.2
    """
    from arena_cli.export_files import find_path, read_record
    from arena_cli.render import frames
    from arena_protocol.text import unmarked

    ply, delay = options.ply, options.delay
    path = find_path(game)
    if path is not None and (stored := _stored_game(unmarked(read_record(path)), game)) is not None:
        _show_frames(stored, ply, game, delay, painted=False)
        return
    files = (options.html, options.svg, options.gif)
    if as_json:
        refuse(options, "expected without --json, which prints the whole record", "ply", "html", "svg", "gif")
    elif any(files) and options.svg is None:
        refuse(options, "expected with --svg or without a file: the others have all plies", "ply")
    record = load_record(game, options.contest, options.database)
    if as_json:
        from arena_server.web.documents import record_json

        print_json(record_json(record))
        return
    if options.html is not None:
        _write_page(record, options.html)
    if options.svg is not None:
        _write_svg(record, options.svg, ply)
    if options.gif is not None:
        _write_gif(record, options.gif, delay)
    if not any(files):
        painted = use_color(color, terminal=is_terminal())
        _show_frames(list(frames(record, color=painted)), ply, record.game_id, delay, painted=painted)
        if path is None and (decision := _decision(options.contest, options.database, game)):
            typer.echo(decision)


def _decision(contest: str | None, database: str, game: str) -> str:
    """The result that the jury has given to a game in the place of that of its record; empty: it has not."""
    from arena_cli.results import decision_text, open_results
    from arena_protocol.record import describe_result

    with open_results(database) as results:
        chosen = results.contest(contest)
        number = results.facts.ruled(chosen).get(game)
        if number is None:
            return ""
        order = next(each for each in results.facts.decisions(chosen) if each.number == number)
        (past,) = results.games.past(chosen, game_id=game)
        said = describe_result(past.names, past.totals, past.end)
        return f"{decision_text(order._asdict())}; it counts as: {said}"


def _stored_game(data: bytes, name: str) -> list[str] | None:
    """The positions of a game that the dialogue of an engine stored; None for any other file.

    Raises StoreError for one that is damaged.
    """
    from arena_protocol.games.base import GameError
    from arena_protocol.text import text_of
    from arena_server.errors import StoreError

    if FIRST_FIELD in data[:16]:  # a record: no engine is looked up
        return None
    from arena_cli.dialogue import dialogues

    for dialogue in dialogues():
        if data.startswith(dialogue.MARK):
            try:
                return dialogue.frames(text_of(data))
            except (GameError, UnicodeDecodeError) as error:
                raise StoreError(f"{name}: {error}") from None
    return None


def _show_frames(wanted: list[str], ply: int | None, name: str, delay: float, *, painted: bool) -> None:
    """Print the frames of a game, or that of one ply; in a terminal one after the other."""
    terminal = is_terminal()
    _check_ply(ply, name, len(wanted) - 1)
    if ply is not None:
        wanted = [wanted[ply]]
    for number, frame in enumerate(wanted):
        if terminal and number:
            time.sleep(delay)
        # typer strips colours unless `color` says otherwise: it looks at the real stdout.
        typer.echo(f"{CLEAR}{frame}" if painted and len(wanted) > 1 else frame, color=painted or None)


def _write_page(record: GameRecord, path: Path) -> None:
    from arena_protocol.record_codec import encode
    from arena_server.web.bundle import replay_page
    from arena_server.web.scenes import record_scenes

    title = f"{' - '.join(record.names)}, {record.contest} {record.game_id}"
    write_file("--html", path, replay_page(title, encode(record), record_scenes(record)).encode("utf-8"))


def _write_svg(record: GameRecord, path: Path, ply: int | None) -> None:
    from arena_cli.drawing import svg_text
    from arena_cli.picture import draw_ply

    _check_ply(ply, record.game_id, len(record.plies))
    write_file("--svg", path, svg_text(draw_ply(record, ply)).encode("ascii"))


def _write_gif(record: GameRecord, path: Path, delay: float) -> None:
    check_pillow()
    from arena_cli.picture import gif_bytes

    write_file("--gif", path, gif_bytes(record, delay))


def check_pillow() -> None:
    """Raises ConfigError without what draws a GIF, before any work begins."""
    from arena_protocol.errors import needs_extra
    from arena_server.errors import ConfigError

    try:
        import PIL  # noqa: F401
    except ImportError:
        raise ConfigError(needs_extra("--gif", "pictures")) from None


def _check_ply(ply: int | None, name: str, plies: int) -> None:
    from arena_server.errors import StoreError

    if ply is not None and ply > plies:
        raise StoreError(f"game {name} has {plies} plies, not {ply}")


def write_file(option: str, path: Path, data: bytes, *, as_json: bool = False) -> None:
    """Write what `option` asks for, and say so; on stderr where stdout has JSON. Raises StoreError."""
    from arena_server.errors import StoreError

    try:
        path.write_bytes(data)
    except OSError as error:
        raise StoreError(f"{option}: {path}: cannot be written: {error.strerror}") from None
    typer.echo(f"written: {path}", err=as_json)


def load_record(game: str, contest: str | None, database: str) -> GameRecord:
    """Return the record in the file `game`, else of the game with this id. Raises StoreError."""
    from arena_cli.export_files import find_path, read_record
    from arena_cli.results import open_results
    from arena_protocol.record import RecordError
    from arena_protocol.record_codec import decode
    from arena_server.errors import StoreError

    path = find_path(game)
    if path is not None:
        data = read_record(path)
    else:
        with open_results(database) as results:
            chosen = results.contest(contest)
            validation = results.facts.validations(chosen).get(game)
            data = results.games.record(chosen, game) if validation is None else validation.record
    try:
        return decode(data)
    except RecordError as found:
        error = found
        if FIRST_FIELD not in data[:16]:
            error = RecordError("not a game record as arena export writes it")
        raise StoreError(f"{game}: {error}") from None
