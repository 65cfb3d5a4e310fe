"""Tombstones as items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambank.model.tombstone import Tombstone
from streambank.store import codec, keys
from streambank.store.actions import Put
from streambank.store.attributes import milliseconds, seconds
from streambank.store.evidence_codec import origins_of, origins_text, packed_hashes, unpacked_hashes


def tombstone_put(bank: str, cid: str, tombstone: Tombstone) -> Put:
    """Return the write of a tombstone."""
    key = keys.tombstone(bank, cid, milliseconds(tombstone.expires) or 0, tombstone.memory_id)
    return Put(key, tombstone_values(tombstone))


def tombstone_values(tombstone: Tombstone) -> codec.Values:
    return {
        "mem": tombstone.memory_id,
        "at": milliseconds(tombstone.at),
        "evh": packed_hashes(sorted(tombstone.events)) or None,
        "txh": packed_hashes(sorted(tombstone.texts)) or None,
        "exp": milliseconds(tombstone.expires),
        "mrg": int(tombstone.is_merge) or None,
        "org": origins_text(tombstone.origins),
        "ttl": seconds(tombstone.expires),
    }


def tombstone_of(item: Mapping[str, Any]) -> Tombstone:
    return Tombstone(
        memory_id=item["mem"],
        at=codec.instant_of(item["at"]),
        events=frozenset(unpacked_hashes(item.get("evh", b""))),
        texts=frozenset(unpacked_hashes(item.get("txh", b""))),
        expires=codec.instant_of(item["exp"]),
        is_merge="mrg" in item,
        origins=origins_of(item),
    )
