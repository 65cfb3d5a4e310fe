"""Reading the parts of Contents for the conversion to a framework's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.drop_log import DropLog
from streambank_client.formats.media import from_base64
from streambank_client.formats.node import Node
from streambank_client.formats.parts import MEDIA_FIELDS, main_field, normalize_part
from streambank_client.formats.tool_names import ToolNames


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The content of a functionCall part."""

    id: str | None
    name: str
    args: JSON


@dataclass(frozen=True, slots=True)
class FunctionResponse:
    """The content of a functionResponse part; *output* is the error if *is_error*."""

    id: str | None
    name: str
    output: Any
    is_error: bool
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MediaContent:
    """The content of an inlineData or fileData part: either *base64* or *uri* is empty."""

    field: str
    mime: str
    base64: str
    uri: str
    name: str | None


class ContentReader(DropLog):
    """A Content with normalized parts and the id and time of its message.

    The methods read *part*, whose index is *at*, and record as dropped the fields that they ignore.
    """

    def __init__(self, content: Converted | Mapping[str, Any], index: int, tools: ToolNames) -> None:
        super().__init__(index)
        converted = content if isinstance(content, Converted) else Converted(dict(content), index)
        source = Node(converted.content, f"contents[{index}]")
        self.parts = tuple(normalize_part(node) for node in source.objects("parts"))
        self.role = "model" if source.text("role") == "model" else "user"
        self.message_id = converted.message_id
        self.time = converted.time
        self._tools = tools

    def read_text(self, at: int, part: Node) -> str:
        """Return the text of a text part."""
        self._drop_other_fields(at, part)
        return part.text("text")

    def read_thought(self, at: int, part: Node) -> tuple[str, str | None]:
        """Return the text of a thought and its signature, as the framework gave it."""
        self._drop_other_fields(at, part, "thoughtSignature")
        return part.text("text"), self._read_signature(at, part)

    def _read_signature(self, at: int, part: Node) -> str | None:
        try:
            return from_base64(part.text("thoughtSignature")).decode(errors="surrogatepass") or None
        except ValueError:
            # A signature that is not text does not come from a framework.
            self.drop(Reason.NO_PLACE, kind="thoughtSignature", at=at)
            return None

    def read_call(self, at: int, part: Node) -> FunctionCall:
        """Read a functionCall part and remember its name for the result."""
        source = part.object("functionCall")
        self.drop_fields(source.other_fields("id", "name", "args"), at=at, of="functionCall")
        self._drop_other_fields(at, part)
        call = FunctionCall(source.optional_text("id"), source.text("name"), dict(source.object("args").value))
        self._tools.add_call(call.id, call.name)
        return call

    def read_response(self, at: int, part: Node, *, has_name: bool) -> FunctionResponse:
        """Read a functionResponse part; *has_name*: the framework's results name their tool.

        Otherwise a name that differs from the call's is recorded as dropped.
        """
        source = part.object("functionResponse")
        self.drop_fields(source.other_fields("id", "name", "response", "parts"), at=at, of="functionResponse")
        self._drop_other_fields(at, part)
        response = source.object("response").value
        key = next(iter(response)) if len(response) == 1 else ""
        if key not in ("output", "error"):
            self.drop(Reason.REWRITTEN, kind="functionResponse", at=at)
        call_id, name = source.optional_text("id"), source.text("name")
        if self._tools.pop_name(call_id) != name and not has_name:
            self.drop(Reason.NO_PLACE, kind="functionResponse.name", at=at)
        output = response[key] if key in ("output", "error") else dict(response)
        return FunctionResponse(call_id, name, output, key == "error", self._media_parts(at, source))

    def _media_parts(self, at: int, response: Node) -> tuple[Node, ...]:
        parts = response.objects("parts")
        media_parts = tuple(part for part in parts if main_field(part.value) in MEDIA_FIELDS)
        if len(media_parts) < len(parts):
            self.drop(Reason.UNSUPPORTED, kind="functionResponse.parts", at=at)
        return media_parts

    def output_text(self, at: int, output: Any) -> str:
        """Return a tool's output as text, and record that JSON was rewritten."""
        if isinstance(output, str):
            return output
        self.drop(Reason.REWRITTEN, kind="functionResponse", at=at)
        return tool_arguments.to_text(output)

    def read_media(self, at: int, part: Node) -> MediaContent:
        """Read an inlineData or fileData part."""
        field = main_field(part.value)
        source = part.object(field)
        self.drop_fields(source.other_fields("mimeType", "data", "fileUri", "displayName"), at=at, of=field)
        self._drop_other_fields(at, part)
        name = source.optional_text("displayName")
        return MediaContent(field, source.text("mimeType"), source.text("data"), source.text("fileUri"), name)

    def _drop_other_fields(self, at: int, part: Node, *used: str) -> None:
        field = main_field(part.value)
        used = ("thought", *used) if field == "text" else used
        self.drop_fields(part.other_fields(field, *used), at=at)


def read_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> list[ContentReader]:
    """Return a reader for each of *contents*.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    tools = ToolNames()
    return [ContentReader(content, index, tools) for index, content in enumerate(contents)]


def restore(
    contents: Iterable[Converted | Mapping[str, Any]],
    to_messages: Callable[[ContentReader], list[JSON]],
    *,
    keeps: tuple[str, ...] = (),
) -> Restored:
    """Return the messages that *to_messages* makes of each Content; *keeps*: the fields, id or time, that it uses.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    messages: list[JSON] = []
    readers = read_contents(contents)
    for reader in readers:
        restored = to_messages(reader)
        messages += restored
        if not restored:
            reader.drop(Reason.EMPTY, kind="message")
        reader.drop_fields(name for name in ("message_id", "time") if name not in keeps and getattr(reader, name))
    return Restored(tuple(messages), tuple(drop for reader in readers for drop in reader.dropped))
