"""Every example of the guide to IngestEvents, in the dictionary form as the SDK puts it on the wire."""

from datetime import timedelta

import pytest

from tests.journeys.caller import DEFAULT_BANK, Caller, moment, said

BLUE = "My favorite color is blue."


def test_event_count_example_buffers_until_ten_events(caller: Caller) -> None:
    """One of ten events waits: the operation is not done, and says how many are missing and what comes without them."""
    stream = caller.stream(name="my-custom-stream")
    sent = stream.send(said(BLUE, "event-1"), rule={"event_count": 10})
    metadata = sent["metadata"]
    assert not sent["done"]
    assert (metadata["state"], metadata["window"], metadata["pendingEvents"]) == ("BUFFERING", 1, 1)
    assert (metadata["acceptedEvents"], metadata["duplicateEvents"], metadata["conflictingEventIds"]) == (1, 0, [])
    assert (metadata["nextTrigger"]["kind"], metadata["nextTrigger"]["remainingEvents"]) == ("ABANDONED", 9)
    assert caller.get(sent["name"])["metadata"]["state"] == "BUFFERING"
    assert caller.facts(stream.scope) == []


def test_event_count_example_generates_at_ten_events(caller: Caller) -> None:
    """The tenth unique event fires the window of all ten, and what was said is a memory of the scope."""
    stream = caller.stream(name="my-custom-stream")
    first = stream.send(said(BLUE, "event-1"), rule={"event_count": 10})
    last = stream.send(*[said("Hm.", f"event-{number}") for number in range(1, 11)])
    caller.settle()
    done = caller.get(first["name"])
    assert last["name"] == first["name"]
    assert last["metadata"]["acceptedEvents"] == 9
    assert (done["done"], done["metadata"]["trigger"]) == (True, "EVENT_COUNT")
    assert done["metadata"]["coverage"] == {"events": 10, "covered": 10}
    assert ["blue" in fact for fact in caller.facts(stream.scope)] == [True]


def test_idle_example_names_the_end_of_the_silence(caller: Caller) -> None:
    """Under an idle rule the next trigger is the event's arrival plus the idle time."""
    stream = caller.stream(name="my-custom-stream")
    metadata = stream.send(said("I will be back in a bit.", "event-2"), rule={"idle_duration": "300s"})["metadata"]
    arrival = moment(metadata["genericMetadata"]["updateTime"])
    assert metadata["nextTrigger"]["kind"] == "IDLE_DURATION"
    assert moment(metadata["nextTrigger"]["time"]) - arrival == timedelta(seconds=300)
    assert metadata["state"] == "BUFFERING"


def test_combined_example_names_both_conditions(caller: Caller) -> None:
    """Under a combined rule the next trigger is the idle time, and the events that would fire it sooner are told."""
    stream = caller.stream(name="my-custom-stream")
    event = said("Let's keep this conversation going.", "event-3")
    trigger = stream.send(event, rule={"event_count": 10, "idle_duration": "300s"})["metadata"]["nextTrigger"]
    assert (trigger["kind"], trigger["remainingEvents"]) == ("IDLE_DURATION", 9)


def test_force_flush_example_processes_what_is_pending(caller: Caller) -> None:
    """A forced flush takes the pending events with it, whatever the rule says."""
    stream = caller.stream(name="my-custom-stream")
    pending = stream.send(said(BLUE), rule={"event_count": 10})
    done = stream.flush(said("That's all for today!"))
    assert done["name"] == pending["name"]
    assert (done["done"], done["metadata"]["trigger"]) == (True, "FORCE_FLUSH")
    assert done["metadata"]["coverage"]["covered"] == 2
    assert len(caller.facts(stream.scope)) == 1


def test_force_flush_without_events_flushes_what_is_pending(caller: Caller) -> None:
    """A forced flush needs no events of its own."""
    stream = caller.stream()
    pending = stream.send(said(BLUE), rule={"event_count": 10})
    done = stream.flush()
    assert (done["name"], done["done"]) == (pending["name"], True)


def test_missing_stream_id_is_the_stream_default(caller: Caller) -> None:
    """No stream id, an empty one and `default` are one stream; any other name is another."""
    scope = caller.scope()
    bodies = [caller.stream(scope, name).body(said(BLUE), rule={"event_count": 10}) for name in ("", "default", "own")]
    bodies.append({name: value for name, value in bodies[0].items() if name != "streamId"})
    names = [caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body)["name"] for body in bodies]
    assert names[0] == names[1] == names[3] != names[2]


def test_call_without_a_rule_flushes_at_once(caller: Caller) -> None:
    """Where neither the call nor the stream nor the bank names a rule, nothing is buffered."""
    stream = caller.stream()
    sent = stream.send(said(BLUE))
    caller.settle()
    done = caller.get(sent["name"])
    assert (done["done"], done["metadata"]["trigger"]) == (True, "NO_RULE")


@pytest.mark.parametrize("config", [{}, {"generation_rule": {}}, {"generationRule": {}}])
def test_empty_rule_flushes_at_once(caller: Caller, config: dict[str, object]) -> None:
    """A trigger config without a condition takes a stored rule off and flushes what is pending."""
    stream = caller.stream()
    stream.send(said(BLUE), rule={"event_count": 10})
    body = stream.body(said("Hm.")) | {"generationTriggerConfig": config}
    sent = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body)
    caller.settle()
    assert caller.get(sent["name"])["metadata"]["coverage"]["covered"] == 2
    assert stream.send(said("Hm."))["metadata"]["nextTrigger"]["kind"] == "NO_RULE"


def test_overlap_example_carries_context_into_the_next_window(caller: Caller) -> None:
    """The last two events of a window are read again with the next one, and count neither for its trigger nor twice."""
    stream = caller.stream(name="my-custom-stream")
    rule = {"event_count": 10, "overlap_event_count": 2}
    begun = [said("Hm.") for _ in range(8)] + [said("I keep bees."), said("What do you drive?", role="model")]
    first = stream.send(*begun, rule=rule)
    caller.settle()
    second = stream.send(said("A van."))
    assert second["name"] != first["name"]
    assert (second["metadata"]["pendingEvents"], second["metadata"]["nextTrigger"]["remainingEvents"]) == (1, 9)
    stream.send(*[said("Hm.") for _ in range(9)])
    caller.settle()
    done = caller.get(second["name"])["metadata"]
    assert done["coverage"] == {"events": 10, "covered": 10}
    assert done["promptedCharacters"] > len("A van.") + 9 * len("Hm.") + len("I keep bees.") + len("What do you drive?")
    facts = caller.facts(stream.scope)
    assert ["van" in fact for fact in facts] == [True, False]
    assert ["bees" in fact for fact in facts] == [False, True]


def test_revision_example_labels_and_expires_revisions(caller: Caller) -> None:
    """Labels and TTL of a call are on the revisions that its window makes."""
    stream = caller.stream(name="my-custom-stream")
    config = {"revision_labels": {"data_source": "321"}, "revision_ttl": f"{30 * 60 * 60 * 24}s"}
    stream.send(said(BLUE), rule={"event_count": 10}, **config)
    stream.flush()
    [memory] = caller.memories(stream.scope)
    [revision] = caller.revisions(memory)
    assert revision["labels"] == {"data_source": "321"}
    assert moment(revision["expireTime"]) - moment(revision["createTime"]) == timedelta(days=30)


def test_revision_expire_time_is_taken_as_it_is(caller: Caller) -> None:
    """An instant as a revision's expiry is kept, whatever offset it was written with."""
    stream = caller.stream()
    at = caller.service.now().replace(microsecond=0) + timedelta(days=10)
    written = at.astimezone(tz=moment("2026-01-01T00:00:00Z").tzinfo).isoformat()
    stream.flush(said(BLUE), revision_expire_time=written)
    [memory] = caller.memories(stream.scope)
    assert moment(caller.revisions(memory)[0]["expireTime"]) == at


def test_revisions_live_a_year_unless_said_otherwise(caller: Caller) -> None:
    """Without any word on expiry a revision lives for 365 days."""
    stream = caller.stream()
    stream.flush(said(BLUE))
    [memory] = caller.memories(stream.scope)
    [revision] = caller.revisions(memory)
    assert moment(revision["expireTime"]) - moment(revision["createTime"]) == timedelta(days=365)
    assert "labels" not in revision


def test_revisions_can_be_switched_off_for_a_window(caller: Caller) -> None:
    """disable_memory_revisions makes the memory and no revision of it."""
    stream = caller.stream()
    stream.flush(said(BLUE), disable_memory_revisions=True)
    [memory] = caller.memories(stream.scope)
    assert caller.revisions(memory) == []


def test_metadata_example_attaches_typed_values(caller: Caller) -> None:
    """Metadata of a call is on the memories of its window, each value in its own type and nothing else beside it."""
    stream = caller.stream(name="my-custom-stream")
    metadata = {"my_string_key": {"string_value": "my_string_value"}, "my_boolean_key": {"bool_value": True}}
    stream.send(said(BLUE), rule={"event_count": 10}, metadata=metadata, metadata_merge_strategy="MERGE")
    stream.flush()
    [memory] = caller.memories(stream.scope)
    assert memory["metadata"] == {
        "my_string_key": {"stringValue": "my_string_value"},
        "my_boolean_key": {"boolValue": True},
    }


@pytest.mark.parametrize(
    ("strategy", "left"),
    [("MERGE", {"a": 1.0, "b": 3.0, "c": 4.0}), ("OVERWRITE", {"b": 3.0, "c": 4.0}), (None, {"b": 3.0, "c": 4.0})],
)
def test_metadata_of_an_updated_memory(caller: Caller, strategy: str | None, left: dict[str, float]) -> None:
    """MERGE joins old and new metadata, the new value wins; OVERWRITE, also unsaid, replaces all of it."""
    stream = caller.stream()
    config = {"metadata_merge_strategy": strategy} if strategy else {}
    stream.flush(said(BLUE), metadata={"a": {"double_value": 1.0}, "b": {"double_value": 2.0}})
    stream.flush(said(BLUE), metadata={"b": {"double_value": 3.0}, "c": {"double_value": 4.0}}, **config)
    [memory] = caller.memories(stream.scope)
    assert memory["metadata"] == {key: {"doubleValue": value} for key, value in left.items()}


def test_require_exact_match_keeps_memories_of_other_metadata_apart(caller: Caller) -> None:
    """Under REQUIRE_EXACT_MATCH the same fact with other metadata is a second memory, with the same it is not."""
    stream = caller.stream()
    for day in (1.0, 2.0, 2.0):
        metadata = {"day": {"double_value": day}}
        stream.flush(said(BLUE), metadata=metadata, metadata_merge_strategy="REQUIRE_EXACT_MATCH")
    days = sorted(memory["metadata"]["day"]["doubleValue"] for memory in caller.memories(stream.scope))
    assert days == [1.0, 2.0]


def test_both_spellings_of_every_key_are_one_request(caller: Caller) -> None:
    """A call in camelCase throughout, and one in snake_case throughout, say the same as the SDK's mixture."""
    scope = caller.scope()
    stream = caller.stream(scope, "s")
    mixed = stream.body(said(BLUE, "e1"), rule={"event_count": 10}, revision_labels={"a_b": "c_d"})
    content = {"role": "user", "parts": [{"text": BLUE}]}
    camel_case = {
        "streamId": "s",
        "scope": scope,
        "directContentsSource": {"events": [{"content": content, "eventId": "e1"}]},
        "generationTriggerConfig": {"generationRule": {"eventCount": 10}},
    }
    snake_case = {
        "stream_id": "s",
        "scope": scope,
        "direct_contents_source": {"events": [{"content": content, "event_id": "e1"}]},
        "generation_trigger_config": {"generation_rule": {"event_count": 10}},
    }
    path = f"{DEFAULT_BANK}/memories:ingestEvents"
    replies = [caller.post(path, body)["metadata"] for body in (mixed, camel_case, snake_case)]
    assert [reply["acceptedEvents"] for reply in replies] == [1, 0, 0]
    assert [reply["duplicateEvents"] for reply in replies] == [0, 1, 1]
    stream.flush()
    [memory] = caller.memories(scope)
    assert caller.revisions(memory)[0]["labels"] == {"a_b": "c_d"}
