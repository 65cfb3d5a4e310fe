"""A direct generation: a stream of one window, sealed at once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from streambank.errors import Conflict, FailedPrecondition, NotFound, Unavailable
from streambank.model import ids
from streambank.model.consent import LEARNING_DISABLED, Learning
from streambank.model.content_policy import ContentPolicy
from streambank.model.event import CallMarker, Event, KeyedEvent
from streambank.model.operation import Operation
from streambank.model.rule import Reason, WindowSettings
from streambank.model.stream import StreamId
from streambank.model.window import DirectMemory, Window
from streambank.pipeline.screening import calls
from streambank.pipeline.screening.screening import Screening, Screenings
from streambank.rules import operations
from streambank.rules.ingest_parts import PART_BYTES
from streambank.rules.window import START_GRACE
from streambank.store.banks import Banks
from streambank.store.streams import DirectCall, RetentionPolicy, Streams
from streambank.store.windows import Windows

# The name of the stream of a call; its key is random, so that nobody can name it before there is one.
DIRECT_STREAM = "direct"
FIRST = 1


@dataclass(frozen=True, slots=True)
class GenerateCall:
    """One validated call: events or stated facts.

    The same call again has the same *token*, which is empty for a new call, and the same *fingerprint* of its body.
    """

    bank: str
    scope: dict[str, str]
    token: str
    events: tuple[KeyedEvent, ...] = ()
    memories: tuple[DirectMemory, ...] = ()
    settings: WindowSettings = field(default_factory=WindowSettings)
    fingerprint: bytes = b""


@dataclass(frozen=True, slots=True)
class GenerateContext:
    """What a direct generation needs."""

    streams: Streams
    windows: Windows
    banks: Banks
    retention_policy: RetentionPolicy
    now: datetime
    screenings: Screenings = field(default=Screenings())


def generate(call: GenerateCall, *, context: GenerateContext) -> Operation:
    """Store the call as a sealed window and return its generation's operation; the stream's record starts it.

    A token is remembered for the dedup horizon of the deployment; after that it is a new one.

    Raises:
        NotFound: there is no such bank.
        InvalidArgument: the bank's content policy refuses it.
        FailedPrecondition: the scope is set to learn nothing.
        KeyReused: the token was used with another body.
        Unavailable: the same call is being written at this moment.
    """
    bank = context.banks.get(call.bank)
    if bank is None:
        raise NotFound(f"there is no bank {call.bank!r}")
    if context.streams.consent(call.bank, call.scope).learning is Learning.DISABLED:
        raise FailedPrecondition(LEARNING_DISABLED)
    if bank.content_policy:
        call = _screened(call, bank.content_policy, context.screenings.of(bank.id))
    window, retention_policy = _window(call, context.now), context.retention_policy
    of_bank = RetentionPolicy(
        bank.retention or retention_policy.retention, bank.dedup_horizon or retention_policy.dedup_horizon
    )
    marker = CallMarker(ids.digest("direct", call.token), call.fingerprint)
    repeatable = DirectCall(marker.key, context.now + retention_policy.dedup_horizon) if call.token else None
    for _ in range(2):
        try:
            context.streams.store_window(window, call.events, repeatable, now=context.now, retention_policy=of_bank)
        except Conflict:
            sid = context.streams.sid_of_call(call.bank, call.scope, marker.key) if repeatable else None
            stored = context.windows.get(call.bank, sid, FIRST) if sid else None
            if stored:
                marker.check(CallMarker(marker.key, stored.call))
                return operations.sealed(stored, downstream=True)
            repeatable = replace(repeatable, replaced=sid) if repeatable else None
        else:
            return operations.sealed(window, downstream=True)
    raise Unavailable("the same call is under way; try again")


def _screened(call: GenerateCall, policy: ContentPolicy, screening: Screening) -> GenerateCall:
    """Return *call* as it may be stored. Raises InvalidArgument where a rule refuses it, and Unavailable."""
    screen = screening.screen(policy)
    screened = replace(
        call,
        events=calls.screened_events(call.events, screen),
        memories=calls.screened_memories(call.memories, screen),
        settings=calls.screened_settings(call.settings, screen),
    )
    if not call.fingerprint or screened == call:
        return screened
    # That of the body would tell something of what was removed.
    whole = [[keyed.canonical() for keyed in screened.events], screened.scope, screened.memories, screened.settings]
    return replace(screened, fingerprint=ids.fingerprint(whole))


def _window(call: GenerateCall, now: datetime) -> Window:
    sid = ids.digest("direct", uuid.uuid4().hex)
    return Window(
        stream=StreamId(call.bank, sid, call.scope, DIRECT_STREAM),
        number=FIRST,
        first_seq=1,
        last_seq=len(call.events),
        reason=Reason.DIRECT,
        sealed=now,
        last_arrival=now,
        settings=call.settings,
        due=now + START_GRACE,
        direct=call.memories,
        call=call.fingerprint,
    )


def without_keys(events: Sequence[KeyedEvent]) -> tuple[KeyedEvent, ...]:
    """Return *events* as a direct generation stores them: without keys, so that none is a duplicate."""
    return tuple(KeyedEvent(keyed.event, None, keyed.size) for keyed in events)


def from_session(turns: Sequence[Event]) -> tuple[KeyedEvent, ...]:
    """Return the *turns* of a session as a direct generation stores them.

    Raises:
        FailedPrecondition: they are more than one window can hold.
    """
    events = tuple(KeyedEvent(turn, None, len(json.dumps(turn.parts).encode())) for turn in turns)
    size = sum(keyed.size for keyed in events)
    if size > PART_BYTES:
        raise FailedPrecondition(f"the session has {size} bytes of events; name a start or an end time")
    return events
