"""Long-term memory as in Koog: the messages of an agent's runs are stored, and memories are added to its prompts."""

from streambank_client.koog.augmentation import SystemPromptAugmenter, UserPromptAugmenter, last_user_message, with_text
from streambank_client.koog.extraction import ExtractionStrategy, FilteringExtractionStrategy, record_of
from streambank_client.koog.in_memory import InMemoryStorage
from streambank_client.koog.memory import LongTermMemory, Run
from streambank_client.koog.messages import ConversationMessage, PromptMessage
from streambank_client.koog.records import (
    AsyncSearchStorage,
    AsyncWriteStorage,
    MemoryRecord,
    SearchRequest,
    SearchResult,
    SearchStorage,
    TextDocument,
    WriteStorage,
)
from streambank_client.koog.runs import Counts
from streambank_client.koog.settings import (
    FailurePolicy,
    IngestionError,
    IngestionSettings,
    IngestionTiming,
    RetrievalError,
    RetrievalSettings,
)
from streambank_client.koog.streambank_storage import AsyncStreambankStorage, StreambankStorage

__all__ = [
    "AsyncSearchStorage",
    "AsyncStreambankStorage",
    "AsyncWriteStorage",
    "ConversationMessage",
    "Counts",
    "ExtractionStrategy",
    "FailurePolicy",
    "FilteringExtractionStrategy",
    "InMemoryStorage",
    "IngestionError",
    "IngestionSettings",
    "IngestionTiming",
    "LongTermMemory",
    "MemoryRecord",
    "PromptMessage",
    "RetrievalError",
    "RetrievalSettings",
    "Run",
    "SearchRequest",
    "SearchResult",
    "SearchStorage",
    "StreambankStorage",
    "SystemPromptAugmenter",
    "TextDocument",
    "UserPromptAugmenter",
    "WriteStorage",
    "last_user_message",
    "record_of",
    "with_text",
]
