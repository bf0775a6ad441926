"""`arena proxy`: network faults between a client and a server."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_cli.options import duration
from arena_cli.streams import outlive_readers


def command(
    listen: Annotated[str, typer.Argument(metavar="LISTEN", help="HOST:PORT; port 0 picks one.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="HOST:PORT of the server.")],
    delay: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Pass every byte on so much later.")
    ] = None,
    jitter: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Add up to so much to the delay, drawn again and again."),
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="Cut lines into segments at drawn places.")] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Send what comes within 20 ms in one segment.")
    ] = False,
    reset_after: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Reset each connection after so long.")
    ] = None,
    seed: Annotated[int, typer.Option(help="What all draws are made from.")] = 0,
) -> None:
    """Pass connections on to a server, with network faults.

    Prints `listening on HOST:PORT` when clients can connect, and a line for each connection that ends.
    Runs until it is interrupted. The same seed cuts the same lines at the same places.

    Example: arena proxy 127.0.0.1:2007 localhost:2006 --delay 50ms --jitter 20ms --split --reset-after 30s
    """
    import asyncio

    outlive_readers()
    from arena_check.proxy import Faults, Proxy
    from arena_server.host.sockets import address_of, bind, parse_address

    faults = Faults(
        0 if delay is None else duration(delay, "--delay"),
        0 if jitter is None else duration(jitter, "--jitter"),
        split,
        join,
        None if reset_after is None else duration(reset_after, "--reset-after"),
        seed,
    )
    proxy = Proxy(parse_address(target, "TARGET"), faults, typer.echo)
    host, port = (listen[:-2], 0) if listen.endswith(":0") else parse_address(listen, "LISTEN")
    with bind(host.strip("[]"), port, "LISTEN") as listener:
        typer.echo(f"listening on {address_of(listener)}")
        asyncio.run(proxy.serve(listener))
