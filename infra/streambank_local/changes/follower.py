"""Follows the change feeds of all banks, and sends what they tell to a target, in order and at least once."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Protocol

from streambank.model.change_record import RecordPosition
from streambank.pipeline.memories import changes as feed
from streambank.pipeline.memories.changes import FeedRequest
from streambank.rules.change_feed import FeedCursor
from streambank.rules.filtering import parse
from streambank.store.banks import Banks
from streambank.store.changes import Changes
from streambank.store.table import Table
from streambank.wire.change import change_event
from streambank.wire.page_room import weightless
from streambank_local.changes.targets import Target

POLL_SECONDS = 0.2
# Also where the table's stream is quiet: what was not settled may have had no room in a cursor.
LONGEST_REST_SECONDS = 10.0
_PAGE = 100

_log = logging.getLogger(__name__)


class Kept(Protocol):
    """Keeps the places up to which feeds were sent."""

    def setting(self, name: str, make: Callable[[], bytes]) -> bytes: ...

    def set(self, name: str, content: bytes) -> None: ...


class InMemory:
    """Keeps them until the process ends."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def setting(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Return what is kept under *name*, made by the first call."""
        return self._kept.setdefault(name, make())

    def set(self, name: str, content: bytes) -> None:
        """Keep *content*."""
        self._kept[name] = content


class ChangeFollower:
    """Sends the changes of all banks in a thread of its own; *records* counts what the table's stream has had."""

    def __init__(
        self, table: Table, target: Target, kept: Kept, now: Callable[[], datetime], records: Callable[[], int]
    ) -> None:
        self._banks, self._changes = Banks(table), Changes(table)
        self._target = target
        self._kept = kept
        self._now = now
        self._records = records
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="local-changes", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; what was not sent is sent after the next start, if its place is kept."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        seen, rested = -1, 0.0
        while not self._stopped.wait(POLL_SECONDS):
            records, rested = self._records(), rested + POLL_SECONDS
            if records == seen and rested < LONGEST_REST_SECONDS:
                continue
            try:
                self.send_all()
            except Exception:  # noqa: BLE001 - the next poll tries again
                _log.exception("changes could not be read")
                continue
            seen, rested = records, 0.0

    def send_all(self) -> None:
        """Send what the feeds of all banks tell by now."""
        for bank in self._banks.list():
            while self._send_page(bank.id):
                pass

    def _send_page(self, bank: str) -> bool:
        """Send a page of a bank's changes and keep its end; tell whether there may be more."""
        name = f"changes-{bank}"
        cursor = _cursor(self._kept.setting(name, lambda: _text(FeedCursor())))
        request = FeedRequest(parse("", {}), _PAGE, weightless)
        page, end = feed.of_bank(bank, request, cursor, _mark, changes=self._changes, now=self._now())
        for one in page:
            if not self._target.send(change_event(one, bank, None), self._stopped.wait):
                return False
        if end != cursor:
            self._kept.set(name, _text(end))
        return bool(page)


def _mark(position: RecordPosition) -> str:
    return f"{position.cid}-{position.version}"


def _text(cursor: FeedCursor) -> bytes:
    return json.dumps({**asdict(cursor), "marks": sorted(cursor.marks)}).encode()


def _cursor(text: bytes) -> FeedCursor:
    fields = json.loads(text)
    return FeedCursor(RecordPosition(**fields.pop("after")), frozenset(fields.pop("marks")), **fields)
