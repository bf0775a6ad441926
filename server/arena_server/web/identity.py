"""What the pages say of their organiser: the table `[site]` of a configuration, with its logo read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_server.terms.schema import SiteTable

#: The kinds of files that a logo may be.
LOGO_KINDS: Final = ("svg", "png")
LOGO_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class SiteIdentity:
    """`links` are texts with their addresses, `logo` the bytes of a file of `kind`."""

    title: str | None = None
    text: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    logo: bytes | None = None
    kind: str = LOGO_KINDS[0]


NO_IDENTITY: Final = SiteIdentity()


def identity_of(table: SiteTable, path: Path) -> SiteIdentity:
    """What the table of the configuration `path` says. Raises ConfigError for a logo that cannot be shown."""
    identity = SiteIdentity(table.title, table.text, tuple(table.links.items()))
    if table.logo is None:
        return identity
    kind = table.logo.rpartition(".")[2].lower()
    if kind not in LOGO_KINDS:
        raise ConfigError(f"{path}: site.logo: expected a file *.svg or *.png, got {table.logo!r}")
    try:
        logo = (path.parent / table.logo).read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: site.logo: {table.logo}: {error.strerror}") from None
    if len(logo) > LOGO_BYTES:
        raise ConfigError(f"{path}: site.logo: expected at most {LOGO_BYTES:,} bytes, got {len(logo):,}")
    return SiteIdentity(identity.title, identity.text, identity.links, logo, kind)
