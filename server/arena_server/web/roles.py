"""Roles: tokens that may give some of the organiser's orders, and see the status of the contests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Protocol

from arena_server.core.deal import token_digest
from arena_server.core.facts import Order
from arena_server.core.orders import VERBS, standing
from arena_server.errors import ConfigError


class RoleKeys(Protocol):
    """The keys of a `[[server.role]]`."""

    @property
    def name(self) -> str: ...

    @property
    def token_sha256(self) -> str: ...

    @property
    def may(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Role:
    """Who has the token of this SHA-256 may give the orders of these verbs."""

    name: str
    token_sha256: str
    may: frozenset[str]

    def refusal(self, verb: str, orders: Sequence[Order]) -> str | None:
        """Why it may not give this order after `orders`, in one line; None: it may."""
        if verb not in self.may:
            return f"the role {self.name} may not {verb}; it may {', '.join(sorted(self.may))}"
        # Who may not give an order may not take it back.
        last = standing(orders)[-1:] if verb == "undo" else []
        if last and last[0].verb not in self.may:
            return f"the role {self.name} may not undo {last[0].verb}, an order that it may not give"
        return None


def roles_of(tables: Iterable[RoleKeys]) -> tuple[Role, ...]:
    """The roles of a file. Raises ConfigError."""
    found: list[Role] = []
    for number, table in enumerate(tables, start=1):
        place = f"server.role {number}"
        for verb in table.may:
            if verb not in VERBS:
                raise ConfigError(
                    f"{place}: may: expected orders, some of {', '.join(VERBS)}, got {verb!r:.40}"
                )
        if any(table.name == each.name or table.token_sha256 == each.token_sha256 for each in found):
            raise ConfigError(f"{place}: expected a name and a token of its own, got those of another role")
        found.append(Role(table.name, table.token_sha256, frozenset(table.may)))
    return tuple(found)


def role_of(roles: Iterable[Role], token: str) -> Role | None:
    """The role of this token; None: it has none."""
    if not token.isascii():
        return None
    digest = token_digest(token)
    return next((role for role in roles if compare_digest(digest, role.token_sha256)), None)
