"""Requests to the emulator's DynamoDB: one at a time, and kept before the reply where there is a journal."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from moto.dynamodb.models.dynamo_type import Item

from streambank_local.emulator.item_location import ItemLocation

_LOCK = threading.RLock()


class Journal(Protocol):
    """Keeps what each request changes."""

    def begin(self) -> None:
        """Begin a request."""

    def note(self, location: ItemLocation, before: Item | None) -> None:
        """Note that a request changed the item at *location*, and what was there."""

    def end(self) -> None:
        """Keep what the request changed; where that fails, take it back and raise the error of the reply."""


class _State:
    """The journal of this process, and what takes back the request that is under way."""

    def __init__(self) -> None:
        self.journal: Journal | None = None
        self.undo: list[Callable[[], object]] = []


_state = _State()


@contextmanager
def one_request() -> Iterator[None]:
    """Hold the emulator's lock, and keep what the request changes before its reply; raises the journal's error."""
    with _LOCK:
        journal = _state.journal
        if journal is None:
            yield
            return
        _state.undo.clear()
        journal.begin()
        try:
            yield
        finally:
            _end(journal)


def _end(journal: Journal) -> None:
    try:
        journal.end()
    except Exception:
        for take_back in _state.undo:
            take_back()
        raise


def on_loss(take_back: Callable[[], object]) -> None:
    """Call *take_back* if the request that is under way cannot be kept."""
    if _state.journal is not None:
        _state.undo.append(take_back)


def note(location: ItemLocation, before: Item | None) -> None:
    """Tell the journal, if there is one, of a change."""
    if _state.journal is not None:
        _state.journal.note(location, before)


@contextmanager
def kept_by(journal: Journal) -> Iterator[None]:
    """Let *journal* keep what requests change."""
    with _LOCK:
        _state.journal = journal
    try:
        yield
    finally:
        with _LOCK:
            _state.journal = None
