"""Cards for a class: one page to print, with a card for each author, its link or token, and a QR code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from arena_cli.tables import bdi
from arena_server.web import languages


@dataclass(frozen=True, slots=True)
class Card:
    """What one author gets: a link that holds until `until`, or the token of the bot `name`."""

    name: str
    author: str
    secret: str
    until: str = ""
    #: Its author sends versions of the bot.
    submit: bool = False


#: Longer names are smaller.
LONG: Final = 14
#: Ten cards on a page of A4, to be cut along the lines.
_STYLE: Final = """
@page { size: A4; margin: 10mm }
* { box-sizing: border-box }
body { margin: 0; font: 8pt/1.3 sans-serif; color: #000; background: #fff }
main { display: grid; grid-template-columns: repeat(2, 95mm); grid-auto-rows: 55mm; width: 190mm;
  margin: auto }
article { border: 0.2mm dashed #777; padding: 3mm; overflow: hidden; display: grid;
  grid-template: minmax(0, 1fr) auto / minmax(0, 1fr) 34mm; gap: 1mm 2mm; break-inside: avoid }
article > div { overflow: hidden }
h2 { font-size: 13pt; line-height: 1.15; margin: 0; overflow-wrap: anywhere }
h2.long { font-size: 9.5pt }
.author { white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
p { margin: 1mm 0 0; overflow-wrap: anywhere }
code { font: 7.5pt/1.25 monospace; overflow-wrap: anywhere }
.secret { grid-column: 1 / -1; margin: 0 }
svg { width: 34mm; height: 34mm; display: block }
@media screen { body { padding: 10mm 0; background: #eee } article { background: #fff } }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def sheet(contest: str, cards: Sequence[Card], address: str = "", language: str = languages.ENGLISH) -> str:
    """The page; it loads nothing. `address` is HOST:PORT of the bots where cards have tokens."""
    title = escape(languages.written(language, "Cards for {}").format(contest))
    articles = "\n".join(_article(contest, card, address, language) for card in cards)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{articles}\n</main>\n</body>\n</html>\n"
    )


def _article(contest: str, card: Card, address: str, language: str) -> str:
    def text(english: str, *values: str) -> str:
        return escape(languages.written(language, english).format(*values))

    if card.until:
        once = "Open this link, name your bot, and write its token down: it is shown once."
        lines = [text(once), text("Good once, until {}.", card.until)]
        code = card.secret
    else:
        where = address if address and not card.submit else "______________________"
        command = (
            f"arena submit ./{card.name} --name {card.name}"
            if card.submit
            else f"python mybot.py HOST PORT {card.name} TOKEN"
        )
        lines = [
            text("The token of your bot. Only who has it plays under this name."),
            text("Server: {}", where),
            f"<code>{escape(command)}</code>",
        ]
        host, _, port = address.rpartition(":")
        code = " ".join(filter(None, (host, port, card.name, card.secret)))
    about = "".join(f"<p>{line}</p>" for line in lines)
    author = f'<p class="author">{bdi(card.author)}</p>' if card.author else ""
    size = ' class="long"' if len(card.name) > LONG else ""
    return (
        f"<article><div><p>{bdi(contest)}</p>"
        f"<h2{size}>{bdi(card.name)}</h2>{author}{about}</div>"
        f'{_qr_code(code)}<p class="secret"><code>{escape(card.secret)}</code></p></article>'
    )


def _qr_code(text: str) -> str:
    """The text as an SVG element, which is still read where a seventh of it is dirty."""
    import segno

    return segno.make(text, error="m", micro=False).svg_inline(border=1, omitsize=True)
