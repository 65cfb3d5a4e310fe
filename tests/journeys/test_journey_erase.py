"""Erasing over HTTP: what a caller sees, and what the table, the executions and the log hold afterwards."""

from __future__ import annotations

import json
import logging

import pytest

from tests import scanner
from tests.journeys.caller import VERSION, Caller, Document, said

WORD = "xylophone"


def stored(caller: Caller, word: str = WORD) -> list[str]:
    """Return the keys of the items that have the word in them."""
    found = ((item, value) for item in caller.items() for value in item.values())
    return [f"{item['PK']['S']} {item['SK']['S']}" for item, value in found if word in scanner.readable(value)]


def erased(caller: Caller, scope: Document, bank: str, status: int = 200, **more: object) -> Document:
    return caller.post(f"{bank}:eraseScope", {"scope": scope, **more}, status=status)


def test_a_word_is_nowhere_after_an_erasure(caller: Caller, caplog: pytest.LogCaptureFixture) -> None:
    """Generated, pending and chatted: after the reply no item, counter or log line has the word, for good."""
    caplog.set_level(logging.INFO)
    stream, other = caller.stream(), caller.stream()
    stream.flush(said(f"I play the {WORD}.", "e1"))
    other.flush(said("I keep bees.", "e1"))
    pending = stream.send(said(f"My {WORD} is red.", "e2"), rule={"eventCount": 9}, revision_labels={"k": WORD})
    conversation = {"conversationId": f"{stream.scope['user_id']} chat"}
    chat = f"/{stream.bank}/chatHistory"
    caller.client.put(VERSION + chat, params=conversation, json={"messages": [{"text": WORD}]})
    assert len(stored(caller)) > 5
    more = {"conversation_ids": [conversation["conversationId"]]}
    would = erased(caller, stream.scope, stream.bank, dry_run=True, **more)["response"]["wouldErase"]
    done = erased(caller, stream.scope, stream.bank, **more)
    assert done["response"]["erased"] == would
    assert {"events": 2, "memories": 1, "conversations": 1}.items() <= would.items()
    assert stored(caller) == []
    assert WORD not in caplog.text
    assert WORD not in json.dumps(caller.service.counters())
    assert caller.get(done["name"]) == done
    assert caller.get(pending["name"])["error"]["code"] == 10
    assert caller.facts(other.scope) == ["I keep bees"]
    caller.advance(hours=25)
    assert stored(caller) == []
    stream.flush(said(f"I play the {WORD}.", "e1"), said("I sail.", "e3"))
    assert caller.facts(stream.scope) == ["I sail"]


def test_a_users_sessions_go_with_the_scope(caller: Caller) -> None:
    """A scope that is a user takes the user's sessions along; of another scope they are named, or they stay."""
    bank, user = caller.bank(), "u1"
    session = {"userId": user, "sessionState": {"k": WORD}}
    caller.post(f"{bank}/sessions", session)
    erased(caller, {"user_id": user, "app": "a"}, bank)
    assert len(caller.get(f"{bank}/sessions")["sessions"]) == 1
    assert erased(caller, {"user_id": user}, bank)["response"]["erased"]["sessions"] == 1
    assert not caller.get(f"{bank}/sessions").get("sessions")
    caller.post(f"{bank}/sessions", session)
    erased(caller, {"app": "a"}, bank, userId=user)
    assert not caller.get(f"{bank}/sessions").get("sessions")


def test_a_bank_is_erased_by_force_only(caller: Caller) -> None:
    """Without force nothing goes; with it all but the configuration does, and the bank lives on."""
    bank = caller.bank(ttl_config={"default_ttl": "86400s"})
    stream = caller.stream(bank=bank)
    stream.flush(said(f"I play the {WORD}.", "e1"))
    assert caller.post(f"{bank}:erase", {}, status=400)["error"]["details"][0]["fieldViolations"][0]["field"] == "force"
    assert caller.post(f"{bank}:erase", {"dryRun": True})["response"]["wouldErase"]["memories"] == 1
    done = caller.post(f"{bank}:erase", {"force": True})
    assert done["response"]["erased"]["scopes"] == 1
    assert caller.get(done["name"])["done"]
    assert stored(caller) == []
    assert caller.get(bank)["contextSpec"]["memoryBankConfig"]["ttlConfig"] == {"defaultTtl": "86400s"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scope"),
        ({"scope": {}}, "scope"),
        ({"scope": {"a": "b"}, "conversationIds": [""]}, "conversationIds[0]"),
        ({"scope": {"a": "b"}, "conversationIds": ["x"] * 101}, "conversationIds"),
        ({"scope": {"a": "b"}, "all": True}, "all"),
    ],
)
def test_bad_erasures_are_refused_by_name(caller: Caller, body: Document, field: str) -> None:
    """What is not understood erases nothing."""
    error = caller.post("projects/p/locations/l/reasoningEngines/default:eraseScope", body, status=400)["error"]
    assert error["details"][0]["fieldViolations"][0]["field"] == field


def test_unknown_erasures_are_not_found(caller: Caller) -> None:
    """An erasure that never was, and one of another bank, are 404."""
    done = erased(caller, {"user_id": "nobody"}, "projects/p/locations/l/reasoningEngines/default")
    other = caller.bank()
    caller.get(done["name"].replace("/default/", f"/{other.rsplit('/', 1)[-1]}/"), status=404)
    caller.get(done["name"][:-1] + "99", status=404)
    caller.get("projects/p/locations/l/reasoningEngines/default/operations/erase-99", status=404)
