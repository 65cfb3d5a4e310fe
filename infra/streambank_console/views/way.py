"""The way of an event: turns, window, model, candidates with verdicts, memories before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank_client.types import Candidate, Revision, WindowDetail, WindowEvent
from streambank_client.types.events import Content
from streambank_client.types.operations import OperationMetadata, WindowResponse
from streambank_console import paths
from streambank_console.views import labels, overview, text
from streambank_console.views.diff import Piece, difference
from streambank_console.views.labels import Badge
from streambank_console.views.overview import Due

MOST_MEMORIES = 24


@dataclass(frozen=True, slots=True)
class Turn:
    """An event of the window; *focus* marks the one that the page is looked at for."""

    sequence: int
    role: str
    text: str
    at: datetime
    event_id: str
    omission: str
    focus: bool
    policy: str = ""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A verdict on a candidate for one memory."""

    badge: Badge
    reason: str
    memory: str


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """What the model proposed, the turns that it cites, and what became of it."""

    number: int
    fact: str
    change: str
    text: str
    cites: tuple[int, ...]
    verdicts: tuple[VerdictRow, ...]
    focus: bool


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A memory before and after the window."""

    id: str
    href: str
    action: Badge
    pieces: tuple[Piece, ...]
    note: str
    focus: bool
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """All that a page says about a window."""

    number: int
    state: Badge
    due: Due | None
    closed: str
    failure: str
    facts: tuple[tuple[str, str], ...]
    turns: tuple[Turn, ...]
    candidates: tuple[CandidateRow, ...]
    memories: tuple[MemoryChange, ...]
    offered: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    can_redrive: bool
    can_replay: bool
    owner: str = ""
    owner_href: str = ""
    stream: str = ""


@dataclass(frozen=True, slots=True)
class Focus:
    """What the page is looked at for: the number of an event, the id of a memory."""

    event: int | None = None
    memory: str = ""


def way(
    bank: str,
    metadata: OperationMetadata,
    detail: WindowDetail,
    changes: Sequence[MemoryChange],
    focus: Focus,
) -> Way:
    """Return the way of a window's events."""
    candidates = [_candidate(one, focus) for one in detail.candidates]
    return Way(
        number=metadata.window or 0,
        state=labels.state(metadata.state),
        due=overview.due(metadata.next_trigger),
        closed=labels.closed_because(metadata.trigger),
        failure=overview.failure_text(metadata),
        facts=_facts(metadata),
        turns=tuple(turn(one, focus) for one in detail.events),
        candidates=tuple(candidates),
        memories=tuple(_joined(one, candidates) for one in changes),
        offered=tuple((paths.last_part(name), paths.memory(bank, name)) for name in detail.offered_memories),
        notes=_notes(detail),
        can_redrive=metadata.state == "PARKED",
        owner=text.scope_label(detail.scope),
        owner_href=paths.scope(bank, detail.scope) if detail.scope else "",
        stream=detail.stream_id,
        can_replay=metadata.state == "DONE",
    )


def _joined(change: MemoryChange, candidates: Sequence[CandidateRow]) -> MemoryChange:
    """Return a memory with the facts that touched it; it is marked with one of them."""
    own = [one for one in candidates if any(verdict.memory == change.id for verdict in one.verdicts)]
    is_marked = change.focus or any(one.focus for one in own)
    return replace(change, candidates=tuple(one.number for one in own), focus=is_marked)


def touched(detail: WindowDetail, response: WindowResponse) -> dict[str, tuple[str, str]]:
    """Return each memory that a window touched, with its verdict and its revision before, the changed ones first."""
    changed = {one.memory.name: (one.action, one.previous_revision or "") for one in response.generated_memories}
    for candidate in detail.candidates:
        for verdict in candidate.verdicts:
            if verdict.memory:
                changed.setdefault(verdict.memory, (verdict.verdict, ""))
    return changed


def memory_change(
    bank: str, name: str, verdict: str, previous: str, revisions: Sequence[Revision] | None, focus: Focus
) -> MemoryChange:
    """Return a memory before and after; *revisions* are newest first, None where the memory is gone."""
    before, after, note = _texts(verdict, paths.last_part(previous), revisions)
    return MemoryChange(
        id=paths.last_part(name),
        href=paths.memory(bank, name),
        action=labels.verdict(verdict),
        pieces=difference(before, after),
        note=note,
        focus=paths.last_part(name) == focus.memory,
    )


def _texts(verdict: str, previous: str, revisions: Sequence[Revision] | None) -> tuple[str, str, str]:
    if not revisions:
        return "", "", "This memory is deleted, or its history has expired."
    facts: Mapping[str, str] = {one.id: one.fact for one in revisions}
    ids = [one.id for one in reversed(revisions)]
    if verdict == "CREATED":
        note = "" if facts[ids[-1]] == facts[ids[0]] else "It has changed since."
        return "", facts[ids[0]], note
    if previous in ids:
        at = ids.index(previous) + 1
        after = facts[ids[at]] if at < len(ids) else facts[previous]
        note = "It has changed since." if at < len(ids) - 1 else ""
        return facts[previous], after, note or ("The words stayed the same." if facts[previous] == after else "")
    return facts[ids[-1]], facts[ids[-1]], "The words stayed the same."


def _facts(metadata: OperationMetadata) -> tuple[tuple[str, str], ...]:
    rows = list[tuple[str, str]]()
    if (coverage := metadata.coverage) is not None:
        rows.append(("Read by the model", f"{coverage.covered:,} of {text.count(coverage.events, 'event')}"))
    if metadata.model_calls is not None:
        retries = f", {metadata.model_retries} of them again" if metadata.model_retries else ""
        rows.append(("Model calls", f"{metadata.model_calls:,}{retries}"))
    if metadata.input_tokens or metadata.output_tokens:
        rows.append(("Tokens", f"{metadata.input_tokens or 0:,} in, {metadata.output_tokens or 0:,} out"))
    if metadata.prompted_characters:
        rows.append(("Characters shown", f"{metadata.prompted_characters:,}"))
    if metadata.estimated_cost_usd:
        rows.append(("Estimated cost", text.dollars(metadata.estimated_cost_usd)))
    if seconds := _seconds(metadata):
        rows.append(("From close to end", seconds))
    if metadata.attempts:
        failed = f", {metadata.failures} failed" if metadata.failures else ""
        rows.append(("Attempts", f"{metadata.attempts:,}{failed}"))
    return tuple(rows)


def _seconds(metadata: OperationMetadata) -> str:
    generic = metadata.generic_metadata
    if metadata.state != "DONE" or not (generic and generic.create_time and generic.update_time):
        return ""
    span = generic.update_time - generic.create_time
    return f"{span.total_seconds():.1f} s" if span.total_seconds() < 60 else text.duration(span)


def turn(one: WindowEvent, focus: Focus) -> Turn:
    """Return an event as a turn."""
    return Turn(
        sequence=one.sequence,
        role=text.visible(one.content.role),
        text=content_text(one.content),
        at=one.event_time,
        event_id=text.visible(one.event_id or ""),
        omission=labels.omission(one.not_shown) if one.not_shown else "",
        focus=one.sequence == focus.event,
        policy=", ".join(text.visible(labels.finding(finding)) for finding in one.content_policy),
    )


def content_text(content: Content) -> str:
    """Return a message in words: its texts, and the kind of each part that is no text."""
    lines = []
    for part in content.parts:
        if part.text:
            lines.append(f"(thought) {part.text}" if part.thought else part.text)
        elif part.function_call:
            lines.append(f"(calls the tool {part.function_call.name})")
        elif part.function_response:
            lines.append(f"(result of the tool {part.function_response.name})")
        elif part.inline_data:
            lines.append(f"(media: {part.inline_data.mime_type})")
        elif part.file_data:
            lines.append(f"(media: {part.file_data.mime_type or 'a file'})")
    return text.visible(text.shortened("\n".join(lines))) or "(no text)"


def _candidate(one: Candidate, focus: Focus) -> CandidateRow:
    cites = tuple(each.sequence for each in one.events)
    verdicts = tuple(
        VerdictRow(labels.verdict(each.verdict), text.visible(each.reason or ""), paths.last_part(each.memory or ""))
        for each in one.verdicts
    )
    return CandidateRow(
        number=one.number,
        fact=text.visible(text.shortened(one.fact)),
        change=labels.change(one.change),
        text=text.visible(text.shortened(one.text or "")) if one.text != one.fact else "",
        cites=cites,
        verdicts=verdicts,
        focus=focus.event in cites or any(each.memory == focus.memory for each in verdicts if focus.memory),
    )


def _notes(detail: WindowDetail) -> tuple[str, ...]:
    counts = (
        (detail.missing_events, "event", "has expired or was erased", "have expired or were erased"),
        (detail.forgotten_events, "event", "was cited by a deleted memory", "were cited by a deleted memory"),
        (detail.omitted_events, "event", "had no room here", "had no room here"),
        (detail.forgotten_candidates, "fact", "came from forgotten events", "came from forgotten events"),
        (detail.omitted_candidates, "fact", "had no room here", "had no room here"),
    )
    return tuple(
        f"{text.count(number, noun)} {one if number == 1 else many}." for number, noun, one, many in counts if number
    )
