"""The load: streams, calls, and events whose text is unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# One event in so many states a fact; exactly these become memories.
FACT_EVERY = 20
EVENT_COUNT = 20
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtv" for vowel in "aeiou"]
_WORDS = len(_SYLLABLES) ** 5
# Coprime to the number of words, so that consecutive numbers get very different words.
_SCATTER = 314_159_269


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of one user's scope."""

    user: str
    name: str

    @property
    def scope(self) -> dict[str, str]:
        return {"user_id": self.user}


@dataclass(frozen=True, slots=True)
class Call:
    """One ingest call: the numbers of its events, which are unique in a run."""

    stream: Stream
    events: tuple[int, ...]

    def body(self, *, flush: bool = False) -> dict[str, Any]:
        """Return the request's document."""
        rule = {"generationRule": {"eventCount": EVENT_COUNT}}
        body: dict[str, Any] = {"streamId": self.stream.name, "scope": self.stream.scope}
        body |= {"generationTriggerConfig": rule} if self.events else {}
        body |= {"directContentsSource": {"events": list(map(event, self.events))}} if self.events else {}
        return body | ({"forceFlush": True} if flush else {})


def event(number: int) -> dict[str, Any]:
    """Return the event with that number."""
    return {"eventId": event_id(number), "content": {"role": "user", "parts": [{"text": text(number)}]}}


def event_id(number: int) -> str:
    return f"e{number}"


def text(number: int) -> str:
    """Return the text of the event with that number; no other event has it."""
    return f"I like {word(number)}." if states_fact(number) else f"Hm, {event_id(number)}."


def states_fact(number: int) -> bool:
    return number % FACT_EVERY == 0


def word(number: int) -> str:
    """Return a word that no other number has."""
    scattered, syllables = number * _SCATTER % _WORDS, list[str]()
    for _ in range(5):
        scattered, index = divmod(scattered, len(_SYLLABLES))
        syllables.append(_SYLLABLES[index])
    return "".join(syllables)


def chunks(events: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield *events* in chunks of at most *most*."""
    for start in range(0, len(events), most):
        yield tuple(events[start : start + most])
