"""Screening the records of an import: what a rule refuses is redacted, so that an import comes to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streambank.model.chat import ChatHistory
from streambank.model.content_policy import ContentPolicy
from streambank.model.memory import Citation
from streambank.model.record import BatchRecord, MarkerRecord, MemoryRecord, Record, ReviewRecord, SessionEventRecord
from streambank.model.session import Session
from streambank.model.window import Window
from streambank.pipeline.screening.calls import read_ahead, screened_event, screened_fact, screened_settings
from streambank.pipeline.screening.conversations import screened_messages, screened_session, screened_session_event
from streambank.pipeline.screening.memories import (
    screened_memory,
    screened_memory_text,
    screened_review,
    screened_revision,
)
from streambank.pipeline.screening.screening import Screening

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

# By how much the markers in a citation may lengthen it.
_CITATION_ROOM_BYTES = 1_000


def screened_records(records: Sequence[Record], policy: ContentPolicy, *, screening: Screening) -> list[Record]:
    """Return *records* without what the rules remove. Raises Unavailable where the service did not answer."""
    screen = screening.screen(policy)
    return [_screened(record, screen) for record in records]


def _screened(record: Record, screen: Screen) -> Record:
    screen.take_findings()  # what was found in one record is not another's
    match record:
        case Session() | SessionEventRecord() | ChatHistory():
            return _screened_conversation(record, screen)
        case MemoryRecord() | ReviewRecord():
            return _screened_memory(record, screen) if isinstance(record, MemoryRecord) else _review(record, screen)
        case MarkerRecord():
            # A hash of the event as it was sent would tell something of what is removed.
            return replace(record, fingerprint=b"")
        case BatchRecord():
            read_ahead(record.events, screen)
            return replace(record, events=tuple(screened_event(event, screen, size=0) for event in record.events))
        case Window():
            return screened_window(record, screen)
    return record


def _screened_conversation(record: Session | SessionEventRecord | ChatHistory, screen: Screen) -> Record:
    match record:
        case Session():
            return screened_session(record, screen)
        case SessionEventRecord():
            return replace(record, event=screened_session_event(record.event, screen))
    return replace(record, messages=screened_messages(record.messages, screen))


def _screened_memory(record: MemoryRecord, screen: Screen) -> MemoryRecord:
    screen.read_ahead([record.memory.fact, *(one.fact for one in record.revisions)])
    return MemoryRecord(
        screened_memory(record.memory, screen),
        tuple(screened_revision(one, screen) for one in record.revisions),
        tuple(screened_citation(one, screen) for one in record.citations),
    )


def _review(record: ReviewRecord, screen: Screen) -> ReviewRecord:
    review, is_profile = record.review, bool(record.review.profile)
    screen.read_ahead([review.text, review.fact, review.reason, *(one.fact for one in record.memories)])
    memories = (
        replace(one, fact=screened_memory_text(one.fact, screen, is_profile=is_profile)) for one in record.memories
    )
    return ReviewRecord(screened_review(review, screen), tuple(memories))


def screened_citation(citation: Citation, screen: Screen) -> Citation:
    """Return a citation without what the rules remove."""
    return replace(citation, text=screen.text(citation.text, room=_CITATION_ROOM_BYTES))


def screened_window(window: Window, screen: Screen) -> Window:
    """Return a window without what the rules remove from its stated facts and its settings."""
    direct = tuple(replace(memory, fact=screened_fact(memory.fact, screen)) for memory in window.direct)
    return replace(
        window,
        direct=direct,
        settings=screened_settings(window.settings, screen, may_refuse=False),
        # As in `MarkerRecord`.
        call=window.call if direct == window.direct else b"",
    )
