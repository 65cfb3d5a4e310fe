"""Turns facts in the first person into the third person."""

from __future__ import annotations

import re

from streambank_local.basic.words import word_set

_ED_IN_BASE = word_set("need feed bleed breed speed exceed proceed succeed seed weed embed shed wed")
_PAST = word_set(
    """was were went had did got took drank drove ate met made kept taught wrote ran swam sang spoke grew knew left
    lost won began came gave built found broke chose wore slept rode paid said told felt thought bought sold saw
    fell flew held hurt meant sent spent stood caught fought brought became understood forgot drew threw led laid
    heard hid lent shot shook woke quit put cut set let hit"""
)
_MODALS = word_set(
    "will would can could should must may might shall ought cannot can't won't wouldn't couldn't shouldn't"
)
_SINGULAR = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes", "'m": "is"}
_PLURAL = {"am": "are", "was": "were", "wasn't": "weren't"}
_BESIDE_VERB = word_set(
    """not never always often usually sometimes also still really just now currently only already actually recently
    absolutely totally finally truly both rarely hardly mostly"""
)
_JOINED_VERBS = word_set(
    "live work love like hate drive play study keep collect prefer speak own have eat drink sing dance bake run"
)
_CONTRACTED = {
    "i'm": ("i", "am"), "i've": ("i", "have"), "i'll": ("i", "will"), "im": ("i", "am"), "ive": ("i", "have"),
    "we're": ("we", "are"), "we've": ("we", "have"), "we'll": ("we", "will"), "we'd": ("we", "would"),
}  # fmt: skip
_OTHERS = {
    "me": "them",
    "myself": "themselves",
    "mine": "theirs",
    "our": "their",
    "ours": "theirs",
    "us": "them",
    "ourselves": "themselves",
}
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|[\W\d_]+")
_TOGETHER = re.compile(r"^My ((?:[\w-]+ )?[\w-]+) and I\b")
_BEEN = word_set("been had gone done seen taken better")


def in_third_person(fact: str) -> str:
    """Return *fact*, a statement of the user, in the third person."""
    pieces = _expand_contractions(_WORD.findall(_TOGETHER.sub(r"I and my \1", fact)))
    words: list[str] = []
    person, named = "", False
    for piece in pieces:
        lower = piece.lower()
        if lower in {"i", "we"}:
            words.append(_subject(lower, named=named))
            person, named = ("they" if named or lower == "we" else "user"), True
        elif lower == "my" or lower in _OTHERS:
            words.append(_other(lower, named=named))
            named = True
        else:
            words.append(_agree_verb(piece, person, words) if piece[:1].isalpha() else piece)
            person = _pending_subject(lower, person, piece)
    return _capitalize("".join(words))


def _expand_contractions(pieces: list[str]) -> list[str]:
    whole: list[str] = []
    for index, piece in enumerate(pieces):
        expanded = _CONTRACTED.get(piece.lower())
        if piece.lower() == "i'd":
            following = pieces[index + 2].lower() if index + 2 < len(pieces) else ""
            expanded = ("i", "had" if following in _BEEN else "would")
        whole.extend((expanded[0], " ", expanded[1]) if expanded else (piece,))
    return whole


def _subject(word: str, *, named: bool) -> str:
    if word == "we":
        return "they" if named else "the user and others"
    return "they" if named else "the user"


def _other(word: str, *, named: bool) -> str:
    if word in {"my", "our"}:
        return "their" if named else "the user's"
    return (
        _OTHERS[word] if named else {"me": "the user", "us": "the user", "mine": "the user's"}.get(word, _OTHERS[word])
    )


def _pending_subject(lower: str, person: str, piece: str) -> str:
    """Return the subject that still has no verb after *piece*."""
    waits = person and (lower in _BESIDE_VERB or not piece[:1].isalpha())
    return person if waits else ""


def _agree_verb(piece: str, person: str, words: list[str]) -> str:
    """Return *piece* as the verb of *person*, if it is one."""
    lower = piece.lower()
    if lower == "and":
        return piece
    if person == "they":
        return _PLURAL.get(lower, piece)
    if person == "user" and lower not in _BESIDE_VERB:
        return _singular(piece)
    joined = "".join(words[-2:]).strip().endswith("and") and lower in _JOINED_VERBS and words[0] == "the user"
    return _singular(piece) if joined and not any(word in _MODALS or word == "to" for word in words) else piece


def _singular(verb: str) -> str:
    lower = verb.lower()
    if lower in _SINGULAR:
        return _SINGULAR[lower]
    past = lower in _PAST or (lower.endswith("ed") and lower not in _ED_IN_BASE)
    if past or lower in _MODALS or "'" in lower or lower in {"used", "is", "has"}:
        return verb
    if lower.endswith("y") and lower[-2:-1] not in {"a", "e", "o", "u"}:
        return verb[:-1] + "ies"
    return verb + ("es" if lower.endswith(("ch", "sh", "ss", "x", "z", "o")) else "s")


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
