"""Memory for agents: the extraction types of Strands, a memory manager, and stores.

Only `StreambankMemoryStore`, `StreambankFactStore`, the two session classes and `attach` need Strands itself: the extra
`strands`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streambank_client.http.retry import Backoff
from streambank_client.strands.buffer import BufferLimits
from streambank_client.strands.hooks import AgentLoop
from streambank_client.strands.memory import Attachment, FlushResult, StreambankMemoryManager
from streambank_client.strands.stores import AddMessagesContext, Ingested, MemoryEntry, MemoryStore
from streambank_client.strands.triggers import IntervalTrigger, InvocationTrigger
from streambank_client.strands.types import (
    DEFAULT_MEMORY_MESSAGE_FILTER,
    ExtractionConfig,
    ExtractionResult,
    ExtractionTrigger,
    ExtractionTriggerContext,
    Extractor,
    ExtractorContext,
    MemoryMessageFilter,
)

if TYPE_CHECKING:
    from streambank_client.strands.bank_store import BankFactStore, BankStore
    from streambank_client.strands.session_manager import StreambankSessionManager
    from streambank_client.strands.session_repository import StreambankSessionRepository
    from streambank_client.strands.strands_agent import attach
    from streambank_client.strands.strands_store import StreambankFactStore, StreambankMemoryStore

# These modules import pydantic and httpx, or Strands.
_LAZY = {
    "BankFactStore": "bank_store",
    "BankStore": "bank_store",
    "StreambankFactStore": "strands_store",
    "StreambankMemoryStore": "strands_store",
    "StreambankSessionManager": "session_manager",
    "StreambankSessionRepository": "session_repository",
    "attach": "strands_agent",
}

__all__ = [
    "DEFAULT_MEMORY_MESSAGE_FILTER",
    "AddMessagesContext",
    "AgentLoop",
    "Attachment",
    "Backoff",
    "BankFactStore",
    "BankStore",
    "BufferLimits",
    "ExtractionConfig",
    "ExtractionResult",
    "ExtractionTrigger",
    "ExtractionTriggerContext",
    "Extractor",
    "ExtractorContext",
    "FlushResult",
    "Ingested",
    "IntervalTrigger",
    "InvocationTrigger",
    "MemoryEntry",
    "MemoryMessageFilter",
    "MemoryStore",
    "StreambankFactStore",
    "StreambankMemoryManager",
    "StreambankMemoryStore",
    "StreambankSessionManager",
    "StreambankSessionRepository",
    "attach",
]


def __getattr__(name: str) -> Any:
    if name == "MemoryManager":
        raise ImportError(
            "MemoryManager is Strands' own: import it from strands.memory for Agent(memory_manager=...). "
            "That of this package is StreambankMemoryManager, for any agent loop, or for attach(manager, agent)"
        )
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "strands":
            raise
        message = f"{name} needs Strands: pip install 'streambank-client[strands]'"
        raise ModuleNotFoundError(message, name="strands") from None
    globals()[name] = value
    return value
