"""The raw events that a search reads beside memories."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.model.event import StoredEvent
from streambank.model.stream import StreamId


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An accepted event of a stream; *is_pending* tells that its window was not generated yet."""

    stream: StreamId
    window: int
    event: StoredEvent
    is_pending: bool

    @property
    def source(self) -> tuple[str, int]:
        """Return its sid and number, by which memories cite it."""
        return self.stream.sid, self.event.seq


@dataclass(frozen=True, slots=True)
class EventScan:
    """The raw events that a search reads, newest first; *is_truncated* tells that the scope has more."""

    events: tuple[RawEvent, ...] = ()
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """The text of turns that a memory cites, and the window that they are of."""

    sid: str
    window: int
    text: str


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """The parts of a hit's score.

    *share* is the share of the query's words in the text, None if no text of the scope has any; *similarity* is the
    cosine of the vectors, None without vectors to compare. *words* are the query's words that the text has, and *quote*
    has those turns of a memory that have most of them.
    """

    share: float | None
    similarity: float | None
    score: float
    words: tuple[str, ...]
    quote: Quote | None = None
