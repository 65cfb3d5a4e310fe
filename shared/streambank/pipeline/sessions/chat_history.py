"""Storing, loading and deleting the history of a chat."""

from __future__ import annotations

import contextlib
from datetime import datetime

from streambank.errors import Conflict, PreconditionFailed, Unavailable
from streambank.model import ids
from streambank.model.chat import ChatHistory, Expectation
from streambank.retry import RetryPolicy
from streambank.store.chat_histories import ChatHistories, Pointer

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
        if before is None:
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
    """Delete the chunks of *before*; where that fails the call succeeds all the same, and the sweep deletes them."""
    if before and before.chunks:
        with contextlib.suppress(Unavailable):
            histories.clear(bank, ids.digest(before.conversation_id), before.version)
