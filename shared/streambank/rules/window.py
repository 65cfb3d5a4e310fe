"""What a call and a seal do to the head of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from streambank.model.event import KeyedEvent
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head, IngestCall
from streambank.model.window import Window
from streambank.rules import triggers

# A part of a call that is not its last may leave a window over its count: the sweep looks at it this soon.
UNFINISHED_CALL = timedelta(seconds=60)
# How long streams have to start a generation before the sweep does.
START_GRACE = timedelta(minutes=2)


def stored_rule(call: IngestCall, head: Head) -> TriggerRule | None:
    """Return the rule that the stream keeps after *call*: an explicit empty one takes a stored rule off."""
    if call.rule is None:
        return head.rule
    return None if call.rule.is_empty else call.rule


def admit(
    head: Head,
    call: IngestCall,
    fresh: Sequence[KeyedEvent],
    *,
    bank_rule: TriggerRule | None,
    now: datetime,
    is_last_part: bool = True,
) -> Head:
    """Return *head* after *call* added *fresh*: only the last part of a call may ripen the window."""
    rule = triggers.effective_rule(call.rule, head.rule, bank_rule)
    grown = _grown(head, fresh, now) if fresh else head
    grown = replace(grown, rule=stored_rule(call, head), settings=head.settings.overlaid(call.settings))
    seal_reason = head.seal_reason or (triggers.ripeness(grown, rule, force=call.force) if is_last_part else None)
    due = _due(
        replace(grown, seal_reason=seal_reason),
        rule,
        now,
        newly_ripe=seal_reason is not head.seal_reason,
        is_last_part=is_last_part,
    )
    return replace(grown, seal_reason=seal_reason, due=due)


def _grown(head: Head, fresh: Sequence[KeyedEvent], now: datetime) -> Head:
    return replace(
        head,
        seq=head.seq + len(fresh),
        count=head.count + len(fresh),
        size=head.size + sum(keyed.size for keyed in fresh),
        first_arrival=head.first_arrival or now,
        last_arrival=max(now, head.last_arrival or now),
        anchor=head.anchor or now,
    )


def _due(
    head: Head, rule: TriggerRule | None, now: datetime, *, newly_ripe: bool, is_last_part: bool
) -> datetime | None:
    """Return when the sweep looks at the window: ingest only ever moves it earlier, so it costs one index write."""
    timer = triggers.next_due(head, rule)
    times = [head.due, timer.at if timer else None, now if newly_ripe else None]
    if head.count and not is_last_part:
        times.append(now + UNFINISHED_CALL)
    return min((triggers.whole_second(time) for time in times if time is not None), default=None)


def seal(head: Head, reason: Reason, rule: TriggerRule | None, *, now: datetime) -> tuple[Head, Window]:
    """Return the head with its next window open, and the window that was closed; it must not be empty."""
    if not head.count or head.last_arrival is None:
        raise ValueError("an empty window is never sealed (I5)")
    window = Window(
        stream=head.stream,
        number=head.window,
        first_seq=head.start,
        last_seq=head.seq,
        reason=reason,
        sealed=now,
        last_arrival=head.last_arrival,
        rule=rule,
        settings=head.settings,
        due=now + START_GRACE,
    )
    return _opened(head), window


def _opened(head: Head) -> Head:
    return replace(
        head,
        window=head.window + 1,
        start=head.seq + 1,
        count=0,
        size=0,
        first_arrival=None,
        last_arrival=None,
        seal_reason=None,
        settings=WindowSettings(),
        due=None,
    )
