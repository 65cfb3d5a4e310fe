"""Chat histories over HTTP: loaded, replaced, expected, expired, deleted."""

from __future__ import annotations

import base64
import itertools
import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from streambank.model import ids
from tests.journeys.caller import DEFAULT_BANK, Caller, Document
from tests.journeys.crowding import Calls

CHAT = f"{DEFAULT_BANK}/chatHistory"
_names = itertools.count(1)
MESSAGES = [
    {"role": "user", "content": "Grüße 👋", "a_b": None},
    {"role": "assistant", "tool_calls": [{"id": "t1", "function": {"name": "f", "arguments": "{}"}}], "content": None},
    {"role": "tool", "tool_call_id": "t1", "content": "ok"},
]


def fresh() -> str:
    return f"chat {next(_names)}/with:special@chars#1!&=+%"


def load(caller: Caller, name: str, **options: Any) -> Document:
    return caller.get(options.pop("chat", CHAT), params={"conversationId": name}, **options)


def store(caller: Caller, name: str, messages: Any, *, chat: str = CHAT, status: int = 200, **more: Any) -> Document:
    headers = {key.replace("_", "-"): more.pop(key) for key in ("if_match", "if_none_match") if key in more}
    body = {"messages": messages, **more}
    return caller.call("PUT", chat, body, params={"conversationId": name}, headers=headers, status=status)


def delete(caller: Caller, name: str, **options: Any) -> Document:
    return caller.delete(CHAT, params={"conversationId": name}, **options)


def test_a_conversation_comes_back_as_it_was_stored(caller: Caller) -> None:
    """Types, nulls, spelling and tool ids stay; the second store replaces the first exactly."""
    name = fresh()
    assert load(caller, name) == {"conversationId": name, "messages": []}
    first = store(caller, name, MESSAGES, format="openai")
    found = load(caller, name)
    assert found == {**first, "messages": MESSAGES, "format": "openai"}
    assert found["conversationId"] == name
    second = store(caller, name, [])
    found = load(caller, name)
    assert found["messages"] == []
    assert found["etag"] == second["etag"] != first["etag"]


def test_conversations_are_kept_apart(caller: Caller) -> None:
    """One id in two banks, and ids that differ by an encoded character, are different conversations."""
    bank, name = caller.bank(), fresh()
    store(caller, name, [{"n": 1}])
    store(caller, name, [{"n": 2}], chat=f"{bank}/chatHistory")
    store(caller, name.replace("+", " "), [{"n": 3}])
    assert load(caller, name)["messages"] == [{"n": 1}]
    assert load(caller, name, chat=f"{bank}/chatHistory")["messages"] == [{"n": 2}]


def test_a_version_can_be_expected(caller: Caller) -> None:
    """If-Match and If-None-Match let one of two writers through, and 412 changes nothing."""
    name = fresh()
    assert store(caller, name, [], if_match="*", status=412)["error"]["status"] == "FAILED_PRECONDITION"
    first = store(caller, name, [{"n": 1}], if_none_match="*")
    store(caller, name, [{"n": 2}], if_none_match="*", status=412)
    second = store(caller, name, [{"n": 3}], if_match=first["etag"])
    store(caller, name, [{"n": 4}], if_match=first["etag"], status=412)
    delete(caller, name, headers={"if-match": first["etag"]}, status=412)
    assert load(caller, name)["messages"] == [{"n": 3}]
    assert load(caller, name)["etag"] == second["etag"]
    refused = store(caller, name, [], if_match="no quotes", status=400)
    assert refused["error"]["details"][0]["fieldViolations"][0]["field"] == "If-Match"


def test_a_deleted_conversation_is_unknown(caller: Caller) -> None:
    """A deletion answers 200 with nothing, for the unknown too, and leaves no item."""
    name = fresh()
    before = len(caller.items())
    store(caller, name, MESSAGES)
    assert delete(caller, name) == {}
    assert delete(caller, name) == {}
    assert load(caller, name) == {"conversationId": name, "messages": []}
    assert len(caller.items()) == before


def test_an_expired_conversation_is_unknown(caller: Caller) -> None:
    """From the end of its ttl on a conversation is empty, and a new one takes no end from it."""
    name = fresh()
    store(caller, name, MESSAGES, ttl="3600s")
    assert "expireTime" in load(caller, name)
    caller.pass_unseen(seconds=3_600)
    assert load(caller, name) == {"conversationId": name, "messages": []}
    store(caller, name, MESSAGES)
    caller.pass_unseen(seconds=7_200)
    assert load(caller, name)["messages"] == MESSAGES


def noise(size: int, seed: int) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()[:size]


def partition(name: str) -> str:
    return f"H#default#{ids.digest(name)}"


@pytest.mark.slow
def test_a_history_of_5_mib_is_replaced_as_a_whole(caller: Caller, calls: Calls) -> None:
    """The largest body is stored in chunks and read whole; what it replaced is gone; a larger one is 413."""
    name = fresh()
    room = 5 * 1024 * 1024 - len(json.dumps({"messages": [{"t": ""}]}, separators=(",", ":")))
    before = len(caller.items())
    for seed in (1, 2):
        messages = [{"t": noise(room, seed)}]
        store(caller, name, messages)
        assert load(caller, name)["messages"] == messages
    items = caller.items(partition(name))
    assert 10 < len(items) < 20
    assert len({item["SK"]["S"].split("#")[1] for item in items if item["SK"]["S"] != "H"}) == 1
    refused = store(caller, name, [{"t": noise(room + 1, 3)}], status=413)
    assert refused["error"]["code"] == 413
    delete(caller, name)
    assert len(caller.items()) == before


def test_writers_and_readers_at_once_see_whole_histories(caller: Caller) -> None:
    """While large and small histories replace each other, every reading is one of them, whole."""
    name = fresh()
    versions = [[{"n": n, "t": noise(900_000 if n % 2 else 100, n)}] for n in range(6)]
    store(caller, name, versions[0])
    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(store, caller, name, version) for version in versions]
        reading = [pool.submit(load, caller, name) for _ in range(20)]
        for one in writing:
            one.result()
        for one in reading:
            assert one.result()["messages"] in versions
    assert load(caller, name)["messages"] in versions
    caller.recover()
    delete(caller, name)
    assert caller.items(partition(name)) == []


@pytest.mark.slow
def test_bank_takes_its_conversations_with_it(caller: Caller) -> None:
    """A bank that holds a conversation is not empty, and when it is deleted by force its conversations go."""
    bank, name = caller.bank(), fresh()
    store(caller, name, [{"t": noise(900_000, 1)}], chat=f"{bank}/chatHistory")
    caller.delete(bank, status=400)
    caller.delete(bank, {"force": True})
    load(caller, name, chat=f"{bank}/chatHistory", status=404)
    caller.advance(seconds=120)
    identity = bank.rsplit("/", 1)[1]
    assert not [item for item in caller.items() if identity in item["PK"]["S"]]


@pytest.mark.parametrize("query", ["", "?conversationId=", f"?conversationId={'x' * 513}"])
def test_a_request_without_an_id_is_refused(client: httpx.Client, query: str) -> None:
    """No id, an empty and a long one are 400 for each method."""
    for method in ("GET", "PUT", "DELETE"):
        body = {"messages": []} if method == "PUT" else None
        answer = client.request(method, f"/v1/{DEFAULT_BANK}/chatHistory{query}", json=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["details"][0]["fieldViolations"][0]["field"] == "conversationId"
