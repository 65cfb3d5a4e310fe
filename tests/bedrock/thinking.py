"""A model for the scripted server that reads its prompts as a model would, and answers by the embedded rules.

With it the journeys of the embedded model pass through Bedrock's adapters: what they expect is in the prompt or lost.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

from streambank.llm.ports import (
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    ExtractionRequest,
    FactChange,
    OfferedFact,
    OfferedMemory,
    Turn,
)
from streambank.rules import vectors
from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor
from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, Reply, running, tool

PROPOSED = ("change", "memories", "text")
ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
EXTRACTOR, CONSOLIDATOR, EMBEDDER = BasicExtractor(), BasicConsolidator(), WordLlamaEmbedder()


def thinking(request: dict[str, Any]) -> Reply:
    """Answer a Converse request."""
    name = request["toolConfig"]["tools"][0]["toolSpec"]["name"]
    return tool(name, _facts(request) if name == "record_facts" else _decisions(request))


@cache
def meaning(text: str) -> list[float]:
    """Return the vector of a text."""
    return [float(number) for number in vectors.unpack(EMBEDDER.embed([text])[0])]


def _facts(request: dict[str, Any]) -> dict[str, Any]:
    system = request["system"][-1]["text"]
    read = ExtractionRequest(
        turns=tuple(_turn(row) for row in _rows(request, "conversation")),
        topics=tuple(_topics(request)),
        third_person="In the third person" in system,
        time_zone=re.search(r"Time zone: (.*)", system)[1],
        memories=tuple(_memories(request)),
        recorded=tuple(row["fact"] for row in _rows(request, "recorded")),
    )
    # What the rules refuse is no fact; a model would leave it out.
    facts = [one for one in EXTRACTOR.extract(read).facts if not one.problem]
    return {"facts": [_row(one, "fact", "events", "topic", *PROPOSED) for one in facts]}


def _turn(row: dict[str, Any]) -> Turn:
    at = datetime.fromisoformat(row["time"])
    return Turn(row["n"], row["role"], row["text"], at, row.get("context", False))


def _memories(request: dict[str, Any]) -> list[OfferedMemory]:
    rows = _rows(request, "memories")
    return [OfferedMemory(row["n"], row["memory"], datetime.fromisoformat(row["time"])) for row in rows]


def _topics(request: dict[str, Any]) -> list[str]:
    schema = request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]
    return schema["properties"]["facts"]["items"]["properties"]["topic"]["enum"]


def _decisions(request: dict[str, Any]) -> dict[str, Any]:
    facts = tuple(_fact(row) for row in _rows(request, "facts"))
    third_person = "In the third person" in request["system"][-1]["text"]
    read = ConsolidationRequest(facts, tuple(_memories(request)), third_person=third_person)
    decided = CONSOLIDATOR.consolidate(read).decisions
    return {"decisions": [_row(one, "reason", "fact", "action", "memories", "text", "same_as") for one in decided]}


def _fact(row: dict[str, Any]) -> OfferedFact:
    change = FactChange(row["change"]) if "change" in row else None
    memories, turns = tuple(row.get("memories", ())), tuple(row.get("turns", ()))
    at = datetime.fromisoformat(row["time"])
    return OfferedFact(row["n"], row["fact"], None, at, change, memories, row.get("text", ""), turns)


def _row(one: Decision | ExtractedFact, *names: str) -> dict[str, Any]:
    """Return the fields of *one* that have a value; numbers are a list, even an empty one, where they are events."""
    values = {name: getattr(one, name) for name in names}
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in row.items() if value or name == "events"}


def _rows(request: dict[str, Any], tag: str) -> Iterator[dict[str, Any]]:
    said = request["messages"][0]["content"][0]["text"]
    inside = said.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    return map(json.loads, inside.strip().splitlines())


@contextmanager
def bedrock_service(**parameters: str) -> Iterator[LocalService]:
    """The whole service with Bedrock's adapters, whose endpoint answers by the embedded rules."""
    with running(Bedrock(thinking, meaning)) as server:
        os.environ[ENDPOINT] = server.url
        try:
            with LocalService(parameters={"Model": "bedrock", **parameters}, timer_enabled=False) as service:
                yield service
        finally:
            del os.environ[ENDPOINT]
