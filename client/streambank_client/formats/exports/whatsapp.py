"""WhatsApp's text export, as Android and iPhones write it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from streambank_client.formats.content_builder import ContentBuilder, convert_nodes
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.exports.conversation import ExportedConversation
from streambank_client.formats.exports.speakers import with_speaker
from streambank_client.formats.exports.whatsapp_lines import (
    MARKS,
    DateOrder,
    Line,
    date_order,
    local_time,
    read_line,
    split_messages,
)
from streambank_client.formats.node import Node, type_error
from streambank_client.formats.times import parse_time
from streambank_client.formats.tool_names import ToolNames

# Android's words for a file that is not in the export, in any language.
_OMITTED = re.compile(r"<[^<>\n]{1,60}>")
_EDITED = re.compile(r"\u200e?<[^<>\n]{1,60}>\s*$")


@dataclass(frozen=True, slots=True)
class _Export:
    """What the messages of an export have in common, and the line and id of each."""

    order: DateOrder
    lines: tuple[Line | None, ...]
    ids: tuple[str | None, ...]


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of messages, each the text of one message with its header.

    *message_id* is a hash of date, author and text, and of the number of equal messages before it. A text begins with
    the name of its speaker, unless that is the user of *options*.

    Raises:
        ValueError: a message is no text; names it.
    """
    texts = [_text(message, f"messages[{index}]") for index, message in enumerate(messages)]
    return _convert(texts, options, tool_names)


def read_document(document: str, options: Options) -> ExportedConversation:
    """Return the conversation of an export."""
    return ExportedConversation(None, None, _convert(split_messages(document), options, None))


def _text(message: Any, path: str) -> str:
    if not isinstance(message, str):
        raise type_error(path, "a string", message)
    return message


def _convert(texts: list[str], options: Options, tool_names: ToolNames | None) -> Conversion:
    lines = tuple(read_line(text) for text in texts)
    known = [line for line in lines if line]
    order = date_order(known) if options.day_first is None else DateOrder(options.day_first)
    export = _Export(order, lines, _ids(lines))

    def convert_message(builder: ContentBuilder) -> None:
        _convert_message(builder, export)

    nodes = (Node({}, f"messages[{index}]") for index in range(len(texts)))
    return convert_nodes(nodes, convert_message, options=options, tool_names=tool_names)


def _ids(lines: Iterable[Line | None]) -> tuple[str | None, ...]:
    """Return an id for each message that depends on the message alone, and on the equal ones before it."""
    counts: Counter[str] = Counter()
    ids: list[str | None] = []
    for line in lines:
        if line is None:
            ids.append(None)
            continue
        # The digits of the date, not the time: the order of day and month may become known in a later export.
        key = json.dumps([line.date, line.clock, line.author, line.text])
        ids.append("wa-" + hashlib.sha256(f"{key}{counts[key]}".encode()).hexdigest()[:32])
        counts[key] += 1
    return tuple(ids)


def _convert_message(builder: ContentBuilder, export: _Export) -> None:
    line = export.lines[builder.index]
    builder.message_id = export.ids[builder.index]
    if line is None:
        builder.drop(Reason.UNKNOWN, kind="message")
        return
    if not line.author or line.text.startswith("\u200e"):
        builder.drop(Reason.NOTICE, kind="notice")
        return
    builder.role = "user"
    _set_time(builder, line, export.order)
    text = line.text.strip(MARKS + " \n")
    if _OMITTED.fullmatch(text):
        builder.drop(Reason.NO_ADDRESS, kind="media")
        return
    if "\u200e<" in text and _EDITED.search(text):
        builder.drop(Reason.REWRITTEN, kind="text")
        text = _EDITED.sub("", text).rstrip()
    builder.add_text(with_speaker(text, line.author, builder.options), at=None)


def _set_time(builder: ContentBuilder, line: Line, order: DateOrder) -> None:
    builder.time = parse_time(local_time(line, order, builder.options.time_zone))
    if builder.time is None:
        builder.drop(Reason.MALFORMED, kind="time")
    elif order.is_guess and line.date[0] < 100 and line.date[0] != line.date[1]:
        builder.drop(Reason.GUESSED, kind="time")
