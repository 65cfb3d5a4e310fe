"""Files of messages: JSON, lines of JSON, and exports of other applications."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streambank_client import formats
from streambank_client.formats import Conversion, Format, Options
from streambank_client.types import Content, Event

DEFAULT_STREAM = "default"
MAX_STREAM_BYTES = 512


@dataclass(frozen=True, slots=True)
class Conversation:
    """The events of a conversation, its stream, and how much was left out, by reason."""

    stream: str
    events: tuple[Event, ...]
    dropped: Counter[str]


def read_conversations(file: Path, tag: Format | None, user: str) -> list[Conversation]:
    """Return the conversations of *file*, whose messages have the format *tag*, or the one that they look like.

    *user* is the name that the user has in an export of several people, empty if the file has none.

    Raises:
        ValueError: the file is in no format that is known; names the file.
        OSError: it cannot be read.
    """
    try:
        document = _document(file.read_text(encoding="utf-8-sig"))
        return _conversations(document, tag, Options(user=user or None))
    except RecursionError:
        raise ValueError(f"{file}: is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file}: is not a text in UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _document(text: str) -> Any:
    """Return the JSON of *text*, a list for lines of JSON, or the text where it is none of these."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines or not lines[0].lstrip().startswith(("{", "[{")):
            return text
        if error.lineno == 1 and error.msg != "Extra data":
            raise ValueError(f"is no JSON at line 1, column {error.colno}") from None
        return [_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON at line {number}, column {error.colno}") from None


def _conversations(document: Any, tag: Format | None, options: Options) -> list[Conversation]:
    exported = tag or formats.detect_document(document)
    if exported in formats.EXPORTS:
        conversations = formats.read_export(document, exported, options=options)
        return [_conversation(one.conversion, one.id) for one in conversations]
    messages = document.get("messages", [document]) if isinstance(document, dict) else document
    if not isinstance(messages, list):
        raise ValueError("must be a list of messages, or an export of " + ", ".join(formats.EXPORTS))  # noqa: TRY004
    if not messages:
        raise ValueError("has no messages")
    form = tag or next(filter(None, map(formats.detect, messages)), None)
    if form is None:
        raise ValueError(
            "the format of its messages is not known; name it with --format: " + ", ".join(formats.FORMATS)
        )
    return [_conversation(formats.to_contents(messages, form, options=options), None)]


def _conversation(conversion: Conversion, conversation_id: str | None) -> Conversation:
    is_usable = conversation_id is not None and 0 < len(conversation_id.encode()) <= MAX_STREAM_BYTES
    events = tuple(_events(conversion))
    dropped = Counter(str(one.reason) for one in conversion.dropped if one.is_message)
    return Conversation(conversation_id or DEFAULT_STREAM if is_usable else DEFAULT_STREAM, events, dropped)


def _events(conversion: Conversion) -> Sequence[Event]:
    return [
        Event(
            content=Content.model_validate(one.content),
            event_id=one.message_id or _id_of(one.index, one.content),
            event_time=one.time,
        )
        for one in conversion.contents
    ]


def _id_of(position: int, content: Any) -> str:
    """Return the id of a message that has none: of its position and its content, so that the file can be sent again."""
    text = json.dumps([position, content], sort_keys=True, ensure_ascii=False)
    return "file-" + hashlib.sha256(text.encode()).hexdigest()[:32]
