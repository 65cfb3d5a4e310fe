"""A memory bank: the tenant boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from streambank.model.rule import TriggerRule


class BankStatus(StrEnum):
    """A deleting bank answers nothing any more."""

    ACTIVE = "ACTIVE"
    DELETING = "DELETING"


@dataclass(frozen=True, slots=True)
class Bank:
    """The small part of a bank that every ingest reads; None means that the deployment's setting holds."""

    id: str
    created: datetime | None = None
    updated: datetime | None = None
    display_name: str | None = None
    description: str | None = None
    status: BankStatus = BankStatus.ACTIVE
    default_rule: TriggerRule | None = None
    retention: timedelta | None = None
    dedup_horizon: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation of a configuration (role and text of each turn) and what is wanted of it (fact and topic)."""

    turns: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileSchema:
    """A profile that a bank keeps for each scope: its id and the JSON schema of its data."""

    id: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BankConfig:
    """The rest of a bank's configuration as it governs one scope; *document* is MemoryBankConfig in camelCase.

    A TTL that is None leaves a memory's expiry as it is. A granular configuration has none for updates by callers.
    *revisions_shown* is how many texts of a memory a model sees, the present one included; *daily_tokens* is the
    budget of model tokens a UTC day, None for the deployment's.
    """

    document: dict[str, Any] = field(default_factory=dict)
    revision_ttl: timedelta | None = None
    disable_revisions: bool = False
    third_person: bool = False
    topics: tuple[str, ...] = ()
    descriptions: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    revisions_shown: int = 1
    is_natural: bool = True
    schemas: tuple[ProfileSchema, ...] = ()
    model: str | None = None
    embedding_model: str | None = None
    daily_tokens: int | None = None
    create_ttl: timedelta | None = None
    update_ttl: timedelta | None = None
    generate_created_ttl: timedelta | None = None
    generate_updated_ttl: timedelta | None = None
