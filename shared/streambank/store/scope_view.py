"""A scope as it is read: its version, what is recorded with it, and memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streambank.model.consent import Consent
from streambank.model.memory import Memory
from streambank.model.plan import ForgetRequest
from streambank.store import codec
from streambank.store.memory_items import requests_of


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope's memories as of *version*; 0 means that nothing was ever written there.

    *needs_index* says that there are many memories, and no vector index.
    """

    version: int
    erasing: bool
    memories: tuple[Memory, ...]
    requests: tuple[ForgetRequest, ...] = ()
    consent: Consent = field(default=Consent())
    needs_index: bool = False


def view_of(item: Mapping[str, Any] | None) -> ScopeView:
    """Return the view that the item of a scope's version gives, without memories."""
    item = item or {"ver": 0}
    is_closed = bool(item.get("erasing") or item.get("moving"))
    return ScopeView(item["ver"], is_closed, (), requests_of(item), codec.consent_of(item))
