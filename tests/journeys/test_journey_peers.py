"""What users of other memory services complain of, and how it goes here.

The numbers are those of the complaint log (C) and of the questions that the reference leaves open (Q).
"""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest

from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, moment, said

pytestmark = pytest.mark.usefixtures("rested")

TEN = {"event_count": 10}
HUNDRED = {"event_count": 100}
BEES = "I keep bees."


# ---- A: duplicates and event ids


def test_c1_simultaneous_calls_of_one_fact_leave_one_memory(caller: Caller) -> None:
    """One fact that two streams of a scope bring at the same moment is one memory."""
    scope = caller.scope()
    streams = [caller.stream(scope, name) for name in ("s1", "s2")]
    with ThreadPoolExecutor(2) as pool:
        sent = list(pool.map(lambda stream: stream.send(said(BEES), force_flush=True), streams))
    caller.settle()
    verdicts = [caller.get(f"{one['name']}-g")["response"]["verdicts"][0]["verdict"] for one in sent]
    assert len(caller.memories(scope)) == 1
    assert verdicts.count("CREATED") == 1


def test_c4_events_sent_again_are_no_events(caller: Caller) -> None:
    """The same ids again are accepted as a call, add nothing, and are reported as duplicates."""
    stream = caller.stream()
    events = [said("Hm.", f"e{number}") for number in range(1, 5)]
    stream.send(*events, rule=TEN)
    again = stream.send(*events)["metadata"]
    assert (again["acceptedEvents"], again["duplicateEvents"], again["pendingEvents"]) == (0, 4, 4)


def test_c6_paraphrase_replaces_or_restates(caller: Caller) -> None:
    """A fact in other words is no second memory."""
    stream = caller.stream()
    stream.flush(said("My dog is called Fen."))
    stream.flush(said("Fen is my dog's name."))
    assert len(caller.find(stream.scope, "What is the dog called?")) == 1


def test_c7_rewordings_over_four_streams_are_one_memory(caller: Caller) -> None:
    """A preference is consolidated with what other streams of its scope said."""
    scope = caller.scope()
    for number, text in enumerate(
        (
            "I take my tea without sugar.",
            "I don't take sugar in my tea.",
            "I drink my tea with no sugar.",
            "I like my tea unsweetened.",
        )
    ):
        caller.stream(scope, f"s{number}").flush(said(text))
    assert len(caller.facts(scope)) == 1, caller.facts(scope)


def test_c8_call_repeated_after_a_time_out_is_stored_once(caller: Caller) -> None:
    """A client that gave up waiting and sends the identical call again leaves n events, not 2n."""
    stream = caller.stream()
    body = stream.body(*[said("Hm.", f"e{number}") for number in range(90)], rule=HUNDRED)
    url = f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents"
    with pytest.raises(httpx.TimeoutException):
        caller.client.post(url, json=body, timeout=httpx.Timeout(10, read=0.002))
    again = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body)["metadata"]
    assert again["acceptedEvents"] + again["duplicateEvents"] == 90
    assert again["pendingEvents"] == 90
    assert stream.send()["metadata"]["pendingEvents"] == 90


def test_c11_cumulative_history_counts_unique_events(caller: Caller) -> None:
    """Turns that each send the whole history so far make one generation of five events at a count of five."""
    before = caller.generations()
    stream = caller.stream()
    history = [said("Hm.", f"e{number}") for number in range(1, 6)]
    sent = [stream.send(*history[:turn], rule={"event_count": 5}) for turn in range(1, 6)]
    caller.settle()
    assert len({one["name"] for one in sent}) == 1
    assert caller.get(sent[0]["name"])["metadata"]["coverage"] == {"events": 5, "covered": 5}
    assert caller.generations() == before + 1


def test_c13a_edited_text_under_a_known_id_is_a_conflict(caller: Caller) -> None:
    """The first text stays, the reply lists the id, and the other text becomes no memory."""
    stream = caller.stream()
    stream.send(said("I live in Graz.", "e1"), rule=TEN)
    edited = stream.send(said("I live in Linz.", "e1"))["metadata"]
    assert (edited["pendingEvents"], edited["duplicateEvents"]) == (1, 1)
    assert edited["conflictingEventIds"] == ["e1"]
    stream.flush()
    [fact] = caller.facts(stream.scope)
    assert "Graz" in fact


# ---- B: lost work, retries, races


def test_c14_accepted_events_survive_a_dead_worker(caller: Caller) -> None:
    """Five accepted events are processed though whoever was told of them is gone."""
    caller.service.poller_enabled = False
    sent = [caller.stream().send(said(BEES)) for _ in range(5)]
    caller.settle()
    assert not any(caller.get(one["name"])["done"] for one in sent)
    caller.service.poller_enabled = True
    caller.recover()
    assert [caller.get(one["name"])["metadata"]["coverage"]["covered"] for one in sent] == [1] * 5


def test_c18_fixed_interval_has_an_effect(caller: Caller) -> None:
    """One event under an interval of 60 seconds is one generation after 61."""
    before = caller.generations()
    caller.stream().send(said(BEES), rule={"fixed_interval": "60s"})
    caller.advance(seconds=61)
    assert caller.generations() == before + 1


def test_c20_unfinished_session_is_flushed_a_day_after_its_last_event(caller: Caller) -> None:
    """Three of five events are one generation 24 hours after the last of them; one at 23 hours moves that."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), said("Hm."), said("Hm."), rule={"event_count": 5})
    caller.advance(hours=23)
    stream.send(said("Hm."))
    caller.advance(hours=23, minutes=59)
    assert caller.generations() == before
    caller.advance(minutes=1, seconds=30)
    assert caller.generations() == before + 1
    assert caller.get(sent["name"])["metadata"]["coverage"]["covered"] == 4


# ---- C: windows, order, context


def test_c28_answer_is_understood_by_the_question_before_it(caller: Caller) -> None:
    """A bare answer is read with the question that the window before it ended with, which makes no memory itself."""
    stream = caller.stream()
    rule = {"event_count": 2, "overlap_event_count": 1}
    stream.send(said("Hello."), said("What do you drive?", role="model"), rule=rule)
    caller.settle()
    sent = stream.send(said("A van."), said("Thanks."))
    caller.settle()
    [fact] = caller.facts(stream.scope)
    assert "drive" in fact
    assert "van" in fact
    assert caller.get(sent["name"])["metadata"]["coverage"]["events"] == 2


def test_c28_carried_fact_is_not_extracted_again(caller: Caller) -> None:
    """An overlap event that stated a fact gives it once, also when its memory was deleted meanwhile."""
    stream = caller.stream()
    rule = {"event_count": 1, "overlap_event_count": None}
    stream.send(said(BEES), rule=rule)
    caller.settle()
    [memory] = caller.memories(stream.scope)
    caller.delete(memory["name"])
    stream.send(said("Hm."), said("Thanks."), rule={"event_count": 2, "overlap_event_count": 1})
    caller.settle()
    assert caller.facts(stream.scope) == []


def test_c29_latest_statement_wins_and_the_old_one_is_a_revision(caller: Caller) -> None:
    """A change of mind leaves one answer; what it was before is in the revisions."""
    stream = caller.stream()
    stream.flush(said("My team is Rovers."))
    stream.flush(said("I support United now, not Rovers."))
    [fact] = caller.find(stream.scope, "which team")
    assert "United" in fact
    [memory] = caller.memories(stream.scope)
    assert ["Rovers" in one["fact"] and "United" not in one["fact"] for one in caller.revisions(memory)][-1]


def test_c30_contradiction_is_an_update(caller: Caller) -> None:
    """The opposite of a fact replaces it: one memory, of the dislike."""
    stream = caller.stream()
    stream.flush(said("I love okra."))
    done = stream.flush(said("I can't stand okra."))
    [fact] = caller.facts(stream.scope)
    assert "stand" in fact
    [generated] = caller.get(done["response"]["name"])["response"]["generatedMemories"]
    assert generated["action"] == "UPDATED"


def test_c33_each_stream_follows_its_own_rule(caller: Caller) -> None:
    """Of two streams only the one whose rule is met fires."""
    scope = caller.scope()
    first = caller.stream(scope, "now").send(said(BEES), rule={"event_count": 1})
    second = caller.stream(scope, "later").send(said(BEES), rule={"idle_duration": "300s"})
    caller.settle()
    assert caller.get(first["name"])["done"]
    assert not caller.get(second["name"])["done"]


# ---- E: isolation

VALUES = [
    "ann-lee",
    "ann_lee",
    "a",
    "ab",
    "a%",
    "a#",
    "a/",
    "a|",
    "a=",
    "a\0",
    "a\U0001f41d",
    "A",
    "a ",
    'a"',
    "a\u0301",
    "\u00e1",
]


@pytest.mark.slow
def test_c41_scopes_match_exactly(caller: Caller) -> None:
    """No character of a scope is a wildcard, a separator or the same as another: each finds what was said in it."""
    tag = caller.scope()["user_id"]
    scopes = [{"user": value, "tag": tag} for value in VALUES]
    streams = [caller.stream(scope) for scope in scopes]
    for number, stream in enumerate(streams):
        stream.send(said(f"My number is {number + 100}."))
    caller.settle()
    found = [caller.facts(scope) for scope in scopes]
    assert [len(facts) for facts in found] == [1] * len(VALUES)
    assert all(str(number + 100) in facts[0] for number, facts in enumerate(found))
    listed = [caller.get(f"{DEFAULT_BANK}/memories", params={"filter": _filter(scope)}) for scope in scopes]
    assert [[memory["fact"] for memory in page["memories"]] for page in listed] == found


def _filter(scope: dict[str, str]) -> str:
    return f"scope={json.dumps(json.dumps(scope))}"


def test_c41_order_of_keys_is_no_difference(caller: Caller) -> None:
    """A scope is a map: the order of its keys makes no other stream and no other memories."""
    tag = caller.scope()["user_id"]
    one, other = {"a": tag, "b": "2"}, {"b": "2", "a": tag}
    first = caller.stream(one).send(said(BEES), rule=TEN)
    second = caller.stream(other).send(said("Hm."))
    assert first["name"] == second["name"]
    caller.streams[-1].flush()
    assert caller.facts(one) == caller.facts(other) != []


def test_c41_values_do_not_run_into_each_other(caller: Caller) -> None:
    """Scopes whose keys and values join to the same text, and stream names that continue a scope, are kept apart."""
    tag = caller.scope()["user_id"]
    scopes = [{"a": f"b{tag}"}, {"ab": tag}, {"a": "b", "c": tag}, {"a": f'b","c":"{tag}'}]
    names = {caller.stream(scope).send(said("Hm."), rule=TEN)["name"] for scope in scopes}
    assert len(names) == len(scopes)


def test_c43_one_users_names_and_filters_find_nothing_of_anothers(caller: Caller) -> None:
    """No read of one bank or scope returns what another holds, whatever id is asked for."""
    bank = caller.bank()
    mine, theirs = caller.stream(), caller.stream(bank=bank)
    mine.flush(said(BEES))
    done = theirs.flush(said("I keep cats."))
    [memory] = caller.memories(theirs.scope, bank)
    [revision] = caller.revisions(memory)
    for name in (memory["name"], f"{memory['name']}/revisions", revision["name"], done["name"], f"{done['name']}-g"):
        caller.get(name.replace(bank, DEFAULT_BANK), status=404)
    caller.delete(memory["name"].replace(bank, DEFAULT_BANK), status=404)
    assert caller.memories(theirs.scope) == []
    assert caller.find(theirs.scope, "cats") == []
    assert caller.get(f"{DEFAULT_BANK}/memories", params={"filter": _filter(theirs.scope)})["memories"] == []
    assert caller.get(f"{bank}/memories", params={"filter": _filter(mine.scope)})["memories"] == []
    assert [one["name"] for one in caller.get(f"{bank}/memories")["memories"]] == [memory["name"]]


def test_c43_users_of_one_bank_do_not_see_each_other(caller: Caller) -> None:
    """Two users with a fact each: every search of the one is blind for the other's."""
    streams = [caller.stream(), caller.stream()]
    for stream, text in zip(streams, (BEES, "I keep cats."), strict=True):
        stream.flush(said(text))
    for stream, animal in zip(streams, ("bees", "cats"), strict=True):
        assert ["bees" in fact or "cats" in fact for fact in caller.find(stream.scope, "cats and bees", 100)] == [True]
        assert animal in caller.find(stream.scope, "cats and bees", 100)[0]


def test_c43b_scope_with_another_key_is_another_scope(caller: Caller) -> None:
    """What was said under user and app is found under neither the user alone nor another app."""
    user = caller.scope()
    caller.stream(user | {"app": "x"}).flush(said(BEES))
    assert caller.facts(user) == caller.find(user, "bees") == []
    assert caller.facts(user | {"app": "y"}) == caller.find(user | {"app": "y"}, "bees") == []
    assert len(caller.facts(user | {"app": "x"})) == 1


# ---- Q: what the reference leaves open


def test_q1_id_is_remembered_after_its_window_was_flushed(caller: Caller) -> None:
    """An event id is recognised for 90 days from its acceptance, and then the event is a new one."""
    stream = caller.stream()
    stream.flush(said(BEES, "e1"), rule=TEN)
    caller.advance(days=89)
    assert stream.send(said(BEES, "e1"))["metadata"]["duplicateEvents"] == 1
    caller.advance(days=2)
    late = stream.send(said(BEES, "e1"))["metadata"]
    assert (late["acceptedEvents"], late["window"], late["pendingEvents"]) == (1, 2, 1)


def test_q2_event_during_a_generation_belongs_to_the_next_window(caller: Caller) -> None:
    """What arrives while a sealed window is not done yet gets the next operation; the sealed one stays as it was."""
    caller.service.poller_enabled = False
    stream = caller.stream()
    first = stream.send(said(BEES), rule=TEN, force_flush=True)
    second = stream.send(said("I am a baker."))
    third = stream.send(said("Hm."))
    assert caller.get(first["name"])["metadata"]["state"] == "SEALED"
    assert second["name"] == third["name"] != first["name"]
    caller.service.poller_enabled = True
    caller.advance(minutes=3)
    assert caller.get(first["name"])["metadata"]["coverage"]["covered"] == 1
    assert caller.get(second["name"])["metadata"]["pendingEvents"] == 2


def test_q3_last_word_on_each_setting_wins(caller: Caller) -> None:
    """Calls of one window that differ: the last explicit value of each setting holds for all of it."""
    stream = caller.stream()
    stream.send(
        said(BEES),
        rule=TEN,
        revision_labels={"from": "first"},
        revision_ttl="3600s",
        metadata={"from": {"string_value": "first"}},
    )
    last = stream.send(rule=HUNDRED, revision_labels={"from": "second"}, revision_ttl="7200s")
    assert last["metadata"]["nextTrigger"]["remainingEvents"] == 99
    stream.flush()
    [memory] = caller.memories(stream.scope)
    [revision] = caller.revisions(memory)
    assert revision["labels"] == {"from": "second"}
    assert moment(revision["expireTime"]) - moment(revision["createTime"]) == timedelta(hours=2)
    assert memory["metadata"] == {"from": {"stringValue": "first"}}


def test_q3_settings_end_with_their_window(caller: Caller) -> None:
    """Labels and metadata of one window are not those of the next; the rule is."""
    stream = caller.stream()
    stream.flush(said("Hm."), rule=TEN, revision_labels={"a": "b"}, metadata={"a": {"bool_value": True}})
    assert stream.send(said(BEES))["metadata"]["nextTrigger"]["remainingEvents"] == 9
    stream.flush()
    [memory] = caller.memories(stream.scope)
    assert "metadata" not in memory
    assert "labels" not in caller.revisions(memory)[0]


def test_q4_first_content_under_an_id_stays(caller: Caller) -> None:
    """The same id with other content is a conflict also after its window was flushed and inside one call."""
    stream = caller.stream()
    stream.flush(said(BEES, "e1"), rule=TEN)
    later = stream.send(said("I keep cats.", "e1"), said("Hm.", "e2"), said("Oh.", "e2"))["metadata"]
    assert (later["acceptedEvents"], later["duplicateEvents"]) == (1, 2)
    assert sorted(later["conflictingEventIds"]) == ["e1", "e2"]
    stream.flush()
    assert ["bees" in fact for fact in caller.facts(stream.scope)] == [True]


def test_q4_same_content_at_another_time_is_no_conflict(caller: Caller) -> None:
    """A replay that gives an event another time is a plain duplicate."""
    stream = caller.stream()
    stream.send(said(BEES, "e1", at="2026-01-01T00:00:00Z"), rule=TEN)
    again = stream.send(said(BEES, "e1", at="2026-01-02T00:00:00Z"))["metadata"]
    assert (again["duplicateEvents"], again["conflictingEventIds"]) == (1, [])


def test_q5_events_without_an_id_are_all_new(caller: Caller) -> None:
    """Events without an id are never taken for each other, unless a key makes their call repeatable."""
    stream = caller.stream()
    counts = [stream.send(said("Hm."), said("Hm."), rule=HUNDRED)["metadata"]["pendingEvents"] for _ in range(2)]
    assert counts == [2, 4]
    body, headers = stream.body(said("Hm.")), {"X-Idempotency-Key": "once"}
    replies = [caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, headers=headers) for _ in range(2)]
    assert [one["metadata"]["pendingEvents"] for one in replies] == [5, 5]
    assert replies[0]["name"] == replies[1]["name"]


def test_q5_key_and_event_id_are_no_relatives(caller: Caller) -> None:
    """An event id that looks like a derived one is another event."""
    stream = caller.stream()
    caller.post(
        f"{DEFAULT_BANK}/memories:ingestEvents",
        stream.body(said("Hm."), rule=HUNDRED),
        headers={"X-Idempotency-Key": "k"},
    )
    for event_id in ("k", "k\x000", "idempotency\x00k\x000"):
        assert stream.send(said("Hm.", event_id))["metadata"]["acceptedEvents"] == 1


def test_q6_duplicates_reset_neither_timer(caller: Caller) -> None:
    """Known events move neither the idle time nor the day after which a window is abandoned."""
    streams = [caller.stream(), caller.stream()]
    rules = [{"idle_duration": "3600s"}, {"event_count": 5}]
    sent = [stream.send(said(BEES, "e1"), rule=rule) for stream, rule in zip(streams, rules, strict=True)]
    for hours in (0.5, 0.6, 22.5, 0.6):
        caller.advance(hours=hours)
        again = [stream.send(said(BEES, "e1"), rule=rule) for stream, rule in zip(streams, rules, strict=True)]
    assert [one["name"] for one in again] == [one["name"] for one in sent]
    reasons = [caller.get(one["name"])["metadata"]["trigger"] for one in sent]
    assert reasons == ["IDLE_DURATION", "ABANDONED"]
    ends = [moment(caller.get(one["name"])["metadata"]["genericMetadata"]["createTime"]) for one in sent]
    begins = [moment(one["metadata"]["genericMetadata"]["createTime"]) for one in sent]
    assert ends[0] - begins[0] < timedelta(hours=1, minutes=1)
    assert ends[1] - begins[1] < timedelta(hours=24, minutes=1)


def test_q7_forced_flush_of_nothing_costs_nothing(caller: Caller) -> None:
    """A forced flush with nothing pending answers with the last window, which is done, and asks no model."""
    stream = caller.stream()
    empty = stream.flush()
    assert (empty["done"], empty["metadata"]["window"]) == (True, 0)
    done = stream.flush(said(BEES), rule=TEN)
    before = caller.generations()
    again = stream.flush()
    assert (again["name"], again["done"]) == (done["name"], True)
    caller.advance(minutes=3)
    assert caller.generations() == before


def test_q8_overlap_under_a_time_rule_is_at_most_a_hundred(caller: Caller) -> None:
    """Without a count that limits it, the overlap is limited to a hundred events."""
    stream = caller.stream()
    for rule in ({"idle_duration": "60s"}, {"fixed_interval": "60s"}):
        stream.send(said("Hm."), rule=rule | {"overlap_event_count": 100})
        body = stream.body(said("Hm."), rule=rule | {"overlap_event_count": 101})
        caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, status=400)
