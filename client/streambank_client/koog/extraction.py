"""What becomes of messages before they are stored: records, made by a strategy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from streambank_client.koog.messages import Message, digest
from streambank_client.koog.records import MemoryRecord, TextDocument

ROLES = frozenset({"system", "user", "assistant", "tool"})
ExtractionStrategy: TypeAlias = Callable[
    [Sequence[Message]], Sequence[TextDocument] | Awaitable[Sequence[TextDocument]]
]


@dataclass(frozen=True)
class FilteringExtractionStrategy:
    """Makes a record of each message of these *roles* that says something; its id is the message's.

    Raises:
        ValueError: a role is none of system, user, assistant, tool.
    """

    roles: Collection[str] = field(default=frozenset({"user", "assistant"}))

    def __post_init__(self) -> None:
        if isinstance(self.roles, str) or not ROLES.issuperset(self.roles):
            raise ValueError(f"roles must be some of {', '.join(sorted(ROLES))}")
        object.__setattr__(self, "roles", frozenset(self.roles))

    def __call__(self, messages: Sequence[Message]) -> list[MemoryRecord]:
        """Return the records of *messages* in their order."""
        return [record_of(message) for message in messages if message.role in self.roles and message.text.strip()]


def record_of(message: Message, content: str | None = None) -> MemoryRecord:
    """Return the record of a message; with *content* one that says this instead."""
    metadata = {"messageRole": message.role.capitalize(), "timestampMs": round(message.time.timestamp() * 1000)}
    return MemoryRecord(message.text if content is None else content, message.id, metadata)


def told_apart(records: Iterable[TextDocument], *, otherwise: str) -> list[MemoryRecord]:
    """Return *records* that say something, each with an id of its own.

    Several of one id, such as the pieces of a message, are numbered; what has none is numbered after *otherwise*, with
    a digest of what it says.
    """
    counts: dict[str, int] = {}
    apart = []
    for record in records:
        if not record.content.strip():
            continue
        wanted = record.id or otherwise
        number = counts.get(wanted, 0)
        counts[wanted] = number + 1
        apart.append(MemoryRecord(record.content, _numbered(record, wanted, number), record.metadata))
    return apart


def _numbered(record: TextDocument, wanted: str, number: int) -> str:
    if record.id:
        return f"{wanted}-{number}" if number else wanted
    # A run that is done again under its id may make something else of the same place.
    return f"{wanted}-{number}-{digest(record.content)}"
