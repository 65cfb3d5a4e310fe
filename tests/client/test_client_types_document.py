"""The client's own types against docs/openapi.json: both have the same properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from streambank_client import types

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
SCHEMAS: dict[str, dict[str, Any]] = json.loads(DOCUMENT.read_text())["components"]["schemas"]

# A type of the client for several schemas, or under a name of its own; else a schema has the type of its name.
TYPES = {
    "Bank": "BankResource",
    "BankRequest": "BankResource",
    "BankOperation": "OperationDocument",
    "ContextSpec": "BankContext",
    "DetailedOperation": "OperationDocument",
    "Empty": "Nothing",
    "EmptyOperation": "OperationDocument",
    "ErasureManifest": "Erased",
    "ErasureMetadata": "OperationMetadata",
    "ErasureOperation": "OperationDocument",
    "ExampleContent": "Content",
    "ExampleEvent": "Event",
    "MemoryOperation": "OperationDocument",
    "MemoryRevision": "Revision",
    "MemoryTopicId": "Topic",
    "MoveManifest": "Moved",
    "MoveMetadata": "OperationMetadata",
    "MoveOperation": "OperationDocument",
    "Operation": "OperationDocument",
    "PromptCustomization": "CustomizationConfig",
    "PurgeOperation": "OperationDocument",
    "RawContent": "Content",
    "RawEvent": "Event",
    "ReindexMetadata": "OperationMetadata",
    "ReindexOperation": "OperationDocument",
    "PolicyMetadata": "OperationMetadata",
    "PolicyOperation": "OperationDocument",
    "PolicyResponse": "AppliedPolicy",
    "ReindexResponse": "Reindexed",
    "ReplayMetadata": "OperationMetadata",
    "ReplayOperation": "OperationDocument",
    "SessionContent": "Content",
    "SessionOperation": "OperationDocument",
    "Status": "BatchError",
    "TransferManifest": "Transferred",
    "TransferMetadata": "OperationMetadata",
    "TransferOperation": "OperationDocument",
    "UsageReport": "Usage",
    "WindowMetadata": "OperationMetadata",
    "WindowOperation": "OperationDocument",
}
# Schemas without a type of the client, by the reason.
WITHOUT_TYPE = {
    "an argument of a call": (
        *("BatchItemCreate", "BatchItemUpdate"),
        *("DirectContentsSource", "DirectMemoriesSource", "SessionSource", "SimilaritySearchParams"),
        *("SimpleRetrievalParams", "FilterGroup", "MetadataFilter"),
    ),
    "read page by page, as an iterator or a list": (
        *("Banks", "Jobs", "Memories", "MemoryRevisions", "Operations", "Reviews", "Sessions"),
        *("EventStatuses", "Profiles", "RetrievedMemories", "SessionEvents", "Streams"),
    ),
    "raised as an error": ("BadRequest", "Error", "FieldViolation", "GatewayError"),
    "a plain value: a mapping, a text, or a metadata value without its wrapping": (
        *("EventActions", "EventMetadata", "MetadataValue", "OperationState", "Reason", "Verdict"),
        *("ChangeKind", "FactChange", "Learning", "MemoriesFrom", "NotShown", "PolicyAction"),
    ),
}
# Properties of a type that are in no schema of it, by the reason.
NOT_IN_A_SCHEMA = {
    # A part is any object in the document: it may have fields that the service does not know either.
    "Part": {"thoughtSignature", "functionCall", "functionResponse", "inlineData", "fileData"},
}
# Types that are inside of a schema without a name, or of an open one: the fields are Google's, the document does not
# list them.
WITHOUT_SCHEMA = {"Blob", "FileData", "FunctionCall", "FunctionResponse"}


def client_types() -> dict[str, type[BaseModel]]:
    exported = {name: getattr(types, name) for name in types.__all__}
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not types.Shape
    }


def type_of(schema: str) -> str | None:
    """Return the name of the client's type for a schema, None for one that needs none."""
    if schema.endswith("Request") and schema not in TYPES:
        return None  # a request is the arguments of a call
    if any(schema in schemas for schemas in WITHOUT_TYPE.values()):
        return None
    return TYPES.get(schema, schema)


def wire_names(kind: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


MIRRORED = {schema: name for schema in SCHEMAS if (name := type_of(schema))}


@pytest.mark.parametrize("schema", sorted(MIRRORED))
def test_type_has_every_property(schema: str) -> None:
    """Each property of a schema is a field of the client's type, under its name on the wire."""
    kind = client_types()[MIRRORED[schema]]
    assert set(SCHEMAS[schema].get("properties", {})) <= wire_names(kind)


@pytest.mark.parametrize("name", sorted(client_types()))
def test_schema_has_every_field(name: str) -> None:
    """Each field of a client's type is a property of a schema that it stands for: the client makes none up."""
    schemas = [schema for schema, mirror in MIRRORED.items() if mirror == name]
    assert bool(schemas) is (name not in WITHOUT_SCHEMA)
    documented = {field for schema in schemas for field in SCHEMAS[schema].get("properties", {})}
    if schemas:
        assert wire_names(client_types()[name]) - documented == NOT_IN_A_SCHEMA.get(name, set())


@pytest.mark.parametrize("schema", sorted(MIRRORED))
def test_what_a_type_requires_is_always_there(schema: str) -> None:
    """A reply that the document allows can be read: a field without a default is required in the schema.

    A type that stands for several schemas, or that is sent and not read, may require more than one of them does.
    """
    kind = client_types()[MIRRORED[schema]]
    is_sent_only = SCHEMAS[schema].get("additionalProperties") is False
    required = {field.alias or name for name, field in kind.model_fields.items() if field.is_required()}
    if not is_sent_only:
        assert required <= set(SCHEMAS[schema].get("required", ()))
