"""What lists of memories and the page of one memory show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank_client.types import Memory, Revision
from streambank_client.types.memories import MemorySource, StructuredContent, Topic
from streambank_console import paths
from streambank_console.views import text
from streambank_console.views.diff import Piece, difference


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A window that made or renewed the memory, and how much of it."""

    href: str
    events: str


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory: what it says, about what, since when, and where it comes from."""

    id: str
    href: str
    fact: str
    owner: str
    owner_href: str
    topics: tuple[str, ...]
    metadata: tuple[tuple[str, str], ...]
    created: datetime
    updated: datetime
    expires: datetime | None
    holds: str
    description: str
    sources: tuple[SourceRow, ...]
    can_edit: bool
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A revision in the history: its change from the one before it, and its fact in full."""

    id: str
    title: str
    at: datetime
    holds: str
    pieces: tuple[Piece, ...]
    fact: str
    labels: tuple[tuple[str, str], ...]
    extracted: tuple[str, ...]
    can_restore: bool


def memory_view(bank: str, one: Memory) -> MemoryView:
    """Return what is shown of a memory."""
    return MemoryView(
        id=one.id,
        href=paths.memory(bank, one.name),
        fact=fact_of(one.fact, one.structured_content),
        owner=text.scope_label(one.scope),
        owner_href=paths.scope(bank, one.scope),
        topics=tuple(topic_name(topic) for topic in one.topics),
        metadata=tuple((text.visible(key), _value(value)) for key, value in sorted(one.metadata.items())),
        created=one.create_time,
        updated=one.update_time,
        expires=one.expire_time,
        holds=_span(one.valid_from, one.valid_until),
        description=text.visible(": ".join(part for part in (one.display_name, one.description) if part)),
        sources=tuple(_source(bank, one.name, source) for source in reversed(one.sources)),
        can_edit=one.structured_content is None,
        is_pinned=one.pinned,
    )


def fact_of(fact: str, content: StructuredContent | None) -> str:
    """Return a memory in words: its fact, or the fields of its profile."""
    if content is None:
        return text.visible(text.shortened(fact))
    fields = [f"{key}: {_plain(value)}" for key, value in content.data.items()]
    return text.visible(text.shortened(f"Profile {content.schema_id}. " + "; ".join(fields)))


def topic_name(topic: Topic) -> str:
    """Return the name of a topic as a reader writes it."""
    label = topic.custom_memory_topic_label
    return text.visible(label) if label else text.words_of(topic.managed_memory_topic or "no topic")


def history(revisions: Sequence[Revision]) -> tuple[Step, ...]:
    """Return the history, newest first, of *revisions* in the same order; a revision without a fact is a deletion.

    What was learnt late is no change of the text before it.
    """
    current = [one for one in revisions if not one.late]
    before = dict(zip((one.id for one in current), [*current[1:], None], strict=True))
    newest = current[0].id if current else None
    return tuple(_step(one, before.get(one.id), newest=one.id == newest) for one in revisions)


def _step(one: Revision, before: Revision | None, *, newest: bool) -> Step:
    after, former = _revision_text(one), _revision_text(before) if before else ""
    return Step(
        id=one.id,
        title=_history_title(one) or _title(after, former, before),
        at=one.create_time,
        holds=_evidence(one),
        pieces=difference(former, after),
        fact=after,
        labels=tuple((text.visible(key), text.visible(value)) for key, value in sorted(one.labels.items())),
        extracted=tuple(text.visible(each.fact) for each in one.extracted_memories if each.fact),
        can_restore=bool(after) and not newest,
    )


def _history_title(one: Revision) -> str:
    """Return the title of a revision that came late or corrects, or an empty text."""
    if one.late:
        return "Held before, learnt later"
    return "Corrected" if one.correction else ""


def _evidence(one: Revision) -> str:
    """Return when the text was said and when it holds, in words."""
    mentioned = f"said {one.event_time:%Y-%m-%d}" if one.event_time and one.fact else ""
    return ", ".join(filter(None, (mentioned, _span(one.valid_from, one.valid_until))))


def _span(start: datetime | None, end: datetime | None) -> str:
    days = ((name, at) for name, at in (("from", start), ("until", end)) if at)
    return " ".join(f"{name} {at:%Y-%m-%d}" for name, at in days)


def _title(after: str, former: str, before: Revision | None) -> str:
    if before is None:
        return "Created"
    if not after:
        return "Deleted"
    if not former:
        return "Restored"
    return "Confirmed" if after == former else "Changed"


def _revision_text(one: Revision) -> str:
    if one.structured_data is not None:
        return text.visible("; ".join(f"{key}: {_plain(value)}" for key, value in one.structured_data.items()))
    return text.visible(one.fact)


def _source(bank: str, memory: str, one: MemorySource) -> SourceRow:
    number = one.sequence_count or len(one.sequences)
    return SourceRow(paths.window(bank, one.operation, memory_name=memory), text.count(number, "event"))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M %Z}"
    return text.visible(str(value))


def _plain(value: object) -> str:
    """Return a value of a profile in words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return str(value)
