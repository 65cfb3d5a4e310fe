"""What a conversion of messages takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = "dict[str, Any]"
Format = Literal["strands", "koog-0.8", "koog-1", "openai", "langchain", "google"]

# The service takes events of 350,000 bytes of JSON; 5,000 are left for the event's id, its time and its braces.
MAX_CONTENT_BYTES = 345_000
# 320,000 once they are base64, which leaves 25,000 for what is said about them.
MAX_INLINE_BYTES = 240_000


class Reason(StrEnum):
    """Why something of a message did not come through as it was."""

    BLANK = "blank"
    """It is text of nothing but white space, or media of no bytes."""
    EMPTY = "empty"
    """Nothing of the message is left."""
    SYSTEM = "system"
    """Instructions are no conversation; `Options.include_system` keeps them."""
    REASONING = "reasoning"
    """Reasoning is no evidence; `Options.include_reasoning` keeps it as a thought."""
    UNKNOWN = "unknown"
    """The message is of no role or class that is known."""
    UNSUPPORTED = "unsupported"
    """The other side has nothing of the kind."""
    NO_ADDRESS = "no_address"
    """A file that a provider keeps under an id: there is neither its content nor a URI."""
    NO_ID = "no_id"
    """The other side ties calls and results together by ids, and there is none."""
    MALFORMED = "malformed"
    """It holds nothing, or what says to be base64 or a time is not."""
    NOT_JSON = "not_json"
    """It holds what JSON cannot: a NaN, a date, an object of a class."""
    TOO_LARGE = "too_large"
    """It does not fit into one event, or its bytes are more than `Options.max_inline_bytes`."""
    TOO_DEEP = "too_deep"
    """It is nested deeper than the service takes."""
    REPEATED = "repeated"
    """The message says the same in another place."""
    NO_PLACE = "no_place"
    """A detail, such as token counts, that the other side has no field for; the rest came through."""
    REWRITTEN = "rewritten"
    """It came through in another form, from which the first one cannot be made again."""


_DETAILS = frozenset({Reason.NO_PLACE, Reason.REWRITTEN, Reason.REPEATED})
_WHOLE = frozenset({Reason.EMPTY, Reason.SYSTEM, Reason.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Dropped:
    """What did not come through: of message *index*, of its part number *part* (None: of the message itself)."""

    index: int
    part: int | None
    kind: str
    reason: Reason

    @property
    def is_detail(self) -> bool:
        """Tell whether the thing itself came through, and only a detail of it or its form did not."""
        return self.reason in _DETAILS

    @property
    def is_message(self) -> bool:
        """Tell whether the whole message was dropped."""
        return self.reason in _WHOLE


@dataclass(frozen=True, slots=True)
class Converted:
    """A Content as the API takes it, and where it comes from: *message_id* and *time* as the framework gave them."""

    content: JSON
    index: int
    message_id: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversion:
    """Contents in the order of their messages; each message is in *contents* or a dropped message of *dropped*."""

    contents: tuple[Converted, ...]
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """Messages of a framework made of Contents, in order; the indexes of *dropped* are those of the Contents."""

    messages: tuple[JSON, ...]
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is converted, and how much of it.

    max_inline_bytes: the raw bytes of one message's media together; 0 keeps none.
    max_content_bytes: the JSON of one Content; words are kept before media, short ones before long ones.
    """

    include_system: bool = False
    system_prefix: str = "[system] "
    include_reasoning: bool = False
    max_inline_bytes: int = MAX_INLINE_BYTES
    max_content_bytes: int = MAX_CONTENT_BYTES

    def __post_init__(self) -> None:
        for name in ("max_inline_bytes", "max_content_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name}: must be a number of bytes, 0 or more")


DEFAULTS = Options()
