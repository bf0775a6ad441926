"""No channel shows a result before its time: every command and page that others see, in every life."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from operator import sub
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, game, opening
from tests.server.store.test_drawn import play

from arena_protocol.record import FaultRecord, GameRecord
from arena_server.core.facts import Drawn
from arena_server.core.journal import Entry, entry_of
from arena_server.errors import PublicError
from arena_server.store import schema
from arena_server.terms.spec import Webhook
from arena_server.web.archive import Archive
from arena_server.web.bots import BotDocuments
from arena_server.web.ratings import RatingDocuments
from arena_server.webhooks.delivery import Cursors, Delivery
from arena_server.webhooks.message import Message

from ..slices import rows
from .reports import unpacked

HOUR_MS = 3_600_000
#: The second game, whose time is asked for, in words that nothing else has: nonce, totals, fault, sums.
NONCE, TOTALS, LINE = "ab" * 16, (970_301, 41_777), b"MOVE 77"
TOLD = (NONCE, "970301", "970,301", "990503", "990,503", "41777", "41787", "MOVE 77", LINE.hex())
#: The first, which is seen in any case, alone and with the second.
FIRST = ("20202", "20,202", '"game": "g1"', "990503", "990,503")


@dataclass(frozen=True)
class Life:
    """A contest and what may be seen of its second game; the times are hours before now."""

    status: str | None = None
    delay_h: float = 0
    freeze: float | None = None
    second: float = 0
    live: bool = False
    written: bool = False


LIVES = {
    "running, before the delay has passed": Life(delay_h=1),
    "running, after it": Life(delay_h=1, second=1.5, live=True, written=True),
    "running, frozen": Life(freeze=3, second=2),
    "running, to be frozen later": Life(freeze=-1, second=2, live=True, written=True),
    "stopped, before the delay has passed": Life("stopped", delay_h=1),
    "incomplete, frozen": Life("incomplete", freeze=3, second=2, live=True, written=True),
    "finished, before the delay has passed": Life("finished", delay_h=1, written=True),
    "finished, with a freeze": Life("finished", freeze=3, second=2, live=True, written=True),
    "short, frozen": Life("short", freeze=3, second=2, live=True, written=True),
    "stopped, frozen": Life("stopped", freeze=3, second=2),
    "aborted, before the delay has passed": Life("aborted", delay_h=1, written=True),
    "aborted, with a freeze": Life("aborted", freeze=3, second=2, live=True, written=True),
}


def milliseconds(moment: datetime) -> int:
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)


def keep(folder: Path, life: Life, form: str = "round-robin", *entries: Entry) -> None:
    """A contest of two games in a database of the folder, the first four hours old."""
    now = datetime.now(UTC).replace(tzinfo=None)
    header = opening(names=("a", "b"))
    frozen = None if life.freeze is None else milliseconds(now - timedelta(hours=life.freeze))
    config = replace(
        header.config,
        format=form,
        spectator_delay_ms=int(life.delay_h * HOUR_MS),
        freeze_at_ms=frozen,
    )
    kept = Kept(folder / "arena.db", replace(header, config=config))
    kept.start()
    kept.append(*entries)
    second = game(2, totals=TOTALS, faults=(FaultRecord(2, 1, "illegal", LINE),))
    with pytest.MonkeyPatch.context() as patch:
        for record, hours in ((game(1, totals=(20_202, 10)), 4), (replace(second, nonce=NONCE), life.second)):
            patch.setattr(schema, "now", partial(sub, now, timedelta(hours=hours)))
            kept.writer.store(record.game_id, record)
            assert kept.next() == [record.game_id]
    kept.close(life.status)


def read(folder: Path) -> str:
    """Everything in the files of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".js"]
    parts = [data for path in files for data in (path.read_bytes(), *unpacked(path).values())]
    return b"\n".join(parts).decode(errors="replace")


def page(shell: Shell, folder: Path) -> str:
    archive = Archive(folder / "arena.db", live=True)
    try:
        record = archive.record(1, "g2").decode(errors="replace")
    except PublicError as error:
        record = str(error)
    documents = BotDocuments()
    shown = (
        archive.contests(),
        archive.contest(1),
        archive.faults(1),
        archive.schedule(1, 0),
        RatingDocuments().find(archive, 1),
        [documents.find(archive, 1, place) for place in (0, 1)],
        archive.bot_contests("a"),
        archive.state(1, "g2"),
    )
    return f"{shown!r}{record}{archive.games(1, 0).decode()}"


def webhook(shell: Shell, folder: Path) -> str:
    sent: list[str] = []

    def send(message: Message, seconds: int) -> None:
        sent.append(message.body.decode())

    hook = Webhook("https://example.org/", "a secret of the receiver")
    cursors = Cursors(folder / "cursors")
    cursors.begin(hook, 0, None)
    delivery = Delivery(hook, 1, folder / "arena.db", "trial", cursors, lambda event: None, send=send)
    while delivery.step() == 0:
        pass
    return "".join(sent)


def command(*words: str) -> Callable[[Shell, Path], str]:
    def run(shell: Shell, folder: Path) -> str:
        outcome = shell(*words)
        assert outcome.code == 0, outcome
        return f"{outcome.out}{outcome.err}{read(folder / 'out')}"

    return run


LIVE = {"page": page, "webhook": webhook, "publish": command("publish", "out")}
WRITTEN = {
    "site": command("site", "out/site"),
    "report": command("report", "out/report.html"),
    **{f"export {form}": command("export", "out", "--format", form) for form in ("msgpack", "json", "csv")},
}
CHANNELS = LIVE | WRITTEN


# 12 lives and 8 channels have no common divisor with 5: each of them stands in several of the rows.
@pytest.mark.parametrize(("channel", "name"), rows(product(CHANNELS, LIVES), 7))
def test_no_result_before_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, channel: str, name: str
) -> None:
    life = LIVES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    keep(tmp_path, life)
    said = CHANNELS[channel](shell, tmp_path)
    is_shown = life.live if channel in LIVE else life.written
    assert any(word in said for word in TOLD) == is_shown
    assert any(word in said for word in FIRST)


@pytest.mark.parametrize("form", ["msgpack", "json", "csv"])
def test_all_is_exported_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    keep(tmp_path, LIVES["running, before the delay has passed"])
    said = command("export", "out", "--format", form, "--all")(shell, tmp_path)
    assert NONCE in said
    assert "exported: 2 games of trial to out\n" in said


class TestWhatTheCommandsSay:
    @pytest.fixture(autouse=True)
    def running(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        keep(tmp_path, LIVES["running, before the delay has passed"])

    KEYS = "(contest.spectator_delay, contest.freeze_at, contest.anonymous"

    def test_how_many_are_missing(self, shell: Shell) -> None:
        missing = f"; 1 game is not shown yet {self.KEYS}"
        assert shell("site", "s").out == f"written: 1 games of trial to s{missing})\n"
        assert shell("report", "r").out.endswith(f" MB{missing})\n")
        assert shell("export", "e").out.startswith(
            f"exported: 1 games of trial to e{missing}; --all writes all)\nhead: "
        )
        for words in (("site", "s"), ("report", "r"), ("export", "e")):
            assert '"not_shown": 1' in shell(*words, "--json").out

    @pytest.mark.parametrize(("form", "write"), [("npz", "write_plies"), ("parquet", "write_parquet")])
    def test_the_arrays_of_a_game_behind_the_cut_are_missing(
        self, monkeypatch: pytest.MonkeyPatch, shell: Shell, form: str, write: str
    ) -> None:
        given: list[list[str]] = []

        def note(folder: Path, games: Iterable[tuple[GameRecord, object]], opened: object) -> list[Path]:
            given.append([record.game_id for record, _ in games])
            return []

        module = {"npz": "arena_cli.export_arrays", "parquet": "arena_cli.export_parquet"}[form]
        if form == "parquet":
            pytest.importorskip("pyarrow")
        monkeypatch.setattr(f"{module}.{write}", note)
        outcomes = [shell("export", "e", "--format", form, *words) for words in ((), ("--all",))]
        assert given == [["g1"], ["g1", "g2"]]
        assert outcomes[0].out.startswith("exported: 1 games of trial to e; 1 game is not shown yet ")

    def test_its_head_is_an_earlier_one_of_the_whole_chain(self, shell: Shell) -> None:
        chains = []
        for words in (("export", "e"), ("export", "e", "--all")):
            shell(*words)
            chains.append(json.loads(Path("e/chain.json").read_text()))
        cut, whole = chains
        assert (cut["games"], whole["games"]) == (1, 2)
        assert cut["order"] == whole["order"][:1]
        assert cut["head"] == whole["order"][0]["chain"]


class TestDraws:
    """A draw says who has won before."""

    def test_an_export_has_none_that_follows_from_a_result_behind_the_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
    ) -> None:
        monkeypatch.chdir(tmp_path)
        play(tmp_path / "arena.db", HOUR_MS, end=None)
        for words, facts in (
            (("export", "e"), ["drawn"]),
            (("export", "e", "--all"), ["drawn", "repeat", "drawn"]),
        ):
            assert shell(*words).code == 0
            plan = json.loads((tmp_path / "e" / "chain.json").read_text())["rounds"]
            assert [fact[1] for fact in plan["facts"]] == facts

    def test_a_report_for_pairing_programs_ends_with_the_last_result_that_is_seen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
    ) -> None:
        monkeypatch.chdir(tmp_path)
        first = entry_of(0, Drawn(1, 1, 1, (("a", "b"),)))
        keep(tmp_path, replace(LIVES["running, frozen"], freeze=5), "swiss", first)
        assert shell("export", "e", "--format", "trf").out.startswith(
            "exported: 0 games of trial to e; 2 games are not"
        )
        assert "    2 w  " in (tmp_path / "e" / "trial.trf").read_text()
        assert shell("export", "e", "--format", "trf", "--all").code == 0
        assert "    2 w 1" in (tmp_path / "e" / "trial.trf").read_text()
