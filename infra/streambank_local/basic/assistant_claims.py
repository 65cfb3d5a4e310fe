"""What a turn puts on the table about the user: a value that a bare "No, Linz." then corrects."""

from __future__ import annotations

import re

from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.sentences import clean, is_question, split_sentences
from streambank_local.basic.short_answers import complete_answer
from streambank_local.basic.slots import NO, YES

_TOLD = re.compile(
    r"^(?:(?:so|ah|oh|noted|got it|great|understood|and|i (?:see|remember|know|believe|think)"
    r"|if i remember (?:correctly|right)|according to my notes)[,:]? (?:that )?){0,3}"
    r"(?P<told>(?:you|you're|you've|your) .+?)"
    r"(?:,? (?:right|correct|yes|no|still|(?:is|are|do|does|have|has)n't (?:it|that|you|he|she)"
    r"|is that (?:right|correct)|if i remember (?:correctly|right)))?$",
    re.IGNORECASE,
)
_AS_SAID = (
    (re.compile(r"\byou are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou're\b", re.IGNORECASE), "I'm"),
    (re.compile(r"\byou've\b", re.IGNORECASE), "I've"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
    (re.compile(r"^your\b", re.IGNORECASE), "My"),
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
)


def claim_about_user(text: str) -> str | None:
    """Return what a model's *text* says or asks of the user last, as the user would say it."""
    for sentence in reversed(split_sentences(text)[-3:]):
        plain = clean(sentence)
        told = _TOLD.match(plain)
        claim = complete_answer(plain, "yes") or (_as_user(told["told"]) if told is not None else None)
        if claim is not None or is_question(sentence):
            return claim
    return None


def ends_with_question(text: str) -> bool:
    """Tell whether a model's *text* ends with a question."""
    said = split_sentences(text)
    return bool(said) and is_question(said[-1])


def _as_user(told: str) -> str:
    for pattern, word in _AS_SAID:
        told = pattern.sub(word, told)
    return told


def correctable(note: PendingFact | None) -> PendingFact | None:
    """Return *note* if its slot holds a value that another word can take the place of."""
    slot = note.meaning.slot if note is not None else None
    return note if slot is not None and slot.value not in {NO, YES} else None


def repeats_value(text: str, note: PendingFact) -> bool:
    """Tell whether *text* repeats the value of *note* and asks nothing."""
    value = note.meaning.slot.value if note.meaning.slot is not None else ""
    return "?" not in text and bool(value) and re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE) is not None
