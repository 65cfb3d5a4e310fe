"""What a call may hold and what it is refused for, as the SDK spells it: outer names camelCase, inner snake_case."""

from typing import Any

import pytest

from tests.wire.calling import read, refused_field

EVENTS = "directContentsSource.events"
RULE = "generationTriggerConfig.generation_rule"


def said(text: str, event_id: str | None = None, *, at: str | None = None) -> dict[str, Any]:
    event: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "user"}}
    return event | ({"event_id": event_id} if event_id else {}) | ({"event_time": at} if at else {})


def events(*given: Any) -> dict[str, Any]:
    return {"directContentsSource": {"events": list(given)}}


def content(**given: Any) -> dict[str, Any]:
    return events({"content": given})


def rule(**given: Any) -> dict[str, Any]:
    return {"generationTriggerConfig": {"generation_rule": given}}


def nested(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


REFUSED: list[tuple[dict[str, Any], str]] = [
    # scope
    ({"scope": None}, "scope"),
    ({"scope": {}}, "scope"),
    ({"scope": ["user"]}, "scope"),
    ({"scope": {str(number): "x" for number in range(6)}}, "scope"),
    ({"scope": {"user_id": 7}}, "scope.user_id"),
    ({"scope": {"user_id": ""}}, "scope.user_id"),
    ({"scope": {"user_id": "a*"}}, "scope.user_id"),
    ({"scope": {"user_id": "ä" * 129}}, "scope.user_id"),
    ({"scope": {"": "x"}}, "scope"),
    ({"scope": {"k" * 257: "x"}}, "scope"),
    # stream
    ({"streamId": "s" * 513}, "streamId"),
    ({"streamId": 7}, "streamId"),
    ({"stream_id": "given twice"}, "stream_id"),
    # events
    ({"directContentsSource": []}, "directContentsSource"),
    ({"directContentsSource": {}}, EVENTS),
    (events(), EVENTS),
    ({"directContentsSource": {"events": {}}}, EVENTS),
    (events(*[said("Hm.")] * 1_001), EVENTS),
    (events("Hm."), f"{EVENTS}[0]"),
    (events({}), f"{EVENTS}[0].content"),
    (events(said("Hm."), {"content": "Hm."}), f"{EVENTS}[1].content"),
    (content(role="system", parts=[]), f"{EVENTS}[0].content.role"),
    (content(role="User", parts=[]), f"{EVENTS}[0].content.role"),
    (content(parts={"text": "Hm."}), f"{EVENTS}[0].content.parts"),
    (content(parts=["Hm."]), f"{EVENTS}[0].content.parts[0]"),
    (content(parts=[{"text": 7}]), f"{EVENTS}[0].content.parts[0].text"),
    (content(parts=[], author="me"), f"{EVENTS}[0].content.author"),
    (events(said("Hm.", "e" * 513)), f"{EVENTS}[0].event_id"),
    (events(said("Hm.") | {"eventId": 7}), f"{EVENTS}[0].eventId"),
    (events(said("Hm.", at="yesterday")), f"{EVENTS}[0].event_time"),
    (events(said("Hm.", at="2026-01-01T00:00:00")), f"{EVENTS}[0].event_time"),
    (events(said("Hm.", at="2026-02-30T00:00:00Z")), f"{EVENTS}[0].event_time"),
    (events(said("Hm."), said("x" * 350_001)), f"{EVENTS}[1]"),
    (content(parts=[{"function_call": {"args": nested(40)}}]), f"{EVENTS}[0]"),
    (events(said("Hm.") | {"eventIdentifier": "e1"}), f"{EVENTS}[0].eventIdentifier"),
    # trigger rules
    ({"generationTriggerConfig": "soon"}, "generationTriggerConfig"),
    (rule(event_count=0), f"{RULE}.event_count"),
    (rule(event_count=-1), f"{RULE}.event_count"),
    (rule(event_count=10_001), f"{RULE}.event_count"),
    (rule(event_count=1_000_000_000), f"{RULE}.event_count"),
    (rule(event_count=1.5), f"{RULE}.event_count"),
    (rule(event_count=True), f"{RULE}.event_count"),
    (rule(event_count="ten"), f"{RULE}.event_count"),
    (rule(idle_duration="90s"), f"{RULE}.idle_duration"),
    (rule(idle_duration="0s"), f"{RULE}.idle_duration"),
    (rule(idle_duration="-60s"), f"{RULE}.idle_duration"),
    (rule(idle_duration="30s"), f"{RULE}.idle_duration"),
    (rule(idle_duration="60.5s"), f"{RULE}.idle_duration"),
    (rule(idle_duration="5m"), f"{RULE}.idle_duration"),
    (rule(idle_duration=300), f"{RULE}.idle_duration"),
    (rule(idle_duration=f"{30 * 86_400 + 60}s"), f"{RULE}.idle_duration"),
    (rule(fixed_interval="61s"), f"{RULE}.fixed_interval"),
    (rule(fixedInterval="61s"), f"{RULE}.fixedInterval"),
    (rule(idle_duration="300s", fixed_interval="300s"), RULE),
    (rule(token_count=0), f"{RULE}.token_count"),
    (rule(token_count="many"), f"{RULE}.token_count"),
    (rule(overlap_event_count=2), f"{RULE}.overlap_event_count"),
    (rule(event_count=2, overlap_event_count=2), f"{RULE}.overlap_event_count"),
    (rule(event_count=1, overlap_event_count=1), f"{RULE}.overlap_event_count"),
    (rule(event_count=2, overlap_event_count=0), f"{RULE}.overlap_event_count"),
    (rule(event_count=2, overlap_event_count=-1), f"{RULE}.overlap_event_count"),
    (rule(idle_duration="300s", overlap_event_count=101), f"{RULE}.overlap_event_count"),
    (rule(event_counts=2), f"{RULE}.event_counts"),
    # settings
    ({"forceFlush": "yes"}, "forceFlush"),
    ({"force_flush": 1}, "force_flush"),
    ({"disableMemoryRevisions": "no"}, "disableMemoryRevisions"),
    ({"revisionTtl": "0s"}, "revisionTtl"),
    ({"revisionTtl": "30 days"}, "revisionTtl"),
    ({"revisionTtl": f"{36_526 * 86_400}s"}, "revisionTtl"),
    ({"revisionTtl": "60s", "revisionExpireTime": "2030-01-01T00:00:00Z"}, "revisionTtl"),
    ({"revisionExpireTime": "soon"}, "revisionExpireTime"),
    ({"revisionLabels": ["a"]}, "revisionLabels"),
    ({"revisionLabels": {"a": 1}}, "revisionLabels.a"),
    ({"revisionLabels": {str(number): "" for number in range(65)}}, "revisionLabels"),
    ({"revisionLabels": {"a": "x" * 4_090, "b": "x" * 10}}, "revisionLabels"),
    ({"metadata": []}, "metadata"),
    ({"metadata": {"a": "plain"}}, "metadata.a"),
    ({"metadata": {"a": {}}}, "metadata.a"),
    ({"metadata": {"a": {"string_value": "x", "bool_value": True}}}, "metadata.a"),
    ({"metadata": {"a": {"string_value": 7}}}, "metadata.a.string_value"),
    ({"metadata": {"a": {"double_value": "7"}}}, "metadata.a.double_value"),
    ({"metadata": {"a": {"bool_value": "true"}}}, "metadata.a.bool_value"),
    ({"metadata": {"a": {"timestamp_value": "noon"}}}, "metadata.a.timestamp_value"),
    ({"metadata": {"a": {"list_value": []}}}, "metadata.a.list_value"),
    ({"metadataMergeStrategy": "REPLACE"}, "metadataMergeStrategy"),
    ({"timeZone": "Mars/Olympus"}, "timeZone"),
    # what nobody knows
    ({"waitForCompletion": True}, "waitForCompletion"),
    ({"event_count": 10}, "event_count"),
]


def call(part: dict[str, Any]) -> dict[str, Any]:
    """Return a legal call of which *part* is other than usual."""
    whole = {"streamId": "s", "scope": {"user_id": "u"}, **events(said("I keep bees.", "e1")), **rule(event_count=10)}
    return whole | part


@pytest.mark.parametrize(("part", "field"), REFUSED, ids=[f"{n}-{field[-40:]}" for n, (_, field) in enumerate(REFUSED)])
def test_bad_input_is_refused_by_its_field(part: dict[str, Any], field: str) -> None:
    """A call with one bad field is refused, and the field is named as the caller spelled it."""
    assert refused_field(call(part)) == field


LEGAL: list[dict[str, Any]] = [
    {"scope": {"k" * 256: "v" * 256}},
    {"streamId": "s" * 512},
    events(said("Hm.", "e" * 512)),
    events(*[said("Hm.")] * 100),
    events(said("Hm.", at="2026-01-02T03:04:05.000678+05:30")),
    events(said("Hm.", at="2026-01-02T03:04:05.123456789Z")),
    content(role="", parts=[]),
    content(role="model", parts=[{"inline_data": {"mime_type": "image/png", "data": "__77Pz8-Pg=="}}]),
    content(parts=[{"text": ""}, {"text": "  \n"}]),
    content(parts=[{"function_call": {"name": "f", "args": nested(20)}}]),
    rule(event_count="7"),
    rule(token_count="7", overlap_event_count=2),
    rule(event_count=10_000, overlap_event_count=9_999),
    rule(idle_duration="60s", overlap_event_count=100),
    rule(fixed_interval=f"{30 * 86_400}s"),
    rule(event_count=2, idle_duration=None),
    {"revisionTtl": "1s"},
    {"revisionTtl": f"{36_525 * 86_400}s"},
    {"revisionLabels": {str(number): "x" for number in range(64)}},
    {"metadata": {"at": {"timestamp_value": "2026-01-01T00:00:00+02:00"}}},
    {"metadataMergeStrategy": "METADATA_MERGE_STRATEGY_UNSPECIFIED"},
    {"timeZone": "Europe/Vienna"},
    {"forceFlush": False, "disableMemoryRevisions": False},
]


@pytest.mark.parametrize("part", LEGAL)
def test_input_at_the_limit_is_taken(part: dict[str, Any]) -> None:
    """What is just inside a limit, or odd but legal, is read whole."""
    document = call(part)
    assert len(read(document).events) == len(document["directContentsSource"]["events"])
