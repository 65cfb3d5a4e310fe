"""What memories, reviews and tombstones have in common, as attributes: evidence, hashes of events, origins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streambank.model import ids
from streambank.model.memory import Evidence
from streambank.store import codec, text

# Stands for the hash of an event that has none.
_NO_HASH = bytes(8)


def evidence_values(evidence: Sequence[Evidence]) -> codec.Values:
    """Return the attributes that hold *evidence*: its events' numbers, and their hashes in the same order."""
    rows = [[one.sid, one.window, list(one.seqs)] for one in evidence]
    return {"ev": text.dumps(rows) if rows else None, "evh": _evidence_hashes(evidence) or None}


def _evidence_hashes(evidence: Sequence[Evidence]) -> bytes:
    """Return the hashes of all events of the evidence in their order, zeros for one without; empty without any."""
    has_any = any(one.hashes for one in evidence)
    hashes = (one.hashes or [""] * len(one.seqs) for one in evidence)
    return b"".join(map(packed_hashes, hashes)) if has_any else b""


def evidence_of(item: Mapping[str, Any]) -> Iterator[Evidence]:
    hashes, start = unpacked_hashes(item.get("evh", b"")), 0
    for sid, window, seqs in json.loads(item.get("ev", "[]")):
        own = hashes[start : start + len(seqs)]
        start += len(seqs)
        yield Evidence(sid, window, tuple(seqs), own if any(own) else ())


def packed_hashes(hashes: Iterable[str]) -> bytes:
    return b"".join(ids.keyed_hash_bytes(one) if one else _NO_HASH for one in hashes)


def unpacked_hashes(packed: bytes) -> tuple[str, ...]:
    raw, size = bytes(packed), len(_NO_HASH)
    runs = (raw[start : start + size] for start in range(0, len(raw), size))
    return tuple("" if one == _NO_HASH else ids.keyed_hash_text(one) for one in runs)


def origins_text(origins: Sequence[str]) -> str | None:
    """Return the attribute for the scopes, as canonical JSON, that a memory or tombstone was moved from."""
    return text.dumps(list(origins)) if origins else None


def origins_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(json.loads(item.get("org", "[]")))
