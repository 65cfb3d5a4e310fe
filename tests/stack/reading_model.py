"""A Converse server whose model reads: local mode's embedded model behind Bedrock's interface, so that the journeys,
which were written for it, are answered alike."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank.llm.ports import ConsolidationRequest, ExtractionRequest, OfferedFact, OfferedMemory, Turn
from streambank.rules.vectors import unpack
from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor
from tests.bedrock.converse_server import Bedrock, Reply, tool

EMBEDDER = WordLlamaEmbedder()


def reading(request: dict[str, Any]) -> Reply:
    """Answer the tool that is asked for from what stands in the prompt."""
    [offered] = request["toolConfig"]["tools"]
    lines = request["messages"][0]["content"][0]["text"].splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    third_person = "In the third person" in request["system"][-1]["text"]
    if offered["toolSpec"]["name"] == "record_facts":
        return tool("record_facts", {"facts": _facts(rows, third_person=third_person)})
    return tool("consolidate", {"decisions": _decisions(rows)})


def _facts(rows: list[dict[str, Any]], *, third_person: bool) -> list[dict[str, Any]]:
    said = [row for row in rows if "role" in row]
    turns = tuple(Turn(row["n"], row["role"], row["text"], _at(row), context=bool(row.get("context"))) for row in said)
    found = BasicExtractor().extract(ExtractionRequest(turns, third_person=third_person)).facts
    return [
        {"fact": one.fact, "events": list(one.events)} | ({"topic": one.topic} if one.topic else {}) for one in found
    ]


def _decisions(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    facts = tuple(OfferedFact(row["n"], row["fact"], None, _at(row)) for row in rows if "fact" in row)
    memories = tuple(OfferedMemory(row["n"], row["memory"], _at(row)) for row in rows if "memory" in row)
    decided = BasicConsolidator().consolidate(ConsolidationRequest(facts, memories)).decisions
    rest = ("memories", "text", "reason", "same_as")
    return [
        {"fact": one.fact, "action": str(one.action)}
        | {name: getattr(one, name) for name in rest if getattr(one, name)}
        for one in decided
    ]


def _at(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["time"])


@dataclass
class ReadingBedrock(Bedrock):
    """The server; its vectors are the embedded embedder's too."""

    model: Any = reading

    def _embed(self, body: dict[str, Any]) -> Reply:
        if "inputText" not in body:
            return super()._embed(body)
        [vector] = EMBEDDER.embed([body["inputText"]])
        return 200, {"embedding": [float(number) for number in unpack(vector)], "inputTextTokenCount": 3}
