"""Conversion of agent frameworks' messages to the Contents that the service accepts, and back.

    conversion = formats.to_contents(messages, "openai")
    conversion.contents    # what to ingest: .content, with the .index, .message_id and .time of its message
    conversion.dropped     # everything that was not converted, with the reason

    formats.read_export(json.load(file))    # the conversations of a chat application's export

All functions are pure. Each of the modules `strands`, `koog_0_8`, `koog_1`, `openai`, `openai_responses`, `langchain`,
`pydantic_ai` and `google` has the same two functions for one format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from streambank_client.formats import agentcore, google, langchain, openai, openai_responses, pydantic_ai, strands
from streambank_client.formats.conversion import (
    DEFAULTS,
    Conversion,
    Converted,
    Dropped,
    Format,
    Options,
    Reason,
    Restored,
)
from streambank_client.formats.detection import detect
from streambank_client.formats.exports import (
    EXPORTS,
    ExportedConversation,
    chatgpt,
    claude,
    detect_document,
    read_export,
    sharegpt,
    slack,
    whatsapp,
)
from streambank_client.formats.koog import v0_8 as koog_0_8
from streambank_client.formats.koog import v1 as koog_1
from streambank_client.formats.memory_block import render_memories
from streambank_client.formats.tool_names import ToolNames

__all__ = [
    "EXPORTS",
    "FORMATS",
    "Conversion",
    "Converted",
    "Converter",
    "Dropped",
    "ExportedConversation",
    "Format",
    "Options",
    "Reason",
    "Restored",
    "ToolNames",
    "detect",
    "detect_document",
    "from_contents",
    "read_export",
    "render_memories",
    "to_contents",
]


class _ToContents(Protocol):
    def __call__(
        self, messages: Iterable[Any], *, options: Options = ..., tool_names: ToolNames | None = ...
    ) -> Conversion: ...


class _FromContents(Protocol):
    def __call__(self, contents: Iterable[Converted | Mapping[str, Any]]) -> Restored: ...


@dataclass(frozen=True, slots=True)
class Converter:
    """The conversions of one format in both directions; nothing is converted to the format of an export."""

    to_contents: _ToContents
    from_contents: _FromContents | None = None


FORMATS: Mapping[Format, Converter] = MappingProxyType(
    {
        "strands": Converter(strands.to_contents, strands.from_contents),
        "koog-0.8": Converter(koog_0_8.to_contents, koog_0_8.from_contents),
        "koog-1": Converter(koog_1.to_contents, koog_1.from_contents),
        "openai": Converter(openai.to_contents, openai.from_contents),
        "openai-responses": Converter(openai_responses.to_contents, openai_responses.from_contents),
        "langchain": Converter(langchain.to_contents, langchain.from_contents),
        "pydantic-ai": Converter(pydantic_ai.to_contents, pydantic_ai.from_contents),
        "google": Converter(google.to_contents, google.from_contents),
        "agentcore": Converter(agentcore.to_contents),
        "chatgpt": Converter(chatgpt.to_contents),
        "claude": Converter(claude.to_contents),
        "sharegpt": Converter(sharegpt.to_contents),
        "slack": Converter(slack.to_contents),
        "whatsapp": Converter(whatsapp.to_contents),
    }
)


def to_contents(
    messages: Iterable[Any], form: Format, *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of *messages*, which all have the format *form*.

    Pass the same *tool_names* for each batch of one conversation, so that each result gets the name of its tool.

    Raises:
        ValueError: a field is of a wrong type; names message and field, and quotes no content.
    """
    return FORMATS[form].to_contents(messages, options=options, tool_names=tool_names)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]], form: Format) -> Restored:
    """Return *contents* as messages of the format *form*, and what was dropped of them.

    A message of which nothing was dropped in either direction is unchanged, except for the spacing of JSON text.

    Raises:
        ValueError: a field is of a wrong type; names Content and field. Or *form* is the format of an export.
    """
    convert = FORMATS[form].from_contents
    if convert is None:
        raise ValueError(f"form: Contents are not converted to {form}")
    return convert(contents)
