"""The change feed."""

from __future__ import annotations

from datetime import datetime

from streambank_client.types.base import Shape


class MemoryChange(Shape):
    """A change of a memory: CREATED, UPDATED, DELETED, MERGED, RESTORED, PINNED, MOVED and more; or a scope's, ERASED.

    *id* is the same whenever the change is told. *operation* is that of the window whose generation made it.
    """

    id: str
    change_time: datetime
    kind: str
    scope: dict[str, str] = {}
    memory: str | None = None
    revision: str | None = None
    operation: str | None = None


class MemoryChanges(Shape):
    """A page of the feed, and the token with which the next call goes on, also after an empty page."""

    changes: list[MemoryChange] = []
    next_page_token: str
