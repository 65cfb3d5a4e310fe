import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model import ids
from streambank.model.metadata import MergeStrategy
from streambank.model.rule import TriggerRule, WindowSettings
from streambank.wire.settings import metadata_value
from tests.wire.calling import MINUTE, body, event, read, refusal, refused_field

WHOLE = {
    "streamId": "my-custom-stream",
    "scope": {"user_id": "123", "userId": "456"},
    "directContentsSource": {
        "events": [
            {
                "content": {"role": "model", "parts": [{"text": "hi", "thought_signature": "__77Pz8-Pg=="}]},
                "eventId": "event-1",
                "eventTime": "2026-01-02T03:04:05.000678+00:00",
            }
        ]
    },
    "generationTriggerConfig": {
        "generationRule": {"eventCount": 10, "idleDuration": "300s", "overlapEventCount": 2},
    },
    "forceFlush": True,
    "revisionLabels": {"data_source": "321", "dataSource": "x"},
    "revisionTtl": "2592000s",
    "disableMemoryRevisions": False,
    "metadata": {
        "my_string": {"stringValue": "s"},
        "my_double": {"doubleValue": 3},
        "my_bool": {"boolValue": False},
        "my_time": {"timestampValue": "2026-01-02T03:04:05Z"},
    },
    "metadataMergeStrategy": "MERGE",
    "timeZone": "Europe/Vienna",
    "includeToolTraffic": True,
}
MAPS = {"scope", "revisionLabels", "metadata", "parts"}


def snake(name):
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def respelled(value, choose):
    """Spell each field of each message the way that *choose* says; leave the keys of maps and parts alone."""
    if isinstance(value, list):
        return [respelled(item, choose) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, item in value.items():
        if name == "metadata":
            inner = {key: respelled(one, choose) for key, one in item.items()}
        else:
            inner = item if name in MAPS else respelled(item, choose)
        found[snake(name) if choose() else name] = inner
    return found


def test_a_whole_call_is_read():
    """Every field of a call arrives where it belongs."""
    call = read(WHOLE, bank="b1")
    scope = {"user_id": "123", "userId": "456"}
    [keyed] = call.events
    assert (call.stream.bank, call.stream.scope, call.stream.name) == ("b1", scope, "my-custom-stream")
    assert call.stream.sid == ids.stream_key(scope, "my-custom-stream")
    assert (keyed.event.role, keyed.event.event_id) == ("model", "event-1")
    assert keyed.event.parts == ({"text": "hi", "thought_signature": "__77Pz8-Pg=="},)
    assert keyed.event.time == datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    assert keyed.key == ids.event_key("event-1")
    assert (call.rule, call.force) == (TriggerRule(10, 5 * MINUTE, None, 2), True)
    assert call.settings == WindowSettings(
        revision_labels={"data_source": "321", "dataSource": "x"},
        revision_expiry=timedelta(days=30),
        disable_revisions=False,
        metadata={
            "my_string": "s",
            "my_double": 3.0,
            "my_bool": False,
            "my_time": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        },
        merge_strategy=MergeStrategy.MERGE,
        time_zone="Europe/Vienna",
        include_tool_traffic=True,
    )


@given(choices=st.lists(st.booleans(), min_size=40, max_size=40))
def test_both_spellings_mean_the_same_at_every_level(choices):
    """A call in any mixture of camelCase and snake_case is the same call, but for the bytes of its events."""
    spelled = read(respelled(WHOLE, iter(choices).__next__))
    plain = read(WHOLE)
    assert [keyed.event for keyed in spelled.events] == [keyed.event for keyed in plain.events]
    assert [keyed.key for keyed in spelled.events] == [keyed.key for keyed in plain.events]
    assert (spelled.stream, spelled.rule, spelled.force, spelled.settings) == (
        plain.stream,
        plain.rule,
        plain.force,
        plain.settings,
    )


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ((), "my_field"),
        (("directContentsSource",), "directContentsSource.my_field"),
        (("directContentsSource", "events", 0), "directContentsSource.events[0].my_field"),
        (("directContentsSource", "events", 0, "content"), "directContentsSource.events[0].content.my_field"),
        (("generationTriggerConfig",), "generationTriggerConfig.my_field"),
        (("generationTriggerConfig", "generationRule"), "generationTriggerConfig.generationRule.my_field"),
        (("metadata", "my_string"), "metadata.my_string.my_field"),
    ],
)
def test_an_unknown_field_is_named_wherever_it_is(path, field):
    """What nobody knows is refused by its whole path in the caller's spelling."""
    document = json.loads(json.dumps(WHOLE))
    place = document
    for step in path:
        place = place[step]
    place["my_field"] = 1
    named, problem = refusal(document)
    assert (named, problem.split(";")[0]) == (field, "unknown field")


def test_paths_are_spelled_as_the_caller_did():
    """An error below a snake_case field is named in snake_case."""
    document = {"scope": {"a": "b"}, "direct_contents_source": {"events": [{"content": {}, "event_id": 1}]}}
    assert refused_field(document) == "direct_contents_source.events[0].event_id"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_a_call_is_an_object(value):
    """A body that is no object has no fields to name."""
    assert refusal(value) == ("", "must be an object")


@pytest.mark.parametrize("name", [None, "", "default"])
def test_streams_without_a_name_are_one(name):
    """No stream id, an empty one and `default` are the same stream, under the same name."""
    call = read(body(streamId=name))
    assert (call.stream.name, call.stream.sid) == ("default", ids.stream_key({"user_id": "123"}, ""))


def test_a_call_may_only_set_the_rule():
    """Without events a call is legal; an empty source is not."""
    assert read(body(rule={"eventCount": 5})).events == ()
    for source in ({}, {"events": []}, {"events": None}):
        assert refused_field(body(directContentsSource=source)) == "directContentsSource.events"
    assert read(body(directContentsSource=None)).events == ()
    assert refused_field(body(directContentsSource={"events": {}})) == "directContentsSource.events"


def test_a_call_says_nothing_by_default():
    """Without fields there is no rule, no force and no setting."""
    call = read(body())
    assert (call.rule, call.force, call.settings.is_empty) == (None, False, True)


# ---- events


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=10,
)
names = st.text(max_size=9).filter(lambda name: name not in ("text", "thought"))
parts = st.dictionaries(names, json_values, max_size=3)


@given(sent=st.lists(parts, max_size=3), said=st.text(max_size=9), thought=st.booleans())
def test_parts_come_back_unchanged(sent, said, thought):
    """Parts of any kind are kept as they were sent: nothing in them is respelled, dropped or added."""
    sent = [*sent, {"text": said, "thought": thought}]
    [keyed] = read(body({"content": {"parts": sent}})).events
    assert json.dumps(keyed.event.parts) == json.dumps(sent)


@given(text=st.text(), name=st.text(max_size=50))
def test_an_events_size_is_that_of_its_json(text, name):
    """An event weighs the bytes of its shortest JSON in UTF-8."""
    sent = event(text, eventId=name)
    [keyed] = read(body(sent)).events
    assert keyed.size == len(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize(("role", "read_as"), [("user", "user"), ("model", "model"), ("", "user"), (None, "user")])
def test_roles(role, read_as):
    """An event is the user's or the model's; without a role it is the user's."""
    [keyed] = read(body({"content": {"role": role, "parts": []}})).events
    assert keyed.event.role == read_as


@pytest.mark.parametrize("role", ["assistant", "system", "USER", "tool", 1, [], {}])
def test_other_roles_are_refused(role):
    """Any other role is refused in the words of the reference."""
    field, problem = refusal(body(event(), {"content": {"role": role}}))
    assert field == "directContentsSource.events[1].content.role"
    assert problem.startswith("must be a valid role: user, model")


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "content"),
        ({"content": None}, "content"),
        ({"content": []}, "content"),
        ({"content": {"parts": {}}}, "content.parts"),
        ({"content": {"parts": ["text"]}}, "content.parts[0]"),
        ({"content": {"parts": [{"text": "a"}, {"text": 1}]}}, "content.parts[1].text"),
        ({"content": {"parts": [{"thought": "yes"}]}}, "content.parts[0].thought"),
        ({"content": {}, "eventId": 1}, "eventId"),
        ({"content": {}, "eventTime": "yesterday"}, "eventTime"),
        ({"content": {}, "eventTime": "2026-01-01T00:00:00"}, "eventTime"),
    ],
)
def test_what_is_wrong_with_an_event_is_named(sent, field):
    """The index of the event and the field in it are named."""
    assert refused_field(body(event(), event(), sent)) == f"directContentsSource.events[2].{field}"


@pytest.mark.parametrize("sent", [None, [], "text", 7])
def test_an_event_is_an_object(sent):
    """Anything else in the list is refused by its index."""
    assert refused_field(body(event(), sent)) == "directContentsSource.events[1]"


@pytest.mark.parametrize(
    "sent", [{"content": {}}, {"content": {"parts": []}}, {"content": {"parts": [{"text": None}, {}]}}]
)
def test_a_blank_event_is_accepted(sent):
    """An event that says nothing is counted like any other."""
    assert len(read(body(sent)).events) == 1


@pytest.mark.parametrize("place", ["text", "key", "event_id"])
def test_half_a_surrogate_pair_is_refused_by_the_events_index(place):
    """What has no UTF-8 cannot be stored, wherever it hides in an event."""
    bad = {
        "text": event("a\ud800"),
        "key": {"content": {"parts": [{"\udfff": 1}]}},
        "event_id": event("a", eventId="\ud800"),
    }[place]
    field, problem = refusal(body(event(), bad))
    assert field == "directContentsSource.events[1]"
    assert "surrogate" in problem


def test_an_empty_event_id_is_none():
    """An event whose id is empty has no id and is never recognised again."""
    [keyed] = read(body(event(eventId=""))).events
    assert (keyed.event.event_id, keyed.key) == (None, None)


# ---- X-Idempotency-Key


def test_an_idempotency_key_names_events_by_their_place():
    """Events without an id are remembered by key and position, those with an id by their id."""
    sent = body(event("a"), event("a"), event("a", eventId="e1"))
    keys = [keyed.key for keyed in read(sent, key="k").events]
    assert keys == [ids.derived_event_key("k", 0), ids.derived_event_key("k", 1), ids.event_key("e1")]
    assert [keyed.event.event_id for keyed in read(sent, key="k").events] == [None, None, "e1"]
    assert [keyed.key for keyed in read(sent).events][:2] == [None, None]


@pytest.mark.parametrize(("key", "is_legal"), [("k", True), ("k" * 512, True), ("", False), ("k" * 513, False)])
def test_an_idempotency_key_has_a_length(key, is_legal):
    """1 to 512 bytes; anything else is refused under the header's name."""
    if is_legal:
        assert read(body(event()), key=key).events[0].key
    else:
        assert refused_field(body(event()), key=key) == "X-Idempotency-Key"


# ---- trigger rules


@pytest.mark.parametrize(
    ("rule", "read_as"),
    [
        ({"eventCount": 10}, TriggerRule(10)),
        ({"eventCount": "10"}, TriggerRule(10)),
        ({"tokenCount": "500"}, TriggerRule(token_count=500)),
        ({"token_count": 1, "overlap_event_count": 100}, TriggerRule(None, None, None, 100, 1)),
        ({"eventCount": 3, "tokenCount": 9, "idleDuration": "60s"}, TriggerRule(3, MINUTE, token_count=9)),
        ({"idleDuration": "300s"}, TriggerRule(idle=5 * MINUTE)),
        ({"fixedInterval": "300s"}, TriggerRule(interval=5 * MINUTE)),
        ({"eventCount": 3, "fixedInterval": "60s", "overlapEventCount": 2}, TriggerRule(3, None, MINUTE, 2)),
        ({"idleDuration": "60s", "overlapEventCount": 100}, TriggerRule(None, MINUTE, None, 100)),
        ({"idleDuration": "60s", "fixedInterval": None}, TriggerRule(idle=MINUTE)),
        ({}, TriggerRule()),
    ],
)
def test_rules_that_may_stand(rule, read_as):
    """A count stands beside one time condition and an overlap."""
    assert read(body(rule=rule)).rule == read_as


@pytest.mark.parametrize("config", [{}, {"generationRule": {}}, {"generationRule": None}])
def test_an_empty_trigger_is_an_explicit_rule(config):
    """A trigger without a condition says flush at once, which is not the same as no trigger."""
    assert read(body(generationTriggerConfig=config)).rule == TriggerRule()
    assert read(body(generationTriggerConfig=None)).rule is None


RULE = "generationTriggerConfig.generationRule"


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"idleDuration": "60s", "fixedInterval": "60s"}, RULE),
        ({"overlapEventCount": 2}, RULE + ".overlapEventCount"),
        ({"eventCount": 3, "overlapEventCount": 3}, RULE + ".overlapEventCount"),
        ({"eventCount": 1, "overlapEventCount": 1}, RULE + ".overlapEventCount"),
        ({"eventCount": 3, "overlapEventCount": 0}, RULE + ".overlapEventCount"),
        ({"eventCount": 3, "idleDuration": "60s", "overlapEventCount": 3}, RULE + ".overlapEventCount"),
        ({"eventCount": True}, RULE + ".eventCount"),
        ({"eventCount": 2.5}, RULE + ".eventCount"),
        ({"idleDuration": 300}, RULE + ".idleDuration"),
        ({"idleDuration": "90s"}, RULE + ".idleDuration"),
        ({"fixedInterval": "60.5s"}, RULE + ".fixedInterval"),
        ([], RULE),
    ],
)
def test_rules_that_may_not_stand(rule, field):
    """Two time conditions, an overlap that would fire by itself, and what is no number or span are refused."""
    assert refused_field(body(rule=rule)) == field


# ---- settings


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ({"stringValue": ""}, ""),
        ({"string_value": "x"}, "x"),
        ({"doubleValue": 0}, 0.0),
        ({"doubleValue": -2.5}, -2.5),
        ({"boolValue": False}, False),
        ({"boolValue": True, "stringValue": None}, True),
        ({"timestampValue": "2026-01-01T00:00:00Z"}, datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_metadata_values_keep_their_type(value, read_as):
    """A value is what its one field says: false, zero and the empty string too."""
    found = metadata_value(value, "m")
    assert (found, type(found)) == (read_as, type(read_as))


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({}, "metadata.k"),
        ({"stringValue": None}, "metadata.k"),
        ({"stringValue": "a", "boolValue": True}, "metadata.k"),
        ("plain", "metadata.k"),
        (None, "metadata.k"),
        ({"stringValue": 1}, "metadata.k.stringValue"),
        ({"doubleValue": "1"}, "metadata.k.doubleValue"),
        ({"doubleValue": True}, "metadata.k.doubleValue"),
        ({"doubleValue": 10**400}, "metadata.k.doubleValue"),
        ({"boolValue": 1}, "metadata.k.boolValue"),
        ({"timestampValue": "today"}, "metadata.k.timestampValue"),
        ({"numberValue": 1}, "metadata.k.numberValue"),
    ],
)
def test_metadata_that_is_refused(value, field):
    """Exactly one field of the right type, or the key is named."""
    assert refused_field(body(metadata={"k": value})) == field


@pytest.mark.parametrize("value", [None, "", "METADATA_MERGE_STRATEGY_UNSPECIFIED"])
def test_an_unspecified_strategy_says_nothing(value):
    """proto3's zero value leaves the strategy as it was."""
    assert read(body(metadataMergeStrategy=value)).settings.merge_strategy is None


@pytest.mark.parametrize("value", ["merge", "UNION", 1, [], True])
def test_unknown_strategies_are_refused(value):
    """Only the names of the reference are strategies."""
    assert refused_field(body(metadataMergeStrategy=value)) == "metadataMergeStrategy"


def test_a_revision_expires_by_a_span_or_at_an_instant():
    """Either is taken, both are refused, and false is a word about revisions."""
    assert read(body(revisionTtl="1s")).settings.revision_expiry == timedelta(seconds=1)
    instant = read(body(revisionExpireTime="2027-01-01T00:00:00Z")).settings.revision_expiry
    assert instant == datetime(2027, 1, 1, tzinfo=UTC)
    both = {"revisionTtl": "1s", "revisionExpireTime": "2027-01-01T00:00:00Z"}
    assert refused_field(body(**both)) == "revisionTtl"
    assert read(body(disableMemoryRevisions=False)).settings.disable_revisions is False


@pytest.mark.parametrize(
    ("name", "read_as"), [("UTC", "UTC"), ("Europe/Vienna", "Europe/Vienna"), ("", None), (None, None)]
)
def test_time_zones(name, read_as):
    """A time zone of IANA's is kept by name."""
    assert read(body(timeZone=name)).settings.time_zone == read_as


@pytest.mark.parametrize(
    "name", ["Vienna", "../../etc/passwd", "/etc/localtime", "Europe", "UTC\0", "x" * 65, 1, "+01:00"]
)
def test_what_is_no_time_zone(name):
    """Nothing but a name of IANA's is looked up, and no file outside its database."""
    assert refused_field(body(timeZone=name)) == "timeZone"


@pytest.mark.parametrize("name", ["forceFlush", "disableMemoryRevisions", "includeToolTraffic"])
@pytest.mark.parametrize("value", ["true", 1, []])
def test_switches_are_booleans(name, value):
    """A switch that is no truth value is refused by its name."""
    assert refused_field(body(**{name: value})) == name


def test_every_setting_of_an_ingest_can_be_said():
    """Each setting but those of a direct generation is a field of the call; those two are unknown here."""
    said = {"revisionLabels", "revisionTtl", "disableMemoryRevisions", "metadata", "metadataMergeStrategy", "timeZone"}
    said |= {"includeToolTraffic"}
    settings = read({name: WHOLE[name] for name in said} | {"scope": {"a": "b"}}).settings
    unsaid = {name for name in WindowSettings.__dataclass_fields__ if getattr(settings, name) is None}
    assert unsaid == {"disable_consolidation", "allowed_topics"}
    for name in ("disableConsolidation", "allowedTopics"):
        named, problem = refusal(body(**{name: None}))
        assert (named, problem.split(";")[0]) == (name, "unknown field")
