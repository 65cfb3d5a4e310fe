"""A memory bank: the tenant boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from streambank.model.content_policy import ContentPolicy
from streambank.model.review import ReviewPolicy
from streambank.model.rule import TriggerRule


class BankStatus(StrEnum):
    """The state of a bank; a bank that is being deleted answers no request."""

    ACTIVE = "ACTIVE"
    DELETING = "DELETING"


@dataclass(frozen=True, slots=True)
class Bank:
    """The small part of a bank that every ingest reads; None stands for the deployment's setting.

    *has_consent_settings* tells that some scope of the bank was set to learn nothing, now or once.
    """

    id: str
    created: datetime | None = None
    updated: datetime | None = None
    display_name: str | None = None
    description: str | None = None
    status: BankStatus = BankStatus.ACTIVE
    default_rule: TriggerRule | None = None
    retention: timedelta | None = None
    dedup_horizon: timedelta | None = None
    content_policy: ContentPolicy | None = None
    has_consent_settings: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a configuration: role and text of each turn, and the expected facts with their topics."""

    turns: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileSchema:
    """A profile that a bank keeps for each scope: its id and the JSON schema of its data."""

    id: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BankConfig:
    """The rest of a bank's configuration, as it applies to one scope; *document* is MemoryBankConfig in camelCase.

    A TTL of None leaves a memory's expiry unchanged. A granular configuration has no TTL for updates by callers.
    *revisions_per_candidate* is the number of texts of a memory in a prompt, including the current one. *daily_tokens*
    is the bank's own budget of model tokens for a UTC day, below the deployment's, or None.
    """

    document: dict[str, Any] = field(default_factory=dict)
    revision_ttl: timedelta | None = None
    disable_revisions: bool = False
    third_person: bool = False
    topics: tuple[str, ...] = ()
    descriptions: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    revisions_per_candidate: int = 1
    is_natural: bool = True
    schemas: tuple[ProfileSchema, ...] = ()
    model: str | None = None
    embedding_model: str | None = None
    daily_tokens: int | None = None
    include_tool_traffic: bool = False
    create_ttl: timedelta | None = None
    update_ttl: timedelta | None = None
    generate_created_ttl: timedelta | None = None
    generate_updated_ttl: timedelta | None = None
    review_policy: ReviewPolicy = field(default=ReviewPolicy())
    content_policy: ContentPolicy | None = None
