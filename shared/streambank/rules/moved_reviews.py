"""Open reviews of a scope that is moved: what they are recognised by is of the target then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streambank.model import ids
from streambank.model.review import Review, ReviewedMemory
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.moves import origins_after
from streambank.rules.reviews import review_id


def moved_review(
    review: Review,
    target: Mapping[str, str],
    facts: Mapping[str, str],
    sids: Mapping[str, str],
    *,
    before: KeyedHashes,
    after: KeyedHashes,
) -> Review:
    """Return *review* as one of *target*.

    *facts* are the texts of its memories by their ids, *sids* the keys of the moved streams with those in the target,
    and the hashes those of both scopes.
    """
    names = [one.id for one in review.memories]
    return replace(
        review,
        id=review_id(review.action, review.text, review.profile, names, after),
        scope=dict(target),
        memories=tuple(_marked(one, facts.get(one.id), before, after) for one in review.memories),
        evidence=tuple(replace(one, sid=sids.get(one.sid, one.sid)) for one in review.evidence),
        origins=origins_after(review.origins, ids.canonical(review.scope), ids.canonical(target)),
    )


def _marked(memory: ReviewedMemory, fact: str | None, before: KeyedHashes, after: KeyedHashes) -> ReviewedMemory:
    """Return *memory* with the mark of its text in the target; the mark of another text than it has stays wrong."""
    is_same = fact is not None and before.of_text(fact) == memory.mark
    return replace(memory, mark=after.of_text(fact)) if fact is not None and is_same else memory
