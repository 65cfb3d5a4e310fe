"""The record of what one message or Content loses in its conversion."""

from __future__ import annotations

from collections.abc import Iterable

from streambank_client.formats.conversion import Dropped, Reason

_MAX_KIND_CHARACTERS = 64


class DropLog:
    """What is dropped of message or Content *index*; *at* is the index of the part, None for the whole."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.dropped: list[Dropped] = []

    def drop(self, reason: Reason, *, kind: str, at: int | None = None) -> None:
        """Record that something was dropped."""
        self.dropped.append(Dropped(self.index, at, kind[:_MAX_KIND_CHARACTERS], reason))

    def drop_fields(self, names: Iterable[str], *, at: int | None = None, of: str = "") -> None:
        """Record that the fields *names* of the object *of* were dropped because the target has no place for them."""
        for name in names:
            self.drop(Reason.NO_PLACE, kind=f"{of}.{name}" if of else name, at=at)
