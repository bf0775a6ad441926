"""Scripts and style sheets without the blanks that say nothing: a browser would load them for nothing.

A line stays where its end may end a statement of JavaScript.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from arena_server.web.languages import read_template, skip_string

_MARK: Final = re.compile(r"[\"'`/]| *([{}()\[\],;:?=<>*&|!]+) *")
_COMMENT: Final = re.compile(r" *(?://[^\n]*|/\*.*?\*/)", re.DOTALL)
#: Behind one of these no line ends a statement.
_GOES_ON: Final = tuple("{([,;:?=&|")
_BLANKS: Final = re.compile(r"[ \n]*")
_REGEX: Final = re.compile(r"/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\n[])+/")
#: Behind one of these `/` begins a regular expression; else it divides.
_BEFORE_REGEX: Final = re.compile(r"(?:^|[(,=:?&|!\[{;>\n]|\breturn) *$")
#: A blank before `:` begins another selector; a string stays as it is; the last `;` of a rule ends nothing.
_OF_STYLE: Final = re.compile(r'("[^"]*")|\s*(?:;\s*(?=\})|([{};,]|(?<!\s):)\s+|(?=\{))')


def script(text: str) -> str:
    """A script that does the same."""
    found, kept, at = [], 0, 0
    while mark := _MARK.search(text, at):
        begin = mark.start()
        if mark[1]:
            found += [text[kept:begin], mark[1]]
            kept = at = _next(text, mark.end(), mark[1])
        elif comment := _COMMENT.match(text, begin):
            found += [text[kept:begin]] if begin > kept else []
            kept = at = _next(text, comment.end(), found[-1] if found else "")
        elif mark[0] == "/":
            begins = _BEFORE_REGEX.search(text[max(0, begin - 80) : begin])
            regex = _REGEX.match(text, begin) if begins else None
            at = regex.end() if regex else mark.end()
        else:
            at = read_template(text, begin + 1)[1] if mark[0] == "`" else skip_string(text, begin)
    return "".join([*found, text[kept:]])


def _next(text: str, at: int, before: str) -> int:
    """The place of what is to be kept behind `before`, from `at` on."""
    blanks = _BLANKS.match(text, at) if before.endswith(_GOES_ON) else None
    return blanks.end() if blanks else at


@cache  # every site of a process has the same one
def style(text: str) -> str:
    """A style sheet without comments, which says the same."""
    lines = "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())
    return _OF_STYLE.sub(lambda found: found[1] or found[2], lines)
