"""What items of memories and revisions hold of the past: when texts hold, and when they were stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from streambank.model.memory import Memory, Revision
from streambank.model.validity import Statement, Validity
from streambank.store import codec
from streambank.store.attributes import instant, milliseconds

# Milliseconds, which are negative before 1970: seven bytes hold every year.
_TIME_BYTES = 7


def memory_values(memory: Memory) -> codec.Values:
    return {
        **validity_values(memory.validity),
        "stm": _packed(memory.statements) or None,
        "whole": milliseconds(memory.whole_since),
        "hid": memory.hidden or None,
    }


def revision_values(revision: Revision) -> codec.Values:
    return {
        **validity_values(revision.validity),
        "stm": _packed(revision.statements) or None,
        "corr": int(revision.is_correction) or None,
        "late": int(revision.is_late) or None,
        "vec": revision.vector or None,
    }


def validity_values(validity: Validity) -> codec.Values:
    return {"vfr": milliseconds(validity.start), "vun": milliseconds(validity.end)}


def validity_of(item: Mapping[str, Any]) -> Validity:
    return Validity(instant(item.get("vfr")), instant(item.get("vun")))


def statements_of(item: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Return the statements in *item*; one of an earlier release has none."""
    times = _unpacked(bytes(item.get("stm", b"")))
    pairs = zip(times[::2], times[1::2], strict=True)
    return tuple(Statement(codec.instant_of(at), codec.instant_of(learnt)) for at, learnt in pairs)


def known_statements(memory: Memory, made: datetime) -> tuple[Statement, ...]:
    """Return what is known of a text that was *made* by an earlier release: then, and by the newest evidence."""
    first = Statement(min(memory.as_of, made), made)
    return (first, Statement(memory.as_of, memory.as_of)) if memory.as_of > made else (first,)


def _packed(statements: Sequence[Statement]) -> bytes:
    times = (time for one in statements for time in (milliseconds(one.at) or 0, milliseconds(one.learnt) or 0))
    return b"".join(time.to_bytes(_TIME_BYTES, "big", signed=True) for time in times)


def _unpacked(packed: bytes) -> list[int]:
    starts = range(0, len(packed), _TIME_BYTES)
    return [int.from_bytes(packed[start : start + _TIME_BYTES], "big", signed=True) for start in starts]
