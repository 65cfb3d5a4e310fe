"""Events of Amazon Bedrock AgentCore's memory; the items of one event may be of several speakers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import DEFAULTS, Conversion, Converted, Dropped, Options, Reason
from streambank_client.formats.drop_log import DropLog
from streambank_client.formats.node import Node
from streambank_client.formats.times import parse_time, read_time
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"USER": "user", "ASSISTANT": "model", "TOOL": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of events: one for each change of the speaker within an event.

    *message_id* is the event's id; after a change of the speaker the number of its first item follows.

    Raises:
        ValueError: a field is of a wrong type; names event and field.
    """
    tools = ToolNames() if tool_names is None else tool_names
    contents: list[Converted] = []
    dropped: list[Dropped] = []
    for index, message in enumerate(messages):
        event = Node(message, f"messages[{index}]")
        log, builders = _read_event(event, index, options, tools)
        of_event = [content for builder in builders if (content := builder.build())]
        contents += of_event
        losses = [*log.dropped, *(drop for builder in builders for drop in builder.dropped)]
        dropped += [drop for drop in losses if drop.reason is not Reason.EMPTY]
        if not of_event:
            dropped.append(Dropped(index, None, "message", Reason.EMPTY))
    return Conversion(tuple(contents), tuple(dropped))


def oldest_first(events: Sequence[Any]) -> Sequence[Any]:
    """Return *events* in the order of their times, reversed if the newest is the first."""
    times = [parse_time(event.get("eventTimestamp")) for event in events if isinstance(event, Mapping)]
    known = [time for time in times if time]
    return events[::-1] if known and known[0] > known[-1] else events


def _read_event(event: Node, index: int, options: Options, tools: ToolNames) -> tuple[DropLog, list[ContentBuilder]]:
    """Return what an event loses, and a builder for each run of items of one speaker."""
    log = ContentBuilder(event, index, options, tools)
    log.drop_fields(event.other_fields("eventId", "eventTimestamp", "payload"))
    read_time(log, event, "eventTimestamp")
    event_id = event.optional_text("eventId")
    builders: list[ContentBuilder] = []
    for at, item in enumerate(event.objects("payload")):
        turn = item.optional_object("conversational")
        role = turn.text("role").upper() if turn else ""
        if turn is None or role not in _ROLES:
            log.drop(Reason.UNSUPPORTED, kind=role or next(iter(map(str, item.value)), "payload"), at=at)
            continue
        if not builders or builders[-1].role != _ROLES[role]:
            builder = ContentBuilder(event, index, options, tools)
            builder.role, builder.time = _ROLES[role], log.time
            builder.message_id = f"{event_id}-{at}" if event_id and builders else event_id
            builders.append(builder)
        _add_item(builders[-1], at, turn, role)
    return log, builders


def _add_item(builder: ContentBuilder, at: int, turn: Node, role: str) -> None:
    content = turn.object("content")
    builder.drop_fields(turn.other_fields("role", "content"), at=at, of="conversational")
    builder.drop_fields(content.other_fields("text"), at=at, of="content")
    text = content.text("text")
    if role == "TOOL" and text.strip():
        builder.add_result("", text, None, at=at, kind=role)
    else:
        builder.add_text(text, at=at)
