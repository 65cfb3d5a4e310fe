"""The evidence that a memory keeps: the events of its latest changes."""

from __future__ import annotations

from collections.abc import Sequence

from streambank.model.memory import Evidence

# A memory keeps the evidence of its latest changes only: so many windows, and so many events of all of them together.
# Their numbers and their hashes have at most 100 KB, and an item has 400.
MAX_EVIDENCE = 20
MAX_EVIDENCE_EVENTS = 4_000


def joined_evidence(earlier: Sequence[Evidence], added: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return both as evidence of a memory: the events of one window together, the window that was added last."""
    joined = {(one.sid, one.window): one for one in earlier}
    for one in added:
        same = joined.pop((one.sid, one.window), None)
        joined[(one.sid, one.window)] = one if same is None else same.joined(one)
    return newest_evidence(tuple(joined.values()))


def newest_evidence(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the newest of *evidence*, oldest first: of 20 windows, and 4,000 events of them together."""
    newest, room = list[Evidence](), MAX_EVIDENCE_EVENTS
    for one in reversed(evidence[-MAX_EVIDENCE:]):
        if room:
            newest.append(one.newest(room))
            room -= len(newest[-1].seqs)
    return tuple(reversed(newest))
