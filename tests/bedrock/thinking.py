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

from streambank.llm.ports import ConsolidationRequest, Decision, ExtractionRequest, OfferedFact, OfferedMemory, Turn
from streambank.rules import vectors
from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor
from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, Reply, running, tool

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
    system = request["system"][0]["text"]
    read = ExtractionRequest(
        turns=tuple(_turn(row) for row in _rows(request, "conversation")),
        topics=tuple(_topics(request)),
        third_person="In the third person" in system,
        time_zone=re.search(r"in its zone \((.*?)\)", system)[1],
    )
    found = EXTRACTOR.extract(read).facts
    return {"facts": [{"fact": one.fact, "events": list(one.events), "topic": one.topic} for one in found]}


def _turn(row: dict[str, Any]) -> Turn:
    at = datetime.fromisoformat(row["time"])
    return Turn(row["n"], row["role"], row["text"], at, row.get("context", False))


def _topics(request: dict[str, Any]) -> list[str]:
    schema = request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]
    return schema["properties"]["facts"]["items"]["properties"]["topic"]["enum"]


def _decisions(request: dict[str, Any]) -> dict[str, Any]:
    facts = [
        OfferedFact(row["n"], row["fact"], None, datetime.fromisoformat(row["time"])) for row in _rows(request, "facts")
    ]
    memories = [
        OfferedMemory(row["n"], row["memory"], datetime.fromisoformat(row["time"]))
        for row in _rows(request, "memories")
    ]
    decided = CONSOLIDATOR.consolidate(ConsolidationRequest(tuple(facts), tuple(memories))).decisions
    return {"decisions": [_decision(one) for one in decided]}


def _decision(one: Decision) -> dict[str, Any]:
    document = {"fact": one.fact, "action": one.action, "memory": one.memory, "text": one.text, "reason": one.reason}
    return {name: value for name, value in document.items() if value is not None}


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
