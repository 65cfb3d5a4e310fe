"""Memories and events of other services are moved into a bank, once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from docs.examples.moving import Record, from_agentcore, from_mem0, from_memory_bank, move
from streambank_client import Streambank
from streambank_local.command.main import main
from streambank_local.service import LocalService

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
_users = count(1)


@pytest.fixture
def scope() -> dict[str, str]:
    return {"user_id": f"moved-{next(_users)}"}


class Mem0:
    """Replies as mem0's client does: pages of `results`."""

    facts = ("I live in Graz.", "I keep bees.", "I like tea.")

    def get_all(self, *, filters: dict[str, str], page: int, page_size: int) -> dict[str, Any]:
        user, facts = filters["user_id"], self.facts[(page - 1) * 2 : page * 2]
        return {"results": [{"id": f"{user}-{one}", "memory": one, "created_at": AT.isoformat()} for one in facts]}


def moved(service: LocalService, scope: dict[str, str], records: list[Record]) -> list[str]:
    """Move *records* twice, and return the facts of the scope."""
    with Streambank(service.base_url, token="local") as client:
        bank = client.bank()
        assert [move(records, bank), move(records, bank)] == [len(records)] * 2
        memories = [one.memory for one in bank.retrieve_all_memories(scope=scope)]
    assert all(one.metadata["created"] == AT for one in memories)
    return sorted(one.fact for one in memories)


def test_mem0(service: LocalService, scope: dict[str, str]) -> None:
    """All pages of a user's memories are moved, with their times, and a second run adds nothing."""
    assert moved(service, scope, list(from_mem0(Mem0(), scope["user_id"]))) == sorted(Mem0.facts)


def test_what_was_forgotten_stays_forgotten(service: LocalService, scope: dict[str, str]) -> None:
    """A second run does not bring back what was deleted here, nor undo what was changed here."""
    records = list(from_mem0(Mem0(), scope["user_id"]))
    with Streambank(service.base_url, token="local") as client:
        bank = client.bank()
        move(records, bank)
        bank.delete_memory(memory=records[0].memory_id)
        bank.update_memory(memory=records[1].memory_id, fact="I keep goats.")
        assert move(records, bank) == 1
        facts = [one.memory.fact for one in bank.retrieve_all_memories(scope=scope)]
    assert sorted(facts) == ["I keep goats.", "I like tea."]


def test_agentcore(service: LocalService, scope: dict[str, str]) -> None:
    """The records of a namespace are moved; boto3 checks the stand-in's replies by the service's own model."""
    client = boto3.client(
        "bedrock-agentcore", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    memory, namespace = "memory-1234567890", "/facts/ada"
    with Stubber(client) as stub:
        for number, following in ((1, "more"), (2, None)):
            record = {
                "memoryRecordId": f"mem-{number:040}",
                "content": {"text": f"Has {number} dogs."},
                "memoryStrategyId": "facts",
                "namespaces": [namespace],
                "createdAt": AT,
            }
            reply = {"memoryRecordSummaries": [record]} | ({"nextToken": following} if following else {})
            call = {"memoryId": memory, "namespace": namespace} | ({} if following else {"nextToken": "more"})
            stub.add_response("list_memory_records", reply, call)
        records = list(from_agentcore(client, memory, namespace, scope))
    assert moved(service, scope, records) == ["Has 1 dogs.", "Has 2 dogs."]


def test_memory_bank(service: LocalService, scope: dict[str, str]) -> None:
    """Memories with a fact are moved into their own scopes."""
    fact = SimpleNamespace(name="b/memories/1", scope=scope, fact="I sing.", create_time=AT)
    profile = SimpleNamespace(name="b/memories/2", scope=scope, fact=None, create_time=AT)
    memories = SimpleNamespace(list=lambda *, name: iter([fact, profile]))
    client = SimpleNamespace(memory_banks=SimpleNamespace(memories=memories))
    assert moved(service, scope, list(from_memory_bank(client, "b"))) == ["I sing."]


def test_events_of_agentcore(
    service: LocalService, scope: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with what `list-events --query events` prints is ingested, and once only."""
    event = {
        "memoryId": "memory-1234567890",
        "actorId": "ada",
        "sessionId": "monday",
        "eventId": "0000001#abc",
        "eventTimestamp": AT.isoformat(),
        "payload": [{"conversational": {"role": "USER", "content": {"text": "I keep bees."}}}],
    }
    file = tmp_path / "monday.json"
    file.write_text(json.dumps([event]))
    call = ["ingest", str(file), "--scope", f"user_id={scope['user_id']}", "--stream", "monday", "--json"]
    counts = []
    for _ in range(2):
        assert main([*call, "--url", service.base_url, "--token", "local"]) == 0
        reply = json.loads(capsys.readouterr().out)
        counts.append((reply["acceptedEvents"], reply["duplicateEvents"]))
    assert counts == [(1, 0), (0, 1)]
