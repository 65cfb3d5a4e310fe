"""Completes a short answer ("A van") with the question that it answers ("What do you drive?")."""

from __future__ import annotations

import re

from streambank_local.basic.sentences import clean, is_question, split_sentences
from streambank_local.basic.words import word_set

# A short answer is a fragment; a longer one is a statement of its own.
_LONGEST_ANSWER = 8
_FLIPPED = {"your": "my", "you": "I", "yours": "mine", "yourself": "myself", "you're": "I'm"}
_NO_ANSWER = re.compile(
    r"\b(?:you|your|it|that|this|sure|idea|know|thanks|thank|course|please|nothing|guess|maybe|why|what|how)\b",
    re.IGNORECASE,
)
_FILLERS = word_set(
    """yes yeah yep no nope ok okay sure thanks thank hi hello hey bye lol haha cool nice great wow good fine right
    exactly perfect awesome absolutely definitely indeed agreed well hmm maybe later sorry wait done x"""
) | {"never mind", "got it"}
_YES = re.compile(
    r"^(?:yes|yeah|yep|yup|sure|absolutely|definitely|indeed|of course|correct|i do|i am|yes i (?:do|am))"
    r"(?:[,!. ]+(?P<more>.+))?$",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^(?:yes|yeah|yep|yup|right|correct|exactly|indeed|absolutely|that's right|that's correct|i do|i am)"
    r"(?:,? (?:exactly|i do|i am|that's right|right|correct))?[,!. ]*$",
    re.IGNORECASE,
)
_NO = re.compile(r"^(?:no|nope|nah|not really|i don't|i'm not|no i (?:don't|am not|'m not))[,!. ]*$", re.IGNORECASE)
_PLACE = re.compile(r"^(?:in|at|near|by|on|from|outside)\b", re.IGNORECASE)
_STATEMENT = re.compile(
    r"^(?:i|i'm|i've|i'd|my|we|our|it|it's|he|she|they|that|that's|there)\b"
    r"|\b(?:i|i'm|we|is|are|am|was|were|have|has|had|do|does|don't|drive|live|work|gonna|wanna)\b",
    re.IGNORECASE,
)
_INSIDE = word_set("a an the my in at near by on two three four one some mostly both no")

_START = r"(?:^|[,;:] |\b(?:so|and|tell me|but) )"
_OPEN = tuple(
    (re.compile(_START + pattern + "$", re.IGNORECASE), whole)
    for pattern, whole in (
        (r"what do you do(?: for (?:a living|work))?", "I work as {answer}"),
        (r"what(?: kind of| type of| sort of)?(?: \w+)? do you (?P<verb>[\w ]+?)", "I {verb} {answer}"),
        (r"which [\w ]+? do you (?P<verb>[\w ]+?)", "I {verb} {answer}"),
        (r"where do you (?P<verb>[\w ]+?)", "I {verb} {placed}"),
        (r"where are you from", "I'm from {bare}"),
        (r"where are you (?P<verb>based|located)", "I'm {verb} {placed}"),
        (r"how old are you", "I'm {answer}"),
        (r"how many (?P<noun>[\w ]+?) do you have", "I have {answer} {noun}"),
        (r"what are you allergic to", "I'm allergic to {answer}"),
        (r"what(?: is|'s) (?P<noun>your [\w' -]+?) (?P<verb>called|named)", "{Noun} is {verb} {answer}"),
        (r"(?:what|who|when|where|which)(?: is|'s) (?P<noun>your [\w' -]+?)", "{Noun} is {answer}"),
        (r"(?:what|who|when|where|which)(?: are|'re) (?P<noun>your [\w' -]+?)", "{Noun} are {answer}"),
        (r"do you have (?:any )?(?:pets|children|kids|siblings|allergies|hobbies)", "I have {answer}"),
    )
)  # fmt: skip
_CLOSED = tuple(
    (re.compile(_START + pattern + "$", re.IGNORECASE), yes, no)
    for pattern, yes, no in (
        (r"do you (?P<verb>[\w' -]+?)", "I {verb}", "I do not {verb}"),
        (r"are you (?P<verb>[\w' -]+?)", "I'm {verb}", "I'm not {verb}"),
        (
            r"is (?P<noun>your [\w' -]+?) (?P<verb>(?:(?:called|named|in|from|an?) )?[\w'-]+)",
            "{Noun} is {verb}",
            "{Noun} is not {verb}",
        ),
    )
)
# Questions about the conversation: a yes to one of them is no fact.
_PASSING = re.compile(
    r"\b(?:want|need|think|mean|like to|questions?|idea|know|remember|it|that|this|ready|sure|ok|okay"
    r"|there|any|me|us)\b",
    re.IGNORECASE,
)


def last_question(text: str) -> str | None:
    """Return the last question of *text*, or None if there is none."""
    questions = [sentence for sentence in split_sentences(text)[-3:] if is_question(sentence)]
    return clean(questions[-1]) if questions else None


def is_filler(sentence: str) -> bool:
    """Tell whether *sentence* is only an acknowledgement."""
    return sentence.lower() in _FILLERS


def is_agreement(sentence: str) -> bool:
    """Tell whether *sentence* says only yes."""
    return _AGREES.match(sentence) is not None


def complete_answer(question: str, answer: str) -> str | None:
    """Return the statement that *question* and *answer* make together, or None."""
    yes = _YES.match(answer)
    if _NO.match(answer) or (yes is not None and not yes["more"]):
        return _closed(question, agreed=yes is not None)
    fragment = yes["more"] if yes is not None else answer
    return _open(question, fragment) if _is_fragment(fragment) else None


def _is_fragment(answer: str) -> bool:
    short = len(answer.split()) <= _LONGEST_ANSWER
    return short and not (is_filler(answer) or _STATEMENT.search(answer) or _NO_ANSWER.search(answer))


def _open(question: str, answer: str) -> str | None:
    inside = _lowered(answer)
    for pattern, whole in _OPEN:
        match = pattern.search(question)
        if match is not None:
            bare = _PLACE.sub("", answer).strip()
            placed = inside if _PLACE.match(answer) else f"in {inside}"
            return whole.format(**_parts(match), answer=inside, bare=bare, placed=placed)
    return None


def _closed(question: str, *, agreed: bool) -> str | None:
    for pattern, yes, no in _CLOSED:
        match = pattern.search(question)
        if match is not None and not _PASSING.search(match[0]):
            return (yes if agreed else no).format(**_parts(match))
    return None


def _parts(match: re.Match[str]) -> dict[str, str]:
    parts = {name: _turned(words or "") for name, words in match.groupdict().items()}
    noun = parts.get("noun", "")
    return {**parts, "Noun": noun[:1].upper() + noun[1:]}


def _turned(words: str) -> str:
    """Return *words* of a question in the first person: "your dog" becomes "my dog"."""
    return " ".join(_FLIPPED.get(word.lower(), word) for word in words.split())


def _lowered(answer: str) -> str:
    """Return *answer* as it is written inside a sentence: "A van" becomes "a van", "Linz" stays."""
    return answer[:1].lower() + answer[1:] if answer.split(" ", 1)[0].lower() in _INSIDE else answer
