"""Names of people, in any script: of visitors who play, and of the authors of bots.

A bot's name in the protocol is `arena_protocol.kinds.NAME`. `static/js/people.js` has the same rule for names
that stay in the browser.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Characters of a name that a reader sees: letters with their marks count once.
LONGEST_NAME: Final = 32
#: The same of an author, which may be a group.
LONGEST_AUTHOR: Final = 60
#: Marks on one letter: more of them cover the lines above and below.
MOST_MARKS: Final = 4
#: Unicode's Default_Ignorable_Code_Point, the controls of directions too, and a blank that is a symbol.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Scripts whose spelling needs joiners: Arabic, Syriac, N'Ko, those of India, Myanmar, Khmer, Mongolian.
_JOINING: Final = (
    "[\u0620-\u07ff\u0840-\u085f\u08a0-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa]"
)
_JOINERS: Final = re.compile(f"(?<={_JOINING})[\u200c\u200d](?={_JOINING})")
#: Letters that look like those of English, by which a name could pass for that of another player.
_ALIKE: Final = str.maketrans("авекмнорстухіјѕԁһӏαβεικνορτυχ", "abekmhopctyxijsdhlabeikvoptux")


def meaning(most: int = LONGEST_NAME) -> str:
    return f"1 to {most} characters, a letter or digit among them, all of which are seen"


def person_name(text: str, most: int = LONGEST_NAME) -> str:
    """The name as it is kept and shown: NFC, single blanks. Raises ValueError with one line."""
    name = " ".join(
        part for part in re.split("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+", text) if part
    )
    name = unicodedata.normalize("NFC", name)
    kinds = [unicodedata.category(each) for each in _JOINERS.sub("", name)]
    seen = sum(kind[0] != "M" for kind in kinds)
    marks = "".join("m" if kind[0] == "M" else "." for kind in kinds)
    if (
        not seen <= most
        or not any(kind[0] in "LN" for kind in kinds)
        or any(kind in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for kind in kinds)
        or _UNSEEN.search(_JOINERS.sub("", name))
        or marks[:1] == "m"
        or "m" * (MOST_MARKS + 1) in marks
    ):
        got = f"{seen} characters" if seen > most else f"{text!a:.40}"
        raise ValueError(f"expected {meaning(most)}, got {got}")
    return name


def looks(name: str) -> str:
    """What two names have in common that a reader may take for each other."""
    return unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE)
