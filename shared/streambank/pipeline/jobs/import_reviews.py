"""The open reviews of an export, as reviews of the scope that they are imported into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from streambank.model.record import ReviewRecord
from streambank.model.review import Review, ReviewedMemory
from streambank.pipeline.jobs.import_ids import MemoryOrigin, live_memories
from streambank.rules import reviews as rules
from streambank.rules.import_outcome import ImportOutcome
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.imports import Imports


def name_reviews(
    bank: str,
    records: Sequence[ReviewRecord],
    known: Mapping[str, Review],
    *,
    imports: Imports,
    secret: bytes,
    now: datetime,
) -> list[tuple[ReviewRecord, ImportOutcome, Review]]:
    """Return what becomes of each of *records*, all of one scope, beside the *known* reviews, with the review to store.

    A review keeps its memories, also where an import renamed them. It conflicts where one of them is not there, or has
    another text by now: nobody could accept it. What was proposed here too, or was decided, stays as it is.
    """
    scope, stored = records[0].review.scope, dict(known)
    hashes = KeyedHashes.of_scope(secret, bank, scope)
    origins = {MemoryOrigin(each.memory_id, each.created) for one in records for each in one.memories}
    memories = live_memories(bank, scope, origins, imports=imports, secret=secret, now=now)
    named = list[tuple[ReviewRecord, ImportOutcome, Review]]()
    for record in records:
        live = [memories.get(MemoryOrigin(one.memory_id, one.created)) for one in record.memories]
        marks = [hashes.of_text(one.fact) for one in record.memories]
        reviewed = tuple(
            ReviewedMemory(memory.id, mark)
            for memory, mark in zip(live, marks, strict=True)
            if memory and hashes.of_text(memory.fact) == mark
        )
        review = record.review
        names = [one.id for one in reviewed]
        review_id = rules.review_id(review.action, review.text, review.profile, names, hashes)
        review = replace(review, id=review_id, memories=reviewed)
        outcome = _outcome(review, stored, is_whole=len(reviewed) == len(live), now=now)
        if outcome is ImportOutcome.IMPORTED:
            stored[review.id] = review
        named.append((record, outcome, review))
    return named


def _outcome(review: Review, known: Mapping[str, Review], *, is_whole: bool, now: datetime) -> ImportOutcome:
    if not review.is_live(now):
        return ImportOutcome.EXPIRED
    if not is_whole:
        return ImportOutcome.CONFLICTING
    if review.id in known:
        return ImportOutcome.KEPT
    return ImportOutcome.CONFLICTING if isinstance(rules.admit(review, known), str) else ImportOutcome.IMPORTED
