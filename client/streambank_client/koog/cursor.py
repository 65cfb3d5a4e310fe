"""What of a prompt was said before: each message is claimed once in a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank_client.koog.messages import Message, PromptMessage, digest


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a message is known by again: its id, and what it says, for the copy of it that has no id."""

    message_id: str | None
    body: tuple[str, str]

    def is_same(self, other: _Seen) -> bool:
        """Tell whether both may be one message: two that have ids are one only by these."""
        ids = {self.message_id, other.message_id} - {None}
        return self.body == other.body and len(ids) < 2


class Cursor:
    """The messages that a run claimed, in order; what *known* holds counts as claimed by others."""

    def __init__(self, run_id: str, known: Iterable[PromptMessage] = ()) -> None:
        self._run_id = run_id
        self._claimed = 0
        self._seen: list[_Seen] = []
        self._ids: set[str] = set()
        self._same_body: defaultdict[tuple[str, str], list[_Seen]] = defaultdict(list)
        for message in known:
            self._note(_seen(message))

    def claim(self, prompt: Sequence[PromptMessage], *, now: datetime) -> list[Message]:
        """Return what is new in *prompt*: whatever follows what was claimed last, and what was never said before it.

        Equal texts are two messages where they are at two places; a prompt from which old messages were cut is
        recognized by those that are left.
        """
        entries = [_seen(message) for message in prompt]
        history = _end_of_history(self._seen, entries)
        is_new = [not self._is_old(entry, in_history=at < history) for at, entry in enumerate(entries)]
        return [self._take(message, now) for message, new in zip(prompt, is_new, strict=True) if new]

    def claim_reply(self, reply: Iterable[PromptMessage], *, now: datetime) -> list[Message]:
        """Return what a model answered; it is new unless its id says otherwise."""
        return [self._take(message, now) for message in reply if message.message_id not in self._ids]

    def _is_old(self, entry: _Seen, *, in_history: bool) -> bool:
        is_known = in_history and any(entry.is_same(seen) for seen in self._same_body.get(entry.body, ()))
        return is_known or entry.message_id in self._ids

    def _note(self, entry: _Seen) -> None:
        self._seen.append(entry)
        self._same_body[entry.body].append(entry)
        if entry.message_id:
            self._ids.add(entry.message_id)

    def _take(self, message: PromptMessage, now: datetime) -> Message:
        entry = _seen(message)
        self._note(entry)
        number, self._claimed = self._claimed, self._claimed + 1
        # A run that is done again under its id may say something else at the same place.
        message_id = message.message_id or f"{self._run_id}-{number}-{digest(message.text)}"
        return Message(message.role, message.text, message_id, message.time or now, message.raw)


def _end_of_history(seen: Sequence[_Seen], prompt: Sequence[_Seen]) -> int:
    """Return how many messages of *prompt* are a repetition of what was seen, with what was put in between."""
    if len(prompt) >= len(seen) and _common_end(seen, prompt[: len(seen)]) == len(seen):
        return len(seen)
    bodies = {entry.body for entry in prompt}
    for end in range(len(seen), 0, -1):
        if seen[end - 1].body not in bodies:
            continue
        ends = [at for at, entry in enumerate(prompt, start=1) if entry.is_same(seen[end - 1])]
        if ends:
            return max(ends, key=lambda at: (_common_end(seen[:end], prompt[:at]), -at))
    return 0


def _common_end(one: Sequence[_Seen], other: Sequence[_Seen]) -> int:
    """Return how many of the last messages of both are the same."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if not mine.is_same(theirs):
            break
        count += 1
    return count


def _seen(message: PromptMessage) -> _Seen:
    said = message.text or digest(repr(message.raw))
    return _Seen(message.message_id, (message.role, said))
