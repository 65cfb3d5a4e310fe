"""Types of extraction that Strands accepts, and that do not need Strands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, TypeAlias, get_args

AgentMessage = Mapping[str, Any]
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
    """A fact that an extractor made, for the `add` of a store.

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
    """Context of an extraction: *default_model* is the agent's model, an object of its framework."""

    default_model: Any = None


class Extractor(Protocol):
    """Makes facts of messages on the client; without an extractor the service extracts."""

    async def extract(self, messages: list[Any], context: ExtractorContext | None = None) -> list[ExtractionResult]:
        """Return the facts in *messages*; after an error the batch is kept for the next attempt."""
        ...


@dataclass(frozen=True)
class MemoryMessageFilter:
    """Removes kinds of content blocks before messages are saved; an empty list keeps all blocks.

    Raises:
        ValueError: a kind is unknown.
    """

    exclude: Sequence[BlockKind] = ("toolUse", "toolResult")

    def __post_init__(self) -> None:
        unknown = sorted(set(self.exclude) - set(get_args(BlockKind)))
        if isinstance(self.exclude, str) or unknown:
            raise ValueError(f"MemoryMessageFilter: exclude must list kinds of content blocks, got {unknown}")
        object.__setattr__(self, "exclude", tuple(self.exclude))

    def kept(self, message: AgentMessage) -> AgentMessage | None:
        """Return *message* without the excluded blocks, or None if no block is left."""
        blocks = [block for block in _blocks(message) if not any(kind in block for kind in self.exclude)]
        return {**message, "content": blocks} if blocks else None


def _blocks(message: AgentMessage) -> Sequence[Mapping[str, Any]]:
    content = message.get("content") or ()
    return [{"text": content}] if isinstance(content, str) else content


DEFAULT_MEMORY_MESSAGE_FILTER = MemoryMessageFilter()


@dataclass(frozen=True)
class ExtractionTriggerContext:
    """The agent of a trigger; *fire* starts a save of the store's unsaved messages and does not wait for it."""

    agent: Any
    fire: Callable[[], None]


class ExtractionTrigger(ABC):
    """Decides when a store's messages are saved; *name* is its kind, for logs."""

    name: str

    @abstractmethod
    def attach(self, context: ExtractionTriggerContext) -> None:
        """Register with `context.agent`; called once for each store and agent, its errors are raised to the caller."""


@dataclass(frozen=True)
class ExtractionConfig:
    """How the messages of a store are saved; each *trigger* saves them, the default is every 5 turns.

    Raises:
        ValueError: the list of triggers is empty: nothing would be saved; or trigger or extractor is another object.
    """

    trigger: ExtractionTrigger | Sequence[ExtractionTrigger] | None = None
    extractor: Extractor | None = None
    filter: MemoryMessageFilter | None = None

    def __post_init__(self) -> None:
        if self.trigger is not None and not self.triggers:
            raise ValueError("ExtractionConfig: trigger must not be an empty list; leave it out for every 5 turns")
        if not all(callable(getattr(trigger, "attach", None)) for trigger in self.triggers):
            raise ValueError("ExtractionConfig: trigger must be an object with attach(context), or a list of them")
        if self.extractor is not None and not callable(getattr(self.extractor, "extract", None)):
            raise ValueError("ExtractionConfig: extractor must be an object with extract(messages, context)")

    @property
    def has_tool_blocks(self) -> bool:
        """Whether the filter keeps the calls or the results of tools."""
        kept = self.filter or DEFAULT_MEMORY_MESSAGE_FILTER
        return not {"toolUse", "toolResult"} <= set(kept.exclude)

    @property
    def triggers(self) -> tuple[ExtractionTrigger, ...]:
        """The triggers as a tuple, empty if there are none."""
        if self.trigger is None or isinstance(self.trigger, Sequence):
            return tuple(self.trigger or ())
        return (self.trigger,)

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as a dict, the only form that Strands reads."""
        triggers = list(self.triggers) or None
        config = {"trigger": triggers, "extractor": self.extractor, "filter": self.filter}
        return {key: value for key, value in config.items() if value is not None}


Extraction: TypeAlias = ExtractionConfig | Mapping[str, Any] | bool | None


def extraction_config(value: Extraction) -> ExtractionConfig | None:
    """Return the configuration of a store's `extraction`: True is the defaults, False and None are off.

    Raises:
        ValueError: a key is unknown, or the list of triggers is empty.
    """
    if value is None or isinstance(value, bool):
        return ExtractionConfig() if value else None
    if isinstance(value, ExtractionConfig):
        return value
    unknown = sorted(set(value) - {field.name for field in fields(ExtractionConfig)})
    if unknown:
        raise ValueError(f"extraction: has no {', '.join(unknown)}")
    return ExtractionConfig(**value)
