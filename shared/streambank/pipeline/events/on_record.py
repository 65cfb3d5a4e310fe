"""The reaction to a record of the table's stream. Records only accelerate: losing all of them loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.model.window import WindowState
from streambank.pipeline.events.seal import seal_if_due
from streambank.pipeline.generation.start import start
from streambank.store import keys
from streambank.store.executions import Executions
from streambank.store.keys import Kind
from streambank.store.streams import Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """The key of a stream record, which is all that is used of it: the rest may be old."""

    bank: str
    sid: str
    window: int | None

    @classmethod
    def of(cls, pk: str, sk: str) -> ChangedItem:
        """Return the record of a HEAD or a window."""
        bank, sid = keys.owner(pk)
        return cls(bank, sid, int(keys.name_in(sk)) if keys.kind_of(sk) == Kind.WINDOW else None)


@dataclass(frozen=True, slots=True)
class OnRecordContext:
    """What the reaction to a record needs."""

    streams: Streams
    windows: Windows
    executions: Executions
    clock: Callable[[], datetime]


def on_record(record: ChangedItem, *, context: OnRecordContext) -> None:
    """Seal a window that is due, start a sealed one, or the one after an ended one. Repeating it changes nothing.

    Raises:
        Conflict: the stream was written at every try.
    """
    if record.window is None:
        seal_if_due(record.bank, record.sid, streams=context.streams, clock=context.clock)
        return
    window = context.windows.get(record.bank, record.sid, record.window)
    if window and window.has_ended:
        window = context.windows.get(record.bank, record.sid, record.window + 1)
    # The sweep retries: starting from the record of a failure would retry without a pause.
    if window and window.state is WindowState.SEALED and window.attempt == 0:
        start(window, windows=context.windows, executions=context.executions)
