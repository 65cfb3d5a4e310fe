"""How far a reader of the change feed has come, so that it skips nothing.

Index `list` lags, and a write shows the time at which it began: a record may appear behind newer ones. So a reader
remembers the settled position, before which nothing appears any more, and what it was told behind that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from streambank.model.change_record import RecordPosition

# A record is in the index by then: `Api`, the slowest writer, has 30 s, an index lags for seconds at most.
SETTLED_AFTER = timedelta(minutes=2)
# What a page token has room for. Where more changes than this are not settled, a reader gets them as they settle.
MAX_UNSETTLED = 300

START = RecordPosition(0)

Mark = Callable[[RecordPosition], str]


@dataclass(frozen=True, slots=True)
class FeedCursor:
    """The end of a page: everything up to *after* was told, and the records with *marks* behind it.

    *cut* is the mark of the record in which the page ended, and *delivered* the number of its changes that a page had.
    """

    after: RecordPosition = START
    marks: frozenset[str] = frozenset()
    cut: str = ""
    delivered: int = 0


@dataclass(slots=True)
class FeedProgress:
    """The progress of one page, whose records come in order; *mark* returns a short text that names a record."""

    cursor: FeedCursor
    settled_ms: int
    mark: Mark
    _met: set[str] = field(default_factory=set)

    def is_delivered(self, position: RecordPosition) -> bool:
        """Tell whether an earlier page told this record."""
        return position <= self.cursor.after or self.mark(position) in self.cursor.marks

    def has_room(self, position: RecordPosition) -> bool:
        """Tell whether the cursor can remember that this record was told."""
        return self._is_settled(position) or len(self.cursor.marks) < MAX_UNSETTLED

    def first_untold(self, position: RecordPosition) -> int:
        """Return the number of the first change of this record that was not told."""
        return self.cursor.delivered if self.cursor.cut == self.mark(position) else 0

    def tell(self, position: RecordPosition) -> None:
        """Record that all of this record was told now, as all before it were."""
        mark = self.mark(position)
        if self.cursor.cut == mark:
            self.cursor = replace(self.cursor, cut="", delivered=0)
        if not self._is_settled(position):
            self.cursor = replace(self.cursor, marks=self.cursor.marks | {mark})
        self.pass_by(position)

    def pass_by(self, position: RecordPosition) -> None:
        """Record that nothing of this record is left to tell: it was told, or it is gone."""
        mark = self.mark(position)
        self._met.add(mark)
        if self._is_settled(position):
            after = max(position, self.cursor.after)
            self.cursor = replace(self.cursor, after=after, marks=self.cursor.marks - {mark})

    def cut_in(self, position: RecordPosition, delivered: int) -> None:
        """Record that the page ends in this record, *delivered* of whose changes it has."""
        self.cursor = replace(self.cursor, cut=self.mark(position), delivered=delivered)

    def reach_end(self) -> None:
        """Record that nothing is behind the last record: marks that were not met are of records that are gone."""
        self.cursor = replace(self.cursor, marks=self.cursor.marks & self._met)

    def _is_settled(self, position: RecordPosition) -> bool:
        return position.time_ms <= self.settled_ms
