"""Sealing a window: the same function for every reason."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from streambank.errors import Conflict
from streambank.model.bank import Bank
from streambank.model.rule import Reason
from streambank.model.stream import Head
from streambank.rules import triggers, window
from streambank.store.streams import Streams


def seal(head: Head, reason: Reason, bank: Bank | None, *, streams: Streams, now: datetime) -> Head:
    """Seal *head*'s open window and return the head after it.

    Raises:
        Conflict: the stream was written meanwhile; read it again.
    """
    rule = triggers.effective_rule(None, head.rule, bank.default_rule if bank else None)
    opened, closed = window.seal(head, reason, rule, now=now)
    return streams.seal(head, opened, closed)


def seal_if_due(bank: str, sid: str, *, streams: Streams, clock: Callable[[], datetime], tries: int = 3) -> bool:
    """Seal a stream's open window if it is due by its head as it is now, and tell whether it was.

    Raises:
        Conflict: the stream was written at every try.
    """
    for attempt in range(tries):
        now = clock()
        head, settings = streams.head_and_bank(bank, sid)
        # Nothing is sealed for a bank that is being deleted, nor while a move brings the events.
        if head is None or settings is None or head.is_moving:
            return False
        reason = triggers.must_seal_first(
            head, triggers.effective_rule(None, head.rule, settings.default_rule), now=now
        )
        if reason is None:
            return False
        try:
            seal(head, reason, settings, streams=streams, now=now)
        except Conflict:
            if attempt == tries - 1:
                raise
        else:
            return True
    return False
