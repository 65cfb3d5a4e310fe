"""The reaction to a record of the table's stream. Records only accelerate: losing all of them loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.model.window import WindowState
from streambank.pipeline.events.seal import seal_if_due
from streambank.pipeline.generation.start import start
from streambank.pipeline.jobs import index_scope
from streambank.pipeline.jobs.index_scope import IndexContext
from streambank.store import keys
from streambank.store.executions import Executions
from streambank.store.keys import Kind
from streambank.store.streams import Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """The key of a stream record, which is all that is used of it: the rest may be old.

    *name* is the sid of a HEAD or a window, the cid of a scope's version.
    """

    kind: str
    bank: str
    name: str
    window: int = 0

    @classmethod
    def of(cls, pk: str, sk: str) -> ChangedItem:
        """Return the record of a HEAD, of a window, or of the version of a scope."""
        kind = keys.kind_of(sk)
        return cls(kind, *keys.owner(pk), int(keys.name_in(sk)) if kind == Kind.WINDOW else 0)


@dataclass(frozen=True, slots=True)
class OnRecordContext:
    """What the reaction to a record needs."""

    streams: Streams
    windows: Windows
    executions: Executions
    index_context: Callable[[], IndexContext]
    clock: Callable[[], datetime]


def on_record(record: ChangedItem, *, context: OnRecordContext) -> None:
    """Do what a record is a reason for; repeating it changes nothing.

    A HEAD: seal a window that is due. A window: start a sealed one, or the one after an ended one. The version of a
    large scope: keep its index up.

    Raises:
        Conflict: others wrote the stream, or the index, at every try.
    """
    match record.kind:
        case Kind.HEAD:
            seal_if_due(record.bank, record.name, streams=context.streams, clock=context.clock)
        case Kind.VERSION:
            index_scope.follow(record.bank, record.name, context=context.index_context())
        case _:
            _start(record, context)


def _start(record: ChangedItem, context: OnRecordContext) -> None:
    window = context.windows.get(record.bank, record.name, record.window)
    if window and window.has_ended:
        window = context.windows.get(record.bank, record.name, record.window + 1)
    # The sweep retries: starting from the record of a failure would retry without a pause.
    if window and window.state is WindowState.SEALED and window.attempt == 0:
        start(window, windows=context.windows, executions=context.executions)
