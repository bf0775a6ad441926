"""The cases of `arena check server` about lost connections: section 8 of the clauses."""

from __future__ import annotations

from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_check.server.bench import ILLEGAL, SUITE, Pair, ServerBench
from arena_check.server.client import Client
from arena_protocol import messages as wire
from arena_protocol.view import GameView

case = SUITE.case


@case(
    "8.1/1",
    POSITIVE,
    does="cuts the connection that is on move and comes back with resume=",
    expects="TURN once more, of the same ply, and the game is played to its end",
    advice="A lost connection is no fault; the clock goes on.",
)
def on_move(bench: ServerBench) -> None:
    pair = bench.begun()
    ply = pair.game.ply
    pair.mover.close()
    again = bench.resumed(pair.mover)
    if again.turn is None or again.turn.ply != ply:
        raise failed(f"TURN {ply}", str(again.turn))
    _finish_with(pair, again)


@case(
    "8.1/2",
    NEGATIVE,
    does="resets the connection that is off move and comes back with resume=",
    expects="no fault: the game is played to its end",
    advice="A reset is a lost connection as well as an orderly end is.",
)
def off_move(bench: ServerBench) -> None:
    pair = bench.begun()
    waiter = pair.waiter
    waiter.close(reset=True)
    again = bench.resumed(waiter)
    if again.game is None or again.game.zombie:
        raise failed("the game, and no fault", "ZOMBIE")
    _finish_with(pair, again)


def _finish_with(pair: Pair, again: Client) -> None:
    """Play the game to its end with a client in the place of one that is gone."""
    first, second = (again if client.name == again.name else client for client in pair.seats)
    Pair((first, second)).finish()


@case(
    "8.2/1",
    POSITIVE,
    does="comes back after three plies",
    expects="GAME, STATE and NEXT as at the start, START, and every PLAYED so far, word for word",
    advice="A client that comes back begins from nothing: send the game again from its start.",
)
def sent_again(bench: ServerBench) -> None:
    pair = bench.begun()
    for _ in range(3):
        if pair.is_over:
            break
        pair.move()
        pair.take_turn()
    lost = pair.mover
    before = lost.game
    lost.close()
    again = bench.resumed(lost).game
    assert before is not None
    if again is None:
        raise failed("GAME", "none")
    for what in ("offer", "state", "shown", "started", "history"):
        if getattr(again, what) != getattr(before, what):
            raise failed(f"the same {what}", f"{getattr(again, what)}, not {getattr(before, what)}")


@case(
    "8.2/2",
    NEGATIVE,
    does="comes back as a zombie",
    expects="its own ZOMBIE among the lines, and no TURN",
    advice="ZOMBIE is sent again where it was.",
)
def zombie_again(bench: ServerBench) -> None:
    pair = bench.begun()
    mover = pair.mover
    mover.send(f"MOVE {ILLEGAL}")
    with reaching():
        mover.expect_zombie("illegal")
    mover.close()
    again = bench.resumed(mover).game
    _check_zombie_again(again)


def _check_zombie_again(again: GameView | None) -> None:
    if again is None:
        raise Finding(Verdict.NOT_REACHED, "a game that goes on", "none: it has ended by forfeit")
    if not again.zombie:
        raise failed("ZOMBIE", "none")


@case(
    "8.3/1",
    NEGATIVE,
    does="uses a resume key again after the one that followed it",
    expects="ERROR token, and the end of the connection",
    advice="A key is void when a later one was used; an old one may be in other hands.",
)
def old_key(bench: ServerBench) -> None:
    with reaching():
        key = bench.logged_in().key
        for _ in range(2):
            bench.client().log_in()
    client = bench.client()
    client.hello(f" resume={key}")
    client.expect_error("token")
    client.expect_end()


@case(
    "8.3/2",
    POSITIVE,
    does="uses the key of a WELCOME that resumed",
    expects="WELCOME",
    advice="Each WELCOME brings a key that works.",
)
def next_key(bench: ServerBench) -> None:
    with reaching():
        for _ in range(2):
            bench.client().log_in()
    bench.client().log_in()


@case(
    "8.4/1",
    POSITIVE,
    does="comes back with resume= while the older connection is alive",
    expects="BYE reason=replaced on the older one, and its end",
    advice="The server may take a dead connection for alive: the key decides.",
)
def replaced(bench: ServerBench) -> None:
    with reaching():
        old = bench.logged_in()
        bench.client().log_in()
    bye = old.until(wire.Bye)
    if bye.reason != "replaced":
        raise failed("BYE reason=replaced", f"BYE reason={bye.reason}")
    old.expect_end()


@case(
    "8.5/1",
    POSITIVE,
    does="comes back before START, after READY, and sends READY once more",
    expects="GAME, STATE and NEXT again, then START when all are ready",
    advice="READY may come a second time; it changes nothing.",
)
def before_start(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    first, second = pair.seats
    first.send(f"READY {pair.game.offer.game_id}")
    first.sync()
    first.close()
    again = bench.resumed(first)
    if again.game is None or again.game.offer != pair.game.offer:
        raise failed("the same GAME", str(again.game))
    Pair((again, second)).begin()


@case(
    "8.6/1",
    NEGATIVE,
    does="comes back with a key that was never given",
    expects="ERROR token; name and token still log in",
    advice="A refused key does not block the name.",
)
def wrong_key(bench: ServerBench) -> None:
    client = bench.client()
    client.hello(f" resume={'0' * 32}")
    client.expect_error("token")
    client.expect_end()
    bench.client().log_in()


@case(
    "8.6/2",
    POSITIVE,
    does="sends QUIT, tries the key, then logs in by name and token",
    expects="ERROR token for the key, WELCOME for the token",
    advice="QUIT makes the key void.",
)
def after_quit(bench: ServerBench) -> None:
    with reaching():
        client = bench.logged_in()
        key = bench.keys.pop(client.name)
        client.send("QUIT")
        client.until(wire.Bye)
        client.expect_end()
    again = bench.client()
    again.hello(f" resume={key}")
    again.expect_error("token")
    again.expect_end()
    bench.client().log_in()
