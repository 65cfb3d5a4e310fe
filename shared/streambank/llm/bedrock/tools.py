"""The two tools that a model is forced to call; scripted models in tests rely on their shapes."""

from __future__ import annotations

from typing import Any

from streambank.llm.ports import Action, ExtractionRequest
from streambank.model.memory import ManagedTopic

RECORD_FACTS = "record_facts"
CONSOLIDATE = "consolidate"


def record_facts(request: ExtractionRequest) -> dict[str, Any]:
    """Return the tool whose input is the facts of *request*'s window."""
    topics = list(request.topics or ManagedTopic)
    fact = _object(
        {"fact": {"type": "string"}, "events": _numbers(), "topic": {"type": "string", "enum": topics}},
        required=["fact", "events", "topic"],
    )
    properties: dict[str, Any] = {"facts": {"type": "array", "items": fact}}
    if request.schemas:
        properties["profiles"] = {"type": "array", "items": _profile([one.id for one in request.schemas])}
    return _tool(RECORD_FACTS, "Record what is worth remembering.", _object(properties, required=["facts"]))


def consolidate() -> dict[str, Any]:
    """Return the tool whose input is the decisions about facts."""
    decision = _object(
        {
            "fact": {"type": "integer"},
            "action": {"type": "string", "enum": list(Action)},
            "memory": {"type": "integer"},
            "text": {"type": "string"},
            "reason": {"type": "string"},
        },
        required=["fact", "action"],
    )
    schema = _object({"decisions": {"type": "array", "items": decision}}, required=["decisions"])
    return _tool(CONSOLIDATE, "Decide what each fact means for the memories.", schema)


def _profile(ids: list[str]) -> dict[str, Any]:
    properties = {"schema": {"type": "string", "enum": ids}, "data": {"type": "object"}, "events": _numbers()}
    return _object(properties, required=["schema", "data", "events"])


def _numbers() -> dict[str, Any]:
    return {"type": "array", "items": {"type": "integer"}}


def _object(properties: dict[str, Any], *, required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _tool(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}
