"""The cases of `arena check server` about watching, notes and logs: sections 9, 12 and 13."""

from __future__ import annotations

from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_check.server.bench import SUITE, Pair, ServerBench
from arena_check.server.client import shown
from arena_protocol import messages as wire

case = SUITE.case

#: More notes than the server keeps between two plies.
MANY = 40
_NEVER = (
    "A note is never a fault: what is too much is dropped, what cannot be parsed is answered by ERROR alone."
)


def _note(pair: Pair, depth: int = 5) -> str:
    return f"INFO game={pair.game.offer.game_id} ply={pair.game.ply} depth={depth} eval=-30 text=checked note"


def _moves_on(pair: Pair) -> None:
    """Play the ply that is due; anything but its PLAYED is a finding."""
    chosen = pair.legal()
    for played in pair.move():
        if played.move != chosen:
            raise failed(f"PLAYED with move={chosen}", f"move={played.move}")


@case(
    "9.1/1",
    POSITIVE,
    does="watches a game that is being played",
    expects="GAME with seat=0, STATE, every PLAYED and OVER, with game= where a line does not name its game",
    advice="A spectator gets a snapshot of what was played, then the lines of the game.",
)
def watch(bench: ServerBench) -> None:
    with reaching():
        pair = bench.begun()
        pair.move()
    client = bench.spectator()
    id_ = pair.game.offer.game_id
    client.send(f"WATCH {id_}")
    seen = client.sync()
    with reaching():
        pair.finish()
    while not (seen and isinstance(seen[-1], wire.Over)):
        message = client.receive("OVER", bench.settings.limits)
        if message is None:
            raise failed("OVER", "the end of the connection")
        seen.append(message)
    game = seen[0]
    if not isinstance(game, wire.Game) or (game.game_id, game.seat) != (id_, 0):
        raise failed(f"GAME {id_} with seat=0", str(game))
    for kind in (wire.State, wire.Played):
        named = [message.game for message in seen if isinstance(message, kind)]
        if not named or set(named) != {id_}:
            raise failed(f"{kind.__name__.upper()} with game={id_}", f"game={named}")


@case(
    "9.1/2",
    NEGATIVE,
    does="sends MOVE as a spectator",
    expects="ERROR or nothing; no seat has moved, and the game goes on",
    advice="A spectator has no seat.",
)
def spectator_moves(bench: ServerBench) -> None:
    with reaching():
        pair = bench.begun()
        client = bench.spectator()
    client.send(f"WATCH {pair.game.offer.game_id}", "MOVE 1")
    client.sync()
    for seat in pair.seats:
        seen = seat.sync()
        if seen:
            raise failed("no line for the seats", str(seen[0]))
    pair.finish()


@case(
    "9.2/1",
    NEGATIVE,
    does="watches a game that there is not",
    expects="ERROR no-such-game; the connection goes on",
    advice="WATCH of a game that is not being played is refused, and may be said again.",
)
def watch_nothing(bench: ServerBench) -> None:
    with reaching():
        client = bench.spectator()
    client.send("WATCH no-such-game")
    client.expect_error("no-such-game")
    client.sync()


@case(
    "9.2/2",
    POSITIVE,
    does="watches every game (*) and plays one",
    expects="no ERROR, and GAME with seat=0 once it is offered",
    advice="WATCH * is for all games of the contest, those to come included.",
)
def watch_all(bench: ServerBench) -> None:
    with reaching():
        client = bench.spectator()
    client.send("WATCH *")
    client.sync()
    with reaching():
        pair = bench.begun()
        pair.finish()
    game = client.until(wire.Game, bench.settings.limits)
    if game.seat != 0:
        raise failed("GAME with seat=0", f"GAME with seat={game.seat}")


@case(
    "12.1/1",
    POSITIVE,
    does="sends INFO from the seat that is to move, with a spectator",
    expects="the spectator gets the note with game= and the seat= of its bot",
    advice="Notes go to spectators like the lines of the game, after the spectator delay.",
)
def note_to_spectators(bench: ServerBench) -> None:
    pair = bench.begun()
    with reaching():
        client = bench.spectator()
        client.send(f"WATCH {pair.game.offer.game_id}")
        client.sync()
    seat = pair.seats.index(pair.mover) + 1
    ply = pair.game.ply
    pair.mover.send(_note(pair))
    with reaching():
        pair.finish()
    note = None
    while not isinstance(message := client.receive("INFO", bench.settings.limits), wire.Over):
        if message is None:
            raise failed("INFO", "the end of the connection")
        if isinstance(message, wire.Info):
            note = note or message
    expected = wire.Info(pair.game.offer.game_id, ply, seat=seat, depth=5, eval=-30, text="checked note")
    if note != expected:
        raise failed(
            shown(wire.encode(expected)), "no INFO before OVER" if note is None else shown(wire.encode(note))
        )


@case(
    "12.1/2",
    NEGATIVE,
    does="sends INFO from both seats",
    expects="no seat gets a line of it",
    advice="A note is for the record and for spectators; an opponent must not learn what a bot thinks.",
)
def note_to_no_rival(bench: ServerBench) -> None:
    pair = bench.begun()
    for client in pair.seats:
        client.send(_note(pair))
        client.sync()
    for client in pair.seats:
        seen = client.sync()
        if seen:
            raise failed("no line for the seats", shown(wire.encode(seen[0])))
    _moves_on(pair)


@case(
    "12.2/1",
    POSITIVE,
    does=f"sends {MANY} notes for one ply, then its MOVE",
    expects="the move is played, without ERROR and ZOMBIE",
    advice=_NEVER,
)
def many_notes(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.mover.send(*(_note(pair, depth) for depth in range(MANY)))
    _moves_on(pair)


@case(
    "12.2/2",
    NEGATIVE,
    does="sends a note without a ply that can be read, then its MOVE",
    expects="ERROR syntax; the move is played",
    advice=_NEVER,
)
def broken_note(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.mover.send(f"INFO game={pair.game.offer.game_id} ply=soon")
    pair.mover.expect_error("syntax")
    _moves_on(pair)


@case(
    "13.1/1",
    POSITIVE,
    does="fetches the log of a bot by role=log and its token",
    expects="WELCOME, LOG lines, BYE reason=log and the end of the connection",
    advice="A server with logs sends each bot its own; one without answers as to a wrong token.",
)
def fetch_log(bench: ServerBench) -> None:
    with reaching():
        bench.logged_in().close()
    client = bench.client()
    client.hello(f" role=log{bench.token_option}")
    message = client.receive("WELCOME")
    if isinstance(message, wire.Error):
        raise Finding(Verdict.NOT_IMPLEMENTED, "a log", f"ERROR {message.code} {message.text}")
    if not isinstance(message, wire.Welcome):
        raise failed(
            "WELCOME", "the end of the connection" if message is None else shown(wire.encode(message))
        )
    bench.keys.pop(client.name, None)  # the log-in before this one has spent it
    while isinstance(message := client.receive("LOG or BYE"), wire.Log):
        pass
    if message != wire.Bye("log"):
        raise failed("BYE reason=log", "the end of the connection" if message is None else str(message))
    client.expect_end()


@case(
    "13.1/2",
    NEGATIVE,
    does="asks for the log of a bot with a wrong token",
    expects="ERROR token, and the end of the connection",
    advice="A log shows what a bot sent and received: its token alone opens it.",
)
def guess_log(bench: ServerBench) -> None:
    name = bench.settings.names[0]
    bench.refuses(f"HELLO {wire.VERSION} {name} role=log token=guess".encode(), "token")
