"""How large a conversation may be: what is stored must also fit into a reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from streambank.errors import PayloadTooLarge
from streambank.model.chat import ChatSize

MAX_MESSAGES = 10_000
# A reply of Lambda has 6,291,556 bytes, with its body escaped or in base64: what is stored must also be readable.
MAX_REPLY_BYTES = 6_000_000


def size_of(messages: Sequence[Any]) -> ChatSize:
    """Return the size of *messages*, which are JSON values without half surrogates."""
    raw = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    return ChatSize(len(messages), len(json.dumps(raw)), len(raw.encode()))


def check_size(size: ChatSize) -> None:
    """Raise PayloadTooLarge for a conversation that no reply could hold, or that has too many messages."""
    if size.messages > MAX_MESSAGES:
        raise PayloadTooLarge("messages", f"would be {size.messages} in all; the limit is {MAX_MESSAGES}")
    if size.reply_bytes > MAX_REPLY_BYTES:
        raise PayloadTooLarge(
            "messages", f"would take {size.reply_bytes} bytes of a reply; the limit is {MAX_REPLY_BYTES}"
        )
