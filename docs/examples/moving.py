"""Moves the memories of another service into a bank; a repeated run adds only what is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank_client import Bank
from streambank_client.errors import AlreadyExists

PAGE_SIZE = 100


@dataclass(frozen=True)
class Record:
    """A memory of another service: its id there, whose it is, and what it says."""

    source: str
    id: str
    scope: Mapping[str, str]
    fact: str
    created: datetime | None

    @property
    def memory_id(self) -> str:
        """Return the id of the memory here, which is always the same for a record."""
        return "moved-" + hashlib.sha256(f"{self.source}/{self.id}".encode()).hexdigest()[:32]


def from_mem0(client: Any, user_id: str) -> Iterator[Record]:
    """Yield the memories of a user from a `mem0.MemoryClient`."""
    page = 1
    while results := client.get_all(filters={"user_id": user_id}, page=page, page_size=PAGE_SIZE)["results"]:
        for one in results:
            created = datetime.fromisoformat(one["created_at"]) if one.get("created_at") else None
            yield Record("mem0", one["id"], {"user_id": user_id}, one["memory"], created)
        page += 1


def from_agentcore(client: Any, memory_id: str, namespace: str, scope: Mapping[str, str]) -> Iterator[Record]:
    """Yield the records of a namespace from `boto3.client("bedrock-agentcore")`; they get *scope*."""
    pages = client.get_paginator("list_memory_records").paginate(memoryId=memory_id, namespace=namespace)
    for page in pages:
        for one in page["memoryRecordSummaries"]:
            yield Record("agentcore", one["memoryRecordId"], scope, one["content"]["text"], one["createdAt"])


def from_memory_bank(client: Any, name: str) -> Iterator[Record]:
    """Yield the memories of Google's Memory Bank *name* from an `agentplatform.Client`, each with its own scope."""
    for one in client.memory_banks.memories.list(name=name):
        if one.fact:  # a profile has none
            yield Record("memory-bank", one.name, one.scope, one.fact, one.create_time)


def move(records: Iterable[Record], bank: Bank) -> int:
    """Create a memory for each record, and return how many are there; the others were changed or forgotten here."""
    count = 0
    for record in records:
        metadata: dict[str, str | float | bool | datetime] = {"moved_from": record.source}
        if record.created:
            metadata["created"] = record.created
        try:
            bank.create_memory(
                scope=record.scope, fact=record.fact, memory_id=record.memory_id, metadata=metadata
            ).result()
            count += 1
        except AlreadyExists:  # a repeated creation is no error; this memory is another one now, or was deleted
            continue
    return count


if __name__ == "__main__":
    raise SystemExit("moving.py is to be imported; docs/moving.md shows how")
