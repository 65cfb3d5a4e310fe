"""Reviews: how they are made of held steps, which are kept, and what a decision does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from streambank.errors import FailedPrecondition
from streambank.model import ids
from streambank.model.extraction import FactChange
from streambank.model.memory import Change, Memory
from streambank.model.plan import Candidate, PlanStep
from streambank.model.review import Review, ReviewAction, ReviewedMemory, ReviewState
from streambank.model.tombstone import Tombstone
from streambank.model.validity import OPEN, Validity
from streambank.model.verdict import Verdict
from streambank.rules import consolidation, tombstones, wording
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.evidence import joined_evidence, newest_evidence
from streambank.rules.filtering import Filter, Kind, parse
from streambank.rules.held_steps import HeldStep
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.profiles import find_profile

REJECTED_BEFORE = "was rejected in a review"
TOO_MANY = "the scope has too many open reviews"
# Of one scope. Beyond it a new review is refused, and the oldest mark is dropped.
MAX_OPEN = 500
MAX_MARKS = 500
# The hashes of events that were rejected: an item has 400 KB, and each hash 8 bytes.
MAX_REJECTED = 4_000
MAX_REASON_CHARACTERS = 1_000
# A review is kept at least this long, also where its window was generated late: as processed events are.
MIN_KEPT = timedelta(days=1)
FIELDS = {"scope": Kind.TEXT_MAP, "action": Kind.TEXT, "cause": Kind.TEXT, "create_time": Kind.TIMESTAMP}


def review_of(
    number: int,
    candidate: Candidate,
    step: HeldStep,
    policy: WindowPolicy,
    memories: Mapping[str, Memory],
    *,
    expires: datetime,
    now: datetime,
) -> Review:
    """Return the review of a held step of candidate *number*; the same change of the same memories has the same id."""
    concerned = [memories[one] for one in _concerned(step.steps) if one in memories]
    stating = next((one for one in step.steps if one.text), None)
    action, text = _action(step.steps, memories), (stating and stating.text) or ""
    seqs = tuple(sorted({*candidate.seqs, *(seq for one in step.steps for seq in one.seqs)}))
    hashes = policy.hashes
    return Review(
        id=review_id(action, text, candidate.profile, [one.id for one in concerned], hashes),
        scope=policy.window.stream.scope,
        action=action,
        cause=step.cause,
        created=now,
        expires=min([expires, *(one.expires for one in concerned if one.expires)]),
        at=candidate.at,
        memories=tuple(ReviewedMemory(one.id, hashes.of_text(one.fact)) for one in concerned),
        text=text,
        fact=candidate.fact,
        number=number,
        topics=candidate.topics,
        profile=candidate.profile,
        reason=step.steps[0].reason[:MAX_REASON_CHARACTERS],
        evidence=newest_evidence([consolidation.evidence_of(policy, seqs)]),
        validity=stating.validity if stating else OPEN,
        is_correction=stating is not None and stating.is_correction,
        forgets=consolidation.is_forget_request(candidate),
    )


def review_id(action: ReviewAction, text: str, profile: str, memory_ids: Iterable[str], hashes: KeyedHashes) -> str:
    """Return the id of a review; the same change of the same memories has the same one in a scope."""
    mark = [action, hashes.of_text(text) if text else "", profile, *sorted(memory_ids)]
    return f"{hashes.cid}-{ids.secret_id(hashes.secret, 'review', hashes.bank, hashes.cid, *mark)}"


def _concerned(steps: Sequence[PlanStep]) -> list[str]:
    """Return the ids of the memories of one action; that which others are merged into is the first."""
    merged_into = [one.merged_into for one in steps if one.merged_into]
    return list(dict.fromkeys([*merged_into, *(one.memory_id for one in steps if one.memory_id)]))


def _action(steps: Sequence[PlanStep], memories: Mapping[str, Memory]) -> ReviewAction:
    if any(one.merged_into in memories for one in steps):
        return ReviewAction.MERGE
    return {Verdict.CREATED: ReviewAction.CREATE, Verdict.UPDATED: ReviewAction.UPDATE}.get(
        steps[0].verdict, ReviewAction.DELETE
    )


def admit(review: Review, known: Mapping[str, Review]) -> Review | str:
    """Return *review* as it is stored beside the *known* ones of its scope, or the reason why it is not stored.

    What was proposed before is one review with the evidence of both. What was rejected is proposed again by an event
    that was not among those that were rejected, or that has neither an id nor a time.
    """
    before = known.get(review.id)
    if before and before.state is ReviewState.OPEN:
        evidence = joined_evidence(before.evidence, review.evidence)
        newest = replace(review, evidence=evidence, rejected=before.rejected, created=before.created)
        at, validity = max(before.at, review.at), _joined_validity(before, review)
        return replace(newest, at=at, validity=validity, expires=max(before.expires, review.expires))
    if before and before.state is ReviewState.REJECTED and _cites_only(review, before.rejected):
        return REJECTED_BEFORE
    if sum(one.state is ReviewState.OPEN for one in known.values()) >= MAX_OPEN:
        return TOO_MANY
    return replace(review, rejected=before.rejected) if before else review


def _joined_validity(before: Review, review: Review) -> Validity:
    """Return when the text of two proposals holds: as the newer evidence says, or the older where it does not."""
    newer, older = (review, before) if review.at >= before.at else (before, review)
    return older.validity if newer.validity.is_open else newer.validity


def _cites_only(review: Review, rejected: Collection[str]) -> bool:
    return bool(review.event_hashes) and all(one in rejected for one in review.event_hashes)


# ---- decisions


def check_acceptable(
    review: Review, memories: Mapping[str, Memory], left: Iterable[Tombstone], hashes: KeyedHashes
) -> None:
    """Check that *review* can be accepted; *memories* and the tombstones *left* are those of its scope.

    Raises:
        FailedPrecondition: a memory is gone or has another text, or what the review says is there or was deleted.
    """
    for one in review.memories:
        memory = memories.get(one.id)
        if memory is None or hashes.of_text(memory.fact) != one.mark:
            raise FailedPrecondition(f"memory {one.id!r} has changed since the review was made; reject the review")
    if review.text and not review.profile and _is_deleted(review, left, hashes):
        raise FailedPrecondition("a memory was deleted after this was said; what it says is not brought back")
    if review.action is ReviewAction.CREATE and _is_there(review, memories.values()):
        raise FailedPrecondition("the scope has such a memory by now; reject the review")


def _is_deleted(review: Review, left: Iterable[Tombstone], hashes: KeyedHashes) -> bool:
    text_hash = hashes.of_text(review.text)
    return tombstones.refusal(review.text, review.event_hashes, text_hash, review.at, left) is not None


def _is_there(review: Review, memories: Collection[Memory]) -> bool:
    if review.profile:
        return find_profile(memories, review.profile) is not None
    return any(wording.normalized(one.fact) == wording.normalized(review.text) for one in memories if not one.profile)


def accepted_changes(
    review: Review, memories: Mapping[str, Memory], policy: WindowPolicy, vector: bytes, new_id: str, *, now: datetime
) -> list[Change]:
    """Return the changes that the acceptance of *review* makes, as the generation would have made them.

    A pinned memory stays pinned, and so does what it becomes part of.
    """
    seqs = review.evidence[-1].seqs if review.evidence else ()
    change = FactChange.FORGETS if review.forgets else None
    candidate = Candidate(review.fact, seqs, review.at, review.topics, profile=review.profile, change=change)
    pinned = any(memories[one.id].pinned for one in review.memories)
    made = (
        consolidation.change(policy, new_id, candidate, step, memories.get(step.memory_id or ""), now=now)
        for step in accepted_steps(review, vector)
    )
    return [change if change.after.deleted else _completed(change, review, pinned=pinned) for change in made if change]


def _completed(change: Change, review: Review, *, pinned: bool) -> Change:
    """Return *change* with all evidence of *review*, and with the scopes that the hashes in it come from."""
    before = change.before.evidence if change.before else ()
    evidence = joined_evidence(before, [one for one in review.evidence if one.seqs])
    origins = tuple(dict.fromkeys([*change.after.origins, *review.origins]))
    return replace(change, after=replace(change.after, evidence=evidence, pinned=pinned, origins=origins))


def accepted_steps(review: Review, vector: bytes) -> list[PlanStep]:
    """Return the steps that *review* waits with."""
    names = [one.id for one in review.memories]
    as_update = PlanStep(
        Verdict.UPDATED,
        names[0] if names else None,
        review.text,
        vector,
        validity=review.validity,
        is_correction=review.is_correction,
    )
    match review.action:
        case ReviewAction.CREATE:
            return [replace(as_update, verdict=Verdict.CREATED, memory_id=None)]
        case ReviewAction.UPDATE:
            return [as_update]
        case ReviewAction.DELETE:
            return [PlanStep(Verdict.DELETED, names[0])]
        case ReviewAction.MERGE:
            update = [as_update] if review.text else []
            return [*update, *(PlanStep(Verdict.DELETED, one, merged_into=names[0]) for one in names[1:])]


def mark_of(review: Review, state: ReviewState, memories: Iterable[str]) -> Review:
    """Return what is left of *review* after its decision: no text; *memories* are the ids of those concerned."""
    cited = review.event_hashes if state is ReviewState.REJECTED else []
    events = list(dict.fromkeys(one for one in cited if one))
    kept = [*events[-MAX_REJECTED:], *sorted(review.rejected.difference(events))]
    bare = replace(review, text="", fact="", topics=(), reason="", evidence=(), validity=OPEN)
    bare = replace(bare, is_correction=False, forgets=False, is_imported=False)
    names = tuple(ReviewedMemory(one, "") for one in memories)
    return replace(bare, state=state, memories=names, rejected=frozenset(kept[:MAX_REJECTED]))


def dropped_marks(known: Iterable[Review]) -> list[Review]:
    """Return the oldest marks among *known*, which must go so that there is room for one more."""
    marks = sorted((one for one in known if one.state is not ReviewState.OPEN), key=lambda one: (one.created, one.id))
    return marks[: max(0, len(marks) - MAX_MARKS + 1)]


# ---- listing


def parse_review_filter(text: str) -> Filter:
    """Return the filter of a list of reviews. Raises InvalidArgument."""
    return parse(text, FIELDS)


def review_values(review: Review) -> dict[str, object]:
    """Return the values of *review* for filters."""
    return {
        "scope": review.scope,
        "action": review.action.value,
        "cause": review.cause.value,
        "create_time": review.created,
    }
