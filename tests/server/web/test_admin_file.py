"""Who may give orders, and where: tokens, and the file beside the database."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.errors import ArenaError, ConfigError
from arena_server.store.database import Postgres
from arena_server.web.admin_file import TOKEN_VARIABLE, Access, AccessFile, choose_token, find_access, path_of


class TestAccess:
    def test_a_fresh_token_has_128_bits(self) -> None:
        tokens = {choose_token({}) for _ in range(20)}
        assert len(tokens) == 20
        assert {len(token) for token in tokens} == {32}

    def test_the_token_of_the_environment_goes_first(self) -> None:
        assert choose_token({TOKEN_VARIABLE: "a-token-long-enough"}) == "a-token-long-enough"

    @all_of("token", ["", "short", "with a blank in it", "not-quite-ascii-é", "x" * 15])
    def test_a_token_that_can_be_guessed_or_not_be_said(self, token: str) -> None:
        with pytest.raises(ConfigError) as caught:
            choose_token({TOKEN_VARIABLE: token})
        assert str(caught.value) == (
            f"ARENA_ADMIN_TOKEN: expected at least 16 ASCII characters without a blank, "
            f"got {len(token)} characters"
        )

    def test_the_file_is_for_its_owner_only_and_goes_with_the_server(self, tmp_path: Path) -> None:
        database, access = tmp_path / "arena.db", Access("127.0.0.1:9", "t" * 32)
        path = path_of(database, "trial")
        with AccessFile(database, "trial", access, {}):
            assert path.name == "arena.db-trial.admin"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert find_access(database, None, None, {}) == access
            assert find_access(database, "trial", None, {}) == access
        assert list(tmp_path.iterdir()) == []

    def test_a_file_left_behind_is_replaced_and_never_readable_by_others(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        path = path_of(database, "trial")
        path.write_text("old")
        path.chmod(0o644)
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_the_file_of_another_server_is_left_alone(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        newer = Access("127.0.0.1:10", "n" * 32)
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            AccessFile(database, "trial", newer, {}).__enter__()
        assert find_access(database, None, None, {}) == newer

    def test_a_file_that_somebody_removed_is_no_reason_to_fail(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            path_of(database, "trial").unlink()

    def test_a_token_of_the_environment_is_not_written_down(self, tmp_path: Path) -> None:
        database, given = tmp_path / "arena.db", {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(database, "trial", Access("127.0.0.1:9", "e" * 16), given):
            assert "e" * 16 not in path_of(database, "trial").read_text()
            assert find_access(database, None, None, given) == Access("127.0.0.1:9", "e" * 16)
            with pytest.raises(
                ConfigError, match=r"^the server has its token from ARENA_ADMIN_TOKEN; set the same here$"
            ):
                find_access(database, None, None, {})

    def test_the_file_of_a_server_with_postgresql_is_in_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        database, access = Postgres("postgresql://host/name"), Access("127.0.0.1:9", "t" * 32)
        with AccessFile(database, "trial", access, {}):
            assert [path.name for path in tmp_path.iterdir()] == ["arena.db-trial.admin"]
            assert find_access(database, None, None, {}) == access

    def test_a_file_without_a_token_need_not_be_written(self, tmp_path: Path) -> None:
        database, given = tmp_path / "nowhere" / "arena.db", {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(database, "trial", Access("127.0.0.1:9", "e" * 16), given):
            assert find_access(database, None, "127.0.0.1:9", given) == Access("127.0.0.1:9", "e" * 16)

    def test_no_folder_to_write_to(self, tmp_path: Path) -> None:
        database = tmp_path / "nowhere" / "arena.db"
        with (
            pytest.raises(ArenaError, match=r"arena.db-trial.admin: cannot be written: No such file or dir"),
            AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}),
        ):
            pass

    def test_no_server_plays_here(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        words = (
            f"{database}: no server with an admin port plays here; start it by arena serve --admin-port 0, "
            "or say where it is by --connect, and its token by ARENA_ADMIN_TOKEN"
        )
        for contest, connect in ((None, None), ("trial", None)):
            with pytest.raises(ArenaError) as caught:
                find_access(database, contest, connect, {})
            assert str(caught.value) == words
        with pytest.raises(ConfigError, match=r"^--connect: the server's token is needed too: set "):
            find_access(database, None, "127.0.0.1:9", {})
        with pytest.raises(ConfigError, match=r"^--contest: expected the name of a contest, got '\.\./a'$"):
            find_access(database, "../a", None, {})

    def test_several_servers_play_here(self, tmp_path: Path) -> None:
        database = tmp_path / "arena.db"
        for number, name in enumerate(("spring", "autumn")):
            AccessFile(database, name, Access(f"127.0.0.1:{number}", "t" * 32), {}).__enter__()
        AccessFile(tmp_path / "other.db", "winter", Access("127.0.0.1:7", "t" * 32), {}).__enter__()
        with pytest.raises(ConfigError) as caught:
            find_access(database, None, None, {})
        assert str(caught.value) == (
            f"{database}: more than one contest is played here; choose by --contest: autumn, spring"
        )
        assert find_access(database, "spring", None, {}).address == "127.0.0.1:0"
        with pytest.raises(ArenaError) as unknown:
            find_access(database, "spr", None, {})  # the beginning of a name is no name
        assert str(unknown.value) == (
            f"{database}: no server plays a contest 'spr' here; there are: autumn, spring"
        )

    def test_a_line_does_not_name_hundreds_of_contests(self, tmp_path: Path) -> None:
        for number in range(300):
            path_of(tmp_path / "arena.db", f"c{number:03}").write_text("{}")
        for contest in (None, "x"):
            with pytest.raises(ArenaError, match=r": c000, .*, c019 and 280 more$"):
                find_access(tmp_path / "arena.db", contest, None, {})

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 1}', "\xff"])
    def test_a_file_that_is_none(self, tmp_path: Path, text: str) -> None:
        path = path_of(tmp_path / "arena.db", "trial")
        path.write_text(text, encoding="latin-1")
        with pytest.raises(ArenaError, match=r"arena.db-trial.admin: cannot be read: "):
            find_access(tmp_path / "arena.db", None, None, {})

    def test_what_is_said_on_the_command_line_goes_before_the_file(self, tmp_path: Path) -> None:
        database, given = tmp_path / "arena.db", {TOKEN_VARIABLE: "e" * 16}
        with AccessFile(database, "trial", Access("127.0.0.1:9", "t" * 32), {}):
            assert find_access(database, None, "host:1", {}) == Access("host:1", "t" * 32)
            assert find_access(database, None, None, given) == Access("127.0.0.1:9", "e" * 16)
            assert find_access(database, None, "host:1", given) == Access("host:1", "e" * 16)


def test_the_access_file_is_json(tmp_path: Path) -> None:
    with AccessFile(tmp_path / "arena.db", "trial", Access("127.0.0.1:9", "t" * 32), {}):
        read = json.loads(path_of(tmp_path / "arena.db", "trial").read_text())
    assert read == {"address": "127.0.0.1:9", "token": "t" * 32}
