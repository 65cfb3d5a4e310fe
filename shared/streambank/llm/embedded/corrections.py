"""Self-corrections that give only the right word: "actually I meant Linz"."""

from __future__ import annotations

import re

from streambank.llm.embedded.answers import is_filler
from streambank.llm.embedded.draft import Note

_MARKER = (
    r"(?:(?:wait|no|nope|sorry|oops|actually|hold on|correction|scratch that|my bad|my mistake)(?:[\s,.:;!…-]+|$))"
)
_ANNOUNCED = re.compile(rf"^{_MARKER}+$", re.IGNORECASE)
# "No" alone answers as often as it corrects.
_TELLING = re.compile(r"\b(?:wait|sorry|oops|actually|correction|scratch that|mistake|my bad)\b", re.IGNORECASE)
_MEANT = re.compile(
    rf"^{_MARKER}*(?P<how>i meant(?: to say)?|i mean|make that|that should be)[,:]? (?P<right>.+)$", re.IGNORECASE
)
_MARKED = re.compile(rf"^(?P<markers>{_MARKER}+)(?:it's |it is )?(?P<right>.+)$", re.IGNORECASE)
_NOT_WRONG = re.compile(r"^(?P<right>.+?),? (?:not|instead of|rather than) (?P<wrong>.+)$", re.IGNORECASE)
_STATEMENT = re.compile(
    r"^(?:i|i'm|i've|my|we|our|it|it's|he|she|they|you|that|this|there|what|how|thanks|please|let|good|see|all)\b",
    re.IGNORECASE,
)
# A correction names a value, not a story.
_LONGEST_VALUE = 4
_LONGEST_CORRECTION = 120


def announces_correction(sentence: str) -> bool:
    """Tell whether *sentence* only announces a correction: "Wait, no."."""
    short = len(sentence) < _LONGEST_CORRECTION
    return short and _ANNOUNCED.match(sentence) is not None and _TELLING.search(sentence) is not None


def corrected(sentence: str, *, announced: bool) -> tuple[str, str | None] | None:
    """Return the right value that *sentence* gives and the wrong one if named, or None if it corrects nothing."""
    told = _told(sentence, announced=announced) if len(sentence) < _LONGEST_CORRECTION else None
    if told is None:
        return None
    pair = _NOT_WRONG.match(told)
    right, wrong = (pair["right"], pair["wrong"]) if pair else (told, None)
    return (right, wrong) if _is_value(right) else None


def _told(sentence: str, *, announced: bool) -> str | None:
    meant = _MEANT.match(sentence)
    if meant is not None and (meant["how"].lower() != "i mean" or _is_pointed(meant["right"])):
        return meant["right"]
    marked = _MARKED.match(sentence)
    if marked is None:
        return sentence if announced else None
    sure = announced or len(marked["markers"].split()) > 1 or _NOT_WRONG.match(marked["right"]) is not None
    return marked["right"] if sure else None


def _is_pointed(value: str) -> bool:
    return value[:1].isupper() or value[:1].isdigit()


def _is_value(right: str) -> bool:
    return len(right.split()) <= _LONGEST_VALUE and not _STATEMENT.match(right) and not is_filler(right)


def replaced(note: Note, right: str, wrong: str | None) -> str | None:
    """Return *note*'s text with its value, or the *wrong* one, replaced by *right*; None if it holds neither."""
    value = wrong or (note.meaning.slot.value if note.meaning.slot is not None else "")
    found = re.search(rf"\b{re.escape(value)}\b", note.text, re.IGNORECASE) if value else None
    return None if found is None else note.text[: found.start()] + right + note.text[found.end() :]
