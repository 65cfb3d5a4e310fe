"""The content policy of a bank: what its rules match is never stored, wherever a text comes in."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from tests.journeys.caller import Caller, Document, said

CARD, KEY = "4111 1111-1111 1111", "AKIAIOSFODNN7EXAMPLE"
SECRETS = ("4111 1111", "1111 1111", KEY, "hunter2", "E-4242")
RULES = [
    {"detector": "CARD_NUMBERS", "action": "REDACT"},
    {"detector": "CREDENTIALS", "action": "REDACT"},
    {"name": "EMPLOYEE", "pattern": r"\bE-\d{4}\b", "action": "REDACT"},
    {"name": "MEDICAL", "pattern": r"(?i)\ballerg", "action": "TAG"},
]
REFUSING = [{"name": "EMPLOYEE", "pattern": r"\bE-\d{4}\b", "action": "REFUSE"}]


def policy(*rules: Document) -> Document:
    return {"content_policy": {"rules": list(rules or RULES)}}


def stored_text(caller: Caller, bank: str) -> str:
    """Return all that the table holds of a bank as one text, whatever is compressed written out."""
    bank_id = bank.rsplit("/", 1)[-1]
    items = [item for item in caller.items() if bank_id in item["PK"]["S"] and item["SK"]["S"] != "CONFIG"]
    return "\n".join(_written(value) for item in items for value in item.values())


def _written(value: Document) -> str:
    [(kind, held)] = value.items()
    if kind != "B":
        return str(held)
    raw = held if isinstance(held, bytes) else base64.b64decode(held)
    try:
        return zlib.decompress(raw).decode()
    except zlib.error:
        return raw.decode(errors="replace")


def check_nothing_stored(caller: Caller, bank: str, *secrets: str) -> None:
    text = stored_text(caller, bank)
    assert not [secret for secret in secrets or SECRETS if secret in text]


def test_an_event_is_stored_without_what_the_rules_remove(caller: Caller) -> None:
    """Events, facts and citations have markers; the event says which rule matched and how often, never the text."""
    bank = caller.bank(**policy())
    stream = caller.stream(bank=bank)
    events = [
        said(f"I like tea. My card is {CARD}, not {CARD}.", "a"),
        said(f"I work at E-4242 with {KEY}.", "b"),
        said("I am allergic to nuts.", "c"),
        said("I like bees.", "d"),
    ]
    done = stream.flush(*events)
    assert done["done"], done
    check_nothing_stored(caller, bank)
    found = caller.post(
        f"{bank}/streams:findEvents", {"scope": stream.scope, "streamId": "", "eventIds": ["a", "b", "c", "d"]}
    )
    assert [one.get("contentPolicy") for one in found["events"]] == [
        [{"rule": "CARD_NUMBERS", "action": "REDACT", "count": 2}],
        [
            {"rule": "CREDENTIALS", "action": "REDACT", "count": 1},
            {"rule": "EMPLOYEE", "action": "REDACT", "count": 1},
        ],
        [{"rule": "MEDICAL", "action": "TAG", "count": 1}],
        None,
    ]
    detail = caller.get(done["name"], params={"view": "FULL"})["detail"]
    texts = [event["content"]["parts"][0]["text"] for event in detail["events"]]
    assert texts[0] == "I like tea. My card is [REDACTED:CARD_NUMBERS], not [REDACTED:CARD_NUMBERS]."
    assert texts[1] == "I work at [REDACTED:EMPLOYEE] with [REDACTED:CREDENTIALS]."
    assert detail["events"][2]["contentPolicy"] == [{"rule": "MEDICAL", "action": "TAG", "count": 1}]
    again = stream.send(*events)["metadata"]
    assert (again["duplicateEvents"], again["conflictingEventIds"]) == (4, []), "the same redaction is the same event"


def test_a_match_across_parts_is_found(caller: Caller) -> None:
    """The text parts of a content are one text, and tool traffic is read too, names and numbers among it."""
    bank = caller.bank(**policy())
    stream = caller.stream(bank=bank)
    parts: list[Document] = [
        {"text": "My card is 4111 11"},
        {"text": "11-1111 1111, yes."},
        {"function_call": {"name": "pay", "args": {"card": 4111111111111111, KEY: ["https://me:hunter2@example.org"]}}},
    ]
    done = stream.flush({"content": {"role": "user", "parts": parts}, "event_id": "a"})
    check_nothing_stored(caller, bank)
    stored = caller.get(done["name"], params={"view": "FULL"})["detail"]["events"][0]["content"]["parts"]
    assert [part.get("text") for part in stored[:2]] == ["My card is [REDACTED:CARD_NUMBERS]", ", yes."]
    assert stored[2]["function_call"]["args"] == {
        "card": "[REDACTED:CARD_NUMBERS]",
        "[REDACTED:CREDENTIALS]": ["https://me:[REDACTED:CREDENTIALS]@example.org"],
    }


def test_a_refused_event_refuses_its_call(caller: Caller) -> None:
    """The refusal names the places and the rule, quotes nothing, and nothing of the call is stored."""
    bank = caller.bank(**policy(*REFUSING))
    stream = caller.stream(bank=bank)
    events = [said("I like tea.", "a"), said("I am E-4242.", "b"), said("And E-4243.", "c")]
    refusal = caller.post(f"{bank}/memories:ingestEvents", stream.body(*events), status=400)["error"]
    assert "directContentsSource.events[1]" in refusal["message"]
    assert "events[2]" in refusal["message"]
    assert "EMPLOYEE" in refusal["message"]
    assert "E-424" not in json.dumps(refusal)
    assert stream.send(events[0])["metadata"]["acceptedEvents"] == 1, "nothing of the call was stored"
    stream.flush()


@pytest.mark.parametrize("place", ["fact", "displayName", "description", "metadata"])
def test_a_memory_is_created_and_changed_without_what_the_rules_remove(caller: Caller, place: str) -> None:
    """Each text of a memory is screened when it is created, changed, or made in a batch."""
    bank, scope = caller.bank(**policy()), caller.scope()
    text: Any = {"note": {"string_value": CARD}} if place == "metadata" else f"Pays with {CARD}."
    memory = {"scope": scope, "fact": "Has bees.", place: text}
    made = caller.post(f"{bank}/memories", memory)["response"]
    [batched] = caller.post(f"{bank}/memories:batchCreate", {"requests": [{"memory": memory}]})["results"]
    changed = caller.call("PATCH", made["name"], {place: text})["response"]
    for one in (made, batched["memory"], changed):
        shown = json.dumps(one[place])
        assert "REDACTED:CARD_NUMBERS" in shown, shown
        assert "4111" not in shown
    check_nothing_stored(caller, bank)
    refusing = caller.bank(**policy({"detector": "CARD_NUMBERS", "action": "REFUSE"}))
    refusal = caller.post(f"{refusing}/memories", memory, status=400)["error"]["message"]
    assert refusal.startswith(place), refusal


def test_the_key_of_a_call_keeps_its_meaning(caller: Caller) -> None:
    """A repeated call under its key is the same call, and what is kept of its body says nothing of what was removed."""
    bank, scope = caller.bank(**policy()), caller.scope()
    headers = {"X-Idempotency-Key": "k"}
    for path, body in (
        ("memories", {"scope": scope, "fact": f"Pays with {CARD}."}),
        ("memories:generate", {"scope": scope, "directMemoriesSource": {"directMemories": [{"fact": f"Has {CARD}."}]}}),
        ("memories:ingestEvents", {"scope": scope, "directContentsSource": {"events": [said(f"I have {CARD}.")]}}),
    ):
        first, second = (caller.post(f"{bank}/{path}", body, headers=headers) for _ in range(2))
        assert first["name"] == second["name"]
    caller.settle()
    check_nothing_stored(caller, bank)


def test_stated_facts_and_direct_contents_are_screened(caller: Caller) -> None:
    """A direct generation stores nothing that the rules remove, in events, facts, labels and metadata."""
    bank, scope = caller.bank(**policy()), caller.scope()
    facts = {"directMemories": [{"fact": f"Pays with {CARD}."}]}
    settings = {"metadata": {"note": {"stringValue": KEY}}, "revisionLabels": {"from": CARD}}
    caller.post(f"{bank}/memories:generate", {"scope": scope, "directMemoriesSource": facts, **settings})
    events = {"events": [said(f"I like tea, and {KEY}.")]}
    caller.post(f"{bank}/memories:generate", {"scope": scope, "directContentsSource": events})
    caller.settle()
    assert "Pays with [REDACTED:CARD_NUMBERS]." in caller.facts(scope, bank)
    check_nothing_stored(caller, bank)


def test_sessions_and_chats_are_screened(caller: Caller) -> None:
    """States, events and messages have markers; an event of a session says what was found in it."""
    bank = caller.bank(**policy())
    state = {"card": CARD, "deep": [{"key": KEY}]}
    session = caller.post(f"{bank}/sessions", {"userId": "u", "sessionState": state, "displayName": f"of {KEY}"})
    name = session["response"]["name"]
    assert session["response"]["sessionState"] == {
        "card": "[REDACTED:CARD_NUMBERS]",
        "deep": [{"key": "[REDACTED:CREDENTIALS]"}],
    }
    event = {
        "author": "user",
        "invocationId": "1",
        "timestamp": "2026-03-01T12:00:00Z",
        "content": {"role": "user", "parts": [{"text": f"My card is {CARD}"}]},
        "actions": {"stateDelta": {"last": CARD}},
    }
    caller.post(f"{name}:appendEvent", event)
    [appended] = caller.get(f"{name}/events")["sessionEvents"]
    assert appended["content"]["parts"] == [{"text": "My card is [REDACTED:CARD_NUMBERS]"}]
    assert appended["contentPolicy"] == [{"rule": "CARD_NUMBERS", "action": "REDACT", "count": 2}]
    messages = [{"role": "user", "content": f"My card is {CARD}"}]
    chat = {"params": {"conversationId": "c"}}
    caller.call("PUT", f"{bank}/chatHistory", {"messages": messages}, **chat)
    caller.post(f"{bank}/chatHistory:append", {"messages": messages}, headers={"X-Idempotency-Key": "a"}, **chat)
    stored = caller.get(f"{bank}/chatHistory", **chat)["messages"]
    assert stored == [{"role": "user", "content": "My card is [REDACTED:CARD_NUMBERS]"}] * 2
    check_nothing_stored(caller, bank)


def test_a_wrong_policy_is_refused(caller: Caller) -> None:
    """A rule that cannot be is refused by its place, and nobody's pattern can backtrack."""
    wrong: list[tuple[Document, str]] = [
        ({"action": "REDACT"}, "rules[1]: must have either detector or pattern"),
        ({"action": "REDACT", "detector": "CREDENTIALS", "pattern": "a"}, "rules[1]: must have either"),
        ({"action": "BURN", "pattern": "a"}, "rules[1].action: must be"),
        ({"action": "REDACT", "pattern": "(a"}, "rules[1].pattern: is not an RE2 pattern"),
        ({"action": "REDACT", "pattern": r"(a)\1"}, "rules[1].pattern: is not an RE2 pattern"),
        ({"action": "REDACT", "pattern": "a", "name": "lower"}, "rules[1].name: must match"),
        ({"action": "REDACT", "detector": "PERSONAL_DATA"}, "rules[1].detector: needs the parameter"),
        ({"action": "REDACT", "pattern": "a" * 2_000}, "rules[1].pattern: must have 1 to 1024 bytes"),
    ]
    for rule, problem in wrong:
        config = policy(RULES[0], rule)
        body = {"context_spec": {"memory_bank_config": config}}
        refusal = caller.post("reasoningEngines", body, status=400)["error"]["message"]
        assert f"contentPolicy.{problem}".lower() in refusal.replace("content_policy", "contentPolicy").lower(), refusal


def test_a_bank_tells_its_policy_and_loses_it(caller: Caller) -> None:
    """The configuration holds the rules as they were sent; without them texts are kept as they come."""
    bank = caller.bank(**policy())
    config = caller.get(bank)["contextSpec"]["memoryBankConfig"]
    assert config["contentPolicy"]["rules"] == RULES
    plain = {"context_spec": {"memory_bank_config": {"disable_memory_revisions": True}}}
    caller.call("PATCH", bank, plain)
    scope = caller.scope()
    caller.post(f"{bank}/memories", {"scope": scope, "fact": f"Pays with {CARD}."})
    assert caller.facts(scope, bank) == [f"Pays with {CARD}."]


def test_a_new_policy_is_applied_to_what_is_stored(caller: Caller) -> None:
    """The operation tells how far it has come; it ends a quarter of an hour after the policy changed."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    stream.flush(said(f"I like tea. My card is {CARD}.", "a"))
    caller.post(f"{bank}/memories", {"scope": stream.scope, "fact": f"Pays with {KEY}."})
    refusal = caller.post(f"{bank}:applyContentPolicy", {}, status=400)["error"]
    assert refusal["status"] == "FAILED_PRECONDITION"
    caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": policy()}})
    begun = caller.post(f"{bank}:applyContentPolicy", {})
    assert begun["metadata"]["state"] == "APPLYING"
    assert begun["metadata"]["changed"] > 0
    check_nothing_stored(caller, bank)
    caller.advance(minutes=17)
    done = caller.get(begun["name"])
    assert (done["done"], done["metadata"]["state"]) == (True, "DONE")
    assert done["response"]["changed"] == begun["metadata"]["changed"]
    assert "Pays with [REDACTED:CREDENTIALS]." in caller.facts(stream.scope, bank)
    caller.get(f"{bank}/operations/policy-99", status=404)
    again = caller.post(f"{bank}:applyContentPolicy", {})
    assert (again["done"], again["response"]["changed"]) == (True, 0), "the policy is older now: one walk is enough"


def test_an_export_keeps_what_was_found_and_an_import_is_screened(caller: Caller) -> None:
    """Findings are in the lines; what comes into a bank with a policy has markers, whatever the other bank allowed."""
    plain, ruled = caller.bank(), caller.bank(**policy(*REFUSING, *RULES))
    stream = caller.stream(bank=plain)
    stream.flush(said(f"I like tea. My card is {CARD}, and I am E-4242.", "a"))
    caller.post(f"{plain}/memories", {"scope": stream.scope, "fact": f"Pays with {CARD}."})
    session = caller.post(f"{plain}/sessions", {"userId": "u", "sessionState": {"card": CARD}})["response"]["name"]
    event = {"author": "user", "invocationId": "1", "timestamp": "2026-03-01T12:00:00Z"}
    caller.post(f"{session}:appendEvent", event | {"content": {"parts": [{"text": CARD}]}})
    chat = {"params": {"conversationId": "c"}}
    caller.call("PUT", f"{plain}/chatHistory", {"messages": [{"content": CARD}]}, **chat)
    source = caller.post(f"{plain}:export", {})["response"]["source"]
    assert caller.post(f"{ruled}:import", {"source": source})["done"]
    check_nothing_stored(caller, ruled)
    assert "Pays with [REDACTED:CARD_NUMBERS]." in caller.facts(stream.scope, ruled)
    # Once more, out of the bank with the rules: the findings come along.
    third = caller.bank()
    again = caller.post(f"{ruled}:export", {})["response"]["source"]
    assert caller.post(f"{third}:import", {"source": again})["done"]
    params = {"search_query": "tea"}
    caller.retrieve(stream.scope, third, similaritySearchParams=params)
    [appended] = caller.get(f"{third}/sessions/{session.rsplit('/', 1)[-1]}/events")["sessionEvents"]
    assert appended["contentPolicy"] == [{"rule": "CARD_NUMBERS", "action": "REDACT", "count": 1}]
