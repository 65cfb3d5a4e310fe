"""Slots: attributes with one value at a time, found in the text of a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambank_local.basic.attributes import PATTERNS
from streambank_local.basic.words import STOP_WORDS, stem

NO = "no"
YES = "yes"


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute and its value.

    *confirms_only* is True if the slot can confirm another slot but not contradict it ("I have a cat called Tom").
    """

    key: str
    value: str
    confirms_only: bool = False

    def agrees(self, other: Slot) -> bool:
        """Tell whether both have the same value; one may have more words."""
        left, right = _value_words(self), _value_words(other)
        same_polarity = ("not" in left) == ("not" in right)
        return self.key == other.key and same_polarity and bool(left and right) and (left <= right or right <= left)

    def contradicts(self, other: Slot) -> bool:
        """Tell whether both cannot be true at once."""
        if self.key != other.key or self.confirms_only or other.confirms_only or self.agrees(other):
            return False
        negated = _negated_value(self.value) or _negated_value(other.value)
        return negated is None or negated in (self.value, other.value)


MEATLESS = "meatless"
_WITHOUT_MEAT = frozenset({"vegan", "vegetarian", "pescatarian", "pescetarian", "fruitarian"})


def _value_words(slot: Slot) -> set[str]:
    """Return the words of *slot*'s value and what they imply: a vegan eats no meat."""
    words = set(slot.value.split())
    return words | {MEATLESS} if words & _WITHOUT_MEAT else words


def _negated_value(value: str) -> str | None:
    return value.removeprefix("not ") if value.startswith("not ") else None


# A statement about certain occasions does not exclude another value on other occasions.
_OCCASION = re.compile(
    r" (?:(?:at|on|over) (?:the )?weekends?(?! of)|(?:on|every) (?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:in|during) (?:the )?(?:summers?|winters?|spring|autumn|mornings?|evenings?|afternoons?)(?! \d)|at night"
    r"|sometimes|occasionally|every (?:other )?(?:weekend|summer|winter|week|month)|once|twice|when|whenever|if"
    r"|part time|on the side|for work|at work)(?: |$)"
)
_ONE_AT_A_TIME = frozenset({"car", "employer", "job", "residence", "workplace"})
_ABSTAINS = re.compile(
    r"^i (?:have )?(?:not|never|gave up|given up|quit|stopped) (?:(?:eat|eating|eaten) )?(?:any )?meat"
    r"(?: (?:or|and) fish)?(?=$| ,| (?:because|since|for)\b)"
)

_NAMED_THING = re.compile(
    r"^(?:i|we) (?:\w+ )?(?:have|got|adopted) (?:an?|another) (?P<of>(?:\w+ )??\w+) (?:called|named) (?P<value>.+)"
)
_TASTE = re.compile(r"^i (?P<not>not )?like (?!it\b|that\b|this\b|them\b|him\b|her\b|you\b)(?P<of>.+)")
_RATHER = re.compile(r"^i prefer (?P<value>.+?) (?:to|over|rather than|instead of) (?P<other>.+)")
_PREFER = re.compile(r"^i prefer (?P<of>.+)")
_BEVERAGE = re.compile(r"\b(tea|coffee|espresso|latte|cocoa|matcha)\b")
_ADDITIVE = re.compile(r"\b(sugars?|milk|cream|honey|sweetener|lemon)\b")
_WITHOUT = re.compile(r"\b(?:no|not|without|never|less) ")

# A value ends before a reason, an aside, the next statement or a date.
_VALUE_END = re.compile(
    r" (?:,|because|since|but|so|instead|and (?:i|my|we)|with (?:my|our)|for (?:\d|two|three|four|five|ten|a |many)"
    r"|(?:in|on|around|until|from) (?:the \w+ of )?(?:\d{1,2} )?(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|\d{4})\b|too|as well|please|from on|when|if"
    r"|while|not|again|last)(?: |$)"
)  # fmt: skip
_TITLES = re.compile(r"^(?:an? |the |my |mr |mrs |ms |dr )+")


def find_slot(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    """Return the slot of *plain*, a normalized text as *owner* would say it, or None."""
    if "used to" in plain:
        return None
    slot = _first_slot(plain, owner, names)
    if slot is None or not owner:
        return slot
    return Slot(slot.key if slot.key.startswith("name:") else f"{owner} / {slot.key}", slot.value, slot.confirms_only)


def _first_slot(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    if _ABSTAINS.match(plain):
        return Slot("diet", MEATLESS)
    return (
        _name(plain, owner, names)
        or _drink_additive(plain)
        or _by_pattern(plain)
        or _named_thing(plain)
        or _preference(plain)
    )


def _name(plain: str, owner: str, names: frozenset[str]) -> Slot | None:
    """Return the slot of "my boss is Anna"; it is a name only because it is capitalized."""
    words = plain.split()
    is_name = len(words) in (3, 4) and words[:2] == ["i", "am"] and all(word in names for word in words[2:])
    if not is_name:
        return None
    # "I'm Ana" and "I'm German" look the same, so this can only confirm the user's own name.
    key = f"name:{normalize_attribute(owner)}" if owner else "name"
    return Slot(key, " ".join(words[2:]), confirms_only=not owner)


def _drink_additive(plain: str) -> Slot | None:
    """Return the slot of how a drink is prepared: "no sugar in my tea"."""
    drink, additive = _BEVERAGE.search(plain), _ADDITIVE.search(plain)
    if drink is None and additive is None:
        return None
    if drink and additive:
        return Slot(f"{additive[1].rstrip('s')} in {drink[1]}", NO if _WITHOUT.search(plain) else YES)
    black = drink and re.search(rf"\b{drink[1]} black\b|\bblack {drink[1]}\b", plain)
    return Slot(f"milk in {drink[1]}", NO) if drink and black and drink[1] == "coffee" else None


def _by_pattern(plain: str) -> Slot | None:
    for key, pattern in PATTERNS:
        match = pattern.match(plain)
        if match is not None and (value := _value(match)):
            if key in _ONE_AT_A_TIME and _OCCASION.search(plain):
                return None
            return Slot(_key(key, match), value)
    return None


def _key(key: str, match: re.Match[str]) -> str:
    return key.format(normalize_attribute(match["of"])) if "{0}" in key else key


def normalize_attribute(noun: str) -> str:
    """Return the stems of *noun* without general adjectives: "new phone number" is "phone number"."""
    words = [word for word in noun.split() if word not in {"new", "current", "little", "old", "dear"}]
    return " ".join(stem(word) for word in words)


def _value(match: re.Match[str]) -> str:
    value = clip_value(match["value"])
    denies = re.search(r"\bnot\b", match.string[: match.start("value")])
    return f"not {value}" if value and denies else value


def clip_value(value: str) -> str:
    """Return *value* up to the next thought, without articles."""
    end = _VALUE_END.search(f" {value} ")
    clipped = value[: max(end.start() - 1, 0)] if end and end.start() else value
    return _TITLES.sub("", clipped.strip(" ,."))


def _named_thing(plain: str) -> Slot | None:
    match = _NAMED_THING.match(plain)
    return (
        Slot(f"name:{normalize_attribute(match['of'])}", clip_value(match["value"]), confirms_only=True)
        if match
        else None
    )


def _preference(plain: str) -> Slot | None:
    rather = _RATHER.match(plain)
    if rather is not None:
        pair = sorted({preference_key(rather["value"]), preference_key(clip_value(rather["other"]))})
        return Slot("rather " + " | ".join(pair), preference_key(rather["value"]))
    liked = _TASTE.match(plain) or _PREFER.match(plain)
    thing = preference_key(clip_value(liked["of"])) if liked else ""
    if liked is None or not thing:
        return None
    return Slot(f"likes {thing}", NO if liked.groupdict().get("not") else YES)


def preference_key(thing: str) -> str:
    """Return the stems of *thing*'s words in alphabetical order."""
    return " ".join(sorted({stem(word) for word in thing.split() if word not in STOP_WORDS}))
