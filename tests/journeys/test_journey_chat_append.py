"""Appends to chat histories over HTTP: in order, together, once, within the limits."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from streambank.model import ids
from streambank.store.keys import chat
from tests.journeys.caller import DEFAULT_BANK, Caller, Document
from tests.journeys.test_journey_chat import CHAT, delete, load, noise, store

_names = itertools.count(1)


def fresh() -> str:
    return f"append {next(_names)}/with:special@chars#1!&=+%"


def append(
    caller: Caller, name: str, *numbers: Any, status: int = 200, key: str | None = None, **more: Any
) -> Document:
    headers = {name.replace("_", "-"): more.pop(name) for name in ("if_match", "if_none_match") if name in more}
    if key:
        headers["x-idempotency-key"] = key
    body = {"messages": [{"n": number} for number in numbers], **more}
    params = {"conversationId": name}
    return caller.call("POST", f"{CHAT}:append", body, params=params, headers=headers, status=status)


def numbers(caller: Caller, name: str) -> list[Any]:
    return [message["n"] for message in load(caller, name)["messages"]]


def test_appended_messages_follow_those_that_are_there(caller: Caller) -> None:
    """An append makes an unknown conversation, and goes on after a replacement; the reply counts all messages."""
    name = fresh()
    first = append(caller, name, 1, 2, format="openai")
    assert (first["conversationId"], first["messageCount"]) == (name, 2)
    assert append(caller, name, 3)["messageCount"] == 3
    assert load(caller, name)["format"] == "openai"
    assert numbers(caller, name) == [1, 2, 3]
    store(caller, name, [{"n": 9}])
    last = append(caller, name, 4)
    assert load(caller, name)["etag"] == last["etag"]
    assert numbers(caller, name) == [9, 4]


def test_an_append_is_carried_out_once_under_its_key(caller: Caller) -> None:
    """The same key answers the same again and appends nothing; with another body it is 409."""
    name = fresh()
    first = append(caller, name, 1, key="k")
    append(caller, name, 2, key="l")
    assert append(caller, name, 1, key="k") == first
    refused = append(caller, name, 3, key="k", status=409)
    assert refused["error"]["status"] == "ALREADY_EXISTS"
    assert numbers(caller, name) == [1, 2]
    delete(caller, name)
    append(caller, name, 1, key="k")
    assert load(caller, name)["messages"] == []


def test_an_append_meets_the_version_that_it_expects(caller: Caller) -> None:
    """If-Match and If-None-Match hold, and 412 changes nothing."""
    name = fresh()
    append(caller, name, 1, if_match="*", status=412)
    first = append(caller, name, 1, if_none_match="*")
    append(caller, name, 2, if_none_match="*", status=412)
    append(caller, name, 2, if_match=first["etag"])
    append(caller, name, 3, if_match=first["etag"], status=412)
    assert numbers(caller, name) == [1, 2]


def test_appends_at_once_lose_nothing_and_mix_nothing(caller: Caller) -> None:
    """Blocks of several writers are all there, each once, together and in its own order."""
    name = fresh()
    blocks = [[f"{block}-{number}" for number in range(3)] for block in range(24)]

    def send(block: list[str]) -> None:
        for _ in range(20):  # 503 is an invitation to come again, under the same key
            reply = caller.client.post(
                f"/v1/{DEFAULT_BANK}/chatHistory:append",
                params={"conversationId": name},
                json={"messages": [{"n": number} for number in block]},
                headers={"x-idempotency-key": block[0]},
            )
            if reply.status_code == 200:
                return
            assert reply.status_code == 503

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, blocks))
    there = numbers(caller, name)
    assert sorted(there[start : start + 3] for start in range(0, len(there), 3)) == sorted(blocks)


def test_what_cannot_be_appended_is_refused(caller: Caller) -> None:
    """No messages, another format, more messages than a conversation may have: nothing is changed."""
    name = fresh()
    append(caller, name, *range(9_999), format="f")
    refusals = {
        "messages": (append(caller, name, status=400), append(caller, name, 1, 2, status=413)),
        "format": (append(caller, name, 1, format="g", status=400),),
    }
    for field, replies in refusals.items():
        for reply in replies:
            assert reply["error"]["details"][0]["fieldViolations"][0]["field"] == field
    assert append(caller, name, 1)["messageCount"] == 10_000
    append(caller, name, 1, status=413)


@pytest.mark.slow
def test_a_conversation_grows_up_to_what_a_reply_can_hold(caller: Caller) -> None:
    """Blocks larger than an item, and any number of them, are appended until the next one would not fit."""
    name, seeds = fresh(), []
    for seed in range(20):
        body = {"messages": [{"n": seed, "text": noise(600_000, seed)}]}
        reply = caller.client.post(f"/v1/{DEFAULT_BANK}/chatHistory:append", params={"conversationId": name}, json=body)
        if reply.status_code == 413:
            break
        seeds.append(seed)
    assert len(seeds) in (9, 10)
    assert numbers(caller, name) == seeds
    caller.recover()
    delete(caller, name)
    caller.recover()
    assert caller.items(chat("default", ids.digest(name))) == []


def test_an_append_moves_the_end_of_a_conversation(caller: Caller) -> None:
    """With a ttl the time begins anew; without one the end stays."""
    name = fresh()
    append(caller, name, 1, ttl="3600s")
    caller.pass_unseen(seconds=3_000)
    append(caller, name, 2, ttl="3600s")
    caller.pass_unseen(seconds=3_000)
    append(caller, name, 3)
    assert numbers(caller, name) == [1, 2, 3]
    caller.pass_unseen(seconds=700)
    assert load(caller, name)["messages"] == []
