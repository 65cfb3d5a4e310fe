"""What must hold when the storm has passed: I1 to I10, read from the table and from what callers were told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from streambank.model.erasure import Cut
from streambank.model.ids import OperationId
from streambank.model.stream import StreamId
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys
from streambank.store.cuts import cut_of
from tests import aws
from tests.large_scopes import wrong_entries
from tests.storm import remains
from tests.storm.ledger import EventKey, Ledger
from tests.world import World

# What clocks of two functions may be apart.
SKEW = timedelta(seconds=6)


@dataclass
class Stream:
    """A stream as the table has it."""

    bank: str
    name: str
    scope: dict[str, str]
    sid: str
    first_seq: int
    last_seq: int
    pending: int
    windows: list[Window]
    events: list[Any]

    @property
    def own_name(self) -> str:
        """Return the name that it had before it was moved."""
        return _own_name(self.name)

    @classmethod
    def read(cls, world: World, item: dict[str, Any], cut: Cut | None) -> Stream:
        """Read the stream, whose head is *item*, from its newest *cut* on: what is before was erased, or moved."""
        head = codec.head_of(_plain(item))
        stream: StreamId = head.stream
        first = cut.window + 1 if cut else 1
        if "~" in stream.name:  # its earlier windows were moved before, under another name
            first = next((n for n in range(first, head.window) if world.windows.get(stream.bank, stream.sid, n)), first)
        windows = [world.windows.get(stream.bank, stream.sid, number) for number in range(first, head.window)]
        events = [event for window in windows if window for event in world.windows.events(window)]
        found = [window for window in windows if window]
        assert len(found) == len(windows), f"I2: a window of {stream.name} is missing"
        first_seq = cut.seq + 1 if cut else 1
        if "~" in stream.name:
            first_seq = found[0].first_seq if found else head.seq + 1
        return cls(stream.bank, stream.name, stream.scope, stream.sid, first_seq, head.seq, head.count, found, events)


def _own_name(name: str) -> str:
    return name.partition("~")[0]


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: int(value["N"]) if "N" in value else value.get("S") for name, value in item.items()}


def check(world: World, ledger: Ledger, lies: str) -> int:
    """Check all that must hold; return how many events were accepted. AssertionErrors name the invariant."""
    dump = aws.dump(world.client)
    cuts = {item["PK"]["S"]: cut_of(_plain(item)) for item in dump if item["SK"]["S"] == "CUT"}
    left = _left(dump)
    heads = [item for item in dump if item["SK"]["S"] == "HEAD"]
    streams = [Stream.read(world, item, left.get(item["PK"]["S"]) or cuts.get(item["PK"]["S"])) for item in heads]
    for stream in streams:
        _check_stream(stream)
    _check_twins(streams)
    events = {EventKey(s.bank, s.own_name, one.event.event_id): one.seq for s in streams for one in s.events}
    _check_answers({(s.bank, s.name): s for s in streams}, events, ledger)
    _check_memories(dump, streams, lies, ledger)
    remains.check(world, dump, cuts, {text for stream in streams for text in _texts(stream)}, ledger.deleted)
    _check_indexes(world, dump)
    due = [item["SK"]["S"] for item in dump if "G1SK" in item and item["SK"]["S"] != "INDEX"]
    assert not due, f"I6: {due[:3]} stay due for ever"
    held = [item for item in dump if item["SK"]["S"][:2] in ("B#", "P#") and "ttl" not in item]
    assert not held, f"what was processed never expires: {held[0]['SK']['S']}"
    without_id = sum(not one.event.event_id for stream in streams for one in stream.events)
    return without_id + len(ledger.all_answered() | {one for one in events if one.event_id})


def _check_indexes(world: World, dump: list[dict[str, Any]]) -> None:
    """Check that each index has the entries that it should have, and that no scope without one has any."""
    indexed = {item["PK"]["S"]: json.loads(item["sco"]["S"]) for item in dump if item["SK"]["S"] == "INDEX"}
    for pk, scope in indexed.items():
        wrong = wrong_entries(world, keys.owner(pk)[0], scope)
        assert not wrong, f"the index of {scope} is wrong about {wrong[:3]}"
    orphans = [item for item in dump if "VPK" in item and item["PK"]["S"] not in indexed]
    assert not orphans, f"entries are left without an index: {orphans[0]['SK']}"


def _texts(stream: Stream) -> list[str]:
    return [str(one.event.parts[0]["text"]) for one in stream.events]


def _check_stream(stream: Stream) -> None:
    name, numbers = stream.name, [event.seq for event in stream.events]
    assert stream.pending == 0, f"I6: events of {name} are pending for ever"
    assert numbers == list(range(stream.first_seq, stream.last_seq + 1)), f"I2: {name} has events {numbers}"
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


def _check_answers(streams: dict[tuple[str, str], Stream], events: dict[EventKey, int], ledger: Ledger) -> None:
    lost = sorted(ledger.must_stay() - events.keys())
    assert not lost, f"I10: {lost[:3]} were acknowledged and are lost"
    left = sorted(ledger.must_go() & events.keys())
    assert not left, f"{left[:3]} were acknowledged before they were erased, and are left"
    for call in ledger.told:
        if not call.ids or call.forced or not events.keys() >= set(call.events):
            continue
        if call.events[0].scope[1] in ledger.moved:
            continue  # the window has another name
        newest = max(events[one] for one in call.events)
        stream = streams[call.bank, call.stream]
        owner = next(window for window in stream.windows if window.first_seq <= newest <= window.last_seq)
        assert call.operation == OperationId(stream.sid, owner.number), f"I3: {call} is told of {owner.number}"


def _left(dump: list[dict[str, Any]]) -> dict[str, Cut]:
    """Return, as cuts, what was moved last from each stream: it begins behind that."""
    moved = sorted((item["PK"]["S"], item["SK"]["S"], item) for item in dump if item["SK"]["S"].startswith("MOVED#"))
    return {pk: Cut(0, int(item["seq"]["N"]), int(item["win"]["N"])) for pk, _, item in moved}


def _check_twins(streams: list[Stream]) -> None:
    """Check that an event is in one stream, of a scope or of that to which it was moved."""
    ids = Counter((s.bank, s.own_name, one.event.event_id) for s in streams for one in s.events if one.event.event_id)
    assert max(ids.values(), default=1) == 1, f"I1: {ids.most_common(1)} is in two scopes"


def _check_pins(memories: list[dict[str, Any]], ledger: Ledger) -> None:
    pins = {item["SK"]["S"].removeprefix("M#"): "pin" in item for item in memories}
    lost = sorted(ledger.pins.keys() - pins.keys())
    assert not lost, f"{lost[:3]} were pinned and are gone"
    wrong = [name for name, possible in ledger.pins.items() if pins[name] not in possible]
    assert not wrong, f"{wrong[:3]} have not the pins that their owners were told of"


def _check_memories(dump: list[dict[str, Any]], streams: list[Stream], lies: str, ledger: Ledger) -> None:
    expected = Counter(
        event.event.parts[0]["text"] for stream in streams for event in stream.events if event.event.role == "user"
    )
    memories = [item for item in dump if item["SK"]["S"].startswith("M#")]
    facts = Counter(item["fact"]["S"] for item in memories)
    assert not [fact for fact in facts if fact.startswith(lies)], "a lie is remembered"
    assert facts.keys() == expected.keys(), f"I6: {(expected.keys() ^ facts.keys())} are not remembered, or made up"
    # What several events say is remembered in a scope again once its first memory was moved.
    moved = {fact for fact in facts if fact.split("|")[0] in ledger.moved}
    doubled = [fact for fact, count in facts.items() if count > (expected[fact] if fact in moved else 1)]
    assert not doubled, f"I2: {doubled[:1]} is remembered twice"
    _check_pins(memories, ledger)
    scopes = {item["PK"]["S"]: item["sco"]["S"] for item in dump if item["SK"]["S"] == "V"}
    for item in memories:
        assert item["fact"]["S"].split("|")[0] in scopes[item["PK"]["S"]], "I8: a memory crossed its scope"
    changed = [item["SK"]["S"] for item in dump if item["SK"]["S"].startswith("R#")]
    assert not changed, f"I2: {changed[0]} was made more than once"
