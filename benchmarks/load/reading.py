"""Reading back what the load has left behind: through the API, and out of the table where it can be seen."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import boto3
import httpx

from benchmarks.load.calls import Call, Stream, runs, states_fact, word
from benchmarks.load.scenarios import LARGEST
from benchmarks.load.sent import Sent
from benchmarks.load.target import BANK, Target, advance
from benchmarks.load.verdict import Shown, Stored, Window, memory_faults, stream_faults

# A generation that met another one of its scope too often goes on after minutes; an hour is more than that takes.
_ROUNDS, _ROUND_SECONDS = 20, 180


def faults(target: Target, books: dict[Stream, Sent]) -> list[str]:
    """Flush all streams, let the service come to rest, and return what is wrong."""
    with target.client() as client:
        newest = {stream: _operation(client, Call(stream, ()).body(flush=True))["name"] for stream in books}
        _rest(client, set(newest.values()))
        found = list(_stream_faults(target, client, books, newest))
        return found + list(_memory_faults(client, books))


def _stream_faults(
    target: Target, client: httpx.Client, books: dict[Stream, Sent], newest: dict[Stream, str]
) -> Iterator[str]:
    for stream, sent in books.items():
        stored = _stored(target.table, newest[stream]) if target.table else None
        for fault in stream_faults(sent, _shown(client, stream, sent, newest[stream]), stored):
            yield f"{stream.user}, {stream.name}: {fault}"


def _memory_faults(client: httpx.Client, books: dict[Stream, Sent]) -> Iterator[str]:
    words: dict[str, list[str]] = {}
    for stream, sent in books.items():
        words.setdefault(stream.user, []).extend(word(number) for number in sent.events if states_fact(number))
    for user, expected in words.items():
        yield from (f"{user}: {fault}" for fault in memory_faults(expected, list(_facts(client, user))))


def _rest(client: httpx.Client, names: Collection[str]) -> None:
    """Let the service work until each operation is done, with its clock moved on where it waits."""
    waiting, seconds = set(names), 0
    for _ in range(_ROUNDS):
        advance(client, seconds)
        waiting = {name for name in waiting if not client.get(f"/v1beta1/{name}").raise_for_status().json()["done"]}
        if not waiting:
            return
        seconds = _ROUND_SECONDS


# ---- the API


def _operation(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    reply = client.post(f"{BANK}/memories:ingestEvents", json=body).raise_for_status()
    operation: dict[str, Any] = reply.json()
    return operation


def _shown(client: httpx.Client, stream: Stream, sent: Sent, newest: str) -> Shown:
    prefix, _, last = newest.rpartition("-")
    windows = tuple(_window(client, f"{prefix}-{number}") for number in range(1, int(last) + 1))
    replayed = [_operation(client, Call(stream, run).body())["metadata"] for run in runs(sorted(sent.events), LARGEST)]
    accepted, known = (sum(one[name] for one in replayed) for name in ("acceptedEvents", "duplicateEvents"))
    return Shown(windows, accepted, known)


def _window(client: httpx.Client, name: str) -> Window:
    shown = client.get(f"/v1beta1/{name}").raise_for_status().json()["metadata"]
    coverage = shown.get("coverage", {"events": 0, "covered": 0})
    return Window(shown["window"], shown["state"], coverage["events"], coverage["covered"])


def _facts(client: httpx.Client, user: str) -> Iterator[str]:
    params: dict[str, Any] = {"pageSize": 100}
    while True:
        body = {"scope": {"user_id": user}, "simpleRetrievalParams": params}
        page = client.post(f"{BANK}/memories:retrieve", json=body).raise_for_status().json()
        yield from (row["memory"]["fact"] for row in page["retrievedMemories"])
        if "nextPageToken" not in page:
            return
        params["pageToken"] = page["nextPageToken"]


# ---- the table


def _stored(table: str, newest: str) -> Stored:
    from streambank.store.attributes import unpacked
    from streambank.store.codec import batch_events

    sid = newest.rpartition("/")[2].partition("-")[0]
    items = [unpacked(item) for item in _partition(table, f"S#default#{sid}")]
    kinds = {kind: [item for item in items if item["SK"].startswith(kind)] for kind in ("B#", "W#", "D#", "HEAD")}
    events = [one for item in kinds["B#"] for one in batch_events(item)]
    return Stored(
        events=tuple((one.seq, one.event.event_id or "", one.event.parts[0]["text"]) for one in events),
        spans=tuple((item["win"], item["fst"], item["lst"]) for item in kinds["W#"]),
        markers=tuple((item["seq"], item["win"]) for item in kinds["D#"]),
        pending=sum(item["cnt"] for item in kinds["HEAD"]),
    )


def _partition(table: str, partition: str) -> Iterator[dict[str, Any]]:
    pages = boto3.client("dynamodb", region_name="us-east-1").get_paginator("query")
    values = {":pk": {"S": partition}}
    for page in pages.paginate(TableName=table, KeyConditionExpression="PK = :pk", ExpressionAttributeValues=values):
        yield from page["Items"]
