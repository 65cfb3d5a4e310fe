"""The items of a chat history as values: its pointer, the notes about its parts, the markers of its appends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from streambank.model import ids
from streambank.model.chat import AppendedChat, ChatHistory, ChatSize
from streambank.model.event import CallMarker
from streambank.rules.chat_size import size_of
from streambank.store import codec, keys
from streambank.store.actions import Put, absent_or_expired
from streambank.store.attributes import instant, milliseconds, seconds

# When parts that no pointer names are deleted. A call runs for 30 s at most; a slower one only fails.
CLEARED_AFTER = timedelta(minutes=2)
# How much longer than their conversation its parts are kept at most. Appends that extend its time write the parts anew
# only when they would expire too early: at most once a day.
_PARTS_GRACE = timedelta(days=1)
# The states of a note: a new version before the write that sets the pointer, and an old one after it.
NEW, OLD = "OPEN", "LEFT"


@dataclass(frozen=True, slots=True)
class Pointer:
    """The item of a conversation: its version, and where the messages are.

    The first of them are in *chunks* chunks, or in *data* if that is 0; appended ones follow in *blocks* blocks. Both
    have *base* in their keys, the version of the last write that replaced the whole, and the TTL *parts_expire*.
    *size* is None in items of earlier releases. *salt* is the first version of the conversation; a deletion ends it.
    *keys_until* is when the last idempotency key of an append is forgotten.
    """

    conversation_id: str
    format: str
    version: str
    updated: datetime
    expires: datetime | None
    chunks: int
    data: bytes = b""
    base: str = ""
    blocks: int = 0
    size: ChatSize | None = None
    parts_expire: datetime | None = None
    salt: str = ""
    keys_until: datetime | None = None

    @property
    def has_parts(self) -> bool:
        """Tell whether there are chunks or blocks."""
        return self.chunks + self.blocks > 0

    @property
    def is_deleted(self) -> bool:
        """Tell whether only the idempotency keys of a conversation are left."""
        return not self.conversation_id

    def is_live(self, now: datetime) -> bool:
        """Tell whether reads return the conversation at *now* (I9: TTL deletion lags)."""
        return self.expires is None or self.expires > now

    def keeps_parts_until(self, expires: datetime | None) -> bool:
        """Tell whether the parts that are there are kept as long as a conversation that ends at *expires*."""
        if self.parts_expire is None or expires is None:
            return self.parts_expire is None and expires is None
        return expires <= self.parts_expire

    def after(self, before: Pointer | None) -> Pointer:
        """Return this pointer with what outlives a replacement of *before*."""
        salt = before.salt if before else ""
        return replace(self, salt=salt or self.version, keys_until=before.keys_until if before else None)

    def with_call(self, call: KeyedCall | None) -> Pointer:
        """Return this pointer after *call*, whose key is remembered no longer than the parts are kept."""
        if call is None:
            return self
        until = min(call.until, self.parts_expire) if self.parts_expire else call.until
        return replace(self, keys_until=max(until, self.keys_until) if self.keys_until else until)


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """An append under an idempotency key, which is to be remembered until *until*."""

    marker: CallMarker
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredCall:
    """An append that was carried out under an idempotency key; *salt* names the conversation's salt then."""

    fingerprint: bytes
    salt: str
    result: AppendedChat


def new_pointer(history: ChatHistory, chunks: int, data: bytes = b"") -> Pointer:
    """Return the pointer of a history that replaces another one as a whole."""
    return Pointer(
        conversation_id=history.conversation_id,
        format=history.format,
        version=history.version,
        updated=history.updated,
        expires=history.expires,
        chunks=chunks,
        data=data,
        base=history.version,
        size=size_of(history.messages),
        parts_expire=_parts_expire(history.updated, history.expires),
        salt=history.version,
    )


def _parts_expire(now: datetime, expires: datetime | None) -> datetime | None:
    return expires and expires + min(expires - now, _PARTS_GRACE)


def pointer_values(pointer: Pointer) -> codec.Values:
    size = pointer.size
    return {
        "id": pointer.conversation_id,
        "fmt": pointer.format,
        "ver": pointer.version,
        "at": milliseconds(pointer.updated),
        "exp": milliseconds(pointer.expires),
        "ttl": seconds(pointer.keys_until if pointer.is_deleted else pointer.expires),
        "n": pointer.chunks,
        "d": None if pointer.chunks else pointer.data,
        "base": pointer.base,
        "blk": pointer.blocks or None,
        "cnt": size.messages if size else None,
        "txb": size.text_bytes if size else None,
        "utb": size.utf8_bytes if size else None,
        "pex": milliseconds(pointer.parts_expire),
        "salt": pointer.salt or None,
        "kex": milliseconds(pointer.keys_until),
    }


def pointer_of(item: Mapping[str, Any]) -> Pointer:
    return Pointer(
        conversation_id=item["id"],
        format=item["fmt"],
        version=item["ver"],
        updated=codec.instant_of(item["at"]),
        expires=instant(item.get("exp")),
        chunks=item["n"],
        data=bytes(item.get("d", b"")),
        base=item.get("base", item["ver"]),
        blocks=item.get("blk", 0),
        size=ChatSize(item["cnt"], item["txb"], item["utb"]) if "cnt" in item else None,
        parts_expire=instant(item.get("pex")),
        salt=item.get("salt", ""),
        keys_until=instant(item.get("kex")),
    )


def deleted_pointer(before: Pointer, *, now: datetime) -> Pointer:
    """Return what a deletion leaves of a conversation with idempotency keys: no id, no text, no salt."""
    return Pointer("", "", f"{before.version}-deleted", now, now, 0, base=before.base, keys_until=before.keys_until)


def note(bank: str, name: str, pointer: Pointer, state: str, now: datetime) -> Put:
    """Return the write of a note about the parts of *pointer*, which the sweep deletes a little after *now*."""
    key = keys.chat_note(bank, name, pointer.base)
    values: codec.Values = {"st": state, "n": pointer.chunks, "blk": pointer.blocks or None}
    return Put(key, {**values, **codec.due_values(key, now + CLEARED_AFTER)})


def salted(fingerprint: bytes, salt: str) -> bytes:
    """Return the fingerprint of a body as a marker keeps it: it says nothing once the salt is gone."""
    return ids.fingerprint([salt, fingerprint.hex()])


def call_put(bank: str, name: str, call: CallMarker, pointer: Pointer, *, now: datetime) -> Put:
    """Return the write of the marker of an append that makes *pointer*, unless one that counts is there."""
    size = pointer.size
    values: codec.Values = {
        "h": salted(call.fingerprint, pointer.salt),
        "slt": ids.digest("salt", pointer.salt),
        "ver": pointer.version,
        "at": milliseconds(pointer.updated),
        "exp": milliseconds(pointer.expires),
        "cnt": size.messages if size else None,
        "ttl": seconds(pointer.keys_until),
    }
    return Put(keys.chat_call(bank, name, call.key), values, absent_or_expired(seconds(now) or 0))


def stored_call(item: Mapping[str, Any], conversation_id: str) -> StoredCall:
    """Return the append that the marker *item* tells of."""
    expires = instant(item.get("exp"))
    result = AppendedChat(conversation_id, item["ver"], codec.instant_of(item["at"]), expires, item["cnt"])
    return StoredCall(bytes(item["h"]), item["slt"], result)
