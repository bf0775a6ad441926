"""The organiser's token, and the file by which `arena admin` finds token and address.

The file lies beside the database, with PostgreSQL in the server's current folder, as
`arena.db-CONTEST.admin` with mode 0600, and is removed when the server ends. A server that was
killed leaves it behind; the next one replaces it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_protocol.kinds import valid_name
from arena_server.errors import ArenaError, ConfigError, some_of
from arena_server.store.database import Database, home_of
from arena_server.store.files import replace_file
from arena_server.web.ports import TOKEN_BYTES

#: The environment's token takes precedence over the file's, on both sides.
TOKEN_VARIABLE: Final = "ARENA_ADMIN_TOKEN"  # noqa: S105 - the name of a variable
#: Shorter ones can be guessed.
SHORTEST: Final = 16
SUFFIX: Final = ".admin"


@dataclass(frozen=True, slots=True)
class Access:
    """Where the admin port is (`host:port`), and its token."""

    address: str
    token: str


def choose_token(environment: Mapping[str, str]) -> str:
    """The environment's token, else a fresh one. Raises ConfigError for a token that is too short."""
    given = environment.get(TOKEN_VARIABLE)
    if given is None:
        return secrets.token_hex(TOKEN_BYTES)
    if len(given) < SHORTEST or not (given.isascii() and given.isprintable()) or " " in given:
        raise ConfigError(
            f"{TOKEN_VARIABLE}: expected at least {SHORTEST} ASCII characters without a blank, "
            f"got {len(given)} characters"
        )
    return given


def path_of(database: Database, contest: str) -> Path:
    """The file of the server that plays `contest` into `database`."""
    home = home_of(database)
    return home.with_name(f"{home.name}-{contest}{SUFFIX}")


class AccessFile:
    """The file with an Access beside a database; it exists inside a `with` statement.

    A token from the environment is not written. Raises ArenaError if the file cannot be written.
    """

    def __init__(
        self, database: Database, contest: str, access: Access, environment: Mapping[str, str]
    ) -> None:
        self._path = path_of(database, contest)
        token = None if TOKEN_VARIABLE in environment else access.token
        self._needed = token is not None
        self._text = json.dumps({"address": access.address, "token": token}) + "\n"

    def __enter__(self) -> AccessFile:
        try:
            # Its token is a secret: none but the owner can ever read it.
            replace_file(self._path, self._text.encode("ascii"))
        except OSError as error:
            if not self._needed:  # --connect says where the server is
                return self
            raise ArenaError(f"{self._path}: cannot be written: {error.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the file, unless another server has replaced it."""
        try:
            if self._path.read_text(encoding="ascii") == self._text:
                self._path.unlink()
        except (OSError, ValueError):
            return  # it is gone or unreadable: it misleads no client


def find_access(
    database: Database,
    contest: str | None,
    connect: str | None,
    environment: Mapping[str, str],
    *,
    known: bool = True,
) -> Access:
    """Address and token of the server that plays into `database`.

    `contest` chooses between several servers; `connect` is the address if it is known. Unless the contest
    has to be `known` the only server is meant where none has it. Raises ConfigError or ArenaError with one
    line that says what is missing.
    """
    token = environment.get(TOKEN_VARIABLE)
    if connect is not None and token is not None:
        return Access(connect, token)
    path = _find(database, contest, known=known)
    if path is None and connect is not None:
        raise ConfigError(f"--connect: the server's token is needed too: set {TOKEN_VARIABLE}")
    if path is None:
        raise ArenaError(
            f"{database}: no server with an admin port plays here; start it by arena serve --admin-port 0, "
            f"or say where it is by --connect, and its token by {TOKEN_VARIABLE}"
        )
    try:
        found = json.loads(path.read_text(encoding="ascii"))
        address, its_token = str(found["address"]), found["token"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ArenaError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if token is None and its_token is None:
        raise ConfigError(f"the server has its token from {TOKEN_VARIABLE}; set the same here")
    return Access(connect or address, token or str(its_token))


def _find(database: Database, contest: str | None, *, known: bool) -> Path | None:
    if contest is not None:
        if not valid_name(contest):
            raise ConfigError(f"--contest: expected the name of a contest, got {contest!r:.40}")
        if (path := path_of(database, contest)).exists():
            return path
    home = home_of(database)
    beginning = f"{home.name}-"
    # By the beginning, not in the pattern: a name may have signs that `glob` reads otherwise.
    paths = [path for path in sorted(home.parent.glob(f"*{SUFFIX}")) if path.name.startswith(beginning)]
    names = some_of([path.name.removeprefix(beginning).removesuffix(SUFFIX) for path in paths])
    if contest is not None and known and paths:
        raise ArenaError(f"{database}: no server plays a contest {contest!r:.40} here; there are: {names}")
    if len(paths) > 1 and not known and len({path.read_bytes() for path in paths}) == 1:
        return paths[0]  # one server with several contests
    if len(paths) > 1:
        raise ConfigError(f"{database}: more than one contest is played here; choose by --contest: {names}")
    return paths[0] if paths else None
