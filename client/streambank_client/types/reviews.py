"""Reviews: changes of memories that wait for a decision."""

from __future__ import annotations

from streambank_client.types.base import Instant, Shape
from streambank_client.types.memories import Memory, StructuredContent, Topic


class Review(Shape):
    """A change that waits: what the first of the *memories*, or a new one, would state is *fact*, and when it holds.

    *action* is CREATE, UPDATE, DELETE or MERGE, *cause* PINNED or POLICY, *state* OPEN, ACCEPTED or REJECTED. A decided
    review has no texts.
    """

    name: str
    state: str
    action: str
    cause: str
    scope: dict[str, str] = {}
    memories: list[Memory] = []
    fact: str = ""
    structured_content: StructuredContent | None = None
    extracted_fact: str = ""
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    topics: list[Topic] = []
    reason: str = ""
    operation: str | None = None
    evidence_time: Instant
    create_time: Instant
    expire_time: Instant

    @property
    def id(self) -> str:
        """The last part of the name."""
        return self.name.rsplit("/", 1)[-1]
