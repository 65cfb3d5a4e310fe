"""Exporting and importing over HTTP: what an operator sees, and who may."""

from __future__ import annotations

import json

import boto3
import pytest

from tests.journeys.caller import VERSION, Caller, Document, said
from tests.stack.deployed import Deployed

DEFAULT = "projects/p/locations/l/reasoningEngines/default"


def lived(caller: Caller) -> str:
    """A bank with a stream that remembers something, a session and a conversation."""
    bank = caller.bank()
    caller.stream(bank=bank).flush(said("I keep bees.", "e1"), said("I live in Linz.", "e2"))
    caller.post(f"{bank}/sessions", {"userId": "u1", "sessionState": {"k": 1}})
    caller.client.put(
        f"{VERSION}/{bank}/chatHistory", params={"conversationId": "c"}, json={"messages": [{"text": "hi"}]}
    )
    return bank


def test_a_bank_moves_with_all_that_it_holds(caller: Caller) -> None:
    """What one bank exports another imports: its facts are found by meaning, and replays are duplicates there."""
    bank, other = lived(caller), caller.bank()
    done = caller.post(f"{bank}:export", {})
    assert done["done"]
    carried = {"memories": 2, "events": 2, "sessions": 1, "conversations": 1}
    assert done["response"]["exported"].items() >= carried.items()
    moved = caller.post(f"{other}:import", {"source": done["response"]["source"]})
    assert moved["response"]["imported"] == done["response"]["exported"]
    assert caller.get(moved["name"]) == moved
    assert caller.get(done["name"]) == done
    stream = caller.streams[-1]
    found = caller.post(
        f"{other}/memories:retrieve",
        {"scope": stream.scope, "similaritySearchParams": {"searchQuery": "which insects?", "topK": 1}},
    )
    assert "bees" in json.dumps(found)
    again = caller.post(f"{other}:ingestEvents", stream.body(said("I keep bees.", "e1")))
    assert again["metadata"]["duplicateEvents"] == 1
    assert caller.get(f"{other}/sessions")["sessions"][0]["userId"] == "u1"
    chat = caller.client.get(f"{VERSION}/{other}/chatHistory", params={"conversationId": "c"})
    assert chat.json()["messages"] == [{"text": "hi"}]


def test_the_jobs_of_a_bank_are_listed(caller: Caller) -> None:
    """The newest job of each kind is told as its own operation tells it; a bank without any has an empty list."""
    bank = lived(caller)
    assert caller.get(f"{bank}/jobs") == {"operations": []}
    caller.post(f"{bank}:export", {})
    jobs = [
        caller.post(f"{bank}:erase", {"force": True}),
        caller.post(f"{bank}:export", {}),
        caller.post(f"{bank}:reindex", {}),
    ]
    assert caller.get(f"{bank}/jobs")["operations"] == [caller.get(one["name"]) for one in jobs]
    assert jobs[1]["name"].endswith("/export-2")


def test_the_objects_are_lines_with_a_kind_and_a_version(caller: Caller) -> None:
    """The bucket holds a manifest and its parts; each line is JSON that says what it is; vectors are not in it."""
    if Deployed.named():
        pytest.skip("needs the bucket of the service in this process")
    bank = lived(caller)
    source = caller.post(f"{bank}:export", {})["response"]["source"]
    s3, bucket = boto3.client("s3"), caller.service.stack.environment()["EXPORT_BUCKET"]
    manifest = json.loads(s3.get_object(Bucket=bucket, Key=source)["Body"].read())
    assert manifest["format"] == "streambank-export"
    lines = [
        json.loads(line)
        for part in manifest["parts"]
        for line in s3.get_object(Bucket=bucket, Key=source.replace("manifest.json", part))["Body"].read().splitlines()
    ]
    assert {line["version"] for line in lines} == {1}
    assert {line["kind"] for line in lines} == {
        "memory", "session", "chatHistory", "stream", "window", "events", "eventMarker",
    }  # fmt: skip
    assert not any("vec" in key.lower() for line in lines for key in line)


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("export", {"scope": {}}, "scope"),
        ("export", {"userId": "u"}, "scope"),
        ("export", {"bucket": "mine"}, "bucket"),
        ("export", {"scope": {"a": "b"}, "conversationIds": [""]}, "conversationIds[0]"),
        ("import", {}, "source"),
        ("import", {"source": "s3://mine/default/export-1/manifest.json"}, "source"),
        ("import", {"source": "default/../other/export-1/manifest.json"}, "source"),
        ("import", {"source": "default/export-999/manifest.json"}, "source"),
    ],
)
def test_bad_requests_are_refused_by_name(caller: Caller, verb: str, body: Document, field: str) -> None:
    """What is not understood moves nothing."""
    error = caller.post(f"{DEFAULT}:{verb}", body, status=400)["error"]
    assert error["details"][0]["fieldViolations"][0]["field"] == field


def test_unknown_jobs_are_not_found(caller: Caller) -> None:
    """A job that never was, and one of another bank, are 404."""
    done = caller.post(f"{lived(caller)}:export", {})
    other = caller.bank().rsplit("/", 1)[-1]
    mine = done["name"].split("/operations/")[0].rsplit("/", 1)[-1]
    caller.get(done["name"].replace(mine, other), status=404)
    caller.get(done["name"][:-1] + "99", status=404)
    caller.get(f"{DEFAULT}/operations/import-99", status=404)
