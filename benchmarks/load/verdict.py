"""Nothing lost, nothing doubled: what the service shows, held against what its callers know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.load.calls import event_id, text
from benchmarks.load.sent import Sent


@dataclass(frozen=True, slots=True)
class Window:
    """A window as its operation shows it."""

    number: int
    state: str
    events: int
    covered: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A stream as the API shows it: its windows, and what a replay of all its events was told."""

    windows: tuple[Window, ...]
    replay_accepted: int
    replay_duplicates: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A stream as the table holds it: events by their numbers in the stream, windows by their first and last ones."""

    events: tuple[tuple[int, str, str], ...]
    spans: tuple[tuple[int, int, int], ...]
    markers: tuple[tuple[int, int], ...]
    pending: int


def stream_faults(sent: Sent, shown: Shown, stored: Stored | None) -> Iterator[str]:
    """Yield what is wrong with a stream."""
    if sent.untaken:
        yield f"{sent.untaken} calls were never taken"
    yield from _sum_faults(sent)
    yield from _window_faults(sent, shown.windows)
    if (shown.replay_accepted, shown.replay_duplicates) != (0, len(sent.events)):
        told = f"{shown.replay_accepted} accepted, {shown.replay_duplicates} duplicates"
        yield f"a replay of {len(sent.events)} events was told {told}"
    if stored:
        yield from _stored_faults(sent, stored)


def _sum_faults(sent: Sent) -> Iterator[str]:
    """What calls were told was accepted is what there is, but for tries that wrote and could not say so."""
    least = len(sent.events) - len(sent.unsure & sent.events)
    if not least <= sent.accepted <= len(sent.events):
        yield f"acceptedEvents come to {sent.accepted}, not {len(sent.events)}"


def _window_faults(sent: Sent, windows: Collection[Window]) -> Iterator[str]:
    open_ones = [f"window {one.number} is {one.state}" for one in windows if one.state != "DONE"]
    yield from open_ones
    for name, total in (("hold", sum(w.events for w in windows)), ("cover", sum(w.covered for w in windows))):
        if total != len(sent.events):
            yield f"{len(windows)} windows {name} {total} events, not {len(sent.events)}"


def _stored_faults(sent: Sent, stored: Stored) -> Iterator[str]:
    wanted = {event_id(number): text(number) for number in sent.events}
    held = Counter(name for _, name, _ in stored.events)
    yield from _differing("event", wanted, held)
    if any(wanted.get(name) != said for _, name, said in stored.events if name in wanted):
        yield "an event holds another's text"
    if stored.pending:
        yield f"{stored.pending} events are in no window yet"
    yield from _span_faults(stored)


def _span_faults(stored: Stored) -> Iterator[str]:
    """Windows follow each other without a gap, and hold what the stream holds and its markers name."""
    numbers = sorted(seq for seq, _, _ in stored.events)
    in_windows = [seq for _, first, last in sorted(stored.spans) for seq in range(first, last + 1)]
    if in_windows != numbers or numbers != list(range(1, len(numbers) + 1)):
        yield "windows and events do not number the same"
    window_of = {seq: window for window, first, last in stored.spans for seq in range(first, last + 1)}
    if Counter(window_of.items()) != Counter(stored.markers):
        yield "markers and windows do not place the same events in the same windows"


def memory_faults(words: Iterable[str], facts: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with a scope's memories: each word has one, and nothing else has."""
    found = Counter(fact.rstrip(".").rpartition(" ")[2] for fact in facts)
    yield from _differing("memory", set(words), found)


def _differing(what: str, wanted: Collection[str], found: Counter[str]) -> Iterator[str]:
    """Yield counts, with one example each: whoever looks into it needs a name, not a thousand."""
    kinds = {
        "is lost": sorted(set(wanted) - found.keys()),
        "is doubled": sorted(name for name, count in found.items() if count > 1),
        "was never sent": sorted(found.keys() - set(wanted)),
    }
    yield from (f"{what} {kind}: {len(names)}, {names[0]} among them" for kind, names in kinds.items() if names)
