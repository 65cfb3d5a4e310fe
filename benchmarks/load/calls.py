"""What the load consists of: streams, calls, and events whose text tells which they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# Every so many events one states a fact; a memory must come of it, and of no other.
FACT_EVERY = 20
EVENT_COUNT = 20
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtv" for vowel in "aeiou"]
_WORDS = len(_SYLLABLES) ** 5
# Has no factor in common with the number of words, so that neighbours get words that are nothing alike.
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
    """One ingest: the numbers of its events, which are theirs in the whole run."""

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
    """Return the event of that number as a caller sends it."""
    return {"eventId": event_id(number), "content": {"role": "user", "parts": [{"text": text(number)}]}}


def event_id(number: int) -> str:
    return f"e{number}"


def text(number: int) -> str:
    """Return what the event of that number says, as nobody else says it."""
    return f"I like {word(number)}." if states_fact(number) else f"Hm, {event_id(number)}."


def states_fact(number: int) -> bool:
    return number % FACT_EVERY == 0


def word(number: int) -> str:
    """Return a word that no other number has."""
    scattered, syllables = number * _SCATTER % _WORDS, list[str]()
    for _ in range(5):
        scattered, place = divmod(scattered, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "".join(syllables)


def runs(events: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield *events* in runs of *most*."""
    for start in range(0, len(events), most):
        yield tuple(events[start : start + most])
