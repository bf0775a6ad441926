"""The cases of `arena check server` about limits, clocks and faults: section 7 of the clauses."""

from __future__ import annotations

from hashlib import sha256

from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_check.server.bench import ILLEGAL, SUITE, ServerBench
from arena_protocol import messages as wire

case = SUITE.case


@case(
    "7.1/1",
    POSITIVE,
    does="sends READY on one seat alone",
    expects="neither START nor TURN",
    advice="No clock runs before every seat is ready.",
)
def one_ready(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.seats[0].send(f"READY {pair.game.offer.game_id}")
    pair.seats[0].expect_silence("START before all are ready")


@case(
    "7.1/2",
    NEGATIVE,
    does="sends READY on one seat and never on the other",
    expects="ZOMBIE reason=never-ready for that one and START for the other, within 45 s",
    advice="Bound the time from GAME to READY (30 s by default), apart from the clock.",
)
def never_ready(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.seats[0].send(f"READY {pair.game.offer.game_id}")
    pair.seats[1].expect_zombie("never-ready", bench.settings.limits)
    pair.seats[0].until(wire.Start)


@case(
    "7.2/1",
    NEGATIVE,
    does="sends 11 moves out of turn",
    expects="ERROR not-your-turn for the first ones, then ZOMBIE reason=out-of-turn",
    advice="More than 10 moves out of turn in a game are a fault.",
)
def out_of_turn(bench: ServerBench) -> None:
    pair = bench.begun()
    waiter = pair.waiter
    waiter.send(*[f"MOVE {pair.legal()}"] * 11)
    waiter.expect_error("not-your-turn")
    waiter.expect_zombie("out-of-turn")


@case(
    "7.2/2",
    POSITIVE,
    does="sends 3 moves out of turn",
    expects="3 times ERROR not-your-turn, and no fault",
    advice="Up to 10 moves out of turn in a game are warnings.",
)
def few_out_of_turn(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.waiter.send(*[f"MOVE {pair.legal()}"] * 3)
    for _ in range(3):
        pair.waiter.expect_error("not-your-turn")
    pair.finish()


@case(
    "7.3/1",
    NEGATIVE,
    does="sends 120 lines in a game that nothing asked for",
    expects="ZOMBIE reason=flood",
    advice="100 unasked lines in a game are a flood.",
)
def flood(bench: ServerBench) -> None:
    pair = bench.begun()
    waiter = pair.waiter
    waiter.send(*[f"READY {pair.game.offer.game_id}"] * 120)
    waiter.expect_zombie("flood")


@case(
    "7.3/2",
    POSITIVE,
    does="sends 300 blank lines and PONGs in a game",
    expects="no fault: they are free",
    advice="PING, PONG and blank lines are no unasked lines.",
)
def free_lines(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.waiter.send(*["", "PONG x"] * 150)
    seen = pair.waiter.sync()
    if seen:
        raise failed("no answer", str(seen[0]))
    pair.finish()


@case(
    "7.4/1",
    POSITIVE,
    does="opens the commit of GAME with nonce= and sequence= of OVER",
    expects="commit= is the SHA-256 of nonce:board:sequence",
    advice="The board is the text of STATE, the sequence is empty for a game that hides none.",
)
def commit(bench: ServerBench) -> None:
    with reaching():
        pair = bench.begun()
        end = pair.finish()[0]
    game = pair.game
    if game.offer.commit is None:
        raise Finding(Verdict.NOT_IMPLEMENTED, "commit= in GAME", "none")
    if end.nonce is None:
        raise Finding(
            Verdict.NON_STRICT,
            "nonce= in OVER",
            "none: the deal is played again, or the server keeps it secret",
        )
    promised = sha256(f"{end.nonce}:{game.state}:{end.sequence or ''}".encode()).hexdigest()
    if promised != game.offer.commit:
        raise failed(f"commit={promised}", f"commit={game.offer.commit}")


@case(
    "7.4/2",
    NEGATIVE,
    does="compares sequence= of OVER with all that was shown in the game",
    expects="NEXT and every reveal= are its pictures in order",
    advice="What is in sight is a part of the sequence that was fixed before the game.",
)
def sequence(bench: ServerBench) -> None:
    with reaching():
        pair = bench.begun()
        end = pair.finish()[0]
    shown = pair.game.shown
    if end.sequence is not None and not end.sequence.startswith(shown):
        raise failed(f"a sequence that begins with {shown}", end.sequence)


@case(
    "7.5/1",
    POSITIVE,
    does="keeps a ledger of the clocks beside the server",
    expects="clock= of each PLAYED is the one before, less time=, plus the increment; TURN repeats it",
    advice="TURN, PLAYED, the flag and the record read one ledger of whole milliseconds.",
)
def ledger(bench: ServerBench) -> None:
    pair = bench.begun()
    offer = pair.game.offer
    clocks = [offer.clock] * offer.seats
    while True:
        turn = pair.mover.turn
        assert turn is not None
        if list(turn.clock) != clocks:
            raise failed(f"TURN with clock={clocks}", f"clock={turn.clock}")
        played = pair.move()[0]
        clocks[played.seat - 1] = max(0, clocks[played.seat - 1] - played.time) + offer.increment
        if list(played.clock) != clocks:
            raise failed(f"PLAYED with clock={clocks}", f"clock={played.clock}")
        if pair.is_over:
            return
        pair.take_turn()


@case(
    "7.5/2",
    NEGATIVE,
    does="does not answer TURN",
    expects="ZOMBIE reason=timeout once the clock has run down, within 45 s, and not before",
    advice="The flag falls when the charge is more than the clock, byoyomi and margin together.",
)
def flag(bench: ServerBench) -> None:
    pair = bench.begun()
    turn = pair.mover.turn
    assert turn is not None
    seat = pair.seats.index(pair.mover)
    if turn.clock[seat] > bench.settings.limits * 1000:
        raise Finding(Verdict.NOT_REACHED, "a clock of less than 45 s", f"clock={turn.clock[seat]}")
    pair.mover.expect_zombie("timeout", bench.settings.limits)


@case(
    "7.6/1",
    POSITIVE,
    does="makes one seat a zombie and plays on with the other",
    expects="the server plays the zombie move in its place, at no time, to OVER; or the seat forfeits",
    advice="The move of zombie= is played at once; without one the game ends by end=forfeit.",
)
def zombie_moves(bench: ServerBench) -> None:
    pair = bench.begun()
    mover, waiter = pair.mover, pair.waiter
    mover.send(f"MOVE {ILLEGAL}")
    with reaching():
        ply = mover.expect_zombie("illegal").ply
    end = waiter.play_out()
    game, seat = waiter.game, pair.seats.index(mover) + 1
    assert game is not None
    if game.offer.zombie is None:
        if end.end != "forfeit":
            raise failed("end=forfeit", f"end={end.end}")
        return
    for played in game.history:
        if played.seat == seat and played.ply >= ply and (played.move, played.time) != (game.offer.zombie, 0):
            raise failed(f"move={game.offer.zombie} time=0", f"move={played.move} time={played.time}")


@case(
    "7.6/2",
    NEGATIVE,
    does="goes on sending moves as a zombie, and plays the next game",
    expects="they are ignored, and the next game is offered to both",
    advice="A zombie's lines are ignored but for PING, PONG and QUIT; the next game begins normally.",
)
def zombie_lines(bench: ServerBench) -> None:
    pair = bench.begun()
    mover, waiter = pair.mover, pair.waiter
    mover.send(f"MOVE {ILLEGAL}")
    with reaching():
        mover.expect_zombie("illegal")
    mover.send(*[f"MOVE {pair.legal()}"] * 3)
    mover.sync()
    waiter.play_out()
    for client in (mover, waiter):
        client.until(wire.Game)


@case(
    "7.7/1",
    NEGATIVE,
    does="sends a line in a game that cannot be read",
    expects="its ERROR, then ZOMBIE reason=malformed",
    advice="A line in a game that cannot be read is a fault, whatever its code.",
)
def malformed(bench: ServerBench) -> None:
    mover = bench.begun().mover
    mover.send("MOVE  1")
    mover.expect_error("syntax")
    mover.expect_zombie("malformed")


@case(
    "7.7/2",
    POSITIVE,
    does="sends an unknown option with MOVE",
    expects="the move is played",
    advice="Options that a server does not know are passed over.",
)
def move_with_option(bench: ServerBench) -> None:
    pair = bench.begun()
    chosen = pair.legal()
    pair.mover.send(f"MOVE {chosen} x-new=1")
    for client in pair.seats:
        played = client.expect(wire.Played)
        if played.move != chosen:
            raise failed(f"PLAYED with move={chosen}", f"move={played.move}")
