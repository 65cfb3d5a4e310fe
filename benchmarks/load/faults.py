"""Compares what the service holds with what its callers sent: nothing may be lost or doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.load.calls import event_id, text
from benchmarks.load.sent_events import SentEvents


@dataclass(frozen=True, slots=True)
class Window:
    """A window, as its operation describes it."""

    number: int
    state: str
    events: int
    covered: int


@dataclass(frozen=True, slots=True)
class ApiStream:
    """A stream as the API describes it: its windows, and the counts of a replay of all its events."""

    windows: tuple[Window, ...]
    replay_accepted: int
    replay_duplicates: int


@dataclass(frozen=True, slots=True)
class StoredStream:
    """A stream as the table holds it: numbered events, and windows by their first and last event."""

    events: tuple[tuple[int, str, str], ...]
    spans: tuple[tuple[int, int, int], ...]
    markers: tuple[tuple[int, int], ...]
    pending: int


def stream_faults(sent: SentEvents, api: ApiStream, stored: StoredStream | None) -> Iterator[str]:
    """Yield the faults of a stream."""
    if sent.failed_calls:
        yield f"{sent.failed_calls} calls failed"
    yield from _sum_faults(sent)
    yield from _window_faults(sent, api.windows)
    if (api.replay_accepted, api.replay_duplicates) != (0, len(sent.events)):
        counts = f"{api.replay_accepted} accepted, {api.replay_duplicates} duplicates"
        yield f"a replay of {len(sent.events)} events returned {counts}"
    if stored:
        yield from _stored_faults(sent, stored)


def _sum_faults(sent: SentEvents) -> Iterator[str]:
    """Yield a fault if acceptedEvents do not sum to the sent events; uncertain ones may be missing from the sum."""
    least = len(sent.events) - len(sent.uncertain & sent.events)
    if not least <= sent.accepted <= len(sent.events):
        yield f"acceptedEvents sum to {sent.accepted}, not {len(sent.events)}"


def _window_faults(sent: SentEvents, windows: Collection[Window]) -> Iterator[str]:
    yield from (f"window {one.number} is {one.state}" for one in windows if one.state != "DONE")
    for name, total in (("hold", sum(w.events for w in windows)), ("cover", sum(w.covered for w in windows))):
        if total != len(sent.events):
            yield f"{len(windows)} windows {name} {total} events, not {len(sent.events)}"


def _stored_faults(sent: SentEvents, stored: StoredStream) -> Iterator[str]:
    expected = {event_id(number): text(number) for number in sent.events}
    actual = Counter(name for _, name, _ in stored.events)
    yield from _differences("event", expected, actual)
    if any(expected.get(name) != content for _, name, content in stored.events if name in expected):
        yield "an event has the text of another"
    if stored.pending:
        yield f"{stored.pending} events are in no window yet"
    yield from _span_faults(stored)


def _span_faults(stored: StoredStream) -> Iterator[str]:
    """Yield where windows, events and markers disagree; windows must follow each other without a gap."""
    numbers = sorted(seq for seq, _, _ in stored.events)
    in_windows = [seq for _, first, last in sorted(stored.spans) for seq in range(first, last + 1)]
    if in_windows != numbers or numbers != list(range(1, len(numbers) + 1)):
        yield "the windows' ranges do not match the events' numbers"
    window_of = {seq: window for window, first, last in stored.spans for seq in range(first, last + 1)}
    if Counter(window_of.items()) != Counter(stored.markers):
        yield "markers and windows disagree on the windows of events"


def memory_faults(words: Iterable[str], facts: Collection[str]) -> Iterator[str]:
    """Yield the faults of a scope's memories: each word has exactly one memory, and there is no other."""
    actual = Counter(fact.rstrip(".").rpartition(" ")[2] for fact in facts)
    yield from _differences("memory", set(words), actual)


def _differences(noun: str, expected: Collection[str], actual: Counter[str]) -> Iterator[str]:
    """Yield a count of each kind of difference, with one example."""
    kinds = {
        "is lost": sorted(set(expected) - actual.keys()),
        "is doubled": sorted(name for name, count in actual.items() if count > 1),
        "was never sent": sorted(actual.keys() - set(expected)),
    }
    yield from (f"{noun} {kind}: {len(names)}, {names[0]} among them" for kind, names in kinds.items() if names)
