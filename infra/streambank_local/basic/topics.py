"""Classifies facts by managed topic."""

from __future__ import annotations

import re

from streambank.model.memory import ManagedTopic
from streambank_local.basic.meaning import Meaning

_TASTES = (
    "likes ",
    "rather ",
    "favorite ",
    "sugar in",
    "milk in",
    "cream in",
    "honey in",
    "lemon in",
    "sweetener in",
    "team",
    "diet",
)
_PREFERENCE = re.compile(r"\b(?:prefer|favorite|like|would (?:love|like|rather)|rather|want|interested in|into)\b")
_EVENT = re.compile(
    r"\b(?:was|were|went|did|had|got|saw|met|took|bought|sold|made|came|ran|ate|won|lost|left|found|gave|told|started"
    r"|will|going to|[a-z]{2,20}ed)\b|\b(?:in|on|around) (?:[a-z ]{0,16}\d{1,2} )?[a-z]+ \d{4}\b"
)
_FAMILY = re.compile(r"^(?:my|our) ")


def classify_topic(meaning: Meaning) -> ManagedTopic:
    """Return the managed topic of *meaning*."""
    if meaning.slot is not None:
        key = meaning.slot.key.rpartition(" / ")[2]
        return ManagedTopic.USER_PREFERENCES if key.startswith(_TASTES) else ManagedTopic.USER_PERSONAL_INFO
    if meaning.owner or _FAMILY.match(meaning.plain):
        return ManagedTopic.USER_PERSONAL_INFO
    if _PREFERENCE.search(meaning.plain):
        return ManagedTopic.USER_PREFERENCES
    return ManagedTopic.KEY_CONVERSATION_DETAILS if _EVENT.search(meaning.plain) else ManagedTopic.USER_PERSONAL_INFO
