"""`arena mcp`: a server of the Model Context Protocol for agents that write bots."""

from __future__ import annotations

from arena_protocol.errors import needs_extra
from arena_server.errors import ConfigError


def command() -> None:
    """Offer the commands of a bot author as tools to an agent, by the Model Context Protocol.

    It speaks on stdin and stdout; an agent starts it itself: docs/agents.md has the lines for its
    configuration. The tools are rules, protocol, starter, check, match, why and submit, and work in the
    current folder.

    Example: arena mcp
    """
    try:
        from arena_cli.agent_tools import make_server
    except ImportError as error:
        raise ConfigError(needs_extra("arena mcp", "mcp", in_all=False)) from error
    make_server().run("stdio")
