"""The meaning of a fact in a form that rules can compare: its owner, its polarity, its content words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from streambank_local.basic.implied_attributes import implied_slots
from streambank_local.basic.people import split_relative
from streambank_local.basic.slots import Slot, find_slot
from streambank_local.basic.words import ADVERBS, NEGATORS, STOP_WORDS, stem, tokenize, word_set

# A longer text is pasted; only its beginning is parsed.
LONGEST_PARSED = 1_000

_PHRASES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^(?:and|but|so|well|oh|because) ", ""),
        (r"^(?:(?:please|kindly) |(?:from on|going forward|in future|in the future) (?:, )?)+", ""),
        (r" (?:from on|going forward)$", ""),
        (r"^(?:ever )?since (?:[^ ,]+ ){1,6}?(?:, )?(?=i (?:am|have|not|like|do) )", ""),
        (r"\btime zone\b", "timezone"),
        (
            r"^i (?:have )?(?:left|resigned from) (?=(?!my |our |the |an? |it\b|him|her|them|home)\S+$)",
            "i not work at ",
        ),
        (
            r"^(i|we) (?:have )?(?:traded|swapped|exchanged|replaced) (?:in )?my (.{1,60}?) (?:for|with) (?=an? |the )",
            r"\1 switched from \2 to ",
        ),
        (r"^i (?:think|guess|suppose|believe|would say|mean) (?:that )?(?=i |my )", ""),
        (r"\b(?:do|does|did) not\b", "not"),
        # In "I'm not vegan, I'm vegetarian" only the second part counts.
        (r"^i am not [^,]+ , (?:but )?(?=i am )", ""),
        (r"^i not (\w+) [^,]+ , (?:but )?(?=i \1 )", ""),
        (r"\bhave (?:got|gotten)\b", "have"),
        (r"\b(?:can|could) (?:not|never) (?:stand|bear|abide|tolerate)\b", "not like"),
        (r"\b(?:hate|hates|dislike|dislikes|detest|loathe|despise)\b", "not like"),
        (
            (
                r"\bam (not )?(?:a |the )?(?:big |huge |great |massive )?"
                r"(?:fan of|fond of|keen on|crazy about|fan)(?= )"
            ),
            r"\1like",
        ),
        (r"^i (not )?(?:love|enjoy|adore) ", r"i \1like "),
        (r"\b(?:no longer|not any longer|not any more)\b", "not"),
        (r"\b(?:quit|stopped|gave up|have stopped|have quit|have given up) (?=\w+ing\b)", "not "),
        (r" (?:any more|these days|at the moment|very much|so much|a lot|right)(?= |$)", ""),
        (r"\bsugar free\b", "no sugar"),
        (r"\b(work|working) (?:remotely|remote)\b", r"\1 from home"),
        (r"\blike (?:to|it when) ", "like "),
    )
)
# Words that say that something was different before.
_CHANGE_WORDS = re.compile(
    r"\b(?:now|nowadays|these days|any ?more|no longer|again|instead|quit|stopped|gave up|given up|switched|changed)\b",
    re.IGNORECASE,
)
_INVERTED = re.compile(r"^((?:\S+ ){1,4}?)is my (?=.)")
_PRONOUNS = word_set("it this that he she here there who what they which where i you")
_THIRD_VERBS = word_set(
    """drinks works has is plays likes loves lives hates prefers keeps drives wants enjoys speaks owns studies
    teaches wears eats supports collects bakes reads writes runs uses takes goes makes needs knows dislikes avoids
    cooks grows rides sings dances swims climbs paints does moved sold bought was supports"""
)
_BASES = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "isn't": "am not", "are": "am"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A parsed fact.

    *owner* is the person that it is about, "" for the user; *first_person* is the text as the owner would say it;
    *order* holds the stems of the content words in order.
    """

    plain: str
    owner: str
    negated: bool
    order: tuple[str, ...]
    slot: Slot | None
    first_person: str
    implied: tuple[Slot, ...]
    changed: bool

    @property
    def content(self) -> frozenset[str]:
        """Return the stems of the content words."""
        return frozenset(self.order)

    @property
    def key(self) -> tuple[str, bool, frozenset[str]]:
        """Return what two wordings of one fact have in common."""
        return self.owner, self.negated, self.content


def parse_meaning(text: str) -> Meaning:
    """Parse *text*, which may be in the first or the third person."""
    clipped = text[:LONGEST_PARSED]
    plain = normalize(clipped)
    names = _names(clipped)
    owner, rest = split_relative(plain, names)
    words = rest.split()
    slot = find_slot(rest, owner, names)
    return Meaning(
        plain=plain,
        owner=owner,
        negated=any(word in NEGATORS for word in words),
        order=content_stems(words),
        slot=slot,
        first_person=rest,
        implied=implied_slots(rest, owner, slot),
        changed=_CHANGE_WORDS.search(clipped) is not None,
    )


def with_owner(meaning: Meaning, owner: str) -> Meaning:
    """Return *meaning* with *owner*, another name of the same person."""
    slots = [
        None if slot is None else _with_slot_owner(slot, meaning.owner, owner)
        for slot in (meaning.slot, *meaning.implied)
    ]
    return replace(meaning, owner=owner, slot=slots[0], implied=tuple(filter(None, slots[1:])))


def _with_slot_owner(slot: Slot, before: str, after: str) -> Slot:
    return replace(slot, key=after + slot.key.removeprefix(before)) if slot.key.startswith(f"{before} / ") else slot


def content_stems(words: list[str]) -> tuple[str, ...]:
    """Return the stems of the content words among *words*, in order."""
    return tuple(stem(word) for word in words if word not in STOP_WORDS and word not in NEGATORS)


def normalize(text: str) -> str:
    """Return *text* as words in the first person: "The user's dog's called Fen" becomes "my dog is called fen"."""
    words = _first_person(tokenize(text))
    plain = " ".join(word for word in words if word not in ADVERBS)
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    return _undo_inversion(" ".join(plain.split()).strip(" ,"))


def _undo_inversion(plain: str) -> str:
    match = _INVERTED.match(plain)
    if match is None or match[1].split()[0] in _PRONOUNS or match[1].startswith("my "):
        return plain
    return f"my {plain[match.end() :]} is {match[1].strip()}"


def _first_person(words: list[str]) -> list[str]:
    if words[:2] == ["the", "user"]:
        if words[2:4] == ["and", "others"]:
            return ["we", *(_PERSONS.get(word, word) for word in words[4:])]
        return _as_owner(words[3:]) if words[2:3] == ["'s"] else _as_subject(words[2:])
    if words and words[0] in _THIRD_VERBS:
        return _as_subject(words)
    return words


_PERSONS = {"their": "my", "they": "i", "them": "me", "themselves": "myself", "theirs": "mine"}


def _as_owner(words: list[str]) -> list[str]:
    return ["my", *(_PERSONS.get(word, word) for word in words)]


def _as_subject(words: list[str]) -> list[str]:
    changed = [_PERSONS.get(word, word) for word in words]
    for index, word in enumerate(changed):
        if word not in ADVERBS and word not in NEGATORS:
            changed[index] = _base(word)
            break
    return ["i", *changed]


def _base(verb: str) -> str:
    if verb in _BASES:
        return _BASES[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _names(text: str) -> frozenset[str]:
    """Return the capitalized words of *text*, in lower case."""
    words = (word.strip(".,;:!?'\"()") for word in text.split())
    return frozenset(word.lower() for word in words if word[:1].isupper() and word != "I")


def named_people(meaning: Meaning) -> set[str]:
    """Return the names, in lower case, of the people and animals that *meaning* introduces."""
    slot = meaning.slot
    called = {slot.value} if slot is not None and slot.key.startswith("name:") and " " not in slot.value else set()
    return set(meaning.owner.split()[1:]) | called
