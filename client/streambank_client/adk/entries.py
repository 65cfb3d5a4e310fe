"""ADK's memory entries: as facts with labels, and made of memories and pending messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types as genai

from streambank_client.adk.custom_metadata import valid_text
from streambank_client.formats.memory_block import dated_fact

if TYPE_CHECKING:
    from streambank_client.types import Memory, RetrievedEvent


def fact_of(entry: MemoryEntry, index: int) -> str:
    """Return the text of an entry.

    Raises:
        ValueError: it has no text, or media.
    """
    parts = entry.content.parts or ()
    if any(part.inline_data or part.file_data for part in parts):
        raise ValueError(f"memories[{index}] must have text only, without media")
    texts = [part.text.strip() for part in parts if part.text and part.text.strip()]
    if not texts:
        raise ValueError(f"memories[{index}] must have text")
    return valid_text("\n".join(texts))


def revision_labels(entry: MemoryEntry) -> dict[str, str]:
    """Return the author and the time of an entry as labels of the memory's revision."""
    labels = {"author": entry.author, "timestamp": entry.timestamp}
    return {name: label for name, label in labels.items() if label is not None}


def to_entry(memory: Memory) -> MemoryEntry:
    """Return a memory as an entry."""
    custom_metadata: dict[str, Any] = dict(memory.metadata)
    return MemoryEntry(
        id=memory.id,
        author="user",
        content=genai.Content(role="user", parts=[genai.Part(text=dated_fact(memory))]),
        timestamp=memory.update_time.isoformat(),
        custom_metadata=custom_metadata,
    )


def pending_entry(retrieved: RetrievedEvent) -> MemoryEntry:
    """Return a message of which no memories are made yet as an entry; it has no id, since it is no memory."""
    event = retrieved.event
    return MemoryEntry(
        author=event.content.role,
        content=genai.Content(role=event.content.role, parts=[genai.Part(text=event.content.text)]),
        timestamp=event.event_time.isoformat() if event.event_time else None,
        custom_metadata={"pending": True, "stream_id": retrieved.stream_id},
    )
