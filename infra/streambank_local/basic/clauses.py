"""Splits a compound sentence where both halves are complete statements."""

from __future__ import annotations

import re

_JOINT = re.compile(
    r"(?:\s*[;:]\s+|,?\s+(?:and|but)\s+(?:also\s+)?)(?=(?:i|i'm|i've|my)\s)|\.\s+(?=I\s)|,\s+(?=(?:i|i'm|i've|my)\s)",
    re.IGNORECASE,
)
# "I'm not vegan, I'm vegetarian" and "I changed banks, I'm with Erste" are one thought.
_ONE_THOUGHT = re.compile(r"n't\b|\b(?:not|no|never|neither|switched|changed|swapped)\b", re.IGNORECASE)
_BARE_JOINT = re.compile(
    r",?\s+and\s+(?=(?:live|work|have|love|like|hate|drive|play|study|keep|collect|prefer|speak|own|am) )",
    re.IGNORECASE,
)
_STARTS_ALONE = re.compile(r"^(?:i|i'm|i've|i'd|i'll)\s+\S", re.IGNORECASE)
_MINE = re.compile(
    r"^my (?:[\w'-]+ ){1,4}?(?:is|are|was|has|have|lives?|works?|likes?|loves?|plays?|\w+ed) ", re.IGNORECASE
)
_SUBORDINATE = re.compile(
    r"\b(?:when|if|because|that|while|unless|until|since|who|which|said|told|think|thought|whether|before|after|both"
    r"|between|wish|hope|as (?:i|we|it|if|long|soon)|so|not only)\b",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"\b(?:it|they|them|one|ones|there|that|this|he|she|him|too|either|neither)\b|\b(?:do|don't|am|am not|did|didn't"
    r"|can't|couldn't|won't|wasn't|haven't)$|^i (?:quit|stopped|gave up)(?: (?:in|on|after|at) .*| \d.*)?$",
    re.IGNORECASE,
)
# In "I see her on Tuesdays" the pronoun refers to an earlier sentence; in "my sister loves her cat" it does not.
_LEANING_BACK = re.compile(
    r"^(?!my\b).*\b(?:her|hers|his|their|theirs|its|these|those|such|the (?:same|former|latter))\b", re.IGNORECASE
)
_SIMPLE_PRESENT = re.compile(
    r"^i(?:'m| am| live| work| have| love| like| hate| drive| play| study| keep| collect| prefer| speak| own)\b",
    re.IGNORECASE,
)
# More parts than people put into one sentence; the limit keeps hostile input linear.
_MOST_PARTS = 6


def split_clauses(sentence: str) -> list[str]:
    """Return the statements in *sentence*, or the sentence itself."""
    statements: list[str] = []
    rest = sentence
    while len(statements) < _MOST_PARTS and (halves := _halves(rest)) is not None:
        statements.append(halves[0])
        rest = halves[1]
    return [*statements, rest]


def _halves(sentence: str) -> tuple[str, str] | None:
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[: joint.start()].rstrip(" ,"), sentence[joint.end() :]
        if joint[0].strip() == "," and _ONE_THOUGHT.search(left):
            continue
        if _stands(left) and _stands(right) and not _LEANING_BACK.match(right):
            return left, right[:1].upper() + right[1:]
    return _bare_halves(sentence)


def _stands(half: str) -> bool:
    starts = _STARTS_ALONE.match(half) or _MINE.match(f"{half} ")
    return bool(starts) and len(half.split()) > 1 and not (_SUBORDINATE.search(half) or _LEANING.search(half))


def _bare_halves(sentence: str) -> tuple[str, str] | None:
    """Split "I live in Graz and work as a nurse", whose second half has the subject of the first."""
    joint = _BARE_JOINT.search(sentence)
    if joint is None or not _SIMPLE_PRESENT.match(sentence):
        return None
    left, right = sentence[: joint.start()], f"I {sentence[joint.end() :]}"
    if " and " in left or min(len(left.split()), len(right.split())) < 3 or _LEANING_BACK.match(right):
        return None
    return (left, right) if _stands(left) and _stands(right) else None
