"""Building a Content from one message, with a record of everything that was dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.conversion import JSON, Conversion, Converted, Options, Reason
from streambank_client.formats.drop_log import DropLog
from streambank_client.formats.node import Node
from streambank_client.formats.part_validation import validate_part
from streambank_client.formats.tool_names import ToolNames

_SYSTEM_ROLES = frozenset({"system", "developer"})
# {"role":"model","parts":[]} and a comma after each part.
_FRAME_BYTES = 30
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _SizedPart:
    part: JSON
    kind: str
    at: int | None
    size_bytes: int

    @property
    def priority(self) -> tuple[bool, int]:
        return "inlineData" in self.part, self.size_bytes


class ContentBuilder(DropLog):
    """Builds the Content of *message*; a converter reads the message and adds its parts."""

    def __init__(self, message: Node, index: int, options: Options, tools: ToolNames) -> None:
        super().__init__(index)
        self.message = message
        self.tools = tools
        self.role = ""
        self.message_id: str | None = None
        self.time: datetime | None = None
        self.options = options
        self._prefix = ""
        self._inline_bytes_left = options.max_inline_bytes
        self._parts: list[_SizedPart] = []

    def set_role(self, role: str, roles: Mapping[str, str]) -> bool:
        """Set the role and return True, or record the drop and return False if the message is not converted."""
        name = role.lower()
        if name in _SYSTEM_ROLES:
            return self._set_system_role(name)
        self.role = roles.get(role, "")
        if not self.role:
            self.drop(Reason.UNKNOWN, kind=role or "message")
        return bool(self.role)

    def _set_system_role(self, name: str) -> bool:
        if self.options.include_system:
            self.role, self._prefix = "user", self.options.system_prefix
        self.drop(Reason.REWRITTEN if self.role else Reason.SYSTEM, kind=name)
        return bool(self.role)

    # ---- parts

    def add_part(self, part: JSON, *, kind: str, at: int | None) -> None:
        """Add a part, unless the service would reject it."""
        result = validate_part(part)
        if isinstance(result, Reason):
            self.drop(result, kind=kind, at=at)
            return
        if result.is_repaired:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        self._parts.append(_SizedPart(result.part, kind, at, result.size_bytes))

    def add_text(
        self, text: str, *, at: int | None, kind: str = "text", fields: Mapping[str, Any] = _NO_FIELDS
    ) -> None:
        """Add a text part with additional *fields*, unless the text is blank."""
        if not text.strip():
            self.drop(Reason.BLANK, kind=kind, at=at)
            return
        self.add_part({"text": self._prefix + text, **fields}, kind=kind, at=at)
        self._prefix = ""

    def add_system_text(self, text: str, *, at: int | None, kind: str) -> None:
        """Add instructions that are a part of a user's message, if instructions are included."""
        if self.options.include_system:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
            self.add_text(self.options.system_prefix + text if text.strip() else text, at=at, kind=kind)
        else:
            self.drop(Reason.SYSTEM, kind=kind, at=at)

    def includes_reasoning(self, *, at: int | None, kind: str) -> bool:
        """Return whether reasoning is included, and record the drop if it is not."""
        if not self.options.include_reasoning:
            self.drop(Reason.REASONING, kind=kind, at=at)
        return self.options.include_reasoning

    def add_thought(self, text: str, signature: str | None, *, at: int | None, kind: str) -> None:
        """Add reasoning as a thought, if reasoning is included."""
        if self.includes_reasoning(at=at, kind=kind):
            # Google's signatures are bytes, so the framework's text is encoded here and decoded by `from_contents`.
            data = media.to_base64(signature.encode(errors="surrogatepass")) if signature else None
            self.add_text(text, at=at, kind=kind, fields={"thought": True, **_optional("thoughtSignature", data)})

    def add_call(
        self, name: str, arguments: tuple[JSON, bool], call_id: str | None, *, at: int | None, kind: str
    ) -> None:
        """Add a tool call and remember its name for the result; *arguments* come from `tool_arguments`."""
        args, is_exact = arguments
        self.tools.add_call(call_id, name)
        if not is_exact:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        self.add_part({"functionCall": {**_optional("id", call_id), "name": name, "args": args}}, kind=kind, at=at)

    def add_result(
        self,
        name: str,
        output: Any,
        call_id: str | None,
        *,
        at: int | None,
        kind: str,
        is_error: bool = False,
        parts: Sequence[JSON] = (),
    ) -> None:
        """Add a tool's result; without a *name*, the name comes from the call with the same id."""
        name = name or self.tools.pop_name(call_id)
        response = {
            **_optional("id", call_id),
            "name": name,
            "response": {"error" if is_error else "output": output},
            **_optional("parts", list(parts)),
        }
        self.add_part({"functionResponse": response}, kind=kind, at=at)

    # ---- media: these methods return a part, because a media part can also belong to a tool's result

    def inline_part(self, value: Any, mime: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return bytes as an inlineData part, or record the drop if they are invalid, empty or too many."""
        size_bytes = media.size_bytes(value)
        if size_bytes is None or size_bytes > self._inline_bytes_left:
            self.drop(Reason.MALFORMED if size_bytes is None else Reason.TOO_LARGE, kind=kind, at=at)
            return None
        base64 = media.to_base64(value)
        if not base64:
            self.drop(Reason.MALFORMED if base64 is None else Reason.BLANK, kind=kind, at=at)
            return None
        self._inline_bytes_left -= size_bytes
        return {"inlineData": {"mimeType": mime, "data": base64, **_optional("displayName", name)}}

    def url_part(self, url: str, mime: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return a URL as a fileData part; the content of a data: URL becomes inlineData."""
        if media.is_data_url(url):
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
            return self.data_url_part(url, at=at, kind=kind, name=name)
        if not url.strip():
            self.drop(Reason.MALFORMED, kind=kind, at=at)
            return None
        return {"fileData": {"mimeType": mime, "fileUri": url, **_optional("displayName", name)}}

    def data_url_part(self, url: str, *, at: int | None, kind: str, name: str | None = None) -> JSON | None:
        """Return the content of a data: URL as an inlineData part, or record the drop if it is malformed."""
        content = media.parse_data_url(url)
        if content is None:
            self.drop(Reason.MALFORMED, kind=kind, at=at)
            return None
        mime, base64 = content
        if media.data_url(mime, base64) != url:
            self.drop(Reason.REWRITTEN, kind=kind, at=at)
        return self.inline_part(base64, mime, at=at, kind=kind, name=name)

    def add_media(self, part: JSON | None, *, at: int | None, kind: str) -> None:
        """Add the part that `inline_part`, `url_part` or `data_url_part` returned, if there is one."""
        if part is not None:
            self.add_part(part, kind=kind, at=at)

    # ---- the result

    def build(self) -> Converted | None:
        """Return the Content, or record the drop and return None if no part is left."""
        if not self.role:
            return None
        parts = self._fitting_parts()
        if not parts:
            self.drop(Reason.EMPTY, kind="message")
            return None
        return Converted({"role": self.role, "parts": parts}, self.index, self.message_id, self.time)

    def _fitting_parts(self) -> list[JSON]:
        """Return the parts that fit into one event: text before media, and small parts before large ones."""
        bytes_left, fitting = self.options.max_content_bytes - _FRAME_BYTES, set()
        for place, sized in sorted(enumerate(self._parts), key=lambda pair: pair[1].priority):
            if sized.size_bytes < bytes_left:
                fitting.add(place)
                bytes_left -= sized.size_bytes + 1
        for place, sized in enumerate(self._parts):
            if place not in fitting:
                self.drop(Reason.TOO_LARGE, kind=sized.kind, at=sized.at)
        return [sized.part for place, sized in enumerate(self._parts) if place in fitting]


def _optional(name: str, value: Any) -> JSON:
    """Return a field, or no field if the value is empty."""
    return {name: value} if value else {}


def convert(
    messages: Iterable[Any],
    convert_message: Callable[[ContentBuilder], None],
    *,
    options: Options,
    tool_names: ToolNames | None,
) -> Conversion:
    """Return the Contents that *convert_message* builds of *messages*, in order.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    nodes = (Node(message, f"messages[{index}]") for index, message in enumerate(messages))
    return convert_nodes(nodes, convert_message, options=options, tool_names=tool_names)


def convert_nodes(
    nodes: Iterable[Node],
    convert_message: Callable[[ContentBuilder], None],
    *,
    options: Options,
    tool_names: ToolNames | None = None,
) -> Conversion:
    """Return the Contents that *convert_message* builds of messages that know their path in a document.

    Raises:
        ValueError: a field is of a wrong type; names its path.
    """
    tools = ToolNames() if tool_names is None else tool_names
    contents, dropped = [], []
    for index, node in enumerate(nodes):
        builder = ContentBuilder(node, index, options, tools)
        convert_message(builder)
        contents.append(builder.build())
        dropped += builder.dropped
    return Conversion(tuple(content for content in contents if content), tuple(dropped))
