"""Events, their contents, and the rule for generation."""

from __future__ import annotations

from typing import Any, Self

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, OpenShape, RequestShape, Span


class FunctionCall(OpenShape):
    """A call of a tool; the keys of *args* are the caller's own."""

    name: str
    args: JsonObject = {}
    id: str | None = None


class FunctionResponse(OpenShape):
    """The response of a tool; *parts* are media beside it."""

    name: str
    response: JsonObject = {}
    id: str | None = None
    parts: list[JsonObject] | None = None


class Blob(OpenShape):
    """Media inside the event; *data* is base64."""

    mime_type: str
    data: str


class FileData(OpenShape):
    """Media at a URI."""

    file_uri: str
    mime_type: str | None = None


class Part(OpenShape):
    """A part of any kind; fields that are unknown here are kept as they are."""

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None


class Content(RequestShape):
    """A message of one role: `user` or `model`, and in a session also others."""

    role: str = "user"
    parts: list[Part] = []

    @property
    def text(self) -> str:
        """The texts of the parts, one a line, without thoughts."""
        return "\n".join(part.text for part in self.parts if part.text and not part.thought)


class Event(RequestShape):
    """A message of a conversation; with an id it can be sent again without being stored twice."""

    content: Content
    event_id: str | None = None
    event_time: Instant | None = None

    @classmethod
    def from_text(cls, text: str, *, role: str = "user", **fields: Any) -> Self:
        """Return an event with one text; *fields* are `event_id` and `event_time`."""
        return cls(content=Content(role=role, parts=[Part(text=text)]), **fields)


class GenerationRule(RequestShape):
    """When a window is sealed; a rule without conditions seals it at once.

    `event_count` is 1 to 10,000, `token_count` (an estimate) 1 to 1,000,000; the spans are multiples of 60 s up to
    30 days, and exclude each other.
    """

    event_count: int | None = None
    token_count: int | None = None
    idle_duration: Span | None = None
    fixed_interval: Span | None = None
    overlap_event_count: int | None = None
