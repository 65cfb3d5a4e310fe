"""The facts of a window while it is read: restated ones merge, later values replace earlier ones, forgotten ones go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streambank_local.basic.meaning import Meaning
from streambank_local.basic.memory_requests import fact_stems, match_score, request_stems
from streambank_local.basic.slots import MEATLESS


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A fact in the making: its text, the turns behind it, its topic and whether a turn of its own backs it."""

    text: str
    events: tuple[int, ...]
    topic: str
    meaning: Meaning
    own: bool


class FactList:
    """A window's notes in the order of their latest statement."""

    def __init__(self) -> None:
        self._notes: dict[int, PendingFact] = {}
        self._by_key: dict[object, int] = {}
        self._by_stem: dict[str, set[int]] = {}
        self._serial = 0

    def __iter__(self) -> Iterator[PendingFact]:
        return iter(self._notes.values())

    def add(self, note: PendingFact) -> None:
        """Take *note* in, in place of what it restates or replaces."""
        earlier = [self._notes[serial] for serial in self._replaced(note.meaning)]
        self._drop(self._replaced(note.meaning))
        events = {event for each in (*earlier, note) for event in each.events}
        merged = PendingFact(
            note.text, tuple(sorted(events)), note.topic, note.meaning, note.own or any(each.own for each in earlier)
        )
        self._insert(merged)

    def forget(self, what: Meaning) -> None:
        """Drop every note that a request for *what* fits."""
        # A fit lacks at most a quarter of the words, so it holds one of any quarter plus one: the rarest will do.
        asked = sorted(request_stems(what), key=lambda word: (len(self._by_stem.get(word, ())), word))
        near = {serial for word in asked[: len(asked) // 4 + 1] for serial in self._by_stem.get(word, ())}
        self._drop({serial for serial in near if match_score(what, self._notes[serial].meaning) > 0})

    def clear(self) -> None:
        """Drop all notes."""
        self._drop(set(self._notes))

    def last(self) -> PendingFact | None:
        """Return the latest note."""
        return next(reversed(self._notes.values()), None)

    def last_with_slot(self) -> PendingFact | None:
        """Return the latest note if it holds a slot."""
        latest = self.last()
        return latest if latest is not None and latest.meaning.slot is not None else None

    def remove(self, note: PendingFact) -> None:
        """Drop *note*."""
        self._drop({serial for serial in (self._serial,) if self._notes.get(serial) is note})

    def _replaced(self, meaning: Meaning) -> set[int]:
        return {serial for key in _keys(meaning) if (serial := self._by_key.get(key)) is not None}

    def _insert(self, note: PendingFact) -> None:
        self._serial += 1
        self._notes[self._serial] = note
        self._by_key.update(dict.fromkeys(_keys(note.meaning), self._serial))
        for word in fact_stems(note.meaning):
            self._by_stem.setdefault(word, set()).add(self._serial)

    def _drop(self, serials: set[int]) -> None:
        for serial in serials:
            note = self._notes.pop(serial)
            for key in _keys(note.meaning):
                if self._by_key.get(key) == serial:
                    del self._by_key[key]
            for word in fact_stems(note.meaning):
                self._by_stem[word].discard(serial)


def _keys(meaning: Meaning) -> list[object]:
    """Return what two notes share when the later one takes the earlier one's place."""
    slot = meaning.slot
    named = [("value", slot.key, slot.value)] if slot is not None and slot.key.startswith("name:") else []
    # "I don't eat meat" confirms "I'm vegan", which says more.
    if slot is not None and not slot.loose and slot.value != MEATLESS:
        return [("slot", slot.key), *named]
    # A denial replaces what it denies, so polarity is left out of the key.
    return [("words", meaning.owner, meaning.content or meaning.plain), *named]
