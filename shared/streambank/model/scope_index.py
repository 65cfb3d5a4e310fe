"""The vector index of a large scope: how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from streambank.model import ids

# A scope with more live memories is searched by its index.
LARGE_SCOPE = 500
# How long DynamoDB may take to show an entry in the index, or to take it out.
INDEX_LAG = timedelta(minutes=5)


class IndexState(StrEnum):
    """Only an index that is READY is searched."""

    BUILDING = "BUILDING"
    READY = "READY"
    DROPPING = "DROPPING"


@dataclass(frozen=True, slots=True)
class ScopeIndex:
    """The index of *scope*: changes up to *version* of the scope have their entries.

    A search may not see the newest of them yet. It sees those up to *settled*, and from `INDEX_LAG` after
    *pending_since* those up to *pending*. *cursor* is the sort key that a walk through the scope has come to, empty
    where none is under way. The last walk began at *walked*, and the sweep looks after the index when it is *due*.
    """

    bank: str
    scope: Mapping[str, str]
    state: IndexState
    version: int
    settled: int
    pending: int
    pending_since: datetime
    walked: datetime
    due: datetime
    cursor: str = ""

    @property
    def cid(self) -> str:
        """Return the key of the scope."""
        return ids.scope_id(self.scope)

    @property
    def is_ready(self) -> bool:
        """Tell whether it can be searched."""
        return self.state is IndexState.READY

    def visible(self, now: datetime) -> int:
        """Return the version up to which a search sees every change."""
        return self.pending if now - self.pending_since >= INDEX_LAG else self.settled

    def advanced(self, version: int, now: datetime) -> ScopeIndex:
        """Return the index after the entries of the changes up to *version* were written."""
        if now - self.pending_since < INDEX_LAG:
            return replace(self, version=version)
        return replace(self, version=version, settled=self.pending, pending=version, pending_since=now)
