"""What the page for a first conversation shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streambank_client.types import RetrievedMemory, WindowDetail
from streambank_client.types.operations import OperationMetadata
from streambank_console import paths
from streambank_console.views import labels, overview
from streambank_console.views.labels import Badge
from streambank_console.views.memories import MemoryView, memory_view
from streambank_console.views.overview import Due
from streambank_console.views.way import Focus, Turn, turn


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns so far, the newest window, and what is remembered of it all."""

    turns: tuple[Turn, ...]
    window: int
    state: Badge
    pending: int
    due: Due | None
    way_href: str
    failure: str
    memories: tuple[MemoryView, ...]


def conversation(
    bank: str,
    earlier: Mapping[int, Turn],
    name: str,
    metadata: OperationMetadata,
    detail: WindowDetail,
    memories: Sequence[RetrievedMemory],
) -> Conversation:
    """Return the conversation with the turns of the newest window after the *earlier* ones."""
    turns = {**earlier, **{one.sequence: turn(one, Focus()) for one in detail.events}}
    return Conversation(
        turns=tuple(turns[number] for number in sorted(turns)),
        window=metadata.window or 0,
        state=labels.state(metadata.state),
        pending=metadata.pending_events or 0,
        due=overview.due(metadata.next_trigger),
        way_href=paths.window(bank, name) if metadata.window else "",
        failure=overview.failure_text(metadata),
        memories=tuple(memory_view(bank, one.memory) for one in memories),
    )
