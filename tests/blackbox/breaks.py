"""Builds of the service that break one promise each; the histories have to notice. The oracle reads nothing here."""

from __future__ import annotations

import base64
import functools
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from streambank.errors import PermissionDenied
from streambank.model.memory import Memory
from streambank.pipeline.events import ingest
from streambank.pipeline.jobs import erase, import_records
from streambank.pipeline.jobs.erase_stream import StreamErasure
from streambank.pipeline.screening import calls
from streambank.rules import access, edits, ingest_parts, triggers
from streambank.rules.import_outcome import ImportOutcome
from streambank.store import bank_contents
from streambank.store.moved_memories import MovedMemories
from streambank.store.usage import UsageStore

# Makes the broken function of the sound one.
Break = Callable[[Any], Callable[..., Any]]


def _another_key() -> str:
    return base64.b32encode(uuid.uuid4().bytes).decode().lower().rstrip("=")


def _dedup(drop_repeats: Any) -> Any:
    def broken(events: Any) -> Any:
        renamed = [replace(one, key=one.key and _another_key()) for one in events]
        return drop_repeats(renamed)

    return broken


def _conflicts(deduplicate: Any) -> Any:
    return lambda *args: replace(deduplicate(*args), conflicts=())


def _role(check: Any) -> Any:
    def broken(*args: Any) -> None:
        try:
            check(*args)
        except PermissionDenied:
            return

    return broken


def _count_trigger(seal_reason: Any) -> Any:
    @functools.wraps(seal_reason)
    def broken(head: Any, rule: Any, *, force: bool = False) -> Any:
        reason = seal_reason(head, rule, force=force)
        return None if reason == "EVENT_COUNT" and head.count == rule.event_count else reason

    return broken


def _events_stay(_: Any) -> Any:
    def broken(self: Any, batch: Any, counts: Any) -> None:
        counts["events"] += sum(number for _, number in batch)

    return broken


def _scopes_stay(delete: Any) -> Any:
    return lambda table, bank, pk: iter(()) if pk.startswith("C#") else delete(table, bank, pk)


def _overwrites(_: Any) -> Any:
    return lambda incoming, existing, *, is_renamed, now: ImportOutcome.IMPORTED


def _pins_stay(update: Any) -> Any:
    def broken(memory: Any, edit: Any, *args: Any, **more: Any) -> Any:
        return update(memory, replace(edit, fields=edit.fields - {"pinned"}), *args, **more)

    return broken


def _always(value: Any) -> Break:
    return lambda _: lambda *args, **kwargs: value


BREAKS: dict[str, tuple[Any, str, Break]] = {
    "an event id counts again": (ingest_parts, "drop_repeats", _dedup),
    "other content of an id is not reported": (ingest_parts, "deduplicate", _conflicts),
    "an event more than the rule says is waited for": (triggers, "immediate_seal_reason", _count_trigger),
    "a timer does not fire": (triggers, "next_due", _always(None)),
    "roles are not checked": (access, "check", _role),
    "a bound key sees every scope": (access, "sees", _always(True)),
    "a key opens every bank": (access, "knows_bank", _always(True)),
    "any secret opens a key": (access, "admits", _always(True)),
    "an erasure leaves memories": (erase, "_memory_steps", lambda _: lambda *args: iter(())),
    "an erasure leaves raw events": (StreamErasure, "_delete_events", _events_stay),
    "an import overwrites": (import_records, "decide_import", _overwrites),
    "a deleted bank keeps its scopes": (bank_contents, "_delete_partition", _scopes_stay),
    "a deleted memory is live": (Memory, "is_live", _always(True)),
    "a pin is forgotten": (edits, "update", _pins_stay),
    "a move leaves memories": (MovedMemories, "memories", lambda _: lambda *args, **kwargs: iter(())),
    "what a policy names is stored": (calls, "check_refusals", _always(None)),
    "a scope learns after a no": (ingest, "_learnt", lambda _: lambda call, *args: call),
    "usage is not counted": (UsageStore, "add", _always(None)),
}


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Break the promise *name* in this process."""
    place, attribute, break_it = BREAKS[name]
    sound = getattr(place, attribute)
    setattr(place, attribute, break_it(sound))
    try:
        yield
    finally:
        setattr(place, attribute, sound)
