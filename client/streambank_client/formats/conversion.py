"""The options and results of a conversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = "dict[str, Any]"
Format = Literal[
    "strands",
    "koog-0.8",
    "koog-1",
    "openai",
    "openai-responses",
    "langchain",
    "pydantic-ai",
    "google",
    "agentcore",
    "chatgpt",
    "claude",
    "sharegpt",
    "slack",
    "whatsapp",
]

# The service accepts events of 350,000 bytes of JSON; 5,000 are reserved for the event's id, time and braces.
MAX_CONTENT_BYTES = 345_000
# These are 320,000 bytes as base64, which leaves 25,000 for the rest of the Content.
MAX_INLINE_BYTES = 240_000


class Reason(StrEnum):
    """The reason why a message, a part or a field was dropped or changed."""

    BLANK = "blank"
    """The text is only white space, or the media have no bytes."""
    EMPTY = "empty"
    """No part of the message is left."""
    SYSTEM = "system"
    """Instructions are not conversation; `Options.include_system` includes them."""
    REASONING = "reasoning"
    """Reasoning is not evidence; `Options.include_reasoning` includes it as a thought."""
    UNKNOWN = "unknown"
    """The role or class of the message is not known."""
    NOTICE = "notice"
    """The application wrote the line itself: somebody joined, a name changed, a message was deleted."""
    OTHER_BRANCH = "other_branch"
    """The message is in a branch of the conversation that is not the current one."""
    UNSUPPORTED = "unsupported"
    """The target format has no such part."""
    NO_ADDRESS = "no_address"
    """The file is only an id at a provider, without content or URI."""
    NO_ID = "no_id"
    """The target format matches results to calls by id, and there is no id."""
    MALFORMED = "malformed"
    """The content is missing, or is not valid base64 or not a valid time."""
    NOT_JSON = "not_json"
    """The value cannot be JSON, such as NaN, a date or an object of a class."""
    TOO_LARGE = "too_large"
    """The part does not fit into one event, or its bytes exceed `Options.max_inline_bytes`."""
    TOO_DEEP = "too_deep"
    """The part is nested deeper than the service accepts."""
    REPEATED = "repeated"
    """The message contains the same thing in another place."""
    NO_PLACE = "no_place"
    """The target format has no field for a detail, such as token counts; the rest was converted."""
    GUESSED = "guessed"
    """The order of day and month was guessed; `Options.day_first` sets it."""
    REWRITTEN = "rewritten"
    """It was converted to a form from which the original cannot be restored."""


_DETAIL_REASONS = frozenset({Reason.NO_PLACE, Reason.REWRITTEN, Reason.REPEATED, Reason.GUESSED})
_MESSAGE_REASONS = frozenset({Reason.EMPTY, Reason.SYSTEM, Reason.UNKNOWN, Reason.NOTICE, Reason.OTHER_BRANCH})


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something dropped of message *index*, in its part with the index *part*, or in the message itself if None."""

    index: int
    part: int | None
    kind: str
    reason: Reason

    @property
    def is_detail(self) -> bool:
        """Return whether the part was converted, and only a detail or its form was dropped."""
        return self.reason in _DETAIL_REASONS

    @property
    def is_message(self) -> bool:
        """Return whether the whole message was dropped."""
        return self.part is None and self.reason in _MESSAGE_REASONS


@dataclass(frozen=True, slots=True)
class Converted:
    """A Content as the API accepts it, with the index of its message and the framework's id and time of it."""

    content: JSON
    index: int
    message_id: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversion:
    """Contents in the order of their messages; each message is in *contents*, or in *dropped* as a whole."""

    contents: tuple[Converted, ...]
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """A framework's messages, in the order of their Contents; *dropped* has the indexes of the Contents."""

    messages: tuple[JSON, ...]
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a conversion includes, and its limits.

    max_inline_bytes: the limit for the raw bytes of all media of one message; 0 drops all media.
    max_content_bytes: the limit for the JSON of one Content; text is kept before media, small parts before large ones.
    user: the user's name or id in Slack or WhatsApp; without it, each text begins with the name of its speaker.
    names: names of speakers by their id, for Slack.
    day_first: the order of day and month in WhatsApp's dates; the default is to recognize it.
    time_zone: the zone of times without one, as in WhatsApp's export.
    """

    include_system: bool = False
    system_prefix: str = "[system] "
    include_reasoning: bool = False
    max_inline_bytes: int = MAX_INLINE_BYTES
    max_content_bytes: int = MAX_CONTENT_BYTES
    user: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    day_first: bool | None = None
    time_zone: tzinfo = UTC

    def __post_init__(self) -> None:
        for name in ("max_inline_bytes", "max_content_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name}: must be a number of bytes, 0 or more")


DEFAULTS = Options()
