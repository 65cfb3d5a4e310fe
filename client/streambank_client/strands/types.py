"""What is extracted, from what and when: types that Strands takes, and that need no Strands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, TypeAlias, get_args

Message = Mapping[str, Any]
Metadata = Mapping[str, Any]
BlockKind = Literal[
    "text",
    "toolUse",
    "toolResult",
    "image",
    "document",
    "reasoningContent",
    "video",
    "audio",
    "guardContent",
    "citationsContent",
    "cachePoint",
]


@dataclass(frozen=True)
class ExtractionResult:
    """One fact that an extractor found, ready for a store's `add`.

    Raises:
        ValueError: the content is blank.
    """

    content: str
    metadata: Metadata | None = None

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise ValueError("ExtractionResult: content must not be blank")


@dataclass(frozen=True)
class ExtractorContext:
    """What an extractor may fall back to: *default_model* is the agent's, in its framework's own class."""

    default_model: Any = None


class Extractor(Protocol):
    """Turns messages into facts on the client; without one the service extracts."""

    async def extract(self, messages: list[Any], context: ExtractorContext | None = None) -> list[ExtractionResult]:
        """Return the facts in *messages*; what it raises keeps the batch for the next try."""
        ...


@dataclass(frozen=True)
class MemoryMessageFilter:
    """Which kinds of content blocks are taken out before messages are saved; an empty list keeps them all.

    Raises:
        ValueError: a kind is not known.
    """

    exclude: Sequence[BlockKind] = ("toolUse", "toolResult")

    def __post_init__(self) -> None:
        unknown = sorted(set(self.exclude) - set(get_args(BlockKind)))
        if isinstance(self.exclude, str) or unknown:
            raise ValueError(f"MemoryMessageFilter: exclude must list kinds of content blocks, got {unknown}")
        object.__setattr__(self, "exclude", tuple(self.exclude))

    def kept(self, message: Message) -> Message | None:
        """Return *message* without the excluded blocks, or None if nothing is left of it."""
        blocks = [block for block in _blocks(message) if not any(kind in block for kind in self.exclude)]
        return {**message, "content": blocks} if blocks else None


def _blocks(message: Message) -> Sequence[Mapping[str, Any]]:
    content = message.get("content") or ()
    return [{"text": content}] if isinstance(content, str) else content


DEFAULT_MEMORY_MESSAGE_FILTER = MemoryMessageFilter()


@dataclass(frozen=True)
class ExtractionTriggerContext:
    """What a trigger is attached to: *fire* saves the store's unsaved messages and does not wait for it."""

    agent: Any
    fire: Callable[[], None]


class ExtractionTrigger(ABC):
    """Says when a store's messages are saved; *name* tells its kind in logs."""

    name: str

    @abstractmethod
    def attach(self, context: ExtractionTriggerContext) -> None:
        """Hook into `context.agent`; called once for each store and agent, and what it raises reaches the caller."""


@dataclass(frozen=True)
class ExtractionConfig:
    """How one store's messages are saved: any *trigger* saves them, every 5 turns if there is none.

    Raises:
        ValueError: the list of triggers is empty, which would never save.
    """

    trigger: ExtractionTrigger | Sequence[ExtractionTrigger] | None = None
    extractor: Extractor | None = None
    filter: MemoryMessageFilter | None = None

    def __post_init__(self) -> None:
        if self.trigger is not None and not self.triggers:
            raise ValueError("ExtractionConfig: trigger must not be an empty list; leave it out for every 5 turns")

    @property
    def triggers(self) -> tuple[ExtractionTrigger, ...]:
        """The triggers as a tuple, empty where none is given."""
        if self.trigger is None or isinstance(self.trigger, Sequence):
            return tuple(self.trigger or ())
        return (self.trigger,)

    def as_dict(self) -> dict[str, Any]:
        """Return what is given as a dict, the only shape that Strands reads."""
        triggers = list(self.triggers) or None
        given = {"trigger": triggers, "extractor": self.extractor, "filter": self.filter}
        return {key: value for key, value in given.items() if value is not None}


Extraction: TypeAlias = ExtractionConfig | Mapping[str, Any] | bool | None


def extraction_config(value: Extraction) -> ExtractionConfig | None:
    """Read a store's `extraction`: True is the defaults, False and None are off.

    Raises:
        ValueError: a key is not known, or the list of triggers is empty.
    """
    if value is None or isinstance(value, bool):
        return ExtractionConfig() if value else None
    if isinstance(value, ExtractionConfig):
        return value
    unknown = sorted(set(value) - {field.name for field in fields(ExtractionConfig)})
    if unknown:
        raise ValueError(f"extraction: has no {', '.join(unknown)}")
    return ExtractionConfig(**value)
