"""Reads what the load has left behind, through the API and, for a service in this process, from the table."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import boto3
import httpx

from benchmarks.load.calls import Call, Stream, chunks, states_fact, word
from benchmarks.load.faults import ApiStream, StoredStream, Window, memory_faults, stream_faults
from benchmarks.load.scenarios import LARGEST
from benchmarks.load.sent_events import SentEvents
from benchmarks.load.target import BANK, Target, advance
from streambank.store.attributes import unpacked
from streambank.store.codec import batch_events

# A generation that conflicts with another one of its scope too often goes on after minutes; an hour is enough.
_ROUNDS, _ROUND_SECONDS = 20, 180


def find_faults(target: Target, sent_by_stream: dict[Stream, SentEvents]) -> list[str]:
    """Flush all streams, wait until the service is idle, and return the faults."""
    with target.client() as client:
        newest = {stream: _operation(client, Call(stream, ()).body(flush=True))["name"] for stream in sent_by_stream}
        _wait_until_done(client, set(newest.values()))
        faults = list(_stream_faults(target, client, sent_by_stream, newest))
        return faults + list(_memory_faults(client, sent_by_stream))


def _stream_faults(
    target: Target, client: httpx.Client, sent_by_stream: dict[Stream, SentEvents], newest: dict[Stream, str]
) -> Iterator[str]:
    for stream, sent in sent_by_stream.items():
        stored = _stored_stream(target.table, newest[stream]) if target.table else None
        for fault in stream_faults(sent, _api_stream(client, stream, sent, newest[stream]), stored):
            yield f"{stream.user}, {stream.name}: {fault}"


def _memory_faults(client: httpx.Client, sent_by_stream: dict[Stream, SentEvents]) -> Iterator[str]:
    words: dict[str, list[str]] = {}
    for stream, sent in sent_by_stream.items():
        words.setdefault(stream.user, []).extend(word(number) for number in sent.events if states_fact(number))
    for user, expected in words.items():
        yield from (f"{user}: {fault}" for fault in memory_faults(expected, list(_facts(client, user))))


def _wait_until_done(client: httpx.Client, names: Collection[str]) -> None:
    """Advance the service's clock until each operation is done."""
    pending, seconds = set(names), 0
    for _ in range(_ROUNDS):
        advance(client, seconds)
        pending = {name for name in pending if not client.get(f"/v1beta1/{name}").raise_for_status().json()["done"]}
        if not pending:
            return
        seconds = _ROUND_SECONDS


# ---- the API


def _operation(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    reply = client.post(f"{BANK}/memories:ingestEvents", json=body).raise_for_status()
    operation: dict[str, Any] = reply.json()
    return operation


def _api_stream(client: httpx.Client, stream: Stream, sent: SentEvents, newest: str) -> ApiStream:
    prefix, _, last = newest.rpartition("-")
    windows = tuple(_window(client, f"{prefix}-{number}") for number in range(1, int(last) + 1))
    replies = [
        _operation(client, Call(stream, chunk).body())["metadata"] for chunk in chunks(sorted(sent.events), LARGEST)
    ]
    accepted, duplicates = (sum(reply[name] for reply in replies) for name in ("acceptedEvents", "duplicateEvents"))
    return ApiStream(windows, accepted, duplicates)


def _window(client: httpx.Client, name: str) -> Window:
    metadata = client.get(f"/v1beta1/{name}").raise_for_status().json()["metadata"]
    coverage = metadata.get("coverage", {"events": 0, "covered": 0})
    return Window(metadata["window"], metadata["state"], coverage["events"], coverage["covered"])


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


def _stored_stream(table: str, newest: str) -> StoredStream:
    sid = newest.rpartition("/")[2].partition("-")[0]
    items = [unpacked(item) for item in _partition(table, f"S#default#{sid}")]
    kinds = {kind: [item for item in items if item["SK"].startswith(kind)] for kind in ("B#", "W#", "D#", "HEAD")}
    events = [one for item in kinds["B#"] for one in batch_events(item)]
    return StoredStream(
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
