"""Messages of agent frameworks as the Contents that the service takes, and back.

    conversion = formats.to_contents(messages, "openai")
    conversion.contents    # what to ingest: .content, and .index, .message_id, .time of its source
    conversion.dropped     # what did not come through, and why; nothing is lost without a note

Pure functions. The modules `strands`, `koog_0_8`, `koog_1`, `openai`, `langchain` and `google` hold the same two
functions for one format each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from streambank_client.formats import (
    google,
    koog_0_8,
    koog_0_8_back,
    koog_1,
    koog_1_back,
    langchain,
    langchain_back,
    openai,
    openai_back,
    strands,
    strands_back,
)
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
from streambank_client.formats.recalled import render_memories
from streambank_client.formats.tool_names import ToolNames

__all__ = [
    "FORMATS",
    "Conversion",
    "Converted",
    "Converter",
    "Dropped",
    "Format",
    "Options",
    "Reason",
    "Restored",
    "ToolNames",
    "detect",
    "from_contents",
    "render_memories",
    "to_contents",
]


class _To(Protocol):
    def __call__(
        self, messages: Iterable[Any], *, options: Options = ..., tool_names: ToolNames | None = ...
    ) -> Conversion: ...


class _From(Protocol):
    def __call__(self, contents: Iterable[Converted | Mapping[str, Any]]) -> Restored: ...


@dataclass(frozen=True, slots=True)
class Converter:
    """The two directions of a format."""

    to_contents: _To
    from_contents: _From


FORMATS: Mapping[Format, Converter] = MappingProxyType(
    {
        "strands": Converter(strands.to_contents, strands_back.from_contents),
        "koog-0.8": Converter(koog_0_8.to_contents, koog_0_8_back.from_contents),
        "koog-1": Converter(koog_1.to_contents, koog_1_back.from_contents),
        "openai": Converter(openai.to_contents, openai_back.from_contents),
        "langchain": Converter(langchain.to_contents, langchain_back.from_contents),
        "google": Converter(google.to_contents, google.from_contents),
    }
)


def to_contents(
    messages: Iterable[Any], form: Format, *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of *messages*, which are all of one format, named by its tag.

    Give the same *tool_names* to each batch of one conversation, so that a result finds the name of its tool.

    Raises:
        ValueError: a field is of a wrong type; names message and field, and quotes nothing of what was said.
    """
    return FORMATS[form].to_contents(messages, options=options, tool_names=tool_names)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]], form: Format) -> Restored:
    """Return *contents* as messages of a format, and what of them it cannot say.

    What `to_contents` reported no drop of comes back as it was, up to how JSON text is spaced.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return FORMATS[form].from_contents(contents)
