"""The two tools that a model is forced to call; a public interface that stand-in models rely on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streambank.llm.ports import Action, ExtractionRequest, FactChange
from streambank.model.memory import ManagedTopic

RECORD_FACTS = "record_facts"
CONSOLIDATE = "consolidate"

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_NUMBERS = {"type": "array", "items": _NUMBER}
# When a text holds, and whether what it changes was never true.
_HISTORY = {"valid_from": _TEXT, "valid_until": _TEXT, "correction": {"type": "boolean"}}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by its name, its description and the JSON schema of its input."""

    name: str
    description: str
    schema: dict[str, Any]


def record_facts(request: ExtractionRequest) -> Tool:
    """Return the tool whose input is the facts of *request*'s window; it depends on the topics and schemas alone."""
    topics = list(request.topics or ManagedTopic)
    fact = _object(
        {
            "fact": _TEXT,
            "events": _NUMBERS,
            "topic": {"type": "string", "enum": topics},
            "change": {"type": "string", "enum": list(FactChange)},
            "memories": _NUMBERS,
            "text": _TEXT,
            **_HISTORY,
        },
        required=["fact", "events", "topic"],
    )
    properties: dict[str, Any] = {"facts": {"type": "array", "items": fact}}
    if request.schemas:
        properties["profiles"] = {"type": "array", "items": _profile([one.id for one in request.schemas])}
    return Tool(RECORD_FACTS, "Record what is worth remembering.", _object(properties, required=["facts"]))


def consolidate() -> Tool:
    """Return the tool whose input is the decisions about facts."""
    decision = _object(
        {
            "reason": _TEXT,
            "fact": _NUMBER,
            "action": {"type": "string", "enum": list(Action)},
            "memories": _NUMBERS,
            "text": _TEXT,
            "same_as": _NUMBER,
            **_HISTORY,
        },
        required=["fact", "action"],
    )
    schema = _object({"decisions": {"type": "array", "items": decision}}, required=["decisions"])
    return Tool(CONSOLIDATE, "Decide what each fact means for the memories.", schema)


def _profile(ids: list[str]) -> dict[str, Any]:
    properties = {"schema": {"type": "string", "enum": ids}, "data": {"type": "object"}, "events": _NUMBERS}
    return _object(properties, required=["schema", "data", "events"])


def _object(properties: dict[str, Any], *, required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}
