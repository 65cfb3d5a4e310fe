"""Reviews as items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streambank.model.review import Review, ReviewAction, ReviewCause, ReviewedMemory, ReviewState
from streambank.store import codec, history_items, keys, text
from streambank.store.actions import Put
from streambank.store.attributes import milliseconds, seconds
from streambank.store.evidence_codec import (
    evidence_of,
    evidence_values,
    origins_of,
    origins_text,
    packed_hashes,
    unpacked_hashes,
)
from streambank.store.keys import Kind
from streambank.store.table import Table


def review_put(bank: str, review: Review) -> Put:
    """Return the write of a review, or of the mark that is left of it."""
    return Put(keys.review(bank, review.id), review_values(bank, review))


def review_values(bank: str, review: Review) -> codec.Values:
    is_open = review.state is ReviewState.OPEN
    return {
        "st": review.state,
        "act": review.action,
        "cau": review.cause,
        "at": milliseconds(review.created),
        "asof": milliseconds(review.at),
        "mem": text.dumps([[one.id, one.mark] for one in review.memories]) if review.memories else None,
        "d": text.compressed([review.text, review.fact, review.reason]) if is_open else None,
        "num": review.number,
        "top": text.dumps(list(review.topics)) if review.topics else None,
        "prof": review.profile or None,
        **evidence_values(review.evidence),
        "rjh": packed_hashes(sorted(review.rejected)) or None,
        "org": origins_text(review.origins),
        **history_items.validity_values(review.validity),
        "corr": int(review.is_correction) or None,
        "fgt": int(review.forgets) or None,
        "imp": int(review.is_imported) or None,
        "exp": milliseconds(review.expires),
        "ttl": seconds(review.expires),
        "G2PK": keys.list_partition(bank, Kind.REVIEW, review.id) if is_open else None,
        "G2SK": milliseconds(review.created) if is_open else None,
    }


def review_of(item: Mapping[str, Any], scope: dict[str, str]) -> Review:
    proposed, fact, reason = text.decompressed(item["d"]) if "d" in item else ("", "", "")
    return Review(
        id=keys.name_in(item["SK"]),
        scope=scope,
        action=ReviewAction(item["act"]),
        cause=ReviewCause(item["cau"]),
        created=codec.instant_of(item["at"]),
        expires=codec.instant_of(item["exp"]),
        at=codec.instant_of(item["asof"]),
        memories=_memories_of(item),
        text=proposed,
        fact=fact,
        number=item["num"],
        topics=tuple(json.loads(item.get("top", "[]"))),
        profile=item.get("prof", ""),
        reason=reason,
        evidence=tuple(evidence_of(item)),
        rejected=frozenset(unpacked_hashes(item.get("rjh", b""))),
        state=ReviewState(item["st"]),
        origins=origins_of(item),
        validity=history_items.validity_of(item),
        is_correction=bool(item.get("corr")),
        forgets=bool(item.get("fgt")),
        is_imported=bool(item.get("imp")),
    )


def _memories_of(item: Mapping[str, Any]) -> tuple[ReviewedMemory, ...]:
    return tuple(ReviewedMemory(name, mark) for name, mark in json.loads(item.get("mem", "[]")))


def delete_of_memory(table: Table, scope_key: str, memory_id: str) -> None:
    """Delete the open reviews of partition *scope_key* that would change a memory, which is deleted."""
    items = table.query(scope_key, prefix=Kind.REVIEW.prefix)
    concerned = (item for item in items if item["st"] == ReviewState.OPEN)
    named = (item for item in concerned if any(one.id == memory_id for one in _memories_of(item)))
    table.delete_all(map(keys.key_of, named))
