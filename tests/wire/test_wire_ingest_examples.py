"""The examples of the reference's page on IngestEvents, as its SDK sends them: outer names camelCase, inner snake_case.

Source: https://docs.cloud.google.com/agent-builder/agent-engine/memory-bank/ingest-events
"""

from datetime import timedelta

import pytest

from streambank.model.metadata import MergeStrategy
from streambank.model.rule import TriggerRule, WindowSettings
from tests.wire.calling import MINUTE, read

TEN = TriggerRule(10)


def sent(text, event_id=None, rule=None, **config):
    event = {"content": {"parts": [{"text": text}], "role": "user"}}
    document = {
        "streamId": "my-custom-stream",
        "directContentsSource": {"events": [event if event_id is None else {**event, "event_id": event_id}]},
        "scope": {"user_id": "123"},
        **config,
    }
    return document if rule is None else {**document, "generationTriggerConfig": {"generation_rule": rule}}


BLUE = "My favorite color is blue."
METADATA = {"my_string_key": {"string_value": "my_string_value"}, "my_boolean_key": {"bool_value": True}}


@pytest.mark.parametrize(
    ("document", "event_id", "rule", "force", "settings"),
    [
        pytest.param(sent(BLUE, "event-1", {"event_count": 10}), "event-1", TEN, False, {}, id="event count"),
        pytest.param(
            sent("I will be back in a bit.", "event-2", {"idle_duration": "300s"}),
            "event-2",
            TriggerRule(idle=5 * MINUTE),
            False,
            {},
            id="idle duration",
        ),
        pytest.param(
            sent("Let's keep this conversation going.", "event-3", {"event_count": 10, "idle_duration": "300s"}),
            "event-3",
            TriggerRule(10, 5 * MINUTE),
            False,
            {},
            id="both",
        ),
        pytest.param(sent("That's all for today!", forceFlush=True), None, None, True, {}, id="force flush"),
        pytest.param(
            sent("Let's continue where we left off.", None, {"event_count": 10, "overlap_event_count": 2}),
            None,
            TriggerRule(10, overlap=2),
            False,
            {},
            id="overlap",
        ),
        pytest.param(
            sent(BLUE, None, {"event_count": 10}, revisionLabels={"data_source": "321"}, revisionTtl="2592000s"),
            None,
            TEN,
            False,
            {"revision_labels": {"data_source": "321"}, "revision_expiry": timedelta(days=30)},
            id="revisions",
        ),
        pytest.param(
            sent(BLUE, None, {"event_count": 10}, metadata=METADATA, metadataMergeStrategy="MERGE"),
            None,
            TEN,
            False,
            {
                "metadata": {"my_string_key": "my_string_value", "my_boolean_key": True},
                "merge_strategy": MergeStrategy.MERGE,
            },
            id="metadata",
        ),
    ],
)
def test_each_documented_example(document, event_id, rule, force, settings):
    """What the page shows is taken as it means it."""
    call = read(document)
    [keyed] = call.events
    text = document["directContentsSource"]["events"][0]["content"]["parts"]
    assert (call.stream.name, call.stream.scope) == ("my-custom-stream", {"user_id": "123"})
    assert (keyed.event.role, keyed.event.event_id, list(keyed.event.parts)) == ("user", event_id, text)
    assert (call.rule, call.force, call.settings) == (rule, force, WindowSettings(**settings))


def test_the_pages_own_arithmetic_is_legal():
    """The page computes 30 days as 30 * 60 * 60 * 24 seconds: that is a TTL like any other."""
    assert read(sent(BLUE, revisionTtl=f"{30 * 60 * 60 * 24}s")).settings.revision_expiry == timedelta(days=30)


def test_what_the_sdk_sends_without_being_told():
    """Empty names, false switches and an empty trigger are sent as they are; they mean nothing, or flush at once."""
    call = read(
        {
            "streamId": "",
            "directContentsSource": {
                "events": [{"content": {"parts": [{"text": "x"}], "role": "user"}, "event_id": ""}]
            },
            "scope": {"app_name": "a", "user_id": "u"},
            "forceFlush": False,
            "generationTriggerConfig": {},
        }
    )
    assert (call.stream.name, call.events[0].key, call.force, call.rule) == ("default", None, False, TriggerRule())


def test_adk_sets_the_rule_without_events():
    """ADK leaves the source out altogether to update the trigger of a stream."""
    call = read(
        {"streamId": "", "scope": {"user_id": "u"}, "generationTriggerConfig": {"generation_rule": {"event_count": 5}}}
    )
    assert (call.events, call.rule) == ((), TriggerRule(5))
