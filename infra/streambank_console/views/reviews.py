"""What a list of reviews shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank_client.types import Review
from streambank_console import paths
from streambank_console.views.diff import Piece, difference
from streambank_console.views.memories import fact_of
from streambank_console.views.text import visible

_TITLES = {"CREATE": "A new memory", "UPDATE": "Another text", "DELETE": "To be forgotten", "MERGE": "To become one"}
_CAUSES = {"PINNED": "because it is pinned", "POLICY": "because of the bank's policy"}


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A change that waits: of which memories, what would be different, and why it waits."""

    id: str
    title: str
    cause: str
    pieces: tuple[Piece, ...]
    memories: tuple[tuple[str, str], ...]  # fact and address
    stated: str
    source_href: str
    at: datetime


def review_views(bank: str, reviews: Sequence[Review]) -> tuple[ReviewView, ...]:
    """Return what is shown of *reviews*, in their order."""
    return tuple(_review_view(bank, one) for one in reviews)


def _review_view(bank: str, one: Review) -> ReviewView:
    facts = [fact_of(each.fact, each.structured_content) for each in one.memories]
    after = fact_of(one.fact, one.structured_content) if one.fact or one.structured_content else ""
    return ReviewView(
        id=one.id,
        title=_TITLES.get(one.action, visible(one.action)),
        cause=_CAUSES.get(one.cause, ""),
        pieces=difference(facts[0] if facts else "", after),
        memories=tuple((fact, paths.memory(bank, each.name)) for fact, each in zip(facts, one.memories, strict=True)),
        stated=visible(one.extracted_fact),
        source_href=paths.window(bank, one.operation) if one.operation else "",
        at=one.create_time,
    )
