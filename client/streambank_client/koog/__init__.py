"""Long-term memory as Koog has it: what is said in an agent's runs is stored, and recalled into its prompts."""

from streambank_client.koog.augmentation import SystemPromptAugmenter, UserPromptAugmenter, last_user_message, with_text
from streambank_client.koog.extraction import ExtractionStrategy, FilteringExtractionStrategy, record_of
from streambank_client.koog.in_memory import InMemoryStorage
from streambank_client.koog.memory import LongTermMemory, Run
from streambank_client.koog.messages import Message, PromptMessage
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
    "Message",
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
