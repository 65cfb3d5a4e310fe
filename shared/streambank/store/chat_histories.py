"""Chat histories of any size: one conditional write of a pointer replaces a history as a whole, or appends to it.

Messages that fit into the pointer's item are in it. More are cut into chunks whose keys have their version. Appended
messages are a block of their own, and the pointer counts the blocks. A note in index `due` names every version whose
parts no pointer names: a new version until the write that replaces the pointer, which deletes the note, and an old one
from that write on. The sweep deletes the parts that a note names, and none that are read can expire
(docs/decisions/0014-chat-history.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from streambank.model import ids
from streambank.model.chat import ChatHistory, ChatSize
from streambank.model.event import CallMarker
from streambank.store import keys, text
from streambank.store.actions import Action, ConditionCheck, Delete, Put, Update, absent, equals, present
from streambank.store.attributes import seconds
from streambank.store.chat_items import (
    NEW,
    OLD,
    KeyedCall,
    Pointer,
    StoredCall,
    call_put,
    deleted_pointer,
    new_pointer,
    note,
    pointer_of,
    pointer_values,
    stored_call,
)
from streambank.store.table import Table

# Bytes of a chunk or a block: an item takes 400 KB.
CHUNK_BYTES = 350_000
# The append after so many makes one history of all blocks: a read stays a few requests, and a deletion a few writes.
MAX_BLOCKS = 100


class ChatHistories:
    """The access patterns of `H#`; what has more than *chunk_bytes* after compression is cut into chunks."""

    def __init__(self, table: Table, *, chunk_bytes: int = CHUNK_BYTES, max_blocks: int = MAX_BLOCKS) -> None:
        self._table = table
        self.chunk_bytes = chunk_bytes
        self._max_blocks = max_blocks

    # ---- reading

    def find(self, bank: str, conversation_id: str) -> Pointer | None:
        """Return a conversation's pointer as it is stored, also an expired one; or None."""
        item = self._table.get(keys.chat_pointer(bank, ids.digest(conversation_id)))
        return pointer_of(item) if item else None

    def has(self, bank: str, conversation_id: str) -> bool:
        """Tell whether anything of a conversation is stored but its idempotency keys, also if it has expired."""
        pointer = self.find(bank, conversation_id)
        return pointer is not None and not pointer.is_deleted

    def find_for_append(
        self, bank: str, conversation_id: str, call: CallMarker | None, *, now: datetime
    ) -> tuple[Pointer | None, StoredCall | None]:
        """Return a conversation's pointer, and the append that *call* was before: one round trip."""
        name = ids.digest(conversation_id)
        key, call_key = keys.chat_pointer(bank, name), keys.chat_call(bank, name, call.key) if call else None
        items = self._table.read([key, call_key] if call_key else [key])
        marker = items.get(call_key) if call_key else None
        is_known = marker is not None and marker["ttl"] >= (seconds(now) or 0)
        pointer = pointer_of(items[key]) if key in items else None
        return pointer, stored_call(marker, conversation_id) if marker and is_known else None

    def read(self, bank: str, pointer: Pointer) -> ChatHistory | None:
        """Return the history that *pointer* names, or None if it was replaced and deleted since."""
        name = ids.digest(pointer.conversation_id)
        first, blocks = self._first_part(bank, name, pointer), self._blocks(bank, name, pointer)
        if first is None or blocks is None:
            return None
        messages = tuple(chain.from_iterable(text.decompressed(part) for part in (first, *blocks) if part))
        return ChatHistory(
            pointer.conversation_id, messages, pointer.format, pointer.version, pointer.updated, pointer.expires
        )

    def _first_part(self, bank: str, name: str, pointer: Pointer) -> bytes | None:
        if not pointer.chunks:
            return pointer.data
        chunks = keys.chat_chunks(bank, name, pointer.base, pointer.chunks)
        items = self._table.read(chunks)
        return b"".join(bytes(items[key]["d"]) for key in chunks) if len(items) == len(chunks) else None

    def _blocks(self, bank: str, name: str, pointer: Pointer) -> list[bytes] | None:
        """Return the blocks that *pointer* counts, in their order; one query reads what many keys would cost more."""
        if not pointer.blocks:
            return []
        first, last = (keys.chat_block(bank, name, pointer.base, number) for number in (0, pointer.blocks - 1))
        items = list(self._table.query(first.pk, between=(first.sk, last.sk)))
        return [bytes(item["d"]) for item in items] if len(items) == pointer.blocks else None

    def id_of(self, bank: str, name: str) -> str | None:
        """Return the id of the conversation whose id has the hash *name*, or None."""
        item = self._table.get(keys.chat_pointer(bank, name))
        return item["id"] if item else None

    # ---- writing

    def prepare(self, bank: str, history: ChatHistory, *, in_chunks: bool = False, now: datetime) -> Pointer:
        """Write the chunks of a large history, which no read returns yet, and return the pointer for `replace`.

        With *in_chunks* a small history is a chunk too: appends write the pointer each time.
        """
        data = text.compressed(history.messages)
        pieces = [data[start : start + self.chunk_bytes] for start in range(0, len(data), self.chunk_bytes)]
        is_chunked = in_chunks or len(pieces) > 1
        pointer = new_pointer(history, len(pieces)) if is_chunked else new_pointer(history, 0, data)
        if is_chunked:
            name = ids.digest(history.conversation_id)
            self._table.write(note(bank, name, pointer, NEW, now))
            for key, piece in zip(keys.chat_chunks(bank, name, pointer.base, len(pieces)), pieces, strict=True):
                self._table.write(Put(key, {"d": piece, "ttl": seconds(pointer.parts_expire)}))
        return pointer

    def replace(
        self,
        bank: str,
        before: Pointer | None,
        after: Pointer,
        *,
        guards: Sequence[ConditionCheck] = (),
        call: KeyedCall | None = None,
        now: datetime,
    ) -> Pointer:
        """Replace *before* by *after* in one write, with the notes, the registry entry and the marker of *call*.

        Raises:
            Conflict: the conversation was stored, deleted or appended to since *before* was read, the chunks of *after*
                were deleted because they took too long, or one of *guards* fails; nothing was written.
        """
        after = after.after(before).with_call(call)
        name = ids.digest(after.conversation_id)
        actions: list[Action] = [_pointer_put(bank, name, before, after), *guards]
        if after.chunks:
            actions.append(Delete(keys.chat_note(bank, name, after.base), equals(st=NEW)))
        if before and before.has_parts:
            actions.append(note(bank, name, before, OLD, now))
        self._write([*actions, *_call_puts(bank, name, call, after, now), *_registrations(bank, name, before, after)])
        return after

    # ---- appending

    def takes_block(self, before: Pointer, block: bytes, expires: datetime | None) -> bool:
        """Tell whether *block* can be appended to what is there; else the whole is to be written anew."""
        has_room = before.blocks < self._max_blocks and len(block) <= self.chunk_bytes
        return has_room and before.size is not None and before.keeps_parts_until(expires)

    def append(
        self,
        bank: str,
        before: Pointer,
        history: ChatHistory,
        size: ChatSize,
        block: bytes,
        *,
        call: KeyedCall | None = None,
        now: datetime,
    ) -> Pointer:
        """Append *block*, the messages of *history*, in one transaction; the conversation then has *size*.

        Messages in the pointer's item move to a chunk, since an item is paid for as a whole at each write.

        Raises:
            Conflict: the conversation was stored, deleted or appended to since *before* was read; nothing was written.
        """
        name = ids.digest(history.conversation_id)
        is_moved = bool(before.data)
        after = replace(
            before,
            format=history.format,
            version=history.version,
            updated=history.updated,
            expires=history.expires,
            chunks=1 if is_moved else before.chunks,
            data=b"",
            blocks=before.blocks + 1,
            size=size,
        ).with_call(call)
        ttl = seconds(after.parts_expire)
        actions: list[Action] = [
            _pointer_put(bank, name, before, after),
            Put(keys.chat_block(bank, name, after.base, before.blocks), {"d": block, "ttl": ttl}),
        ]
        if is_moved:
            [chunk] = keys.chat_chunks(bank, name, after.base, 1)
            actions.append(Put(chunk, {"d": before.data, "ttl": ttl}))
        self._table.transact([*actions, *_call_puts(bank, name, call, after, now)])
        return after

    def begin(
        self,
        bank: str,
        before: Pointer | None,
        history: ChatHistory,
        block: bytes,
        *,
        call: KeyedCall | None = None,
        now: datetime,
    ) -> Pointer:
        """Make a conversation of one *block*, the messages of *history*, in the place of *before*, which has ended.

        Raises:
            Conflict: the conversation was stored, deleted or appended to since *before* was read; nothing was written.
        """
        name = ids.digest(history.conversation_id)
        after = replace(new_pointer(history, 0), blocks=1).after(before).with_call(call)
        actions: list[Action] = [
            _pointer_put(bank, name, before, after),
            Put(keys.chat_block(bank, name, after.base, 0), {"d": block, "ttl": seconds(after.parts_expire)}),
        ]
        if before and before.has_parts:
            actions.append(note(bank, name, before, OLD, now))
        call_puts = _call_puts(bank, name, call, after, now)
        self._table.transact([*actions, *call_puts, *_registrations(bank, name, before, after)])
        return after

    # ---- deleting

    def delete(self, bank: str, before: Pointer, *, now: datetime) -> None:
        """Delete a conversation, but not the hashes of its idempotency keys: a late append brings nothing back.

        Raises:
            Conflict: it was stored, deleted or appended to since *before* was read.
        """
        name = ids.digest(before.conversation_id)
        notes = [note(bank, name, before, OLD, now)] if before.has_parts else []
        if before.keys_until and before.keys_until > now:
            pointer = _pointer_put(bank, name, before, deleted_pointer(before, now=now))
            entry = Put(keys.registered_chat(bank, name), {"ttl": seconds(before.keys_until), "gone": 1})
            self._table.transact([pointer, entry, *notes])
            return
        pointer_deletion = Delete(keys.chat_pointer(bank, name), equals(ver=before.version))
        self._table.transact([pointer_deletion, Delete(keys.registered_chat(bank, name)), *notes])

    def _write(self, actions: list[Action]) -> None:
        """Write all *actions* together; a single put is no transaction, which would cost twice as much."""
        first = actions[0]
        if len(actions) == 1 and isinstance(first, Put):
            self._table.write(first)
        else:
            self._table.transact(actions)

    def clear(self, bank: str, name: str, version: str) -> None:
        """Delete the parts of a version that no pointer names; a deletion that stopped may be repeated.

        From its first write on no pointer can be set to the version: what is deleted here is never read.
        *name* is the hash of the conversation's id. Raises Conflict if a pointer was set to it, or it was deleted.
        """
        key = keys.chat_note(bank, name, version)
        item = self._table.write(Update(key, {"st": OLD}, present())) or {}
        chunks = keys.chat_chunks(bank, name, version, item.get("n", 0))
        blocks = (keys.chat_block(bank, name, version, number) for number in range(item.get("blk", 0)))
        self._table.delete_all([*chunks, *blocks, key])


def _pointer_put(bank: str, name: str, before: Pointer | None, after: Pointer) -> Put:
    condition = equals(ver=before.version) if before else absent()
    return Put(keys.chat_pointer(bank, name), pointer_values(after), condition)


def _call_puts(bank: str, name: str, call: KeyedCall | None, after: Pointer, now: datetime) -> Iterable[Put]:
    return (call_put(bank, name, call.marker, after, now=now),) if call else ()


def _registrations(bank: str, name: str, before: Pointer | None, after: Pointer) -> Iterable[Put]:
    """Return the write of the registry entry, unless one that never expires is there."""
    if before and before.expires is None and after.expires is None:
        return ()
    expires = after.parts_expire and max(after.parts_expire, after.keys_until or after.parts_expire)
    return (Put(keys.registered_chat(bank, name), {"ttl": seconds(expires)}),)
