"""The cases of `arena check server` about the course of games: sections 3 to 5 and 6.6 of the clauses."""

from __future__ import annotations

from arena_check.cases import NEGATIVE, POSITIVE, Finding, Verdict, failed, reaching
from arena_check.server.bench import ILLEGAL, SUITE, ServerBench
from arena_check.server.client import Client, rules_of
from arena_protocol import messages as wire

case = SUITE.case


@case(
    "3.2/1",
    POSITIVE,
    does="sends READY on both seats",
    expects="START on both, then TURN for the seat that moves first",
    advice="START goes out once every seat is ready or out.",
)
def ready(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.begin()


@case(
    "3.2/2",
    NEGATIVE,
    does="sends READY with an id that is not on offer",
    expects="ERROR no-such-game; the right READY still counts",
    advice="READY names the game on offer; another id is refused and changes nothing.",
)
def ready_for_another(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.seats[0].send("READY no-such-game")
    pair.seats[0].expect_error("no-such-game")
    pair.begin()


@case(
    "3.3/1",
    POSITIVE,
    does="answers TURN by a legal MOVE",
    expects="PLAYED with that seat and that move",
    advice="PLAYED tells what was played, by whom.",
)
def move(bench: ServerBench) -> None:
    pair = bench.begun()
    mover, chosen = pair.seats.index(pair.mover) + 1, pair.legal()
    for played in pair.move():
        if (played.seat, played.move) != (mover, chosen):
            raise failed(
                f"PLAYED seat={mover} move={chosen}", f"PLAYED seat={played.seat} move={played.move}"
            )


@case(
    "3.3/2",
    NEGATIVE,
    does="answers TURN by a move that no game has",
    expects="ZOMBIE reason=illegal",
    advice="A move that the rules do not allow is the fault illegal.",
)
def illegal(bench: ServerBench) -> None:
    mover = bench.begun().mover
    mover.send(f"MOVE {ILLEGAL}")
    mover.expect_zombie("illegal")


@case(
    "3.4/2",
    NEGATIVE,
    does="sends QUIT in a game",
    expects="BYE reason=quit; the game goes on for the other seat, to its OVER",
    advice="QUIT in a game is the fault quit: the seat is played by the server from there.",
)
def quit_in_a_game(bench: ServerBench) -> None:
    pair = bench.begun()
    quitter, other = pair.mover, pair.waiter
    bench.keys.pop(quitter.name, None)  # it is void now
    quitter.send("QUIT")
    bye = quitter.until(wire.Bye)
    if bye.reason != "quit":
        raise failed("BYE reason=quit", f"BYE reason={bye.reason}")
    quitter.expect_end()
    other.play_out()


@case(
    "4.3/1",
    POSITIVE,
    does="compares the GAME lines of both seats",
    expects="the same id, names, options and clocks, and seats 1 and 2",
    advice="GAME differs between seats in seat= alone; names= is in the order of the seats.",
)
def game_lines(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    first, second = (_offer(client) for client in pair.seats)
    if (first.seat, second.seat) != (1, 2):
        raise failed("seats 1 and 2", f"seats {first.seat} and {second.seat}")
    if (first.game_id, first.names, first.options, first.clock) != (
        second.game_id,
        second.names,
        second.options,
        second.clock,
    ):
        raise failed("the same game in both GAME lines", f"{wire.encode(first)!r}, {wire.encode(second)!r}")
    if first.names != tuple(client.name for client in pair.seats) or first.seats != len(first.names):
        raise failed("the names in the order of the seats", ",".join(first.names))


def _offer(client: Client) -> wire.Game:
    assert client.game is not None
    return client.game.offer


@case(
    "4.4/1",
    POSITIVE,
    does="sets up the game from GAME, STATE and NEXT, by RULES.md",
    expects="a start position; both seats see the same",
    advice="STATE is in the notation of the game; NEXT shows as many pictures as lookahead= says.",
)
def positions(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    seen = [client.game for client in pair.seats if client.game is not None]
    for game in seen:
        rules_of(game)
    if len({(game.state, game.shown) for game in seen}) > 1:
        raise failed("the same position for both seats", " and ".join(game.state for game in seen))
    options = seen[0].offer.options
    if "lookahead" in options:
        sight = min(int(options["lookahead"]), int(options["plies"]))
        if len(seen[0].shown) != sight:
            raise failed(f"NEXT with {sight} pictures", f"NEXT {seen[0].shown}")


@case(
    "4.5/1",
    POSITIVE,
    does="plays a game",
    expects="TURN goes to the seat that is to move, and to no other",
    advice="TURN is for one seat; the others wait for PLAYED.",
)
def turns(bench: ServerBench) -> None:
    pair = bench.begun()
    while True:
        seen = pair.waiter.sync()
        if any(isinstance(message, wire.Turn) for message in seen):
            raise failed("TURN for one seat", "TURN for both")
        pair.move()
        if pair.is_over:
            return
        pair.take_turn()


@case(
    "4.5/2",
    NEGATIVE,
    does="comes back with resume= on the seat that is not to move",
    expects="the game once more, and no TURN",
    advice="After resume= TURN is sent only to the seat that is to move.",
)
def no_turn_for_the_other(bench: ServerBench) -> None:
    pair = bench.begun()
    waiter = pair.waiter
    waiter.close()
    again = bench.resumed(waiter)
    if again.turn is not None:
        raise failed("no TURN", f"TURN {again.turn.ply}")


@case(
    "4.6/1",
    POSITIVE,
    does="plays a game by the rules beside the server",
    expects="points= and total= of every PLAYED are those of RULES.md, the same for both seats",
    advice="See the ply in the log: points= is what the ply gave the mover, total= the sum for each seat.",
)
def effects(bench: ServerBench) -> None:
    pair = bench.begun()
    totals: tuple[int, ...] = (0,) * pair.game.offer.seats
    while True:
        first, second = pair.move()
        if first != second:
            raise failed("the same PLAYED for both seats", f"{wire.encode(first)!r}, {wire.encode(second)!r}")
        assert pair.game.rules is not None
        expected = pair.game.rules.totals(pair.game.position)
        points = expected[first.seat - 1] - totals[first.seat - 1]
        if first.total != expected or first.points != points:
            raise failed(f"points={points} total={expected}", f"points={first.points} total={first.total}")
        totals = expected
        if pair.is_over:
            return
        pair.take_turn()


@case(
    "4.6/2",
    NEGATIVE,
    does="counts the pictures that are in sight, ply by ply",
    expects="each PLAYED shows one more by reveal=, until all are in sight, and never another",
    advice="PLAYED of ply p shows picture p + lookahead; there is no reveal= once all are in sight.",
)
def reveals(bench: ServerBench) -> None:
    pair = bench.begun()
    options = pair.game.offer.options
    if "lookahead" not in options:
        raise Finding(Verdict.NOT_IMPLEMENTED, "a game that hides a sequence", pair.game.offer.game)
    plies, sight = int(options["plies"]), int(options["lookahead"])
    pair.finish()
    for played in pair.game.history:
        due = played.ply + sight <= plies
        if due != (played.reveal is not None) or (played.reveal is not None and len(played.reveal) != 1):
            raise failed(f"{'one' if due else 'no'} picture at ply {played.ply}", f"reveal={played.reveal}")


@case(
    "4.7/1",
    POSITIVE,
    does="makes one seat a zombie",
    expects="the other seat gets no ZOMBIE, or one with seat= where the contest announces zombies",
    advice="An opponent is to see nothing but the moves, unless zombies are announced.",
)
def opponents_zombie(bench: ServerBench) -> None:
    pair = bench.begun()
    mover, waiter = pair.mover, pair.waiter
    mover.send(f"MOVE {ILLEGAL}")
    with reaching():
        mover.expect_zombie("illegal")
    for message in waiter.sync():
        if isinstance(message, wire.Zombie) and message.seat != pair.seats.index(mover) + 1:
            raise failed("no ZOMBIE, or one with the seat= of the other", str(message))


@case(
    "4.8/1",
    POSITIVE,
    does="plays a game to its end",
    expects="OVER with the total of the last PLAYED and the end of the rules, on both seats",
    advice="OVER repeats the totals of the last PLAYED.",
)
def over(bench: ServerBench) -> None:
    pair = bench.begun()
    for end in pair.finish():
        last = pair.game.history[-1]
        if end.total != last.total:
            raise failed(f"total={last.total}", f"total={end.total}")
        assert pair.game.rules is not None
        if end.end != pair.game.rules.end(pair.game.position):
            raise failed(f"end={pair.game.rules.end(pair.game.position)}", f"end={end.end}")


@case(
    "4.9/1",
    NEGATIVE,
    does="sends QUIT and reads on",
    expects="BYE is the last line",
    advice="Close the connection after BYE; send nothing behind it.",
)
def bye_is_last(bench: ServerBench) -> None:
    with reaching():
        client = bench.logged_in()
    bench.keys.pop(client.name, None)
    client.send("QUIT", "PING after")
    client.until(wire.Bye)
    client.expect_end()


@case(
    "4.10/1",
    NEGATIVE,
    does="sends MOVE once without a TURN, then plays on",
    expects="ERROR not-your-turn, and the game is played to its end",
    advice="A few moves out of turn are warnings, no faults.",
)
def warning(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.waiter.send(f"MOVE {pair.legal()}")
    pair.waiter.expect_error("not-your-turn")
    pair.finish()


@case(
    "5.1/1",
    POSITIVE,
    does="follows a game on both seats",
    expects="GAME, STATE, NEXT, START, then TURN and PLAYED in turn, then OVER, in this order",
    advice="PROTOCOL.md, States, lists what a server may send in each state.",
)
def order(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    pair.begin()
    first, second = pair.finish()
    if first != second:
        raise failed("the same OVER on both seats", f"{wire.encode(first)!r}, {wire.encode(second)!r}")


@case(
    "5.1/2",
    NEGATIVE,
    does="sends READY once more after START",
    expects="no answer: a late READY is harmless",
    advice="A client that has come back says READY again; START may have crossed it.",
)
def late_ready(bench: ServerBench) -> None:
    pair = bench.begun()
    pair.waiter.send(f"READY {pair.game.offer.game_id}")
    seen = pair.waiter.sync()
    if seen:
        raise failed("no answer", str(seen[0]))
    pair.finish()


@case(
    "5.2/1",
    NEGATIVE,
    does="sends HELLO, WATCH and READY out of place in a game",
    expects="the game goes on as if nothing had come",
    advice="A line out of place is dropped and counted; it changes nothing else.",
)
def out_of_place(bench: ServerBench) -> None:
    pair = bench.begun()
    id_ = pair.game.offer.game_id
    pair.waiter.send(f"HELLO 1 {pair.waiter.name}", "WATCH *", f"READY {id_}", "READY no-such-game")
    for message in pair.waiter.sync():
        if not isinstance(message, wire.Error):
            raise failed("ERROR or nothing", str(message))
    pair.finish()


@case(
    "5.2/2",
    POSITIVE,
    does="sends READY twice before START",
    expects="START once, when both seats are ready",
    advice="A READY after the first changes nothing.",
)
def ready_twice(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
    first = pair.seats[0]
    first.send(f"READY {pair.game.offer.game_id}")
    if first.sync():
        raise failed("nothing before both are ready", "a line")
    pair.begin()
    pair.finish()


@case(
    "6.6/1",
    POSITIVE,
    does="plays two games on the same connections",
    expects="the second GAME comes after OVER of the first, under another id",
    advice="A bot in the lobby is offered the next game as soon as the others in it are free.",
)
def two_games(bench: ServerBench) -> None:
    with reaching():
        pair = bench.pair()
        first = pair.game.offer.game_id
        pair.begin()
        pair.finish()
    for client in pair.seats:
        second = client.expect(wire.Game)
        if second.game_id == first:
            raise failed("another id", second.game_id)


@case(
    "6.6/2",
    NEGATIVE,
    does="cuts both connections after OVER and logs in again",
    expects="the next game is offered on the new connections, under another id",
    advice="A game that was offered to a connection that is lost waits for the bot.",
)
def next_game_elsewhere(bench: ServerBench) -> None:
    with reaching():
        pair = bench.begun()
        pair.finish()
    for client in pair.seats:
        client.close()
    offered = bench.pair().game.offer.game_id
    if offered == pair.game.offer.game_id:
        raise failed("another id", offered)
