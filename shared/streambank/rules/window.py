"""The changes that a call and a seal make to the head of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from streambank.model.event import KeyedEvent
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head, IngestCall
from streambank.model.window import Window
from streambank.rules import triggers
from streambank.rules.tokens import event_tokens

# A part of a call may leave a window over its count if the last part never comes; the sweep looks at it this soon.
UNFINISHED_CALL = timedelta(seconds=60)
# How long DynamoDB Streams may take to start a generation before the sweep does.
START_GRACE = timedelta(minutes=2)


def stored_rule(call: IngestCall, head: Head) -> TriggerRule | None:
    """Return the rule that the stream stores after *call*; an empty rule removes the stored one."""
    if call.rule is None:
        return head.rule
    return None if call.rule.is_empty else call.rule


def add_events(
    head: Head,
    call: IngestCall,
    fresh: Sequence[KeyedEvent],
    *,
    bank_rule: TriggerRule | None,
    now: datetime,
    is_last_part: bool = True,
) -> Head:
    """Return *head* after *call* added the new events *fresh*; only the last part of a call may mark it for sealing."""
    rule = triggers.effective_rule(call.rule, head.rule, bank_rule)
    grown = _grown(head, fresh, now) if fresh else head
    grown = replace(grown, rule=stored_rule(call, head), settings=head.settings.overridden_by(call.settings))
    seal_reason = head.seal_reason or (
        triggers.immediate_seal_reason(grown, rule, force=call.force) if is_last_part else None
    )
    due = _due(
        replace(grown, seal_reason=seal_reason),
        rule,
        now,
        is_newly_due=seal_reason is not head.seal_reason,
        is_last_part=is_last_part,
    )
    return replace(grown, seal_reason=seal_reason, due=due)


def _grown(head: Head, fresh: Sequence[KeyedEvent], now: datetime) -> Head:
    return replace(
        head,
        seq=head.seq + len(fresh),
        count=head.count + len(fresh),
        size=head.size + sum(keyed.size for keyed in fresh),
        tokens=head.tokens + sum(event_tokens(keyed.event) for keyed in fresh),
        first_arrival=head.first_arrival or now,
        last_arrival=max(now, head.last_arrival or now),
        anchor=head.anchor or now,
    )


def _due(
    head: Head, rule: TriggerRule | None, now: datetime, *, is_newly_due: bool, is_last_part: bool
) -> datetime | None:
    """Return when the sweep looks at the window; ingest only moves it earlier, so later events cost no index write."""
    timer = triggers.next_due(head, rule)
    times = [head.due, timer.at if timer else None, now if is_newly_due else None]
    if head.count and not is_last_part:
        times.append(now + UNFINISHED_CALL)
    return min((triggers.round_up_to_second(time) for time in times if time is not None), default=None)


def seal(head: Head, reason: Reason, rule: TriggerRule | None, *, now: datetime) -> tuple[Head, Window]:
    """Return the head with its next window open, and the sealed window.

    Raises:
        ValueError: the window is empty.
    """
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
    return _with_next_window(head), window


def move_past(head: Head, window: Window) -> Head:
    """Return *head* after the sealed *window*, which it did not know; events after that one stay in its open window."""
    seq, start = max(head.seq, window.last_seq), max(head.start, window.last_seq + 1)
    moved = replace(head, seq=seq, window=window.number + 1, start=start, count=seq - start + 1)
    return moved if moved.count else _with_next_window(replace(moved, window=window.number))


def leave(head: Head) -> Head:
    """Return *head* once its open window, if there are events in it, has become that of another stream."""
    return _with_next_window(head) if head.count else replace(head, settings=WindowSettings(), due=None)


def _with_next_window(head: Head) -> Head:
    return replace(
        head,
        window=head.window + 1,
        start=head.seq + 1,
        count=0,
        size=0,
        tokens=0,
        first_arrival=None,
        last_arrival=None,
        seal_reason=None,
        settings=WindowSettings(),
        due=None,
    )
