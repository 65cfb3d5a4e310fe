"""Self-corrections that give only the right word: "actually I meant Linz"."""

from __future__ import annotations

import re

from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.short_answers import is_filler
from streambank_local.basic.slots import NO, YES

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
_DENIES = re.compile(r"^(?:no|nope|nah)$", re.IGNORECASE)
_DENIED = re.compile(
    r"^(?:no|nope|nah)(?: no)?\s*[,.:;!\u2026\u2013\u2014-]\s*(?:actually,? )?(?:it's |it is )?(?P<right>.+)$",
    re.IGNORECASE,
)
# Words after "No," that begin anything but a value.
_NO_VALUE = re.compile(
    r"^(?:not|never|really|but|and|because|just|only|still|sorry|wait|why|who|where|when|don't|do|does|did|joking|kidding"
    r"|seriously|stop"
    r"|nothing|none|nobody|maybe|later|never mind|if|so|too|well|sir|man|problem|worries|way|idea|need|comment)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "the"})
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


def parse_correction(sentence: str, *, announced: bool) -> tuple[str, str | None] | None:
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


def is_bare_no(sentence: str) -> bool:
    """Tell whether *sentence* is a bare "No"."""
    return _DENIES.match(sentence) is not None


def correction_of_claim(sentence: str, note: PendingFact) -> str | None:
    """Return the value that "No, Linz" gives in place of that of *note*, which was said just before it."""
    found = _DENIED.match(sentence) if len(sentence) < _LONGEST_CORRECTION else None
    right = found["right"] if found is not None else ""
    if not _is_value(right) or _NO_VALUE.match(right) or _NOT_WRONG.match(right):
        return None
    at = _place(note, None)
    # A name is corrected by a name: "No, thanks" is none.
    fits = at is not None and (not _is_pointed(note.text[at.start() :]) or any(map(_is_pointed, right.split())))
    return right if fits else None


def _is_pointed(value: str) -> bool:
    return value[:1].isupper() or value[:1].isdigit()


def _is_value(right: str) -> bool:
    return 0 < len(right.split()) <= _LONGEST_VALUE and not _STATEMENT.match(right) and not is_filler(right)


def replace_value(note: PendingFact, right: str, wrong: str | None) -> str | None:
    """Return *note*'s text with its value, or the *wrong* one, replaced by *right*; None if it holds neither."""
    found = _place(note, wrong)
    return None if found is None else _joined(note.text[: found.start()], right) + note.text[found.end() :]


def _place(note: PendingFact, wrong: str | None) -> re.Match[str] | None:
    """Return where *note*'s text holds its value, or the *wrong* one."""
    value = wrong or (note.meaning.slot.value if note.meaning.slot is not None else "")
    found = re.search(rf"\b{re.escape(value)}\b", note.text, re.IGNORECASE) if value else None
    return found if wrong or value not in {NO, YES} else None


def _joined(before: str, right: str) -> str:
    """Return *before* and *right* with one "in" or article between them: "in", "in Linz" is "in Linz"."""
    rest, _, last = before.rstrip().rpartition(" ")
    first = right.split(" ", 1)[0].lower()
    doubled = last.lower() == first or {last.lower(), first} <= _ARTICLES
    return f"{rest} {right}" if doubled and rest else before + right
