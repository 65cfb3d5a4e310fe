"""What happened to memories lately, as the change feed tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from streambank_client.types import MemoryChange
from streambank_console import paths
from streambank_console.views import text
from streambank_console.views.labels import Badge

PERIOD = timedelta(hours=1)
MOST_ROWS = 50
_KINDS = {
    "CREATED": Badge("created", "good", "A new memory."),
    "UPDATED": Badge("updated", "good", "A memory says something else, or was confirmed."),
    "DELETED": Badge("deleted", "warn", "A memory was deleted or forgotten."),
    "MERGED": Badge("merged", "warn", "A memory became part of another one."),
    "RESTORED": Badge("restored", "good", "A deleted memory is there again."),
    "PINNED": Badge("pinned", "plain", "Generations change it no more."),
    "UNPINNED": Badge("unpinned", "plain", "Generations may change it again."),
    "MOVED": Badge("moved here", "plain", "It came from another scope."),
    "MOVED_AWAY": Badge("moved away", "plain", "It is in another scope now."),
    "ERASED": Badge("erased", "bad", "All of the scope was erased."),
}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A change of a memory, or of a whole scope: then it names no memory."""

    at: datetime
    kind: Badge
    owner: str
    owner_href: str
    memory: str
    memory_href: str
    source_href: str


@dataclass(frozen=True, slots=True)
class ChangesView:
    """The changes of the period, newest first; *has_more* tells that newer ones are left out."""

    rows: tuple[ChangeRow, ...]
    has_more: bool


def recent_filter(now: datetime) -> str:
    """Return the filter of the changes that are shown."""
    return f'change_time>="{(now - PERIOD).isoformat()}"'


def changes_view(bank: str, changes: Sequence[MemoryChange]) -> ChangesView:
    """Return the changes of a page of the feed, which has the oldest first."""
    rows = [_row(bank, one) for one in changes[:MOST_ROWS]]
    return ChangesView(tuple(reversed(rows)), len(changes) > MOST_ROWS)


def _row(bank: str, one: MemoryChange) -> ChangeRow:
    return ChangeRow(
        at=one.change_time,
        kind=_KINDS.get(one.kind, Badge(text.words_of(one.kind))),
        owner=text.scope_label(one.scope),
        owner_href=paths.scope(bank, one.scope) if one.scope else "",
        memory=paths.last_part(one.memory or ""),
        memory_href=paths.memory(bank, one.memory) if one.memory else "",
        source_href=paths.window(bank, one.operation, memory_name=one.memory or "") if one.operation else "",
    )
