"""A generated conversation of a hundred messages: the user states 35 facts, some twice, some with a correction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

TURNS = 50
# The turns of each ten that correct a fact, repeat one word for word, or state none.
_CORRECTS, _REPEATS, _CHATS = 4, 7, 2

_PEOPLE = ("dentist", "landlord", "vet", "tutor", "tailor", "barber", "doctor", "lawyer", "plumber", "florist")
_PLACES = ("nearest", "former", "favourite", "weekend")
_GIVEN = ("Ada", "Bruno", "Clara", "Dario", "Edda", "Fritz", "Greta", "Hugo", "Irma")
_FAMILY = ("Brook", "Lindner", "Okafor", "Sato", "Varga", "Weller", "Young")
_ASIDES = (
    "I say so since I had to look it up again on the way home, and it took longer than the whole errand itself.",
    "The week was full, so this is about all that I got done besides cooking, and a long walk along the canal.",
    "Somebody at work asked me about that yesterday and I could not answer at once, which was a little awkward.",
    "I should write such things down, but the notebook is always in the other bag when I would need it most.",
    "We talked about that at breakfast, between two cups of coffee and a discussion on who takes out the bins.",
)
_CHAT = "Thanks, that helps. What would you do on a free afternoon when it rains and the library is closed?"
_REPLIES = (
    "Good to know, thank you. If it comes up again, say so in a word or two and we can go on from there.",
    "There are ways to make that easier: a note on the fridge, a reminder in the evening, or a friend.",
    "That sounds like a busy time. Take the errands that lie on one way together and leave the others for a free day.",
)
_OFFERS = (
    "Is there anything that you want to have settled before the end of the week? Two or three points do for a start.",
    "None of that takes long, and you can drop what you like least. Shall we go through what is left, one by one?",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of the user and its reply; *fact* is the fact that the text states, None for small talk."""

    text: str
    reply: str
    fact: str | None


@dataclass(frozen=True, slots=True)
class Message:
    """One message; the role is `user` or `assistant`."""

    role: str
    text: str


def turns() -> list[Turn]:
    """Return the conversation; no two messages of the user are equal."""
    return [_turn(number, fact) for number, fact in enumerate(_facts())]


def messages(some: list[Turn]) -> list[Message]:
    """Return the messages of *some* turns, in order."""
    pairs = ((Message("user", turn.text), Message("assistant", turn.reply)) for turn in some)
    return list(itertools.chain.from_iterable(pairs))


def batches(size: int) -> Iterator[list[Message]]:
    """Yield the conversation's messages, *size* turns at a time."""
    whole = turns()
    for start in range(0, len(whole), size):
        yield messages(whole[start : start + size])


def final_facts() -> set[str]:
    """Return the last fact about each subject."""
    return set({subject(turn.fact): turn.fact for turn in turns() if turn.fact}.values())


def subject(fact: str) -> str:
    """Return the subject of *fact*."""
    return fact.partition(" is ")[0]


def _facts() -> Iterator[str | None]:
    """Yield the fact of each turn: a new one, except in turns that correct, repeat or chat."""
    new = itertools.count()
    for number in range(TURNS):
        decade, place = divmod(number, 10)
        if place == _CHATS:
            yield None
        elif place == _CORRECTS:
            yield _fact(3 * decade, change=4)
        elif place == _REPEATS:
            yield _fact(3 * decade + 1)
        else:
            yield _fact(next(new))


def _fact(index: int, *, change: int = 0) -> str:
    place, person = divmod(index, len(_PEOPLE))
    name = f"{_GIVEN[(index + change) % len(_GIVEN)]} {_FAMILY[(index + change) % len(_FAMILY)]}"
    return f"My {_PLACES[place]} {_PEOPLE[person]} is {name}"


def _turn(number: int, fact: str | None) -> Turn:
    text = f"{fact}. {_ASIDES[number % len(_ASIDES)]}" if fact else _CHAT
    # Replies name the subject: some tools search their memories with the last message alone.
    mention = f"So that is your {subject(fact).removeprefix('My ')}. " if fact else ""
    reply = f"{mention}{_REPLIES[number % len(_REPLIES)]} {_OFFERS[number % len(_OFFERS)]}"
    return Turn(f"{text} That was note {number + 1}.", reply, fact)
