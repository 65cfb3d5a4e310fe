"""The text of events for the citations of memories."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import timedelta

from streambank.model.event import StoredEvent
from streambank.model.memory import Citation
from streambank.model.window import Window
from streambank.rules.prompted_parts import prompt_text

MAX_TURN_CHARACTERS = 1_000
MAX_CITATION_CHARACTERS = 3_000


def event_line(event: StoredEvent) -> str:
    """Return *event* as one dated line of at most 1,000 characters of text, or an empty text if it has none."""
    text = " ".join(prompt_text(event)[:MAX_TURN_CHARACTERS].split())
    return f"[{event.order()[0].date().isoformat()}] {text}" if text else ""


def cited_text(seqs: Container[int], events: Iterable[StoredEvent]) -> str:
    """Return the lines of the events whose numbers are in *seqs*, at most 3,000 characters."""
    lines = (event_line(event) for event in events if event.seq in seqs)
    return "\n".join(filter(None, lines))[:MAX_CITATION_CHARACTERS]


def citation(
    window: Window, number: int, seqs: Container[int], events: Iterable[StoredEvent], *, retention: timedelta
) -> Citation | None:
    """Return the citation of candidate *number* (from 0) of *window*, or None if its events have no text.

    It expires when the events do.
    """
    text = cited_text(seqs, events)
    expires = window.last_arrival + retention
    return Citation(window.stream.sid, window.number, number, text, expires) if text else None
