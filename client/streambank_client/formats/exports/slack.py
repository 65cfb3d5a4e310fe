"""Slack's export: a file for each day of a channel, with the messages of several people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.content_builder import ContentBuilder, convert_nodes
from streambank_client.formats.conversion import DEFAULTS, Conversion, Options, Reason
from streambank_client.formats.exports.conversation import ExportedConversation
from streambank_client.formats.exports.slack_text import plain_text
from streambank_client.formats.exports.speakers import with_speaker
from streambank_client.formats.node import Node
from streambank_client.formats.times import parse_time
from streambank_client.formats.tool_names import ToolNames

_SPOKEN = frozenset({"", "bot_message", "file_share", "me_message", "reply_broadcast", "thread_broadcast"})
_PROFILE_NAMES = ("display_name", "real_name", "name")
_KNOWN = ("type", "subtype", "user", "bot_id", "username", "text", "ts", "thread_ts", "user_profile", "bot_profile")


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of messages; *message_id* is `ts`, which is unique in its channel.

    A text begins with the name of its speaker, unless that is the user of *options*. Bots have the role of the model.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    nodes = [Node(message, f"messages[{index}]") for index, message in enumerate(messages)]
    return _convert(nodes, _names(nodes, options), options, tool_names)


def read_threads(messages: list[Node], options: Options) -> list[ExportedConversation]:
    """Return the channel's conversation and, each as a conversation of its own, its threads by their `thread_ts`.

    Raises:
        ValueError: a field is of a wrong type; names the path.
    """
    threads: dict[str | None, list[Node]] = {}
    for message in messages:
        threads.setdefault(message.optional_text("thread_ts"), []).append(message)
    names = _names(messages, options)
    return [
        ExportedConversation(thread, None, _convert(of_thread, names, options)) for thread, of_thread in threads.items()
    ]


def _convert(
    nodes: list[Node], names: Mapping[str, str], options: Options, tool_names: ToolNames | None = None
) -> Conversion:
    def convert_message(builder: ContentBuilder) -> None:
        _convert_message(builder, names)

    return convert_nodes(nodes, convert_message, options=options, tool_names=tool_names)


def _names(messages: list[Node], options: Options) -> Mapping[str, str]:
    """Return the names of people by their id: those of *options*, else those of the messages' profiles."""
    known = {message.text("user"): name for message in messages for name in _profile_names(message) if name}
    return {**known, **options.names}


def _profile_names(message: Node) -> Iterator[str]:
    profile = message.object("user_profile")
    yield next((name for field in _PROFILE_NAMES if (name := profile.text(field))), "")


def _convert_message(builder: ContentBuilder, names: Mapping[str, str]) -> None:
    message = builder.message
    builder.message_id = message.text("ts") or None
    builder.time = _time(builder.message_id)
    subtype = message.text("subtype")
    if message.text("type") not in ("", "message") or subtype not in _SPOKEN:
        builder.drop(Reason.NOTICE, kind=subtype or message.text("type"))
        return
    builder.role = "model" if message.text("bot_id") or subtype == "bot_message" else "user"
    if builder.message_id and builder.time is None:
        builder.drop(Reason.MALFORMED, kind="ts")
    builder.drop_fields(message.other_fields(*_KNOWN, "files"))
    text = plain_text(message.text("text"), names)
    ids = (message.text("user"), message.text("bot_id"))
    builder.add_text(with_speaker(text, _speaker(message, names), builder.options, ids=ids), at=None)
    for at, file in enumerate(message.objects("files")):
        _add_file(builder, at, file)


def _time(stamp: str | None) -> datetime | None:
    try:
        return parse_time(float(stamp)) if stamp else None
    except (ValueError, OverflowError):
        return None


def _speaker(message: Node, names: Mapping[str, str]) -> str:
    user = message.text("user")
    bot = message.text("username") or message.object("bot_profile").text("name")
    return names.get(user) or bot or user or message.text("bot_id")


def _add_file(builder: ContentBuilder, at: int, file: Node) -> None:
    """Add a file's address, which only members of the workspace can open."""
    url, name = file.text("url_private"), file.optional_text("name")
    if not url:
        builder.drop(Reason.NO_ADDRESS, kind="files", at=at)
        return
    mime = file.text("mimetype") or media.guess_mime_type(name or url)
    builder.add_media(builder.url_part(url, mime, at=at, kind="files", name=name), at=at, kind="files")
