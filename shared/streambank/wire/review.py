"""Reviews in replies."""

import json
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from streambank.model import review as model
from streambank.model.ids import OperationId
from streambank.model.review import ReviewWithMemories
from streambank.wire.memory import Memory, StructuredContent, memory
from streambank.wire.reply import Page, Time, optional_time, rfc3339, without_nulls
from streambank.wire.topics import Topic, topic


class Review(TypedDict):
    """A change that waits: `fact` or `structuredContent` is what the first memory, or the new one, would state.

    `extractedFact` is what the conversation says, `operation` the window that proposed it last, `reason` the model's.
    A decided review has no texts; its memories are those that live after the decision.
    """

    name: str
    state: Literal["OPEN", "ACCEPTED", "REJECTED"]
    action: Literal["CREATE", "UPDATE", "DELETE", "MERGE"]
    cause: Literal["PINNED", "POLICY"]
    scope: dict[str, str]
    memories: NotRequired[list[Memory] | None]
    fact: NotRequired[str | None]
    structuredContent: NotRequired[StructuredContent | None]
    extractedFact: NotRequired[str | None]
    validFrom: NotRequired[Time | None]
    validUntil: NotRequired[Time | None]
    topics: NotRequired[list[Topic] | None]
    reason: NotRequired[str | None]
    operation: NotRequired[str | None]
    evidenceTime: Time
    createTime: Time
    expireTime: Time


class Reviews(Page):
    reviews: list[Review]


def review(one: ReviewWithMemories, bank_name: str) -> Review:
    """Return a review with its memories as they are now."""
    waiting = one.review
    return without_nulls(
        Review(
            name=f"{bank_name}/memories:reviews/{waiting.id}",
            state=waiting.state.value,
            action=waiting.action.value,
            cause=waiting.cause.value,
            scope=waiting.scope,
            memories=[memory(each, bank_name) for each in one.memories] or None,
            fact=(waiting.text if not waiting.profile else None) or None,
            structuredContent=_structured_content(waiting),
            extractedFact=waiting.fact or None,
            validFrom=optional_time(waiting.validity.start),
            validUntil=optional_time(waiting.validity.end),
            topics=[topic(name) for name in waiting.topics] or None,
            reason=waiting.reason or None,
            operation=_operation(waiting, bank_name),
            evidenceTime=rfc3339(waiting.at),
            createTime=rfc3339(waiting.created),
            expireTime=rfc3339(waiting.expires),
        )
    )


def _structured_content(waiting: model.Review) -> StructuredContent | None:
    if not (waiting.profile and waiting.text):
        return None
    return StructuredContent(schemaId=waiting.profile, data=json.loads(waiting.text))


def _operation(waiting: model.Review, bank_name: str) -> str | None:
    if not waiting.evidence:
        return None
    return f"{bank_name}/operations/{OperationId(waiting.evidence[-1].sid, waiting.evidence[-1].window)}"
