"""The objects of the API's requests and replies; they are frozen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streambank_client.http.encoding import JsonObject, MetadataValue
    from streambank_client.types.banks import (
        BankContext,
        BankResource,
        ConsolidationConfig,
        ConversationSource,
        CustomizationConfig,
        CustomMemoryTopic,
        ExampleMemory,
        GenerateMemoriesExample,
        GenerationConfig,
        GenerationTriggerConfig,
        GranularTtlConfig,
        ManagedMemoryTopic,
        MemoryBankConfig,
        MemoryTopic,
        SchemaConfig,
        SimilaritySearchConfig,
        StructuredMemoryConfig,
        TtlConfig,
    )
    from streambank_client.types.base import Shape
    from streambank_client.types.events import (
        Blob,
        Content,
        Event,
        FileData,
        FunctionCall,
        FunctionResponse,
        GenerationRule,
        Part,
    )
    from streambank_client.types.memories import (
        DirectMemory,
        Erased,
        ExtractedMemory,
        MatchedTurns,
        Memory,
        MemorySource,
        Profile,
        PurgeCount,
        Reindexed,
        RetrievedEvent,
        RetrievedMemories,
        RetrievedMemory,
        Revision,
        SearchExplanation,
        StructuredContent,
        Topic,
        Transferred,
    )
    from streambank_client.types.operations import (
        Coverage,
        GeneratedMemory,
        GenericMetadata,
        MemoryName,
        NextTrigger,
        Nothing,
        OperationDocument,
        OperationError,
        OperationMetadata,
        RecordedVerdict,
        WindowResponse,
    )
    from streambank_client.types.sessions import ChatHistory, Session, SessionEvent, StoredChatHistory
    from streambank_client.types.streams import EventStatus, RedrivenOperations, StreamStatus
    from streambank_client.types.usage import Cost, DayCost, Usage
    from streambank_client.types.window_details import (
        Candidate,
        CandidateVerdict,
        CitedEvent,
        WindowDetail,
        WindowEvent,
    )

__all__ = [
    "BankContext",
    "BankResource",
    "Blob",
    "Candidate",
    "CandidateVerdict",
    "ChatHistory",
    "CitedEvent",
    "ConsolidationConfig",
    "Content",
    "ConversationSource",
    "Cost",
    "Coverage",
    "CustomMemoryTopic",
    "CustomizationConfig",
    "DayCost",
    "DirectMemory",
    "Erased",
    "Event",
    "EventStatus",
    "ExampleMemory",
    "ExtractedMemory",
    "FileData",
    "FunctionCall",
    "FunctionResponse",
    "GenerateMemoriesExample",
    "GeneratedMemory",
    "GenerationConfig",
    "GenerationRule",
    "GenerationTriggerConfig",
    "GenericMetadata",
    "GranularTtlConfig",
    "JsonObject",
    "ManagedMemoryTopic",
    "MatchedTurns",
    "Memory",
    "MemoryBankConfig",
    "MemoryName",
    "MemorySource",
    "MemoryTopic",
    "MetadataValue",
    "NextTrigger",
    "Nothing",
    "OperationDocument",
    "OperationError",
    "OperationMetadata",
    "Part",
    "Profile",
    "PurgeCount",
    "RecordedVerdict",
    "RedrivenOperations",
    "Reindexed",
    "RetrievedEvent",
    "RetrievedMemories",
    "RetrievedMemory",
    "Revision",
    "SchemaConfig",
    "SearchExplanation",
    "Session",
    "SessionEvent",
    "Shape",
    "SimilaritySearchConfig",
    "StoredChatHistory",
    "StreamStatus",
    "StructuredContent",
    "StructuredMemoryConfig",
    "Topic",
    "Transferred",
    "TtlConfig",
    "Usage",
    "WindowDetail",
    "WindowEvent",
    "WindowResponse",
]

# Imported when they are first used: the configuration of banks is a third of all types, and few programs need it.
_MODULES = {
    "banks": {
        "BankContext",
        "BankResource",
        "ConsolidationConfig",
        "ConversationSource",
        "CustomizationConfig",
        "CustomMemoryTopic",
        "ExampleMemory",
        "GenerateMemoriesExample",
        "GenerationConfig",
        "GenerationTriggerConfig",
        "GranularTtlConfig",
        "ManagedMemoryTopic",
        "MemoryBankConfig",
        "MemoryTopic",
        "SchemaConfig",
        "SimilaritySearchConfig",
        "StructuredMemoryConfig",
        "TtlConfig",
    },
    "base": {"JsonObject", "MetadataValue", "Shape"},
    "events": {"Blob", "Content", "Event", "FileData", "FunctionCall", "FunctionResponse", "GenerationRule", "Part"},
    "memories": {
        "DirectMemory",
        "ExtractedMemory",
        "MatchedTurns",
        "Memory",
        "MemorySource",
        "Profile",
        "Erased",
        "PurgeCount",
        "Reindexed",
        "RetrievedEvent",
        "RetrievedMemories",
        "RetrievedMemory",
        "Revision",
        "SearchExplanation",
        "StructuredContent",
        "Topic",
        "Transferred",
    },
    "operations": {
        "Coverage",
        "GeneratedMemory",
        "GenericMetadata",
        "MemoryName",
        "NextTrigger",
        "Nothing",
        "OperationDocument",
        "OperationError",
        "OperationMetadata",
        "RecordedVerdict",
        "WindowResponse",
    },
    "sessions": {"ChatHistory", "Session", "SessionEvent", "StoredChatHistory"},
    "streams": {"EventStatus", "RedrivenOperations", "StreamStatus"},
    "usage": {"Cost", "DayCost", "Usage"},
    "window_details": {"Candidate", "CandidateVerdict", "CitedEvent", "WindowDetail", "WindowEvent"},
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
