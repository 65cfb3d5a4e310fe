"""The emulator's state on the disk: loaded, and kept for as long as the service runs.

Executions of the state machine and records of the stream are not kept. The sweep starts a pending window again, as it
does for one whose stream record is lost; the name of its execution is free then, and each step of it may run twice.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from moto.dynamodb.models import dynamodb_backends

from streambank_local.clock import MovableClock
from streambank_local.disk.store import Store
from streambank_local.emulator import objects
from streambank_local.emulator.journal import TableJournal
from streambank_local.emulator.requests import kept_by
from streambank_local.emulator.stack import ACCOUNT, REGION, Stack

_OFFSET = "clock offset in microseconds"
_MICROSECOND = timedelta(microseconds=1)


def clock_of(store: Store) -> MovableClock:
    """Return the clock as it was moved before, which keeps each further move. Raises NotKeptError."""
    offset = int(store.setting(_OFFSET, lambda: b"0")) * _MICROSECOND
    return MovableClock(offset, lambda moved: store.set(_OFFSET, str(moved // _MICROSECOND).encode()))


@contextmanager
def kept_in(store: Store, stack: Stack, now: Callable[[], datetime]) -> Iterator[None]:
    """Load the table and the objects, and keep what changes. Raises NotKeptError."""
    journal = TableJournal(dynamodb_backends[ACCOUNT][REGION].get_table(stack.table_name), store)
    journal.load(now())
    objects.load(store, stack, now())
    with kept_by(journal), objects.kept_in(store, now):
        yield
