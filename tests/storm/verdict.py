"""What must hold when the storm has passed: I1 to I10, read from the table and from what callers were told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from streambank.model.ids import OperationId
from streambank.model.stream import StreamId
from streambank.model.window import Window, WindowState
from streambank.store import codec
from tests import aws
from tests.world import World

# What clocks of two functions may be apart.
SKEW = timedelta(seconds=6)


@dataclass(frozen=True)
class Told:
    """A call that was acknowledged: the ids of its events in their stream, and the operation."""

    stream: str
    ids: tuple[str, ...]
    operation: OperationId
    forced: bool


@dataclass
class Stream:
    """A stream as the table has it."""

    name: str
    scope: dict[str, str]
    sid: str
    last_seq: int
    pending: int
    windows: list[Window]
    events: list[Any]

    @classmethod
    def read(cls, world: World, item: dict[str, Any]) -> Stream:
        head = codec.head_of(_plain(item))
        stream: StreamId = head.stream
        windows = [world.windows.get(stream.bank, stream.sid, number) for number in range(1, head.window)]
        events = [event for window in windows if window for event in world.windows.events(window)]
        found = [window for window in windows if window]
        assert len(found) == len(windows), f"I2: a window of {stream.name} is missing"
        return cls(stream.name, stream.scope, stream.sid, head.seq, head.count, found, events)


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: int(value["N"]) if "N" in value else value.get("S") for name, value in item.items()}


def check(world: World, told: list[Told], lies: str) -> int:
    """Check all that must hold; return how many events were accepted. AssertionErrors name the invariant."""
    dump = aws.dump(world.client)
    streams = {s.name: s for s in (Stream.read(world, item) for item in dump if item["SK"]["S"] == "HEAD")}
    for stream in streams.values():
        _check_stream(stream)
    _check_told(streams, told)
    _check_memories(dump, streams, lies)
    due = [item["SK"]["S"] for item in dump if "G1SK" in item]
    assert not due, f"I6: {due[:3]} stay due for ever"
    held = [item for item in dump if item["SK"]["S"][:2] in ("B#", "P#") and "ttl" not in item]
    assert not held, f"what was processed never expires: {held[0]['SK']['S']}"
    return sum(len(stream.events) for stream in streams.values())


def _check_stream(stream: Stream) -> None:
    name, numbers = stream.name, [event.seq for event in stream.events]
    assert stream.pending == 0, f"I6: events of {name} are pending for ever"
    assert numbers == list(range(1, stream.last_seq + 1)), f"I2: {name} has events {numbers}"
    ids = Counter(event.event.event_id or event.event.parts[0]["text"] for event in stream.events)
    assert max(ids.values(), default=1) == 1, f"I1: {ids.most_common(1)} in {name}"
    for window in stream.windows:
        assert window.count > 0, f"I5: an empty window in {name}"
        assert window.state is WindowState.DONE, f"I6: window {window.number} of {name} is {window.state}"
        read = window.outcome["covered"] + sum(window.outcome["not_covered"].values())
        assert read == window.count, f"I6: window {window.number} of {name} was not read whole"
    arrivals = [event.arrived for event in stream.events]
    in_order = all(later >= earlier - SKEW for earlier, later in pairwise(arrivals))
    assert in_order, f"I7: {name} is out of order"


def _check_told(streams: dict[str, Stream], told: list[Told]) -> None:
    for call in told:
        stream = streams[call.stream]
        places = {event.event.event_id: event.seq for event in stream.events}
        missing = [one for one in call.ids if one not in places]
        assert not missing, f"I10: {missing} of {call.stream} were acknowledged and are lost"
        if call.ids and not call.forced:
            newest = max(places[one] for one in call.ids)
            owner = next(window for window in stream.windows if window.first_seq <= newest <= window.last_seq)
            assert call.operation == OperationId(stream.sid, owner.number), f"I3: {call} is told of {owner.number}"


def _check_memories(dump: list[dict[str, Any]], streams: dict[str, Stream], lies: str) -> None:
    expected = Counter(
        event.event.parts[0]["text"]
        for stream in streams.values()
        for event in stream.events
        if event.event.role == "user"
    )
    memories = [item for item in dump if item["SK"]["S"].startswith("M#")]
    facts = Counter(item["fact"]["S"] for item in memories)
    assert not [fact for fact in facts if fact.startswith(lies)], "a lie is remembered"
    assert facts.keys() == expected.keys(), f"I6: {(expected.keys() ^ facts.keys())} are not remembered, or made up"
    assert max(facts.values(), default=1) == 1, f"I2: {facts.most_common(1)} is remembered twice"
    scopes = {item["PK"]["S"]: item["sco"]["S"] for item in dump if item["SK"]["S"] == "V"}
    for item in memories:
        assert item["fact"]["S"].split("|")[0] in scopes[item["PK"]["S"]], "I8: a memory crossed its scope"
    changed = [item["SK"]["S"] for item in dump if item["SK"]["S"].startswith("R#")]
    assert not changed, f"I2: {changed[0]} was made more than once"
