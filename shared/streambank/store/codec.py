"""Streams and windows as items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from streambank.model.consent import Consent, Pause
from streambank.model.event import Event, KeyedEvent, StoredEvent
from streambank.model.metadata import MergeStrategy
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head, StreamId
from streambank.model.validity import Validity
from streambank.model.window import DirectMemory, Window, WindowState
from streambank.store import due_partitions, keys, policy_codec, text
from streambank.store.attributes import Value, instant, milliseconds, seconds
from streambank.store.keys import Key

Values = dict[str, "Value | None"]
# Values of a window's attribute `held`: the expiry of some of its events is suspended, or that of all.
SUSPENDING, SUSPENDED = 1, 2


def instant_of(value: int | None) -> datetime:
    """Return an instant that its item always holds."""
    moment = instant(value)
    if moment is None:
        raise ValueError("the item lacks an instant")
    return moment


def due_values(key: Key, due: datetime | None) -> Values:
    """Return the attributes that put the item under *key* into index `due`, or remove it."""
    return {"G1PK": due_partitions.partition_of(key) if due else None, "G1SK": seconds(due)}


def due_instant(item: Mapping[str, Any]) -> datetime | None:
    """Return when *item* is due, or None if it is not in index `due`."""
    return instant(item["G1SK"] * 1000) if "G1SK" in item else None


# ---- rules and settings travel on HEAD and on windows: short names, since HEAD is written with every call


def rule_text(rule: TriggerRule | None) -> str | None:
    if rule is None:
        return None
    return text.dumps(
        {
            name: value
            for name, value in (
                ("n", rule.event_count),
                ("i", rule.idle and int(rule.idle.total_seconds())),
                ("f", rule.interval and int(rule.interval.total_seconds())),
                ("o", rule.overlap or None),
                ("t", rule.token_count),
            )
            if value is not None
        }
    )


def rule_value(stored: str | None) -> TriggerRule | None:
    if stored is None:
        return None
    rule = json.loads(stored)
    idle, interval = (timedelta(seconds=rule[name]) if name in rule else None for name in "if")
    return TriggerRule(rule.get("n"), idle, interval, rule.get("o", 0), rule.get("t"))


def settings_text(settings: WindowSettings) -> str | None:
    if settings.is_empty:
        return None
    named = {
        "l": settings.revision_labels,
        "x": text.expiry_text(settings.revision_expiry),
        "d": settings.disable_revisions,
        "m": text.metadata_text(settings.metadata),
        "s": settings.merge_strategy,
        "z": settings.time_zone,
        "c": settings.disable_consolidation,
        "t": settings.allowed_topics,
        "u": settings.include_tool_traffic,
    }
    return text.dumps({name: value for name, value in named.items() if value is not None})


def settings_value(stored: str | None) -> WindowSettings:
    named = json.loads(stored or "{}")
    return WindowSettings(
        revision_labels=named.get("l"),
        revision_expiry=text.expiry_value(named.get("x")),
        disable_revisions=named.get("d"),
        metadata=text.metadata_value(named.get("m")),
        merge_strategy=MergeStrategy(named["s"]) if "s" in named else None,
        time_zone=named.get("z"),
        disable_consolidation=named.get("c"),
        allowed_topics=tuple(named["t"]) if "t" in named else None,
        include_tool_traffic=named.get("u"),
    )


# ---- consent


def consent_text(consent: Consent) -> str:
    return text.dumps([[milliseconds(one.start), milliseconds(one.end)] for one in consent.pauses])


def consent_of(item: Mapping[str, Any] | None) -> Consent:
    """Return the consent in the version item of a scope."""
    rows = json.loads(item.get("lrn", "[]")) if item else []
    return Consent(tuple(Pause(instant_of(start), instant(end)) for start, end in rows))


# ---- HEAD


def head_values(head: Head) -> Values:
    key = keys.head(head.stream.bank, head.stream.sid)
    return {
        "ver": head.version,
        "seq": head.seq,
        "win": head.window,
        "wst": head.start,
        "cnt": head.count,
        "byt": head.size,
        "tok": head.tokens or None,
        "t0": milliseconds(head.first_arrival),
        "lt": milliseconds(head.last_arrival),
        "anchor": milliseconds(head.anchor),
        "rule": rule_text(head.rule),
        "ripe": int(head.seal_reason is not None),
        "why": head.seal_reason,
        "cfg": settings_text(head.settings),
        "sco": text.dumps(head.stream.scope),
        "str": head.stream.name,
        "gap": int(head.has_gaps) or None,
        "mov": int(head.is_moving) or None,
        **due_values(key, head.due),
    }


def stream_of(item: Mapping[str, Any]) -> StreamId:
    bank, sid = keys.owner(item["PK"])
    return StreamId(bank, sid, json.loads(item["sco"]), item["str"])


def head_of(item: Mapping[str, Any]) -> Head:
    return Head(
        stream=stream_of(item),
        version=item["ver"],
        seq=item["seq"],
        window=item["win"],
        start=item["wst"],
        count=item["cnt"],
        size=item["byt"],
        tokens=item.get("tok", 0),
        first_arrival=instant(item.get("t0")),
        last_arrival=instant(item.get("lt")),
        anchor=instant(item.get("anchor")),
        rule=rule_value(item.get("rule")),
        seal_reason=Reason(item["why"]) if item["ripe"] else None,
        settings=settings_value(item.get("cfg")),
        due=due_instant(item),
        has_gaps="gap" in item,
        is_moving="mov" in item,
    )


# ---- events


def batch_values(events: Sequence[KeyedEvent], first_seq: int, window: int, arrived: datetime) -> Values:
    return {
        **event_values([keyed.event for keyed in events]),
        "n": len(events),
        "seq": first_seq,
        "win": window,
        "at": milliseconds(arrived),
    }


def event_values(events: Sequence[Event]) -> Values:
    """Return the attributes that hold *events*: what was found in them is beside them, by their places."""
    rows = {str(place): policy_codec.findings_rows(event.findings) for place, event in enumerate(events)}
    finding_rows = {place: findings for place, findings in rows.items() if findings}
    return {
        "d": text.compressed(list(map(event_text, events))),
        "pol": text.dumps(finding_rows) if finding_rows else None,
    }


def event_text(event: Event) -> list[Any]:
    time = event.time.isoformat() if event.time else None
    return [event.role[0], list(event.parts), event.event_id, time]


def batch_events(item: Mapping[str, Any]) -> list[StoredEvent]:
    arrived = instant_of(item["at"])
    finding_rows = json.loads(item.get("pol", "{}"))
    rows = enumerate(text.decompressed(item["d"]))
    events = [_event_value(stored, finding_rows.get(str(place), ())) for place, stored in rows]
    return [StoredEvent(event, item["seq"] + offset, arrived) for offset, event in enumerate(events)]


def _event_value(stored: list[Any], finding_rows: Sequence[Sequence[Any]]) -> Event:
    role, parts, event_id, time = stored
    moment = datetime.fromisoformat(time) if time else None
    return Event(
        "user" if role == "u" else "model", tuple(parts), event_id, moment, policy_codec.findings_of(finding_rows)
    )


# ---- windows


def window_values(window: Window) -> Values:
    key = keys.window(window.stream.bank, window.stream.sid, window.number)
    direct = [_direct_row(memory) for memory in window.direct]
    return {
        "win": window.number,
        "fst": window.first_seq,
        "lst": window.last_seq,
        "rsn": window.reason,
        "at": milliseconds(window.sealed),
        "lt": milliseconds(window.last_arrival),
        "rule": rule_text(window.rule),
        "cfg": settings_text(window.settings),
        "sco": text.dumps(window.stream.scope),
        "str": window.stream.name,
        "st": window.state,
        "att": window.attempt,
        "tries": window.failures,
        "cur": window.cursor,
        "dir": text.compressed(direct) if direct else None,
        "call": window.call or None,
        # The filter of the table's stream matches it, and the first claim removes it: a window wakes the stream once.
        "new": 1,
        **due_values(key, window.due),
    }


def _direct_row(memory: DirectMemory) -> list[Any]:
    validity = [milliseconds(memory.validity.start), milliseconds(memory.validity.end)]
    return [memory.fact, list(memory.topics), *([] if memory.validity.is_open else validity)]


def _direct_memory(row: Sequence[Any]) -> DirectMemory:
    fact, topics, *validity = row
    return DirectMemory(fact, tuple(topics), Validity(*map(instant, validity)))


def window_of(item: Mapping[str, Any]) -> Window:
    direct = text.decompressed(item["dir"]) if "dir" in item else []
    return Window(
        stream=stream_of(item),
        number=item["win"],
        first_seq=item["fst"],
        last_seq=item["lst"],
        reason=Reason(item["rsn"]),
        sealed=instant_of(item["at"]),
        last_arrival=instant_of(item["lt"]),
        rule=rule_value(item.get("rule")),
        settings=settings_value(item.get("cfg")),
        state=WindowState(item["st"]),
        attempt=item["att"],
        failures=item["tries"],
        cursor=item["cur"],
        due=due_instant(item),
        began=instant(item.get("beg")),
        ended=instant(item.get("end")),
        is_expiry_suspended=bool(item.get("held")),
        is_suspension_complete=item.get("held") == SUSPENDED,
        is_awaited="nxt" in item,
        failure=item.get("fail"),
        provider_error=item.get("perr"),
        outcome=json.loads(item.get("out", "{}")),
        direct=tuple(map(_direct_memory, direct)),
        call=bytes(item.get("call", b"")),
    )
