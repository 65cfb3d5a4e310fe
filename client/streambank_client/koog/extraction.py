"""Extraction: a strategy makes the records to store from messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from streambank_client.koog.messages import ConversationMessage, digest
from streambank_client.koog.records import MemoryRecord, TextDocument

ROLES = frozenset({"system", "user", "assistant", "tool"})
Extracted: TypeAlias = Sequence[TextDocument] | Awaitable[Sequence[TextDocument]]


class Extracting(Protocol):
    """A strategy that is an object."""

    def extract(self, messages: Sequence[ConversationMessage], /) -> Extracted:
        """Return the records of *messages*."""
        ...


ExtractionStrategy: TypeAlias = Callable[[Sequence[ConversationMessage]], Extracted] | Extracting


@dataclass(frozen=True)
class FilteringExtractionStrategy:
    """Makes a record of each message with one of *roles* and with a text; the record has the message's id.

    Raises:
        ValueError: a role is not one of system, user, assistant, tool.
    """

    roles: Collection[str] = field(default=frozenset({"user", "assistant"}))

    def __post_init__(self) -> None:
        if isinstance(self.roles, str) or not ROLES.issuperset(self.roles):
            raise ValueError(f"roles must be some of {', '.join(sorted(ROLES))}")
        object.__setattr__(self, "roles", frozenset(self.roles))

    def extract(self, messages: Sequence[ConversationMessage], /) -> list[MemoryRecord]:
        """Return the records of *messages* in their order."""
        return self(messages)

    def __call__(self, messages: Sequence[ConversationMessage]) -> list[MemoryRecord]:
        """Return the records of *messages* in their order."""
        return [record_of(message) for message in messages if message.role in self.roles and message.text.strip()]


def record_of(message: ConversationMessage, content: str | None = None) -> MemoryRecord:
    """Return the record of a message, with *content* as its text if that is given."""
    metadata = {"messageRole": message.role.capitalize(), "timestampMs": round(message.time.timestamp() * 1000)}
    return MemoryRecord(message.text if content is None else content, message.id, metadata)


def with_unique_ids(records: Iterable[TextDocument], *, default_id: str) -> list[MemoryRecord]:
    """Return the *records* that have a text, each with an id of its own.

    Records with one id, such as the parts of a message, are numbered. Records without an id get *default_id*, a number
    and a digest of their text.
    """
    counts: dict[str, int] = {}
    unique = []
    for record in records:
        if not record.content.strip():
            continue
        base_id = record.id or default_id
        number = counts.get(base_id, 0)
        counts[base_id] = number + 1
        unique.append(MemoryRecord(record.content, _numbered_id(record, base_id, number), record.metadata))
    return unique


def _numbered_id(record: TextDocument, base_id: str, number: int) -> str:
    if record.id:
        return f"{base_id}-{number}" if number else base_id
    # A run that is repeated under its id may make another record at the same place.
    return f"{base_id}-{number}-{digest(record.content)}"
