"""Chat histories in the description: what is asked, what is answered."""

from typing import Annotated, Any

from pydantic import Field

from infra.openapi.leaves import Answer, Ttl, Twin
from streambank.model.chat import MAX_FORMAT_BYTES
from streambank.wire import chat

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Format = Annotated[str, Field(max_length=MAX_FORMAT_BYTES, examples=["openai", "koog-1"])]


class StoreChatHistoryRequest(Twin):
    """Messages are any objects, 32 levels deep at most."""

    messages: Annotated[list[dict[str, Any]], Field(max_length=chat.MAX_MESSAGES)]
    format: Format | None = None
    ttl: Ttl | None = None


class StoredChatHistory(Answer):
    conversation_id: str
    etag: str
    update_time: Time
    expire_time: Time | None = None


class ChatHistory(Answer):
    """What is unknown or has expired has no messages, no etag and no times."""

    conversation_id: str
    messages: list[dict[str, Any]]
    format: str | None = None
    etag: str | None = None
    update_time: Time | None = None
    expire_time: Time | None = None
