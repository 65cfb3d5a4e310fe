"""Every row of the limits table that ingest knows: at the limit, and one beyond."""

import json
from datetime import timedelta

import pytest

from tests.wire.calling import body, event, read, refused_field

EVENTS = "directContentsSource.events"
RULE = "generationTriggerConfig.generationRule"


def nested(levels):
    """Return an event whose JSON is *levels* deep; the value of a part is four levels down already."""
    value = "leaf"
    for _ in range(levels - 4):
        value = {"a": value}
    return {"content": {"parts": [{"structure": value}]}}


def weighing(size):
    """Return an event whose shortest JSON has *size* bytes."""
    frame = len(json.dumps(event(""), separators=(",", ":")).encode())
    return event("é" * ((size - frame) // 2) + "x" * ((size - frame) % 2))


def labels(size):
    """Return labels that are *size* bytes as they ride on the head, beside no metadata."""
    return {"k": "v" * (size - len('[{"k": ""}, null]'))}


@pytest.mark.parametrize(
    ("legal", "beyond", "field"),
    [
        pytest.param(lambda n: body(*[event()] * n), (1_000, 1_001), EVENTS, id="events in a call"),
        pytest.param(lambda n: body(event(), weighing(n)), (350_000, 350_001), EVENTS + "[1]", id="bytes of an event"),
        pytest.param(lambda n: body(event(), nested(n)), (32, 33), EVENTS + "[1]", id="depth of an event"),
        pytest.param(lambda n: body(scope={str(k): "v" for k in range(n)}), (5, 6), "scope", id="pairs of a scope"),
        pytest.param(lambda n: body(scope={"é" * 127 + "k" * (n - 254): "v"}), (256, 257), "scope", id="scope key"),
        pytest.param(lambda n: body(scope={"k": "é" * 127 + "v" * (n - 254)}), (256, 257), "scope.k", id="scope value"),
        pytest.param(
            lambda n: body(event(eventId="é" * 255 + "x" * (n - 510))),
            (512, 513),
            EVENTS + "[0].eventId",
            id="event id",
        ),
        pytest.param(lambda n: body(streamId="é" * 255 + "x" * (n - 510)), (512, 513), "streamId", id="stream id"),
        pytest.param(
            lambda n: body(revisionLabels={str(k): "" for k in range(n)}), (64, 65), "revisionLabels", id="label keys"
        ),
        pytest.param(
            lambda n: body(metadata={str(k): {"boolValue": True} for k in range(n)}),
            (64, 65),
            "metadata",
            id="metadata keys",
        ),
        pytest.param(lambda n: body(revisionLabels=labels(n)), (4_096, 4_097), "revisionLabels", id="bytes of labels"),
        pytest.param(lambda n: body(rule={"eventCount": n}), (10_000, 10_001), RULE + ".eventCount", id="event_count"),
        pytest.param(
            lambda n: body(rule={"tokenCount": n}), (1_000_000, 1_000_001), RULE + ".tokenCount", id="token_count"
        ),
        pytest.param(
            lambda n: body(rule={"eventCount": 10_000, "overlapEventCount": n}),
            (9_999, 10_000),
            RULE + ".overlapEventCount",
            id="overlap",
        ),
        pytest.param(
            lambda n: body(rule={"idleDuration": "60s", "overlapEventCount": n}),
            (100, 101),
            RULE + ".overlapEventCount",
            id="overlap of a time rule",
        ),
        pytest.param(
            lambda n: body(rule={"idleDuration": f"{n}s"}),
            (2_592_000, 2_592_060),
            RULE + ".idleDuration",
            id="longest idle time",
        ),
        pytest.param(
            lambda n: body(rule={"fixedInterval": f"{n}s"}),
            (2_592_000, 2_592_060),
            RULE + ".fixedInterval",
            id="longest interval",
        ),
        pytest.param(
            lambda n: body(revisionTtl=f"{n}s"), (3_155_760_000, 3_155_760_001), "revisionTtl", id="longest TTL"
        ),
    ],
)
def test_the_upper_limits(legal, beyond, field):
    """The limit itself is taken; one more is refused by the name of the field that breaks it."""
    last, first_beyond = beyond
    read(legal(last))
    assert refused_field(legal(first_beyond)) == field


@pytest.mark.parametrize(
    ("legal", "beyond", "field"),
    [
        pytest.param(body(scope={"k": "v"}), body(scope={}), "scope", id="no pair"),
        pytest.param(body(scope={"k": "v"}), {}, "scope", id="no scope"),
        pytest.param(body(scope={"k": "v"}), body(scope={"": "v"}), "scope", id="empty key"),
        pytest.param(body(scope={"k": "v"}), body(scope={"k": ""}), "scope.k", id="empty value"),
        pytest.param(body(scope={"a*": "v"}), body(scope={"k": "a*"}), "scope.k", id="star in a value"),
        pytest.param(body(scope={"k": "1"}), body(scope={"k": 1}), "scope.k", id="number"),
        pytest.param(body(scope={"k": "1"}), body(scope={"k": None}), "scope.k", id="null"),
        pytest.param(body(scope={"k": "1"}), body(scope=[["k", "1"]]), "scope", id="list"),
        pytest.param(body(scope={"k": "\0"}), body(scope={"k": "\ud800"}), "scope.k", id="half a pair"),
        pytest.param(
            body(rule={"eventCount": 1}), body(rule={"eventCount": 0}), RULE + ".eventCount", id="event_count"
        ),
        pytest.param(
            body(rule={"idleDuration": "60s"}), body(rule={"idleDuration": "0s"}), RULE + ".idleDuration", id="idle"
        ),
        pytest.param(
            body(rule={"fixedInterval": "60s"}),
            body(rule={"fixedInterval": "59s"}),
            RULE + ".fixedInterval",
            id="interval",
        ),
        pytest.param(
            body(rule={"fixedInterval": "120s"}),
            body(rule={"fixedInterval": "61s"}),
            RULE + ".fixedInterval",
            id="grain",
        ),
        pytest.param(body(revisionTtl="1s"), body(revisionTtl="0.9s"), "revisionTtl", id="TTL"),
        pytest.param(body(event()), body(directContentsSource={"events": []}), EVENTS, id="no event"),
    ],
)
def test_the_lower_limits(legal, beyond, field):
    """The least legal value is taken; what is below it is refused by name."""
    read(legal)
    assert refused_field(beyond) == field


def test_labels_and_metadata_are_counted_together():
    """64 keys and 4 KB hold for both together, since both ride on the head of the stream."""
    half = {str(number): "" for number in range(32)}
    values = {f"m{number}": {"stringValue": ""} for number in range(33)}
    assert refused_field(body(revisionLabels=half, metadata=values)) == "metadata"
    values.popitem()
    read(body(revisionLabels=half, metadata=values))
    long = {"stringValue": "é" * 1_000}
    read(body(revisionLabels={"k": "v" * 2_000}, metadata={"k": long}))
    assert refused_field(body(revisionLabels={"k": "v" * 2_100}, metadata={"k": long})) == "metadata"


def test_the_longest_ttl_is_a_hundred_years():
    """36,525 days are a hundred years with their leap days."""
    assert read(body(revisionTtl="3155760000s")).settings.revision_expiry == timedelta(days=36_525)


def test_nothing_of_a_call_is_read_when_one_event_is_bad():
    """The last of a thousand events spoils the call, and is named."""
    assert refused_field(body(*[event()] * 999, {"content": 1})) == EVENTS + "[999].content"


def test_keys_with_a_star_and_any_character_are_legal():
    """Only values are restricted: keys may hold a star, and both may hold any character there is."""
    scope = {"a*\0\U0001f600": "\0\U0001f600\u202e"}
    assert read(body(scope=scope)).stream.scope == scope
