"""Open reviews among the lines of an export: without the ids and hashes, which are the bank's own."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from streambank.model.memory import Evidence
from streambank.model.record import ReviewedText, ReviewRecord
from streambank.model.review import Review, ReviewAction, ReviewCause
from streambank.rules.evidence import newest_evidence
from streambank.wire.model import RequestModel
from streambank.wire.record_shapes import EvidenceShape, Instant, MemoryId, Name, Scope, Text
from streambank.wire.record_times import time_text
from streambank.wire.validity import ValidityFields

_MAX_MEMORIES = 10_000


def _action(value: str) -> ReviewAction:
    return ReviewAction(value)


def _cause(value: str) -> ReviewCause:
    return ReviewCause(value)


class ReviewedShape(RequestModel):
    """A memory that would change, and the text that it had as the change was proposed."""

    memory_id: MemoryId
    create_time: Instant
    fact: Text


class ReviewLine(ValidityFields):
    """A change that waits for a decision."""

    scope: Scope
    action: Annotated[ReviewAction, BeforeValidator(_action)]
    cause: Annotated[ReviewCause, BeforeValidator(_cause)]
    create_time: Instant
    expire_time: Instant
    evidence_time: Instant
    memories: Annotated[list[ReviewedShape], Field(max_length=_MAX_MEMORIES)] = Field(default_factory=list)
    text: Text = ""
    fact: Text = ""
    topics: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)
    profile: Name = ""
    reason: Text = ""
    evidence: Annotated[list[EvidenceShape], Field(min_length=1)]
    is_correction: bool = False
    is_forget_request: bool = False

    def record(self) -> ReviewRecord:
        """Return the review, which gets its id where it is stored."""
        return ReviewRecord(
            Review(
                id="",
                scope=self.scope,
                action=self.action,
                cause=self.cause,
                created=self.create_time,
                expires=self.expire_time,
                at=self.evidence_time,
                text=self.text,
                fact=self.fact,
                topics=tuple(self.topics),
                profile=self.profile,
                reason=self.reason,
                evidence=newest_evidence(
                    [Evidence(one.stream, one.window, tuple(one.events)) for one in self.evidence]
                ),
                validity=self.validity,
                is_correction=self.is_correction,
                forgets=self.is_forget_request,
                is_imported=True,
            ),
            tuple(ReviewedText(one.memory_id, one.create_time, one.fact) for one in self.memories),
        )


def review_document(record: ReviewRecord) -> dict[str, object]:
    """Return a review as an export has it."""
    review = record.review
    memories = [
        {"memoryId": one.memory_id, "createTime": time_text(one.created), "fact": one.fact} for one in record.memories
    ]
    return {
        "scope": review.scope,
        "action": review.action,
        "cause": review.cause,
        "createTime": time_text(review.created),
        "expireTime": time_text(review.expires),
        "evidenceTime": time_text(review.at),
        "memories": memories or None,
        "text": review.text or None,
        "fact": review.fact or None,
        "topics": list(review.topics) or None,
        "profile": review.profile or None,
        "reason": review.reason or None,
        "evidence": [{"stream": one.sid, "window": one.window, "events": list(one.seqs)} for one in review.evidence],
        "validFrom": time_text(review.validity.start),
        "validUntil": time_text(review.validity.end),
        "isCorrection": review.is_correction or None,
        "isForgetRequest": review.forgets or None,
    }
