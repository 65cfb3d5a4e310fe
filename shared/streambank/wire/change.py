"""The change feed in replies, and what a request may ask of it."""

from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model.change_record import ChangeKind, FeedChange
from streambank.wire.reply import Time, rfc3339, without_nulls


class MemoryChange(TypedDict):
    """A change of a memory; that of a whole scope, `ERASED`, names no memory.

    `id` is the same whenever the change is told. `operation` is that of the window whose generation made it.
    """

    id: str
    changeTime: Time
    kind: ChangeKind
    scope: dict[str, str]
    memory: NotRequired[str | None]
    revision: NotRequired[str | None]
    operation: NotRequired[str | None]


class MemoryChanges(TypedDict):
    """A page of the feed; there is a token on every page, also on one that is empty."""

    changes: list[MemoryChange]
    nextPageToken: str


def change(one: FeedChange, bank_name: str) -> MemoryChange:
    """Return a change as replies and events have it."""
    changed, stamp = one.memory, one.record.stamp
    memory = f"{bank_name}/memories/{changed.memory_id}" if changed.memory_id else None
    return without_nulls(
        MemoryChange(
            id=one.id,
            changeTime=rfc3339(stamp.time),
            kind=changed.kind,
            scope=dict(one.scope),
            memory=memory,
            revision=f"{memory}/revisions/{changed.revision}" if memory and changed.revision else None,
            operation=f"{bank_name}/operations/{stamp.operation}" if stamp.operation else None,
        )
    )


class MemoryChangeEvent(MemoryChange):
    """A change as the detail of an event: names begin at the bank, and `fact` is what the memory says now."""

    bank: str
    fact: NotRequired[str | None]


def change_event(one: FeedChange, bank_id: str, fact: str | None) -> MemoryChangeEvent:
    """Return the detail of the event that tells a change."""
    return without_nulls(MemoryChangeEvent(**change(one, f"memoryBanks/{bank_id}"), bank=bank_id, fact=fact))
