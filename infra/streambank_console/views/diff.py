"""What changed from one text to the next, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from streambank_console.views.text import visible

SAME, ADDED, REMOVED = "same", "added", "removed"
_WORDS = re.compile(r"\s+|[^\s\w]+|\w+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: the same in both, added, or removed."""

    kind: str
    text: str


def difference(before: str, after: str) -> tuple[Piece, ...]:
    """Return the pieces that make *after* of *before*, in reading order."""
    old, new = _WORDS.findall(visible(before)), _WORDS.findall(visible(after))
    pieces = list[Piece]()
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(SAME, "".join(old[i:j])))
            continue
        pieces += [Piece(REMOVED, "".join(old[i:j]))] if i < j else []
        pieces += [Piece(ADDED, "".join(new[k:m]))] if k < m else []
    return tuple(pieces)
