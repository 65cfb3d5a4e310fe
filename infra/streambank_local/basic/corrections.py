"""Corrections that give only the right word: "actually I meant Linz"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from streambank.llm.ports import OfferedMemory
from streambank_local.basic.fact_list import PendingFact
from streambank_local.basic.meaning import parse_meaning
from streambank_local.basic.short_answers import is_filler
from streambank_local.basic.slots import NO, YES

_MARKER = (
    r"(?:(?:wait|no|nope|sorry|oops|actually|hold on|correction|scratch that|my bad|my mistake)(?:[\s,.:;!…-]+|$))"
)
_ANNOUNCED = re.compile(rf"^{_MARKER}+$", re.IGNORECASE)
# "No" alone may be an answer, so one of these words must be there.
_CORRECTION_WORD = re.compile(r"\b(?:wait|sorry|oops|actually|correction|scratch that|mistake|my bad)\b", re.IGNORECASE)
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
# Words after "No," that do not begin a value.
_NO_VALUE = re.compile(
    r"^(?:not|never|really|but|and|because|just|only|still|sorry|wait|why|who|where|when|don't|do|does|did|joking"
    r"|kidding|seriously|stop"
    r"|nothing|none|nobody|maybe|later|never mind|if|so|too|well|sir|man|problem|worries|way|idea|need|comment)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "the"})
_STATEMENT = re.compile(
    r"^(?:i|i'm|i've|my|we|our|it|it's|he|she|they|you|that|this|there|what|how|thanks|please|let|good|see|all)\b",
    re.IGNORECASE,
)
# A correction is a value of a few words.
_LONGEST_VALUE = 4
_LONGEST_CORRECTION = 120


_SCRAPPED = re.compile(
    r"^(?:(?:let's |please )?(?:scrap|scratch|strike|undo|cancel|drop|ignore|ditch|never ?mind|forget)(?: about)? "
    r"(?:that|it|this|(?:that|the|this) (?:plan|idea|trip))|(?:a )?change of plans?|(?:the |our |my )?plans? (?:has "
    r"|have )?(?:changed|fell through)|new plan)(?:\s*[,;:.!\u2013\u2014-]+\s*|$)(?P<rest>.*)$",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:plan\w*|go|going|will|'ll|want to|fly|flying|travel\w*|trip|visit\w*|booked|meet\w*|next|tomorrow|holiday"
    r"|vacation|training|running|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july"
    r"|august|september|october|november|december|this (?:year|summer|winter|autumn|spring|weekend))\b",
    re.IGNORECASE,
)


def rest_after_scrapping(sentence: str) -> str | None:
    """Return what follows "scrap that" in *sentence*, or None if it takes no plan back."""
    match = _SCRAPPED.match(sentence)
    return match["rest"] if match is not None else None


def find_scrapped(memories: Iterable[OfferedMemory], statement: str, plan: str) -> int | None:
    """Return the number of the memory of a plan that *plan* replaces after *statement*: common words, then newest."""
    words = parse_meaning(f"{statement} {plan}").content if _PLAN.search(plan) else frozenset[str]()
    plans = [one for one in memories if words and _PLAN.search(one.fact)]
    best = max(plans, key=lambda one: (len(words & parse_meaning(one.fact).content), one.as_of), default=None)
    return best.number if best is not None else None


def find_corrected(
    memories: Iterable[OfferedMemory], statement: str, right: str, wrong: str | None
) -> tuple[int, str] | None:
    """Return the number of the memory that *statement* corrects, and its right text; None if it corrects no memory.

    It has the *wrong* value, or is the newest one if *statement* says what was meant.
    """
    if wrong is None and _MEANT.match(statement) is None:
        return None
    newest = sorted(memories, key=lambda one: one.as_of, reverse=True)
    for one in newest if wrong else newest[:1]:
        text = replace_value(PendingFact(one.fact, (), "", parse_meaning(one.fact), own=False), right, wrong)
        if text is not None and text != one.fact:
            return one.number, text
    return None


def announces_correction(sentence: str) -> bool:
    """Tell whether *sentence* only announces a correction: "Wait, no."."""
    short = len(sentence) < _LONGEST_CORRECTION
    return short and _ANNOUNCED.match(sentence) is not None and _CORRECTION_WORD.search(sentence) is not None


def parse_correction(sentence: str, *, announced: bool) -> tuple[str, str | None] | None:
    """Return the right value in *sentence*, and the wrong one if it is named; None if it is no correction."""
    value = _corrected_value(sentence, announced=announced) if len(sentence) < _LONGEST_CORRECTION else None
    if value is None:
        return None
    pair = _NOT_WRONG.match(value)
    right, wrong = (pair["right"], pair["wrong"]) if pair else (value, None)
    return (right, wrong) if _is_value(right) else None


def _corrected_value(sentence: str, *, announced: bool) -> str | None:
    meant = _MEANT.match(sentence)
    if meant is not None and (meant["how"].lower() != "i mean" or _is_name_or_number(meant["right"])):
        return meant["right"]
    marked = _MARKED.match(sentence)
    if marked is None:
        return sentence if announced else None
    sure = announced or len(marked["markers"].split()) > 1 or _NOT_WRONG.match(marked["right"]) is not None
    return marked["right"] if sure else None


def is_bare_no(sentence: str) -> bool:
    """Tell whether *sentence* says only "No"."""
    return _DENIES.match(sentence) is not None


def correction_of_claim(sentence: str, fact: PendingFact) -> str | None:
    """Return the value by which "No, Linz" replaces that of *fact*, the claim just before it; None if it does not."""
    match = _DENIED.match(sentence) if len(sentence) < _LONGEST_CORRECTION else None
    right = match["right"] if match is not None else ""
    if not _is_value(right) or _NO_VALUE.match(right) or _NOT_WRONG.match(right):
        return None
    at = _find_value(fact, None)
    # A name is corrected by a name: "No, thanks" is none.
    fits = at is not None and (
        not _is_name_or_number(fact.text[at.start() :]) or any(map(_is_name_or_number, right.split()))
    )
    return right if fits else None


def _is_name_or_number(value: str) -> bool:
    return value[:1].isupper() or value[:1].isdigit()


def _is_value(right: str) -> bool:
    return 0 < len(right.split()) <= _LONGEST_VALUE and not _STATEMENT.match(right) and not is_filler(right)


def replace_value(fact: PendingFact, right: str, wrong: str | None) -> str | None:
    """Return *fact*'s text with its value, or *wrong*, replaced by *right*; None if the text has neither."""
    match = _find_value(fact, wrong)
    return None if match is None else _join(fact.text[: match.start()], right) + fact.text[match.end() :]


def _find_value(fact: PendingFact, wrong: str | None) -> re.Match[str] | None:
    """Return the match of its value, or of *wrong*, in *fact*'s text."""
    value = wrong or (fact.meaning.slot.value if fact.meaning.slot is not None else "")
    match = re.search(rf"\b{re.escape(value)}\b", fact.text, re.IGNORECASE) if value else None
    return match if wrong or value not in {NO, YES} else None


def _join(before: str, right: str) -> str:
    """Return *before* and *right* without a doubled "in" or article: "in", "in Linz" becomes "in Linz"."""
    rest, _, last = before.rstrip().rpartition(" ")
    first = right.split(" ", 1)[0].lower()
    doubled = last.lower() == first or {last.lower(), first} <= _ARTICLES
    return f"{rest} {right}" if doubled and rest else before + right
