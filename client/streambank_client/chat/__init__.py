"""Chat memory: a conversation is loaded before a run, and stored when the run has ended without an error.

chat = ChatMemory().chat_history_provider(provider).window_size(50)
async with chat.turn(session_id) as messages:
    messages.append({"role": "user", "content": question})
    messages.append(await model(messages))
"""

from streambank_client.chat.feeding import Feed, FeedCounts
from streambank_client.chat.memory import ChatMemory, Turn
from streambank_client.chat.preprocessors import ApplyOn, Preprocessor
from streambank_client.chat.providers import (
    ChatHistoryProvider,
    InMemoryChatHistoryProvider,
    VersionedChatHistoryProvider,
    VersionedHistory,
)
from streambank_client.chat.streambank_provider import StreambankChatHistoryProvider
from streambank_client.chat.windows import window

__all__ = [
    "ApplyOn",
    "ChatHistoryProvider",
    "ChatMemory",
    "Feed",
    "FeedCounts",
    "InMemoryChatHistoryProvider",
    "Preprocessor",
    "StreambankChatHistoryProvider",
    "Turn",
    "VersionedChatHistoryProvider",
    "VersionedHistory",
    "window",
]
