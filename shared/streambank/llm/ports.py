"""The three ports to models, and the values that they take and return.

Events, facts and memories have numbers here, not ids. They are counted from 1 within one request, and the pipeline maps
them back, so that a model can only refer to what was in its prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from streambank.model.bank import Example, ProfileSchema
from streambank.model.decision import Action, Decision
from streambank.model.extraction import ExtractedFact, ExtractedProfile, Extraction, FactChange
from streambank.model.plan import FORGET
from streambank.model.turn import Turn
from streambank.model.usage import Usage

__all__ = [
    "FORGET",
    "Action",
    "Consolidation",
    "ConsolidationRequest",
    "Consolidator",
    "Decision",
    "Embedder",
    "Example",
    "ExtractedFact",
    "ExtractedProfile",
    "Extraction",
    "ExtractionRequest",
    "Extractor",
    "FactChange",
    "ModelProvider",
    "OfferedFact",
    "OfferedMemory",
    "ProfileSchema",
    "Turn",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """A window's turns in order, overlap first (marked as context).

    *memories* are those nearest to the turns. *recorded* holds the facts of the pieces of the window before this one.
    *descriptions* explains custom topics. *is_natural* is False if the bank keeps profiles only. *model* is the bank's
    choice, or None.
    """

    turns: tuple[Turn, ...]
    topics: tuple[str, ...] = ()
    third_person: bool = False
    time_zone: str = "UTC"
    descriptions: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    schemas: tuple[ProfileSchema, ...] = ()
    is_natural: bool = True
    model: str | None = None
    memories: tuple[OfferedMemory, ...] = ()
    recorded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedFact:
    """A candidate as a model sees it when it is asked again.

    *change*, *memories* and *text* are what the model proposed first; *turns* are the texts that the fact cites.
    """

    number: int
    fact: str
    topic: str | None
    at: datetime
    change: FactChange | None = None
    memories: tuple[int, ...] = ()
    text: str = ""
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedMemory:
    """An existing memory that a model may name in this request; *earlier* holds its former texts."""

    number: int
    fact: str
    as_of: datetime
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsolidationRequest:
    """The candidates that the model is asked about again, and the memories that they name or are close to."""

    facts: tuple[OfferedFact, ...]
    memories: tuple[OfferedMemory, ...]
    third_person: bool = False
    model: str | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The decisions of one request."""

    decisions: tuple[Decision, ...]
    usage: Usage = field(default=Usage())


class Extractor(Protocol):
    """Proposes facts from conversation.

    Raises:
        ModelUnavailable: throttled, timed out or unreachable; worth a retry later.
        ModelOutputInvalid: the reply was unusable, and so was the second one.
        ModelOutputTruncated: the reply was cut off, or the request too long; half the turns may fit.
        ModelRefused: a guardrail or a content filter stopped the model.
        ModelNotConfigured: the deployment may not use this model.
    """

    def extract(self, request: ExtractionRequest) -> Extraction: ...


class Consolidator(Protocol):
    """Decides what candidates mean for existing memories. Raises as `Extractor` does."""

    def consolidate(self, request: ConsolidationRequest) -> Consolidation: ...


class Embedder(Protocol):
    """Maps texts to packed unit vectors of one length (see `rules.vectors`).

    *model* is the bank's choice, or None. *for_query* is True for the text of a search. *is_local* is True if embedding
    costs next to nothing, so that a search may embed the events that it reads. Raises as `Extractor` does.
    """

    @property
    def is_local(self) -> bool: ...

    def embed(self, texts: Sequence[str], *, model: str | None = None, for_query: bool = False) -> list[bytes]: ...


class ModelProvider(Protocol):
    """Builds the models of a deployment; a function builds those that it uses, once."""

    def extractor(self) -> Extractor: ...

    def consolidator(self) -> Consolidator: ...

    def embedder(self) -> Embedder: ...
