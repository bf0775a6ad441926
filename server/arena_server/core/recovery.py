"""An interrupted contest: from what is durable back to where it stood.

Stored results stand. An unfinished game goes on after its last durable fact: `Match.apply` writes
the journal's facts as it wrote them before the crash, and no client was sent more than those.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.commands import Commands, RunState
from arena_server.core.games import GameManager
from arena_server.core.journal import (
    Conduct,
    JournalError,
    Live,
    Past,
    Repeat,
    ResumeKey,
    RunStateSet,
    fact_of,
)
from arena_server.core.peers import Player


def recover(
    past: Past, games: GameManager, commands: Commands, players: Mapping[str, Player], now: int
) -> None:
    """Bring back games, run state and players. Raises JournalError for a past that no contest has had."""
    live = Live()
    stored = {game.number for game in past.results}
    try:
        live.add(past.entries)
        repeats = _recover_contest(live, commands, players)
        games.recall(past.results, repeats)
        for number, entries in sorted(live.games.items()):
            if number not in stored:
                games.restore(number, entries, now)
    except JournalError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise JournalError(f"the facts of the journal contradict each other ({error!r})") from error


def _recover_contest(live: Live, commands: Commands, players: Mapping[str, Player]) -> dict[int, int]:
    """Apply the facts of the contest; returns void games by the numbers of those that repeat them."""
    repeats: dict[int, int] = {}
    for entry in live.contest:
        match fact_of(entry):
            case ResumeKey(name, digest):
                players[name].resume = digest
            case Conduct(name, forgiven, kicked):
                player = players[name]
                player.forgiven, player.kicked, player.barred = forgiven, kicked, kicked
            case Repeat(number, void):
                repeats[number] = void
            case RunStateSet(_, state):
                # A contest was drained to stop the server; now the server runs again.
                commands.state = RunState.PAUSED if state == RunState.PAUSED else RunState.OPEN
            case other:
                raise JournalError(f"expected a fact of the contest, found {other!r:.80}")
    return repeats
