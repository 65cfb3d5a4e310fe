"""Claims of the assistant about the user, which a short "No, Linz." corrects."""

from __future__ import annotations

import re

from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.sentences import clean, is_question, split_sentences
from streambank_local.basic.short_answers import complete_answer
from streambank_local.basic.slots import NO, YES

_STATEMENT = re.compile(
    r"^(?:(?:so|ah|oh|noted|got it|great|understood|and|i (?:see|remember|know|believe|think)"
    r"|if i remember (?:correctly|right)|according to my notes)[,:]? (?:that )?){0,3}(?P<statement>(?:you|you're|you've"
    r"|your) .+?)(?:,? (?:right|correct|yes|no|still|(?:is|are|do|does|have|has)n't (?:it|that|you|he|she)"
    r"|is that (?:right|correct)|if i remember (?:correctly|right)))?$",
    re.IGNORECASE,
)
_TO_FIRST_PERSON = (
    (re.compile(r"\byou are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou're\b", re.IGNORECASE), "I'm"),
    (re.compile(r"\byou've\b", re.IGNORECASE), "I've"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
    (re.compile(r"^your\b", re.IGNORECASE), "My"),
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
)


def claim_about_user(text: str) -> str | None:
    """Return the last claim or question about the user in a model's *text*, in the first person."""
    for sentence in reversed(split_sentences(text)[-3:]):
        plain = clean(sentence)
        statement = _STATEMENT.match(plain)
        claim = complete_answer(plain, "yes") or (
            _in_first_person(statement["statement"]) if statement is not None else None
        )
        if claim is not None or is_question(sentence):
            return claim
    return None


def ends_with_question(text: str) -> bool:
    """Tell whether a model's *text* ends with a question."""
    last_sentences = split_sentences(text)
    return bool(last_sentences) and is_question(last_sentences[-1])


def _in_first_person(statement: str) -> str:
    for pattern, word in _TO_FIRST_PERSON:
        statement = pattern.sub(word, statement)
    return statement


def correctable(fact: PendingFact | None) -> PendingFact | None:
    """Return *fact* if its slot has a value that a correction can replace."""
    slot = fact.meaning.slot if fact is not None else None
    return fact if slot is not None and slot.value not in {NO, YES} else None


def repeats_value(text: str, fact: PendingFact) -> bool:
    """Tell whether *text* repeats the value of *fact* without a question."""
    value = fact.meaning.slot.value if fact.meaning.slot is not None else ""
    return "?" not in text and bool(value) and re.search(rf"\b{re.escape(value)}\b", text, re.IGNORECASE) is not None
