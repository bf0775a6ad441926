"""The clauses of PROTOCOL.md by id: what `arena check` checks, one sentence each.

An id is SECTION.NUMBER. The section is the number of the `##` heading of PROTOCOL.md that holds the clause,
counted from 1; the number counts the clauses of that section. A case is CLAUSE/NUMBER, such as 3.3/1; bots
and servers have cases of their own, each counted from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: The `##` headings of PROTOCOL.md that hold clauses, in order; their numbers are the sections.
SECTIONS: Final = (
    "Lines",
    "Kinds of values",
    "Messages of a client",
    "Messages of a server",
    "States",
    "Log-in",
    "A game",
    "Lost connections",
    "Watching",
    "TLS",
    "Errors",
    "Notes",
    "The log of a bot",
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One rule of the protocol. `text` is the rule in one sentence."""

    id: str
    text: str

    @property
    def section(self) -> str:
        """The heading in PROTOCOL.md."""
        return SECTIONS[int(self.id.partition(".")[0]) - 1]


CLAUSES: Final = tuple(
    Clause(*row)
    for row in (
        ("1.1", "A message is a line that ends in LF; TCP may split and join lines anywhere."),
        ("1.2", "A CR before the LF is tolerated."),
        ("1.3", "A line is printable ASCII, bytes 32 to 126."),
        ("1.4", "Tokens have exactly one space between them, and none before the first or after the last."),
        (
            "1.5",
            "The first token is the verb, in capitals; then positional values, then options in any order.",
        ),
        ("1.6", "A client's line has at most 1,024 bytes, a server's 65,536, PING and PONG 1,024 both ways."),
        ("1.7", "A blank line means nothing."),
        ("1.8", "A receiver ignores options that it does not know; the same key twice is an error."),
        ("1.9", "A client ignores verbs that it does not know, except in the first line, which is ARENA."),
        ("1.10", "Required values must be there, and no value is empty."),
        ("2.1", "A number has no sign +, no leading zero and at most 12 digits."),
        ("2.2", "A name is 1 to 32 letters, digits, `_`, `.` or `-`, a letter or digit first."),
        ("3.1", "HELLO, with version and name, is the first line of a client, after ARENA."),
        ("3.2", "READY names the game that GAME has offered, and comes before any move."),
        ("3.3", "One MOVE, legal in the game's notation, answers each TURN."),
        ("3.4", "The server answers QUIT by BYE reason=quit and closes; in a game that is a fault."),
        ("3.5", "The server answers PING at any time after WELCOME."),
        ("3.6", "A client should answer PING by PONG with the same token, in any state."),
        ("4.1", "ARENA, with version 1, is the first line of a server, sent at once."),
        ("4.2", "WELCOME brings a resume key of 128 bits or more, another one each time."),
        ("4.3", "GAME offers a seat; the game's own options stand in it, and a client plays from any seat."),
        ("4.4", "STATE and NEXT, which come with GAME, show the position and what is in sight."),
        ("4.5", "TURN goes to the seat that is to move, and to no other."),
        ("4.6", "PLAYED goes to every seat, with the effect of the ply by the rules of the game."),
        (
            "4.7",
            "After its own ZOMBIE a client has no more moves in that game; a ZOMBIE with seat= is another's.",
        ),
        ("4.8", "OVER ends a game in any state, with its result, and leads back to the lobby."),
        (
            "4.9",
            "BYE is the last line of a server, which then closes; the client leaves, but not at reason=slow.",
        ),
        ("4.10", "ERROR after log-in is a warning: the connection and the game go on."),
        ("5.1", "Each side sends only what the table of states allows."),
        (
            "5.2",
            "A line out of place changes nothing; ERROR closes only before log-in, or for flood.",
        ),
        ("6.1", "A client has a limited time for HELLO."),
        (
            "6.2",
            "A wrong name and a wrong token get the same answer: one ERROR, and the connection is closed.",
        ),
        ("6.3", "A server refuses another version by ERROR version, whatever the rest of the line is."),
        ("6.4", "A name that is connected cannot log in a second time."),
        ("6.5", "A client that lists games without the contest's game is refused by ERROR game."),
        ("6.6", "A client plays any number of games on one connection, one at a time."),
        (
            "6.7",
            "slot= is one of the bot's simultaneous games, 1 if absent; another is refused by ERROR slot.",
        ),
        (
            "7.1",
            "No clock runs before every seat is READY; a seat that is not ready in time plays as a zombie.",
        ),
        ("7.2", "More than 10 moves out of turn in a game are the fault out-of-turn."),
        ("7.3", "100 unasked lines are a flood; PING, PONG and blank lines are free."),
        ("7.4", "commit= of GAME is the SHA-256 of nonce:board:sequence, which OVER shows."),
        ("7.5", "The clocks of TURN and PLAYED are one ledger; a client moves before its flag falls."),
        ("7.6", "A bot at fault is a zombie for the rest of the game, and plays the next game normally."),
        ("7.7", "A line in a game that cannot be read is the fault malformed."),
        (
            "8.1",
            "A lost connection or BYE reason=slow is no fault; resume= takes the seat up, in every state.",
        ),
        ("8.2", "After resume= the game is sent again from its start, and the client plays on from there."),
        ("8.3", "Each WELCOME brings a resume key that works; one is void once the key after it was used."),
        ("8.4", "A seat that is taken up again ends the older connection by BYE reason=replaced."),
        ("8.5", "A client whose resumed game has not started sends READY again."),
        ("8.6", "A client whose key is refused logs in by name and token; after QUIT the key is void."),
        (
            "9.1",
            "A spectator of a running game gets a snapshot first, then its lines, with seat=0 and game=.",
        ),
        ("9.2", "WATCH of a game that is not being played is answered by ERROR no-such-game."),
        ("10.1", "With a certificate the TLS handshake comes before ARENA, and the lines are the same."),
        ("11.1", "Each cause has its code: syntax, unknown-verb, login, no-such-game, not-your-turn."),
        ("11.2", "The codes full and rate pass: a client waits and tries again; after the others it leaves."),
        ("12.1", "A note (INFO) of a bot goes to spectators, with seat=, and never to an opponent."),
        ("12.2", "A note is never a fault, however many there are and whatever is in them."),
        ("13.1", "With role=log a bot gets its own log; its token alone opens it."),
    )
)

CLAUSE: Final = {clause.id: clause for clause in CLAUSES}


def order(id_: str) -> tuple[int, ...]:
    """What ids are sorted by: 3.10/2 comes after 3.9/1."""
    clause, _, number = id_.partition("/")
    return tuple(int(part) for part in (*clause.split("."), *([number] if number else [])))
