"""The sources of a memory in replies: the windows that it was made of, and the events that it cites there."""

import sys
from collections.abc import Mapping
from itertools import takewhile
from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model import memory as model
from streambank.model.ids import OperationId
from streambank.wire.page_room import PageRoom, body_bytes
from streambank.wire.reply import without_nulls

# Of one window in the sources of a memory.
MAX_SEQUENCES = 100
# Of the ids of events in the sources of a memory.
MAX_EVENT_ID_BYTES = 1_000_000

# The ids of events, by stream key and number.
EventIds = Mapping[tuple[str, int], str]


class MemorySource(TypedDict):
    """A window that a memory was made of or renewed by, and the numbers of the newest events that it cites there.

    The count is there if the memory keeps more numbers of the window than these. The ids of these events that are
    stored are there where one memory is read.
    """

    operation: str
    sequences: list[int]
    sequenceCount: NotRequired[int | None]
    eventIds: NotRequired[list[str] | None]


def cited_events(one: model.Memory) -> dict[OperationId, list[int]]:
    """Return the numbers of the newest events that a memory cites, by their windows.

    Evidence that was imported has no hashes, and is left out: its streams are those of the exported bank.
    """
    cited: dict[OperationId, set[int]] = {}
    for evidence in one.evidence:
        hashed = {seq for seq, event_hash in zip(evidence.seqs, evidence.hashes, strict=False) if event_hash}
        cited.setdefault(OperationId(evidence.sid, evidence.window), set()).update(hashed)
    return {window: sorted(seqs)[-MAX_SEQUENCES:] for window, seqs in cited.items() if seqs}


def _cited(one: model.Memory) -> dict[OperationId, list[int]]:
    cited: dict[OperationId, set[int]] = {}
    for evidence in one.evidence:
        cited.setdefault(OperationId(evidence.sid, evidence.window), set()).update(evidence.seqs)
    return {window: sorted(seqs) for window, seqs in cited.items()}


def sources(one: model.Memory, bank_name: str, event_ids: EventIds) -> list[MemorySource]:
    """Return the operations that a memory comes from, with the numbers of the events that it cites."""
    room = PageRoom[str](sys.maxsize, body_bytes, MAX_EVENT_ID_BYTES)
    return [_source(window, seqs, bank_name, event_ids, room) for window, seqs in _cited(one).items()]


def _source(
    window: OperationId, seqs: list[int], bank_name: str, event_ids: EventIds, room: PageRoom[str]
) -> MemorySource:
    newest = seqs[-MAX_SEQUENCES:]
    ids = (event_ids[window.sid, seq] for seq in newest if (window.sid, seq) in event_ids)
    return without_nulls(
        MemorySource(
            operation=f"{bank_name}/operations/{window}",
            sequences=newest,
            sequenceCount=len(seqs) if len(seqs) > MAX_SEQUENCES else None,
            eventIds=list(takewhile(room.admits, ids)) or None,
        )
    )
