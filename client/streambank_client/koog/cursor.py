"""Tells which messages of a prompt are new: each message is claimed once in a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank_client.koog.messages import ConversationMessage, PromptMessage, digest


@dataclass(frozen=True, slots=True)
class _Identity:
    """How a message is recognized: by its id, and by role and text for a copy without an id."""

    message_id: str | None
    body: tuple[str, str]

    def is_same(self, other: _Identity) -> bool:
        """Return whether both may be one message; two with ids are one only if the ids are equal."""
        ids = {self.message_id, other.message_id} - {None}
        return self.body == other.body and len(ids) < 2


class PromptCursor:
    """The messages that a run has claimed, in order; those of *known* count as claimed by earlier runs."""

    def __init__(self, run_id: str, known: Iterable[PromptMessage] = ()) -> None:
        self._run_id = run_id
        self._count = 0
        self._claimed: list[_Identity] = []
        # The bodies of each id: an id with another text is an edit, which is a message of its own.
        self._bodies: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self._by_body: defaultdict[tuple[str, str], list[_Identity]] = defaultdict(list)
        for message in known:
            self._remember(_identity(message))

    def claim(self, prompt: Sequence[PromptMessage], *, now: datetime) -> list[ConversationMessage]:
        """Return the new messages of *prompt*: those after the last claimed message, and unknown ones before it.

        Equal texts at two places are two messages. A prompt without some old messages is recognized by the others.
        """
        identities = [_identity(message) for message in prompt]
        history = _history_length(self._claimed, identities)
        is_new = [not self._is_claimed(entry, in_history=at < history) for at, entry in enumerate(identities)]
        return [self._claim(message, now) for message, new in zip(prompt, is_new, strict=True) if new]

    def claim_reply(self, reply: Iterable[PromptMessage], *, now: datetime) -> list[ConversationMessage]:
        """Return the messages of a model's reply; one is new unless its id was claimed with this text before."""
        return [self._claim(message, now) for message in reply if not self._has_id(_identity(message))]

    def _is_claimed(self, entry: _Identity, *, in_history: bool) -> bool:
        is_known = in_history and any(entry.is_same(other) for other in self._by_body.get(entry.body, ()))
        return is_known or self._has_id(entry)

    def _has_id(self, entry: _Identity) -> bool:
        return bool(entry.message_id) and entry.body in self._bodies.get(entry.message_id or "", ())

    def _remember(self, entry: _Identity) -> None:
        self._claimed.append(entry)
        self._by_body[entry.body].append(entry)
        if entry.message_id:
            self._bodies[entry.message_id].add(entry.body)

    def _claim(self, message: PromptMessage, now: datetime) -> ConversationMessage:
        self._remember(_identity(message))
        number, self._count = self._count, self._count + 1
        # A run that is repeated under its id may have another text at the same place.
        message_id = message.message_id or f"{self._run_id}-{number}-{digest(message.text)}"
        return ConversationMessage(message.role, message.text, message_id, message.time or now, message.raw)


def _history_length(claimed: Sequence[_Identity], prompt: Sequence[_Identity]) -> int:
    """Return how many messages at the start of *prompt* repeat the claimed ones, including any inserted between."""
    if len(prompt) >= len(claimed) and _common_end(claimed, prompt[: len(claimed)]) == len(claimed):
        return len(claimed)
    bodies = {entry.body for entry in prompt}
    for end in range(len(claimed), 0, -1):
        if claimed[end - 1].body not in bodies:
            continue
        ends = [at for at, entry in enumerate(prompt, start=1) if entry.is_same(claimed[end - 1])]
        if ends:
            return max(ends, key=lambda at: (_common_end(claimed[:end], prompt[:at]), -at))
    return 0


def _common_end(left: Sequence[_Identity], right: Sequence[_Identity]) -> int:
    """Return how many of the last messages of both are the same."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if not one.is_same(other):
            break
        count += 1
    return count


def _identity(message: PromptMessage) -> _Identity:
    text = message.text or digest(repr(message.raw))
    return _Identity(message.message_id, (message.role, text))
