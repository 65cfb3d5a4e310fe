"""Storing, loading and deleting the history of a chat."""

from __future__ import annotations

import contextlib
from datetime import datetime

from streambank.errors import Conflict, PreconditionFailed, Unavailable
from streambank.model import ids
from streambank.model.chat import ChatHistory, Expectation
from streambank.retry import RetryPolicy
from streambank.store.chat_histories import ChatHistories, Pointer

_TOO_FAST = "the conversation is stored too often at once; try again"


def load(
    bank: str, conversation_id: str, *, histories: ChatHistories, retry_policy: RetryPolicy, now: datetime
) -> ChatHistory | None:
    """Return a conversation, one version of it whole, or None if it is unknown or has expired.

    Raises:
        Unavailable: it is replaced faster than it can be read.
    """
    for _ in retry_policy.attempts():
        pointer = histories.find(bank, conversation_id)
        if pointer is None or not pointer.is_live(now):
            return None
        history = histories.read(bank, pointer)
        if history:
            return history
    raise Unavailable(_TOO_FAST)


def store(
    bank: str,
    history: ChatHistory,
    expected: Expectation,
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    now: datetime,
) -> None:
    """Replace a conversation, all of it or nothing; without an expectation the last writer wins.

    Raises:
        PreconditionFailed: it is not what was expected; nothing was written.
        Unavailable: it is stored too often at once.
    """
    before = _expected(bank, history.conversation_id, expected, histories, now)
    after = histories.prepare(bank, history, now=now)
    for attempt in retry_policy.attempts():
        if attempt:
            before = histories.find(bank, history.conversation_id)
            if before and before.version == after.version:
                return  # a write whose reply was lost came through
            _check(before, expected, now)
        try:
            histories.turn(bank, before, after, now=now)
        except Conflict:
            continue
        _clear(bank, before, histories)
        return
    raise Unavailable(_TOO_FAST)


def delete(
    bank: str,
    conversation_id: str,
    expected: Expectation,
    *,
    histories: ChatHistories,
    retry_policy: RetryPolicy,
    now: datetime,
) -> None:
    """Delete a conversation; an unknown one is deleted already.

    Raises:
        PreconditionFailed: it is not what was expected; nothing was deleted.
        Unavailable: it is stored too often at once.
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
    raise Unavailable(_TOO_FAST)


def _expected(
    bank: str, conversation_id: str, expected: Expectation, histories: ChatHistories, now: datetime
) -> Pointer | None:
    before = histories.find(bank, conversation_id)
    _check(before, expected, now)
    return before


def _check(before: Pointer | None, expected: Expectation, now: datetime) -> None:
    version = before.version if before and before.is_live(now) else None
    if not expected.holds(version):
        raise PreconditionFailed("the conversation is not the version that was asked for")


def _clear(bank: str, before: Pointer | None, histories: ChatHistories) -> None:
    """Clear what was replaced; what was acknowledged stands whatever comes of it, and the sweep clears the rest."""
    if before and before.chunks:
        with contextlib.suppress(Unavailable):
            histories.clear(bank, ids.digest(before.conversation_id), before.version)
