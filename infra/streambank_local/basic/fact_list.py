"""The facts of a window while it is read: repeated facts are merged, later values replace earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from streambank.model.validity import OPEN, Validity
from streambank_local.basic.meaning import Meaning
from streambank_local.basic.memory_requests import fact_stems, match_score, request_stems
from streambank_local.basic.slots import MEATLESS


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A fact of the window: its text, turns, topic and meaning; *own* is False if only context turns state it.

    *replaces* is the number of the memory in whose place it is. A correction says that the memory was never true.
    """

    text: str
    events: tuple[int, ...]
    topic: str
    meaning: Meaning
    own: bool
    replaces: int | None = None
    validity: Validity = OPEN
    is_correction: bool = False


class FactList:
    """The facts of a window in the order of their latest statement."""

    def __init__(self) -> None:
        self._facts: dict[int, PendingFact] = {}
        self._by_key: dict[object, int] = {}
        self._by_stem: dict[str, set[int]] = {}
        self._serial = 0

    def __iter__(self) -> Iterator[PendingFact]:
        return iter(self._facts.values())

    def add(self, fact: PendingFact) -> None:
        """Add *fact* in place of the facts that it repeats or replaces."""
        earlier = [self._facts[serial] for serial in self._replaced_serials(fact.meaning)]
        self._remove_all(self._replaced_serials(fact.meaning))
        events = {event for each in (*earlier, fact) for event in each.events}
        own = fact.own or any(each.own for each in earlier)
        self._insert(replace(fact, events=tuple(sorted(events)), own=own))

    def forget(self, what: Meaning) -> None:
        """Remove every fact that matches a request to forget *what*."""
        # A match may lack a quarter of the words at most, so it has one of any quarter plus one: take the rarest.
        stems = sorted(request_stems(what), key=lambda word: (len(self._by_stem.get(word, ())), word))
        candidates = {serial for word in stems[: len(stems) // 4 + 1] for serial in self._by_stem.get(word, ())}
        self._remove_all({serial for serial in candidates if match_score(what, self._facts[serial].meaning) > 0})

    def clear(self) -> None:
        """Remove all facts."""
        self._remove_all(set(self._facts))

    def last(self) -> PendingFact | None:
        """Return the latest fact."""
        return next(reversed(self._facts.values()), None)

    def last_with_slot(self) -> PendingFact | None:
        """Return the latest fact if it has a slot."""
        latest = self.last()
        return latest if latest is not None and latest.meaning.slot is not None else None

    def remove(self, fact: PendingFact) -> None:
        """Remove *fact*."""
        self._remove_all({serial for serial in (self._serial,) if self._facts.get(serial) is fact})

    def _replaced_serials(self, meaning: Meaning) -> set[int]:
        return {serial for key in _keys(meaning) if (serial := self._by_key.get(key)) is not None}

    def _insert(self, fact: PendingFact) -> None:
        self._serial += 1
        self._facts[self._serial] = fact
        self._by_key.update(dict.fromkeys(_keys(fact.meaning), self._serial))
        for word in fact_stems(fact.meaning):
            self._by_stem.setdefault(word, set()).add(self._serial)

    def _remove_all(self, serials: set[int]) -> None:
        for serial in serials:
            fact = self._facts.pop(serial)
            for key in _keys(fact.meaning):
                if self._by_key.get(key) == serial:
                    del self._by_key[key]
            for word in fact_stems(fact.meaning):
                self._by_stem[word].discard(serial)


def _keys(meaning: Meaning) -> list[object]:
    """Return keys; a fact replaces an earlier one that shares a key."""
    slot = meaning.slot
    named = [("value", slot.key, slot.value)] if slot is not None and slot.key.startswith("name:") else []
    # "I don't eat meat" confirms "I'm vegan", which is more specific, so it does not replace it.
    if slot is not None and not slot.confirms_only and slot.value != MEATLESS:
        return [("slot", slot.key), *named]
    # A negation replaces what it negates, so the key does not contain the polarity.
    return [("words", meaning.owner, meaning.content or meaning.plain), *named]
