"""Storing, loading and deleting the history of a chat, and appending to it."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Conflict, InvalidArgument, PreconditionFailed, Unavailable
from streambank.model import ids
from streambank.model.chat import AppendedChat, ChatAppend, ChatHistory, Expectation
from streambank.model.event import CallMarker
from streambank.retry import RetryPolicy
from streambank.rules.chat_size import check_size, size_of
from streambank.store import text
from streambank.store.chat_histories import ChatHistories
from streambank.store.chat_items import KeyedCall, Pointer, StoredCall, salted

_CONTENDED = "the conversation is written by others at the same time; try again"


def load(
    bank: str, conversation_id: str, *, histories: ChatHistories, retry_policy: RetryPolicy, now: datetime
) -> ChatHistory | None:
    """Return one whole version of a conversation, or None if there is none or it has expired.

    Raises:
        Unavailable: it is replaced while it is read, at every try.
    """
    for _ in retry_policy.attempts():
        pointer = histories.find(bank, conversation_id)
        if pointer is None or not pointer.is_live(now):
            return None
        history = histories.read(bank, pointer)
        if history:
            return history
    raise Unavailable(_CONTENDED)


def store(
    bank: str,
    history: ChatHistory,
    expected: Expectation,
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    now: datetime,
) -> None:
    """Replace a conversation as a whole; without an expectation the last writer wins.

    Raises:
        PreconditionFailed: it is not the expected version; nothing was written.
        Unavailable: it is written by others at the same time.
    """
    before = _expected(bank, history.conversation_id, expected, histories, now)
    after = histories.prepare(bank, history, now=now)
    for attempt in retry_policy.attempts():
        if attempt:
            before = histories.find(bank, history.conversation_id)
            if before and before.version == after.version:
                return  # an earlier try succeeded and its reply was lost
            _check(before, expected, now)
        try:
            histories.replace(bank, before, after, now=now)
        except Conflict:
            continue
        _clear(bank, before, histories)
        return
    raise Unavailable(_CONTENDED)


def append(
    bank: str,
    call: ChatAppend,
    expected: Expectation,
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    keys_kept: timedelta,
    now: datetime,
) -> AppendedChat:
    """Put messages behind those of a conversation, all together and once; one that does not exist is made.

    Its idempotency key, if it has one, is remembered for *keys_kept*.
    Cost: one read of two items and one transaction of two or three; the whole is written anew every 100 appends.

    Raises:
        KeyReused: the idempotency key was used with another body.
        PreconditionFailed: the conversation is not the expected version.
        InvalidArgument: its messages have another format.
        PayloadTooLarge: it would be larger than a conversation may be.
        Unavailable: it is written by others at the same time.
        In each of these cases nothing was written.
    """
    for attempt in retry_policy.attempts():
        before, done = histories.find_for_append(bank, call.conversation_id, call.call, now=now)
        if done and call.call:
            _check_repeat(call.call, before, done)
            return done.result
        _check(before, expected, now)
        # Chunks of an attempt that failed have its version in their keys.
        version = f"{call.version}-{attempt}" if attempt else call.version
        keyed = KeyedCall(call.call, now + keys_kept) if call.call else None
        try:
            after = _append(bank, replace(call, version=version), before, keyed, histories, now)
        except Conflict:
            continue
        count = after.size.messages if after.size else 0
        return AppendedChat(call.conversation_id, after.version, after.updated, after.expires, count)
    raise Unavailable(_CONTENDED)


def _check_repeat(call: CallMarker, before: Pointer | None, done: StoredCall) -> None:
    """Raise KeyReused for another body; after a deletion nothing is left that a body could be compared with."""
    salt = before.salt if before else ""
    if done.salt == ids.digest("salt", salt):
        CallMarker(call.key, salted(call.fingerprint, salt)).check(CallMarker(call.key, done.fingerprint))


def _append(
    bank: str,
    call: ChatAppend,
    before: Pointer | None,
    keyed: KeyedCall | None,
    histories: ChatHistories,
    now: datetime,
) -> Pointer:
    """Write the messages of *call*: as a block, or together with all that is there. Raises Conflict."""
    live = before if before and before.is_live(now) else None
    there_until = live.expires if live else None
    expires = now + call.ttl if call.ttl is not None else there_until
    messages_format = _format_of(call, live)
    history = ChatHistory(call.conversation_id, call.messages, messages_format, call.version, now, expires)
    block = text.compressed(call.messages)
    if live and histories.takes_block(live, block, expires):
        size = (live.size or size_of(())) + size_of(call.messages)
        check_size(size)
        return histories.append(bank, live, history, size, block, call=keyed, now=now)
    if live is None and len(block) <= histories.chunk_bytes:
        return histories.begin(bank, before, history, block, call=keyed, now=now)
    return _rewrite(bank, history, before, live, keyed, histories, now)


def _rewrite(
    bank: str,
    added: ChatHistory,
    before: Pointer | None,
    live: Pointer | None,
    keyed: KeyedCall | None,
    histories: ChatHistories,
    now: datetime,
) -> Pointer:
    """Write the whole anew, with the messages of *added* at its end. Raises Conflict."""
    there = histories.read(bank, live) if live else None
    if live and there is None:
        raise Conflict  # it was replaced meanwhile
    history = replace(added, messages=(*there.messages, *added.messages) if there else added.messages)
    check_size(size_of(history.messages))
    after = histories.prepare(bank, history, in_chunks=True, now=now)
    after = histories.replace(bank, before, after, call=keyed, now=now)
    _clear(bank, before, histories)
    return after


def _format_of(call: ChatAppend, live: Pointer | None) -> str:
    there = live.format if live else ""
    if call.format and there and call.format != there:
        raise InvalidArgument("format", f"must be that of the conversation: {there!r}")
    return call.format or there


def rewrite(
    bank: str,
    conversation_id: str,
    changed: Callable[[Sequence[dict[str, Any]]], tuple[dict[str, Any], ...]],
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    now: datetime,
) -> bool:
    """Replace the messages of a conversation by what *changed* makes of them, and tell whether that is anything else.

    What is kept of the bodies of earlier appends cannot be compared any more.

    Raises:
        Unavailable: it is written by others at the same time.
    """
    for _ in retry_policy.attempts():
        before = histories.find(bank, conversation_id)
        history = histories.read(bank, before) if before and before.is_live(now) else None
        if before is None or not before.is_live(now):
            return False
        if history is None:
            continue  # it was replaced meanwhile
        messages = changed(history.messages)
        if messages == history.messages:
            return False
        rewritten = replace(history, messages=messages, version=uuid.uuid4().hex)
        after = histories.prepare(bank, rewritten, in_chunks=before.blocks > 0, now=now)
        try:
            histories.replace(bank, replace(before, salt=""), after, now=now)
        except Conflict:
            continue
        _clear(bank, before, histories)
        return True
    raise Unavailable(_CONTENDED)


def delete(
    bank: str,
    conversation_id: str,
    expected: Expectation,
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    now: datetime,
) -> None:
    """Delete a conversation if there is one.

    Raises:
        PreconditionFailed: it is not the expected version; nothing was deleted.
        Unavailable: it is written by others at the same time.
    """
    for _ in retry_policy.attempts():
        before = _expected(bank, conversation_id, expected, histories, now)
        if before is None or before.is_deleted:
            return
        try:
            histories.delete(bank, before, now=now)
        except Conflict:
            continue
        _clear(bank, before, histories)
        return
    raise Unavailable(_CONTENDED)


def _expected(
    bank: str, conversation_id: str, expected: Expectation, histories: ChatHistories, now: datetime
) -> Pointer | None:
    before = histories.find(bank, conversation_id)
    _check(before, expected, now)
    return before


def _check(before: Pointer | None, expected: Expectation, now: datetime) -> None:
    version = before.version if before and before.is_live(now) else None
    if not expected.holds(version):
        raise PreconditionFailed("the conversation is not the expected version")


def _clear(bank: str, before: Pointer | None, histories: ChatHistories) -> None:
    """Delete the parts of *before*; where that fails the call succeeds all the same, and the sweep deletes them."""
    if before and before.has_parts:
        with contextlib.suppress(Unavailable):
            histories.clear(bank, ids.digest(before.conversation_id), before.base)
