"""Adds the omitted subject to a statement ("Just moved to Linz")."""

from __future__ import annotations

import re

_WITHOUT_I = re.compile(
    r"^(?:love|hate|prefer|adore|enjoy|can't stand|don't like|don't eat|don't drink|like|moved to|got (?:a|an|my"
    r"|married|engaged|divorced|promoted)|bought (?:a|an|my)|started (?:a|my|working|learning)|adopted|joined|sold "
    r"(?:my|the)|quit (?:my|smoking|drinking)|(?:just|recently|finally) (?:[a-z]{3,20}ed|got|bought|sold|quit|went"
    r"|began|became|won|lost|met|made))\b(?! (?:it|that|this|them|you|your|the (?:idea|way|sound))\b)",
    re.IGNORECASE,
)
_WITHOUT_AM = re.compile(
    r"^(?:allergic to|vegan|vegetarian|born (?:in|on)|based in|married|retired|working (?:as|at|for)|living in"
    r"|originally from|lactose intolerant)\b",
    re.IGNORECASE,
)
_HAS_SUBJECT = re.compile(
    r"^(?:love|hate|like) (?:and|for|from|of|in|has|can|will|at)\b|\b(?:should|must) be\b|"
    r"\b(?:is|are|was|were) \w|^like (?:i|my|a|the|you|when|if|what|how)\b",
    re.IGNORECASE,
)


def add_subject(sentence: str) -> str:
    """Return *sentence* with the "I" or "I'm" that it omits."""
    if _HAS_SUBJECT.search(sentence):
        return sentence
    lowered = sentence[:1].lower() + sentence[1:]
    if _WITHOUT_I.match(sentence):
        return f"I {lowered}"
    return f"I'm {lowered}" if _WITHOUT_AM.match(sentence) else sentence
