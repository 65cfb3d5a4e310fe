"""The change feed: what happened to the memories of a bank or of a scope, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from streambank.model.change_record import ChangeRecord, FeedChange, RecordPosition
from streambank.rules.batches import batches
from streambank.rules.change_feed import SETTLED_AFTER, FeedCursor, FeedProgress, Mark
from streambank.rules.filtering import Filter
from streambank.store.attributes import milliseconds
from streambank.store.changes import Changes
from streambank.wire.page_room import PageRoom

# How many records one call reads: with a filter that matches few of them, a page is short, and its token goes on.
MAX_READ = 2_000
_RUN = 100


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """The request for a page; *weigh* returns the bytes of a change in the reply."""

    filter: Filter
    size: int
    weigh: Callable[[FeedChange], int]

    def matches(self, change: FeedChange) -> bool:
        """Tell whether the filter selects *change*."""
        values = {
            "kind": change.memory.kind.value,
            "change_time": change.record.stamp.time,
            "scope": dict(change.scope),
        }
        return self.filter.matches(values)


@dataclass(frozen=True, slots=True)
class ScopeCursor:
    """The end of a page of one scope: the version of its last whole record, and what was told of the next one."""

    version: int = 0
    delivered: int = 0


def of_scope(
    bank: str, scope: Mapping[str, str], request: FeedRequest, cursor: ScopeCursor, *, changes: Changes, now: datetime
) -> tuple[list[FeedChange], ScopeCursor]:
    """Return the next changes of a scope, in the order of its versions, and where they end: a consistent read."""
    room, page = PageRoom(request.size, request.weigh), list[FeedChange]()
    records = changes.of_scope(bank, scope, cursor.version, now=now, page=_RUN)
    for read, record in enumerate(records):
        if read == MAX_READ:
            return page, cursor
        for number in range(cursor.delivered, len(record.memories)):
            change = FeedChange(record, number, scope)
            if request.matches(change):
                if not room.admits(change):
                    return page, ScopeCursor(cursor.version, number)
                page.append(change)
        cursor = ScopeCursor(record.version)
    return page, cursor


def of_bank(
    bank: str, request: FeedRequest, cursor: FeedCursor, mark: Mark, *, changes: Changes, now: datetime
) -> tuple[list[FeedChange], FeedCursor]:
    """Return the next changes of a bank, in the order of their times, and where they end.

    The index may lag behind what was committed: what appears later is told later, and nothing is skipped.
    """
    progress = FeedProgress(cursor, milliseconds(now - SETTLED_AFTER) or 0, mark)
    page = _BankPage(request, progress, PageRoom(request.size, request.weigh))
    run = min(_RUN, request.size + 1)
    listed = changes.listed(bank, cursor.after.time_ms, page=_RUN)
    for number, positions in enumerate(batches(listed, run), 1):
        read = changes.read(bank, [one for one in positions if not progress.is_delivered(one)], now=now)
        if not all(page.take(one, read.get(one)) for one in positions) or number * run >= MAX_READ:
            return page.changes, progress.cursor
    progress.reach_end()
    return page.changes, progress.cursor


@dataclass(slots=True)
class _BankPage:
    """A page that is being filled."""

    request: FeedRequest
    progress: FeedProgress
    room: PageRoom[FeedChange]
    changes: list[FeedChange] = field(default_factory=list)

    def take(self, position: RecordPosition, read: tuple[ChangeRecord, dict[str, str]] | None) -> bool:
        """Add what the record tells, or nothing of one that is gone or was told; False where the page ends in it."""
        if read is None:
            self.progress.pass_by(position)
            return True
        if not self.progress.has_room(position):
            return False
        record, scope = read
        for number in range(self.progress.first_untold(position), len(record.memories)):
            change = FeedChange(record, number, scope)
            if self.request.matches(change):
                if not self.room.admits(change):
                    self.progress.cut_in(position, number)
                    return False
                self.changes.append(change)
        self.progress.tell(position)
        return True
