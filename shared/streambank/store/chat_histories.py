"""Chat histories of any size: one conditional write of a pointer replaces a history as a whole.

Messages that fit into the pointer's item are in it. More are cut into chunks whose keys have their version. A note in
index `due` names every version that no pointer names: a new version until the write that replaces the pointer, which
deletes the note, and an old one from that write on. The sweep deletes the chunks that a note names, so that chunks need
no TTL of their own, and none that are read can expire (docs/decisions/0014-chat-history.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from streambank.model import ids
from streambank.model.chat import ChatHistory
from streambank.store import codec, keys, text
from streambank.store.actions import Action, ConditionCheck, Delete, Put, Update, absent, equals, present
from streambank.store.attributes import instant, milliseconds, seconds
from streambank.store.table import Table

# Bytes of a chunk: an item takes 400 KB.
CHUNK_BYTES = 350_000
# When chunks that no pointer names are deleted. A call runs for 30 s at most; a slower one only fails.
CLEARED_AFTER = timedelta(minutes=2)
_NEW, _OLD = "OPEN", "LEFT"


@dataclass(frozen=True, slots=True)
class Pointer:
    """The item of a conversation: its version, and where the messages are; *chunks* is 0 if they are in *data*."""

    conversation_id: str
    format: str
    version: str
    updated: datetime
    expires: datetime | None
    chunks: int
    data: bytes = b""

    def is_live(self, now: datetime) -> bool:
        """Tell whether reads return the conversation at *now* (I9: TTL deletion lags)."""
        return self.expires is None or self.expires > now


class ChatHistories:
    """The access patterns of `H#`; what has more than *chunk_bytes* after compression is cut into chunks."""

    def __init__(self, table: Table, *, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._table = table
        self._chunk_bytes = chunk_bytes

    # ---- reading

    def find(self, bank: str, conversation_id: str) -> Pointer | None:
        """Return a conversation's pointer as it is stored, also an expired one; or None."""
        item = self._table.get(keys.chat_pointer(bank, ids.digest(conversation_id)))
        return pointer_of(item) if item else None

    def read(self, bank: str, pointer: Pointer) -> ChatHistory | None:
        """Return the history that *pointer* names, or None if it was replaced and deleted since."""
        data = self._chunks(bank, pointer) if pointer.chunks else pointer.data
        if data is None:
            return None
        messages = tuple(text.decompressed(data))
        return ChatHistory(
            pointer.conversation_id, messages, pointer.format, pointer.version, pointer.updated, pointer.expires
        )

    def _chunks(self, bank: str, pointer: Pointer) -> bytes | None:
        chunks = keys.chat_chunks(bank, ids.digest(pointer.conversation_id), pointer.version, pointer.chunks)
        items = self._table.read(chunks)
        return b"".join(bytes(items[key]["d"]) for key in chunks) if len(items) == len(chunks) else None

    def id_of(self, bank: str, name: str) -> str | None:
        """Return the id of the conversation whose id has the hash *name*, or None."""
        item = self._table.get(keys.chat_pointer(bank, name))
        return item["id"] if item else None

    # ---- writing

    def prepare(self, bank: str, history: ChatHistory, *, now: datetime) -> Pointer:
        """Write the chunks of a large history, which no read returns yet, and return the pointer for `replace`."""
        data = text.compressed(history.messages)
        pieces = [data[start : start + self._chunk_bytes] for start in range(0, len(data), self._chunk_bytes)]
        pointer = _pointer(history, 0, data) if len(pieces) == 1 else _pointer(history, len(pieces))
        if pointer.chunks:
            name = ids.digest(history.conversation_id)
            self._table.write(_note(bank, name, pointer, _NEW, now))
            for key, piece in zip(keys.chat_chunks(bank, name, pointer.version, len(pieces)), pieces, strict=True):
                self._table.write(Put(key, {"d": piece, "ttl": seconds(history.expires)}))
        return pointer

    def replace(
        self,
        bank: str,
        before: Pointer | None,
        after: Pointer,
        *,
        guards: Sequence[ConditionCheck] = (),
        now: datetime,
    ) -> None:
        """Replace *before* by *after* in one write, together with the notes and the registry entry.

        Raises:
            Conflict: the conversation was stored or deleted since *before* was read, the chunks of *after* were
                deleted because they took too long, or one of *guards* fails; nothing was written.
        """
        name = ids.digest(after.conversation_id)
        condition = equals(ver=before.version) if before else absent()
        put = Put(keys.chat_pointer(bank, name), pointer_values(after), condition)
        actions: list[Action] = [put, *guards]
        if after.chunks:
            actions.append(Delete(keys.chat_note(bank, name, after.version), equals(st=_NEW)))
        if before and before.chunks:
            actions.append(_note(bank, name, before, _OLD, now))
        if not (before and before.expires is None and after.expires is None):
            actions.append(Put(keys.registered_chat(bank, name), {"ttl": seconds(after.expires)}))
        self._write(actions)

    def delete(self, bank: str, before: Pointer, *, now: datetime) -> None:
        """Delete a conversation. Raises Conflict if it was stored or deleted since *before* was read."""
        name = ids.digest(before.conversation_id)
        pointer = Delete(keys.chat_pointer(bank, name), equals(ver=before.version))
        notes = [_note(bank, name, before, _OLD, now)] if before.chunks else []
        self._write([pointer, Delete(keys.registered_chat(bank, name)), *notes])

    def _write(self, actions: list[Action]) -> None:
        """Write all *actions* together; a single put is no transaction, which would cost twice as much."""
        first = actions[0]
        if len(actions) == 1 and isinstance(first, Put):
            self._table.write(first)
        else:
            self._table.transact(actions)

    def clear(self, bank: str, name: str, version: str) -> None:
        """Delete the chunks of a version that no pointer names; a deletion that stopped may be repeated.

        From its first write on no pointer can be set to the version: what is deleted here is never read.
        *name* is the hash of the conversation's id. Raises Conflict if a pointer was set to it, or it was deleted.
        """
        key = keys.chat_note(bank, name, version)
        note = self._table.write(Update(key, {"st": _OLD}, present()))
        chunks = keys.chat_chunks(bank, name, version, note["n"]) if note else []
        self._table.delete_all([*chunks, key])


# ---- items


def _pointer(history: ChatHistory, chunks: int, data: bytes = b"") -> Pointer:
    return Pointer(
        history.conversation_id, history.format, history.version, history.updated, history.expires, chunks, data
    )


def _note(bank: str, name: str, pointer: Pointer, state: str, now: datetime) -> Put:
    key = keys.chat_note(bank, name, pointer.version)
    return Put(key, {"st": state, "n": pointer.chunks, **codec.due_values(key, now + CLEARED_AFTER)})


def pointer_values(pointer: Pointer) -> codec.Values:
    return {
        "id": pointer.conversation_id,
        "fmt": pointer.format,
        "ver": pointer.version,
        "at": milliseconds(pointer.updated),
        "exp": milliseconds(pointer.expires),
        "ttl": seconds(pointer.expires),
        "n": pointer.chunks,
        "d": None if pointer.chunks else pointer.data,
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
    )
