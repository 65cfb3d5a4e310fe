"""The change feed over an index that lags and reorders, and over a scope: nothing is skipped, and ends are found."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from streambank.model.change_record import (
    ChangedMemory,
    ChangeKind,
    ChangeRecord,
    ChangeStamp,
    RecordPosition,
)
from streambank.pipeline.memories import changes as feed
from streambank.pipeline.memories.changes import FeedRequest, ScopeCursor
from streambank.rules.change_feed import MAX_UNSETTLED, SETTLED_AFTER, FeedCursor
from streambank.rules.filtering import parse
from streambank.store.attributes import milliseconds
from tests.world import START

START_MS = milliseconds(START)
LAG_MS = SETTLED_AFTER // timedelta(milliseconds=1)
FIELDS = {}


@dataclass
class LaggingIndex:
    """Records by their positions, each in the index from a time of its own on; the present time is *now_ms*."""

    rows: dict[RecordPosition, int] = field(default_factory=dict)
    visible: dict[RecordPosition, int] = field(default_factory=dict)
    now_ms: int = START_MS

    def add(self, time_ms, lag_ms, rows=1):
        position = RecordPosition(START_MS + time_ms, f"c{time_ms % 3}", len(self.rows) + 1)
        self.rows[position], self.visible[position] = rows, START_MS + time_ms + lag_ms

    @property
    def now(self):
        return START + timedelta(milliseconds=self.now_ms - START_MS)

    def listed(self, _bank, since_ms, *, page):
        shown = (one for one, visible in self.visible.items() if visible <= self.now_ms and one.time_ms >= since_ms)
        return iter(sorted(shown))

    def read(self, _bank, positions, *, now):
        return {one: (self.record(one), {"user_id": one.cid}) for one in positions if one in self.rows}

    def record(self, position):
        memories = (ChangedMemory(ChangeKind.CREATED, f"m{row}") for row in range(self.rows[position]))
        stamp = ChangeStamp(START, START + timedelta(days=365))
        return ChangeRecord(position.cid, position.version, stamp, tuple(memories))

    def all_ids(self):
        return {f"{one.cid}-{one.version}-{row}" for one, rows in self.rows.items() for row in range(rows)}


class Reader:
    """Polls, and keeps the ids of what it was told."""

    def __init__(self, index):
        self.index, self.cursor, self.told = index, FeedCursor(), Counter()

    def poll(self, size=100):
        request = FeedRequest(parse("", FIELDS), size, lambda _change: 1)
        mark = lambda position: f"{position.cid} {position.version}"
        page, self.cursor = feed.of_bank("default", request, self.cursor, mark, changes=self.index, now=self.index.now)
        assert len(page) <= size
        assert len(self.cursor.marks) <= MAX_UNSETTLED
        self.told.update(change.id for change in page)
        return page


records = st.lists(st.tuples(st.integers(0, 4 * LAG_MS), st.integers(0, LAG_MS - 1), st.integers(1, 3)), max_size=12)
polls = st.lists(st.tuples(st.integers(0, LAG_MS), st.integers(1, 4)), max_size=20)


@examples(max_examples=60)
@given(records, polls)
def test_a_reader_of_a_lagging_index_is_told_everything_once(written, polls):
    """Whatever is late in the index, in whatever order it appears, and wherever pages end: each change is told once."""
    index = LaggingIndex()
    for time_ms, lag_ms, rows in written:
        index.add(time_ms, lag_ms, rows)
    reader = Reader(index)
    for moved_ms, size in polls:
        index.now_ms += moved_ms
        reader.poll(size)
    index.now_ms = START_MS + 6 * LAG_MS
    while reader.poll(2):
        pass
    assert reader.told == dict.fromkeys(index.all_ids(), 1)


def test_more_than_a_token_remembers_comes_as_it_settles():
    """Beyond the bound a reader waits for what is not settled yet: nothing is repeated, and nothing is left out."""
    index = LaggingIndex()
    for number in range(2 * MAX_UNSETTLED):
        index.add(number, 0)
    reader, index.now_ms = Reader(index), START_MS + 10_000
    while reader.poll():
        pass
    assert reader.told.total() == MAX_UNSETTLED
    index.now_ms += LAG_MS
    while reader.poll():
        pass
    assert reader.told == dict.fromkeys(index.all_ids(), 1)
    assert not reader.cursor.marks


def test_what_was_erased_is_forgotten_by_the_token():
    """The marks of records that are gone take no room in later tokens."""
    index = LaggingIndex()
    for number in range(5):
        index.add(number, 0)
    reader, index.now_ms = Reader(index), START_MS + 10
    reader.poll()
    assert len(reader.cursor.marks) == 5
    index.rows.clear()
    index.visible.clear()
    assert reader.poll() == []
    assert not reader.cursor.marks


class OneScope:
    """The records of one scope."""

    def __init__(self, sizes):
        self.index = LaggingIndex()
        self.records = []
        for version, rows in enumerate(sizes, 1):
            position = RecordPosition(START_MS, "c", version)
            self.index.rows[position] = rows
            self.records.append(self.index.record(position))

    def of_scope(self, _bank, _scope, after, *, now, page):
        return (one for one in self.records if one.version > after)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_of_a_scope_end_anywhere(size):
    """A page may end within a record; the next one goes on there, and the last token waits for what comes."""
    scope = OneScope([1, 3, 2, 4])
    request, cursor, told = FeedRequest(parse("", FIELDS), size, lambda _change: 1), ScopeCursor(), []
    while True:
        page, cursor = feed.of_scope("default", {}, request, cursor, changes=scope, now=START)
        if not page:
            break
        told += [change.id for change in page]
    assert told == [f"c-{version}-{row}" for version, rows in enumerate([1, 3, 2, 4], 1) for row in range(rows)]
    assert cursor == ScopeCursor(4)
