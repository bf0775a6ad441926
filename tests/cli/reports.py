"""What a file of `arena report` holds."""

from __future__ import annotations

import gzip
import re
from base64 import b64decode
from pathlib import Path


def unpacked(path: Path) -> dict[str, bytes]:
    """The documents in a file, by their paths; none if it is no report."""
    held = re.findall(rb'<script type="text/plain" data-path="([^"]+)">([^<]*)</script>', path.read_bytes())
    return {name.decode(): gzip.decompress(b64decode(text)) for name, text in held}
