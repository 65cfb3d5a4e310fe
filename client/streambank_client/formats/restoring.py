"""What the way back to every format needs: Contents to read, and what their parts say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.draft import Ledger
from streambank_client.formats.media import decoded
from streambank_client.formats.parts import kind_of, spelled
from streambank_client.formats.reading import Node
from streambank_client.formats.tool_names import ToolNames

MEDIA = ("inlineData", "fileData")


@dataclass(frozen=True, slots=True)
class Readable:
    """A Content in camelCase with what is known of its source, and the ledger for what cannot be made of it."""

    role: str
    parts: tuple[Node, ...]
    message_id: str | None
    time: datetime | None
    ledger: Ledger
    tools: ToolNames

    def drop(self, reason: Reason, *, kind: str, at: int) -> None:
        self.ledger.drop(reason, kind=kind, at=at)


def readable(contents: Iterable[Converted | Mapping[str, Any]]) -> list[Readable]:
    """Return *contents* for reading.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    tools = ToolNames()
    return [_readable(one, index, tools) for index, one in enumerate(contents)]


def _readable(one: Converted | Mapping[str, Any], index: int, tools: ToolNames) -> Readable:
    known = one if isinstance(one, Converted) else Converted(dict(one), index)
    source = Node(known.content, f"contents[{index}]")
    parts = tuple(spelled(node) for node in source.nodes("parts"))
    role = "model" if source.text("role") == "model" else "user"
    return Readable(role, parts, known.message_id, known.time, Ledger(index), tools)


def restore(
    contents: Iterable[Converted | Mapping[str, Any]],
    restorer: Callable[[Readable], list[JSON]],
    *,
    keeps: tuple[str, ...] = (),
) -> Restored:
    """Return the messages that *restorer* makes of each of *contents*; of id and time it *keeps* those named."""
    messages: list[JSON] = []
    found = readable(contents)
    for one in found:
        made = restorer(one)
        messages += made
        if not made:
            one.ledger.drop(Reason.EMPTY, kind="message")
        one.ledger.leave(name for name in ("message_id", "time") if name not in keeps and getattr(one, name))
    return Restored(tuple(messages), tuple(note for one in found for note in one.ledger.dropped))


# ---- what parts say


def leave_rest(content: Readable, at: int, part: Node, *read: str) -> None:
    """Note the fields of a part besides its main one and *read*."""
    kind = kind_of(part.value)
    known = ("thought", *read) if kind == "text" else read
    content.ledger.leave(part.others(kind, *known), at=at)


@dataclass(frozen=True, slots=True)
class Call:
    """A functionCall."""

    id: str | None
    name: str
    args: JSON


def call(content: Readable, at: int, part: Node) -> Call:
    """Read a functionCall and remember its name for the result."""
    said = part.object("functionCall")
    content.ledger.leave(said.others("id", "name", "args"), at=at, of="functionCall")
    leave_rest(content, at, part)
    found = Call(said.maybe_text("id"), said.text("name"), dict(said.object("args").value))
    content.tools.called(found.id, found.name)
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """A functionResponse: what came out, and whether that is an error."""

    id: str | None
    name: str
    output: Any
    is_error: bool
    parts: tuple[Node, ...]


def outcome(content: Readable, at: int, part: Node, *, is_named: bool) -> Outcome:
    """Read a functionResponse; if the other side's results are not *is_named*, note a name that no call tells."""
    said = part.object("functionResponse")
    content.ledger.leave(said.others("id", "name", "response", "parts"), at=at, of="functionResponse")
    leave_rest(content, at, part)
    response = said.object("response").value
    key = next(iter(response)) if len(response) == 1 else ""
    if key not in ("output", "error"):
        content.drop(Reason.REWRITTEN, kind="functionResponse", at=at)
    call_id, name = said.maybe_text("id"), said.text("name")
    if content.tools.answering(call_id) != name and not is_named:
        content.drop(Reason.NO_PLACE, kind="functionResponse.name", at=at)
    output = response[key] if key in ("output", "error") else dict(response)
    return Outcome(call_id, name, output, key == "error", _media_parts(content, at, said))


def _media_parts(content: Readable, at: int, said: Node) -> tuple[Node, ...]:
    parts = said.nodes("parts")
    found = tuple(part for part in parts if kind_of(part.value) in MEDIA)
    if len(found) < len(parts):
        content.drop(Reason.UNSUPPORTED, kind="functionResponse.parts", at=at)
    return found


@dataclass(frozen=True, slots=True)
class Media:
    """inlineData or fileData: base64 or a URI (the other is empty), a MIME type, perhaps a name."""

    kind: str
    mime: str
    base64: str
    uri: str
    name: str | None


def media_of(content: Readable, at: int, part: Node) -> Media:
    """Read inlineData or fileData."""
    kind = kind_of(part.value)
    said = part.object(kind)
    content.ledger.leave(said.others("mimeType", "data", "fileUri", "displayName"), at=at, of=kind)
    leave_rest(content, at, part)
    name = said.maybe_text("displayName")
    return Media(kind, said.text("mimeType"), said.text("data"), said.text("fileUri"), name)


def signature(content: Readable, at: int, part: Node) -> str | None:
    """Return a thought's signature as the framework gave it; note one that no framework gave."""
    said = part.text("thoughtSignature")
    try:
        return decoded(said).decode(errors="surrogatepass") or None
    except ValueError:
        content.drop(Reason.NO_PLACE, kind="thoughtSignature", at=at)
        return None
