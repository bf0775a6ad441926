"""What is behind each path of the admin port.

    GET  /metrics   for Prometheus        GET  /status   for `arena admin status`
    GET  /healthz   is the loop alive     POST /orders   {"verb": ..., "target": ...}
    GET  /readyz    may bots come

It must not know: how HTTP is spoken, how orders are obeyed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from arena_server.admin.desk import Desk, Unresponsive
from arena_server.admin.door import Answer, Page, Pages
from arena_server.admin.metrics import CONTENT_TYPE, exposition
from arena_server.admin.view import NotBegunError, ServerView
from arena_server.core.standings import Overview


class Desktop:
    """Makes the pages out of what the loop, asked over a desk, says of a server."""

    def __init__(self, desk: Desk, view: ServerView) -> None:
        self._desk = desk
        self._view = view

    def pages(self) -> Pages:
        """All pages; one that cannot be answered for now has status 503."""
        return {
            ("GET", "/metrics"): Page(_patient(self._metrics)),
            ("GET", "/healthz"): Page(_patient(self._health)),
            ("GET", "/readyz"): Page(_patient(self._readiness)),
            ("GET", "/status"): Page(_patient(self._status), guarded=True),
            ("POST", "/orders"): Page(_patient(self._order), guarded=True),
        }

    def _metrics(self, _: bytes) -> Answer:
        return Answer(200, exposition(self._desk.ask(self._view.snapshot)), CONTENT_TYPE)

    def _health(self, _: bytes) -> Answer:
        self._desk.ask(lambda: None)
        return Answer.text(200, "ok")

    def _readiness(self, _: bytes) -> Answer:
        problem = self._desk.ask(self._view.problem)
        return Answer.text(200, "ready") if problem is None else Answer.text(503, problem)

    def _status(self, _: bytes) -> Answer:
        return Answer.json(200, {"contest": self._view.name, **plain(*self._desk.ask(self._view.overview))})

    def _order(self, body: bytes) -> Answer:
        order = _read(body)
        if order is None:
            return Answer.json(400, {"error": 'expected {"verb": "...", "target": "..."}'})
        problem = self._desk.order(self._view.host, *order)
        return Answer.json(200, {"done": True}) if problem is None else Answer.json(409, {"error": problem})


def _patient(page: Callable[[bytes], Answer]) -> Callable[[bytes], Answer]:
    def call(body: bytes) -> Answer:
        try:
            return page(body)
        except (Unresponsive, NotBegunError) as error:
            return Answer.json(503, {"error": str(error)})

    return call


def _read(body: bytes) -> tuple[str, str] | None:
    """The verb and the target of an order; None if it is none."""
    try:
        order = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(order, dict):
        return None
    verb, target = order.get("verb"), order.get("target", "")
    return (verb, target) if isinstance(verb, str) and isinstance(target, str) else None


def plain(overview: Overview, connections: int) -> dict[str, Any]:
    """An overview as JSON has it; the standings, by bot, stand with the bots."""
    progress = overview.progress
    rows = {row.name: row for row in progress.standings}
    games = {key: getattr(progress, key) for key in ("done", "total", "void", "running")}
    return {
        "state": overview.gate,
        "games": games,
        "plies": progress.plies,
        "connections": connections,
        "running": [asdict(game) for game in overview.running],
        "bots": [
            {**asdict(bot), "points": rows[bot.name].points, "games": rows[bot.name].games}
            for bot in overview.bots
        ],
    }
