"""Calls of ingestEvents, and what each reply must say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.blackbox.books import Bank, Event, Moment, Scope, Stream
from tests.blackbox.checks import settle
from tests.blackbox.tenants import STREAMS, Tenant, World, event_body, scope_body

RULES: tuple[dict[str, Any], ...] = (
    {"eventCount": 3},
    {"eventCount": 6, "idleDuration": "120s"},
    {"idleDuration": "300s"},
    {"fixedInterval": "3600s"},
    {"eventCount": 4, "overlapEventCount": 1},
)
UNSAID = object()


@dataclass
class Call:
    """A call that can be sent again."""

    bank: Bank
    stream: Stream
    events: list[tuple[str, str | None]]
    rule: Any = UNSAID
    has_force: bool = False
    idempotency_key: str | None = None

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"scope": scope_body(self.stream.scope), "streamId": self.stream.id}
        if self.events:
            body["directContentsSource"] = {"events": [event_body(text, event_id) for text, event_id in self.events]}
        if self.rule is not UNSAID:
            body["generationTriggerConfig"] = {"generationRule": self.rule} if self.rule else {}
        return body | ({"forceFlush": True} if self.has_force else {})

    def ids(self) -> list[str | None]:
        """Return the id by which each event is known; a key stands for the ids of those that have none."""
        key = self.idempotency_key
        return [event_id or (key and f"{key} {place}") for place, (_, event_id) in enumerate(self.events)]


def ingest(world: World) -> None:
    """New events, with some old ids and some twins among them."""
    ingest_into(world, *world.bank())


def ingest_into(world: World, tenant: Tenant, bank: Bank, scope: Scope | None = None) -> None:
    """Send events to a stream of *bank*, of *scope* if it is given."""
    stream = world.stream(tenant, bank) if scope is None else bank.stream(scope, world.rng.choice(STREAMS))
    call = Call(bank, stream, [])
    call.events = [_event(world, stream, call) for _ in range(world.rng.choice((1, 1, 2, 3, 5)))]
    call.rule = world.rng.choice((UNSAID, UNSAID, *RULES, *RULES, {}))
    call.has_force = world.rng.random() < 0.1
    if world.rng.random() < 0.15:
        call.events = [(world.words.sentence(), None) for _ in call.events]
        call.idempotency_key = f"key-{world.number()}"
    send(world, call)


def replay(world: World) -> None:
    """An old call comes again as it was, which adds no event."""
    calls = [call for call in world.sent if all(call.ids())]
    if calls:
        old = world.rng.choice(calls)
        send(world, Call(old.bank, old.stream, old.events, old.rule, old.has_force, old.idempotency_key), is_new=False)


def replay_elsewhere(world: World) -> None:
    """The events of a tenant's call are new in another stream, also in a bank of another tenant."""
    if world.sent:
        old = world.rng.choice(world.sent)
        tenant, bank = world.bank()
        stream = world.stream(tenant, bank)
        events = [(world.words.sentence(), event_id) for _, event_id in old.events if event_id]
        if events and not any(stream.event(str(event_id)) for _, event_id in events):
            unique = list({event_id: (text, event_id) for text, event_id in events}.values())
            send(world, Call(bank, stream, unique, rule={"eventCount": 3}))


def force_flush(world: World) -> None:
    """A call without events seals what is pending."""
    tenant, bank = world.bank()
    send(world, Call(bank, world.stream(tenant, bank), [], has_force=True), is_new=False)


def contradict(world: World) -> None:
    """An old id comes with another text: the first one stays, and the reply names the id."""
    tenant, bank = world.bank()
    stream = world.stream(tenant, bank)
    if not _comparable(stream):
        send(world, Call(bank, stream, [(world.words.sentence(), f"event-{world.number()}")]))
    old = world.rng.choice(_comparable(stream))
    send(world, Call(bank, stream, [(world.words.sentence(), old.id)]), is_new=False)


def _comparable(stream: Stream) -> list[Event]:
    """Return the events that a call can name, and whose text is still known."""
    return [event for event in stream.events if event.id and " " not in event.id and event.text]


def fill_window(world: World) -> None:
    """Events come one at a time: as soon as there are as many as the rule says, they are generated."""
    tenant, bank = world.bank()
    stream = world.stream(tenant, bank)
    limit = len(stream.pending) + 2
    for _ in range(2 * limit):  # what was pending may be sealed before, by a timer
        if not stream.is_due:
            send(
                world, Call(bank, stream, [(world.words.sentence(), f"event-{world.number()}")], {"eventCount": limit})
            )
    settle(world)


def _event(world: World, stream: Stream, call: Call) -> tuple[str, str | None]:
    rng = world.rng
    old = [event for event in stream.events if event.id and " " not in event.id]
    here = [(text, event_id) for text, event_id in call.events if event_id]
    pick = rng.random()
    if pick < 0.12 and here:
        return rng.choice(here)
    if pick < 0.2 and here:
        return world.words.sentence(), rng.choice(here)[1]
    if pick < 0.35 and old:
        event = rng.choice(old)
        return event.text or world.words.sentence(), event.id
    if pick < 0.45 and old:
        return world.words.sentence(), rng.choice(old).id
    if pick > 0.95 and call.events:
        return rng.choice(call.events)[0], None
    return world.words.sentence(), None if pick > 0.85 else f"event-{world.number()}"


def send(world: World, call: Call, *, is_new: bool = True) -> None:
    """Send *call*, judge the reply, and write down what it has changed."""
    bank, stream = call.bank, call.stream
    if stream.due(world.calls.now) is None:
        settle(world)
    key = bank.writer_of(stream.scope) if world.rng.random() < 0.5 else bank.operator
    before = world.calls.now
    path = f"{bank.path}/memories:ingestEvents" if world.rng.random() < 0.8 else f"{bank.path}:ingestEvents"
    headers = {"x-idempotency-key": call.idempotency_key} if call.idempotency_key else None
    reply = world.calls.ok(key, "POST", path, call.body(), headers)
    if is_new and call.events:
        world.sent.append(call)
    _judge(call, reply, Moment(before, world.calls.now), before)


def _judge(call: Call, reply: dict[str, Any], moment: Moment, now: datetime) -> None:
    bank, stream, metadata, operation = call.bank, call.stream, reply["metadata"], reply["name"]
    is_over = stream.due(now)
    if is_over:  # the call itself seals a window that is due
        bank.flush(stream)
    accepted, conflicts = _accept(call, operation)
    counts = metadata["acceptedEvents"], metadata["duplicateEvents"], set(metadata["conflictingEventIds"])
    expected = len(accepted), len(call.events) - len(accepted), conflicts
    assert counts == expected, f"accepted, duplicate, conflicting are {counts}, must be {expected}"
    flushes = _store_rule(call)
    _same_operation(call, operation, accepted)
    stream.pending += accepted
    for event in accepted:
        assert event.text
        bank.show(event.text, stream.scope)
    if accepted:
        _mark_arrival(stream, moment, is_first=len(stream.pending) == len(accepted))
    limit = (stream.rule or {}).get("eventCount")
    stream.is_due = bool(stream.pending) and (flushes or (isinstance(limit, int) and len(stream.pending) >= limit))
    if stream.is_imported or is_over is None or stream.is_due:
        return
    if accepted:
        assert metadata["state"] == "BUFFERING", f"a window is sealed that is not due: {metadata}"
        assert metadata["pendingEvents"] == len(stream.pending), f"{len(stream.pending)} are pending: {metadata}"


def _accept(call: Call, operation: str) -> tuple[list[Event], set[str]]:
    stream, accepted, conflicts = call.stream, [], set()
    first: dict[str, str] = {}
    for event_id, (text, _) in zip(call.ids(), call.events, strict=True):
        known = stream.event(event_id) if event_id else None
        if known is None:
            event = Event(event_id, text, operation, len(stream.events) + 1)
            stream.events.append(event)
            accepted.append(event)
        elif event_id and (known.text not in (None, text) or first.get(event_id, text) != text):
            # An erased event cannot be compared any more; two events of one call can be.
            conflicts.add(event_id)
        if event_id:
            first.setdefault(event_id, text)
    return accepted, conflicts


def _store_rule(call: Call) -> bool:
    """Store the rule of the call, and return whether the call flushes."""
    stream = call.stream
    if call.rule is not UNSAID:
        stream.rule = call.rule or None
    if "overlapEventCount" in (stream.rule or {}):
        stream.has_overlap = True
    if call.has_force:
        return True
    return stream.rule is None and (bool(call.events) or call.rule is not UNSAID)


def _same_operation(call: Call, operation: str, accepted: list[Event]) -> None:
    """The operation is that of the window that holds the call's newest event, or of the one that force has flushed."""
    stream = call.stream
    assert operation.startswith(f"{call.bank.path}/operations/"), f"an operation of another bank: {operation}"
    if stream.is_imported:
        return
    if stream.pending and (accepted or call.has_force):
        assert operation == stream.pending[0].operation, f"the window of {stream.pending[0]} has another operation"
    elif accepted:
        older = {event.operation for event in stream.events if event not in accepted}
        assert operation not in older, f"{operation} has been sealed"
    elif call.events:
        ids = set(call.ids())
        newest = max((event for event in stream.events if event.id in ids), key=lambda event: event.number)
        assert operation == newest.operation, f"{newest} has another operation than {operation}"


def _mark_arrival(stream: Stream, moment: Moment, *, is_first: bool) -> None:
    if len(stream.events) == len(stream.pending) and is_first and not stream.is_imported:
        stream.first = moment
    stream.newest = moment
    if is_first:
        stream.oldest = moment
