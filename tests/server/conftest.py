"""Settings of the server's tests: a busy machine is no reason for a property to fail."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("server", deadline=None)
settings.load_profile("server")
