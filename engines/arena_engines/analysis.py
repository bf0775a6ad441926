"""Analyses: a file of positions (`arena analyse`), and the cost of a search (`arena bench search`).

The bench set is 40 positions of insertion, written by benchmarks/make_bench_positions.py. All that
`search_bench` returns but the times is the same on every machine and in every run; the sum of an engine's
nodes at SIGNATURE_DEPTH is its signature, the `Nodes: N` of engine commits. Times are processor time, so
that they do not tell how busy the machine was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

from arena_engines.engine import Analysis, AnyPosition, Engine, EngineError, Position
from arena_engines.insertion.fixed_depth import task_of
from arena_engines.insertion.perft import perft
from arena_engines.jit import compiled
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.games.base import GameError
from arena_protocol.games.insertion import Insertion
from arena_protocol.text import text_of

#: The signature is the engine's nodes on the whole set at this depth.
SIGNATURE_DEPTH = 5
#: Perft of the set at this depth makes some millions of moves.
BARE_DEPTH = 4
#: The fastest of this many runs counts; other processes slow some of them down.
RUNS = 3


def analyse_file(
    spec: str,
    depth: int,
    path: str | Path,
    game: str = "insertion",
    options: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return an engine's analysis of every position of a file, ready for JSON.

    A file holds a line `<board> <visible sequence>` a position, or `<board>` for a game without hidden
    pictures; blank lines and lines that begin with `#` are skipped. `options` are those of the game. The
    answer: `game`, `engine`, `depth`, `positions` (each `move`, `eval`,
    `nodes` and `depth`, which is less than asked for if fewer pictures are visible or the game ends) and
    `seconds`, the processor time of the searches alone. Raises EngineError, one line, for a wrong engine or
    depth, for a parameter that has no effect on an analysis, for a file that cannot be read or holds no
    position, and for a bad line, named `file:line`.
    """
    engine = create(spec, game)
    _check(engine, depth)
    positions = list(_read(engine, Path(path), options or {}))
    if not positions:
        raise EngineError(f"{path}: no positions; expected a line `{_line_format(engine)}` for each")
    # Compiling is no part of the time of a search.
    engine.warm_up()
    answers = []
    for number, position in positions:
        try:
            answers.append(engine.analyse(position, depth))
        except EngineError as error:
            raise EngineError(f"{path}:{number}: {error}") from error
    return {
        "game": game,
        "engine": spec,
        "depth": depth,
        "positions": [_printed(answer) for answer in answers],
        "seconds": round(sum(answer.seconds for answer in answers), 9),
    }


def _check(engine: Engine, depth: int) -> None:
    if engine.max_depth == 0:
        raise EngineError(
            f"engine {engine.name} of {engine.game} has no analysis by depth; "
            "those of insertion, openlines, weighted and xo have"
        )
    engine.check_depth(depth)
    for parameter in engine.parameters:
        value = engine.values[parameter.name]
        if parameter.play_only and value != parameter.default:
            raise EngineError(f"engine {engine.name}: {parameter.name}={value} has no effect on an analysis")


def _line_format(engine: Engine) -> str:
    return "<board> <visible sequence>" if engine.game == Insertion.name else "<board>"


def _read(engine: Engine, path: Path, options: Mapping[str, object]) -> Iterator[tuple[int, AnyPosition]]:
    """Yield line number and position."""
    try:
        lines = text_of(path.read_bytes()).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise EngineError(f"cannot read the positions in {path}: {reason}") from error
    rules = make_game(engine.game, {**engine.analysis_options, **options}, allow_unknown=False)
    words = len(_line_format(engine).split("> "))
    for number, line in enumerate(lines, start=1):
        parts = line.split()
        if not parts or line.startswith("#"):
            continue
        if len(parts) != words:
            raise EngineError(f"{path}:{number}: expected `{_line_format(engine)}`, found {len(parts)} words")
        try:
            yield number, Position.at(rules, *parts)
        except GameError as error:
            raise EngineError(f"{path}:{number}: {error}") from error


def _printed(answer: Analysis) -> dict[str, Any]:
    return {"move": answer.move, "eval": list(answer.eval), "nodes": answer.nodes, "depth": answer.depth}


def analysis_table(analysis: dict[str, Any]) -> str:
    """Return the analysis of a file as text: a row per position, the last line the sum of nodes."""
    eval_names = create(analysis["engine"], analysis["game"]).eval_names
    widths = [max(len(name) + 1, 6) for name in eval_names]
    names = "  ".join(f"{name:>{width}}" for name, width in zip(eval_names, widths, strict=True))
    rows = [f"{'position':>8}  {'move':>4}  {names}  {'nodes':>12}  {'depth':>5}"]
    for number, answer in enumerate(analysis["positions"], start=1):
        numbers = "  ".join(f"{value:>{width}}" for value, width in zip(answer["eval"], widths, strict=True))
        rows.append(
            f"{number:>8}  {answer['move']:>4}  {numbers}  {answer['nodes']:>12,}  {answer['depth']:>5}"
        )
    nodes = sum(answer["nodes"] for answer in analysis["positions"])
    rows.append(f"{nodes:,} nodes in {analysis['seconds']:.3f} s of processor time by {analysis['engine']}")
    return "\n".join(rows)


class Cost(NamedTuple):
    """Moves made on the whole set, and the processor time of the fastest run, in seconds."""

    nodes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Nodes a second."""
        return self.nodes / max(self.seconds, 1e-9)


def search_bench(
    engine: str = "champion", depth: int = 6, rival: str = "minimax", rival_depth: int = 5
) -> dict[str, Any]:
    """Return what an engine's search costs on the bench set at depths 1..`depth`, beside a rival's.

    The answer: `engine`, `rival`, `positions`, `depths` (each `depth`, `nodes`, `seconds`,
    `rival_nodes`, `rival_seconds`, `ratio`; None beyond `rival_depth`), `nodes_per_second` of
    `engine`, `rival` and `bare` (making moves and nothing else), `of_bare` (the engine's share of that
    speed), and `signature`. Raises EngineError for a wrong engine or depth.
    """
    engines = create(engine), create(rival)
    for each, deepest in zip(engines, (depth, rival_depth), strict=True):
        _check(each, deepest)
        each.warm_up()
    rows = [_row(*engines, each, rival_depth) for each in range(1, depth + 1)]
    rates = _rates(rows)
    bare = _bare()
    return {
        "engine": engines[0].name,
        "rival": engines[1].name,
        "positions": len(BENCH_SET),
        "depths": rows,
        "nodes_per_second": {**rates, "bare": round(bare.rate)},
        "of_bare": round(rates["engine"] / bare.rate, 3),
        "signature": _cost(engines[0], SIGNATURE_DEPTH, runs=1).nodes,
    }


def bench_positions() -> list[AnyPosition]:
    rules = make_game("insertion", {})
    return [Position.at(rules, board, visible) for board, visible in BENCH_SET]


def _row(engine: Engine, rival: Engine, depth: int, rival_depth: int) -> dict[str, Any]:
    cost = _cost(engine, depth)
    other = _cost(rival, depth) if depth <= rival_depth else None
    return {
        "depth": depth,
        "nodes": cost.nodes,
        "seconds": round(cost.seconds, 6),
        "rival_nodes": other.nodes if other else None,
        "rival_seconds": round(other.seconds, 6) if other else None,
        "ratio": round(other.nodes / max(cost.nodes, 1), 2) if other else None,
    }


def _rates(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Nodes a second at the greatest depth of each: there a search is nothing but search."""
    last = rows[-1]
    rival = [row for row in rows if row["rival_nodes"] is not None][-1]
    return {
        "engine": round(Cost(last["nodes"], last["seconds"]).rate),
        "rival": round(Cost(rival["rival_nodes"], rival["rival_seconds"]).rate),
    }


def _cost(engine: Engine, depth: int, runs: int = RUNS) -> Cost:
    positions = bench_positions()

    def once() -> Cost:
        answers = [engine.analyse(position, depth) for position in positions]
        return Cost(sum(each.nodes for each in answers), sum(each.seconds for each in answers))

    return _fastest(once, runs)


def _bare() -> Cost:
    kernel = compiled(perft)
    tasks = [task_of(position, BARE_DEPTH) for position in bench_positions()]

    def once() -> Cost:
        began = thread_time()
        nodes = sum(kernel(*task.planes, task.pictures, task.depth)[0] for task in tasks)
        return Cost(nodes, thread_time() - began)

    return _fastest(once, RUNS)


def _fastest(once: Callable[[], Cost], runs: int) -> Cost:
    return min((once() for _ in range(runs)), key=lambda cost: cost.seconds)


def bench_table(bench: dict[str, Any]) -> str:
    """Return the measurement as a table for a person; its last line is the signature."""
    lines = [
        f"{bench['positions']} positions from played games; {bench['engine']} against {bench['rival']}",
        f"{'depth':>5}  {'nodes':>12}  {'seconds':>9}  {'rival nodes':>13}  {'seconds':>9}  {'ratio':>7}",
    ]
    for row in bench["depths"]:
        line = f"{row['depth']:>5}  {row['nodes']:>12,}  {row['seconds']:>9.4f}"
        if row["rival_nodes"] is not None:
            line += f"  {row['rival_nodes']:>13,}  {row['rival_seconds']:>9.4f}  {row['ratio']:>7.2f}"
        lines.append(line)
    speed = {name: f"{rate / 1e6:.1f}" for name, rate in bench["nodes_per_second"].items()}
    lines.append(
        f"million nodes a second: {bench['engine']} {speed['engine']}, {bench['rival']} {speed['rival']}, "
        f"bare moves {speed['bare']}"
    )
    lines.append(f"Nodes: {bench['signature']}")
    return "\n".join(lines)


#: Board and visible sequence. Signatures in the history refer to this set.
BENCH_SET: tuple[tuple[str, str], ...] = (
    ("...../6.14./1.46./54351/14546", "51636212224424331443"),
    ("...../...4./12264/26352/41663", "42433144345621654553"),
    ("...../43.../13135/26362/41653", "62165455363124155243"),
    ("...../65.../442../1126./51416", "12415524344665232163"),
    ("...../3..../4.6../422.2/54426", "66523216351254554264"),
    ("..1../..2../..5../.16.5/52426", "25455426454663666213"),
    ("...../..4../..1../..266/..512", "66366621332121561454"),
    ("...../...../.126./.1462/62512", "12156145462536621635"),
    (".114./.562./.165./5246./3422.", "24215461151421333312"),
    ("...../.5.../.4..2/.2155/53526", "42133331233163342264"),
    ("...../...../311.3/23442/56155", "16334226426233555531"),
    ("...../.6.../626.3/22324/56155", "23355553161356342435"),
    ("...../...../...../163../15312", "35634243546144655316"),
    ("...../6..../45342/43616/51512", "14465531661613412544"),
    ("...../.5516/15342/43616/51512", "61341254442353655341"),
    ("...1./2.51./24342/41361/35151", "35365534155665226226"),
    ("43.../635.2/141.4/13626/66466", "32154452621312311522"),
    ("...../...../155.2/26614/34265", "31231152212266416333"),
    ("22.../1223./51552/36614/24265", "26641633353532551246"),
    ("...../...6./...33/62214/44265", "53255124621444342541"),
    ("...../.5.../.156./12144/64265", "44434254143635515632"),
    ("4..../43.../2351./12156/54265", "63551563216226113532"),
    ("6..../1..../62.../15251/36156", "22611353245432256314"),
    ("4..../3..../5..../23.21/16156", "43225631443241135242"),
    ("....3/.54.1/.51.1/432.3/35626", "55551435114434623444"),
    ("....5/..3.3/1.541/5.323/35625", "43462344432122524355"),
    ("...../6...2/1.4.3/4.3.5/33415", "12252435534664331515"),
    ("...../4..5./42.3./5133./21261", "66433151536413155363"),
    ("...../13.1./65.56/45.33/54.64", "41315536341226226262"),
    ("...../5..6./3641./4516./35434", "22622626213443523511"),
    ("...../...../62.62/33141/14643", "44352351131331525511"),
    ("...../1..../1252./56261/31346", "33152551121333542625"),
    ("4...1/424.5/566.6/21345/61264", "52251163623565425633"),
    ("...../63.../36.52/54.32/46.26", "56542563335162425521"),
    ("5..../36.../55.56/35423/64665", "16242552144622543336"),
    ("416.2/55354/22166/35423/46466", "62254333662662542661"),
    ("...../.2.6./.4551/.3432/41424", "66254266146144523615"),
    ("...../42..5/65511/63432/21424", "14452361535261241123"),
    ("5..../45.../36436/52215/35325", "26124112341664312421"),
    ("..4../.3525/.3636/22152/26353", "66431242165513142345"),
)
