"""Erasing a scope, or a whole bank: what was said, what was made of it, and what was remembered.

First the scope is closed to every writer of memories; then each stream is cut: its open window is closed as erased, and
the windows up to it are given up, so that no generation stores anything of them any more; then all that is deleted.
Each step may run twice, and the minute sweep takes up what was left.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model import ids
from streambank.model.chat import ANYTHING
from streambank.model.erasure import Cut, Erasure, ErasureTarget, RegistryCursor
from streambank.model.rule import Reason, WindowSettings
from streambank.model.stream import Head
from streambank.model.window import Window, WindowState
from streambank.pipeline.sessions import chat_history, sessions
from streambank.retry import RetryPolicy
from streambank.rules import window as windows_rules
from streambank.store.chat_histories import ChatHistories
from streambank.store.erasures import Erasures
from streambank.store.sessions import Sessions
from streambank.store.streams import RetentionPolicy, Streams

_TOO_FAST = "it is written too often at once; try again"


@dataclass(frozen=True, slots=True)
class EraseContext:
    """What an erasure needs; it stops between two steps when *has_time* says no."""

    erasures: Erasures
    streams: Streams
    sessions: Sessions
    histories: ChatHistories
    retention_policy: RetentionPolicy
    retry_policy: RetryPolicy
    clock: Callable[[], datetime]
    has_time: Callable[[], bool]


def erase_scope(bank: str, scope: Mapping[str, str], asked: ErasureTarget, *, context: EraseContext) -> Erasure:
    """Erase a scope and return how far that has come; one that is under way is gone on with.

    Raises:
        Unavailable: the scope is written too often at once, or an erasure that was asked otherwise is under way.
    """
    erasure = _begun(lambda: context.erasures.begin(bank, scope, asked, now=context.clock()), context)
    if erasure.asked != asked:
        raise Unavailable("another erasure of the scope is under way; try again")
    return proceed(erasure, context=context)


def erase_bank(bank: str, *, context: EraseContext) -> Erasure:
    """Erase all that a bank holds but its configuration, scope by scope. Raises as `erase_scope` does.

    What a scope is told before its turn has come is erased too.
    """
    erasure = _begun(lambda: context.erasures.begin_bank(bank, now=context.clock()), context)
    return proceed(erasure, context=context)


def _begun(begin: Callable[[], Erasure], context: EraseContext) -> Erasure:
    for _ in context.retry_policy.attempts():
        try:
            return begin()
        except Conflict:
            continue
    raise Unavailable(_TOO_FAST)


def proceed(erasure: Erasure, *, context: EraseContext) -> Erasure:
    """Go on with an erasure until it is done or the time is over, and return it as it is then.

    It takes at least one of the steps that are left: however often it is interrupted, it comes to its end.
    """
    counts = Counter[str]()
    place, has_begun = erasure.place, False
    for here, step in _scope_steps(erasure, context) if erasure.cid else _bank_steps(erasure, context):
        if has_begun and not context.has_time():
            context.erasures.pause(erasure, counts, place, now=context.clock())
            return _found(erasure, context)
        step(counts)
        place, has_begun = here, True
    for attempt in context.retry_policy.attempts():
        try:
            context.erasures.finish(erasure, counts, now=context.clock())
        except Conflict:
            if attempt and _found(erasure, context).ended:
                break
            continue
        break
    return _found(erasure, context)


def _found(erasure: Erasure, context: EraseContext) -> Erasure:
    return context.erasures.find(erasure.bank, erasure.cid) or erasure


# What is done, and how far one has come in a bank once it is.
ErasureStep = tuple[RegistryCursor, Callable[[Counter[str]], None]]


# ---- a scope


def _scope_steps(erasure: Erasure, context: EraseContext) -> Iterator[ErasureStep]:
    """Yield what an erasure of a scope consists of, in the order that keeps running generations from writing.

    All streams are cut before anybody is told of the erasure: what is accepted after its reply is not erased.
    """
    sids = context.erasures.streams(erasure.bank, erasure.cid)
    for sid in sids:
        _cut(erasure, sid, context)
    for sid in (sid for sid in sids if not context.erasures.is_settled(erasure, sid)):
        yield erasure.place, partial(_erase_stream, erasure, sid, context)
    if context.erasures.remembers(erasure.bank, erasure.cid):
        yield erasure.place, partial(context.erasures.delete_remembered, erasure.bank, erasure.scope)
    if erasure.asked.user_id is not None:
        places = context.sessions.of_user(erasure.bank, erasure.asked.user_id)
        for session in list(places):
            yield erasure.place, partial(_erase_session, erasure.bank, session.session_id, context)
    for conversation_id in erasure.asked.conversation_ids:
        if context.histories.find(erasure.bank, conversation_id):
            yield erasure.place, partial(_erase_conversation, erasure.bank, conversation_id, context)


def _erase_stream(erasure: Erasure, sid: str, context: EraseContext, counts: Counter[str]) -> None:
    cut = _cut(erasure, sid, context)
    if cut is None:
        return
    counts["streams"] += 1
    for window in context.erasures.windows(erasure.bank, sid, cut):
        _erase_window(window, context, counts)
    context.erasures.delete_said(erasure.bank, sid, cut, counts)
    context.erasures.blank_markers(erasure.bank, sid, cut, counts)
    context.erasures.settle(erasure, sid, cut)


def _cut(erasure: Erasure, sid: str, context: EraseContext) -> Cut | None:
    """Return where the stream is cut, once for each erasure; None if it has nothing that is older."""
    for _ in context.retry_policy.attempts():
        known = context.erasures.cut(erasure, sid)
        head = None if known else context.streams.head(erasure.bank, sid)
        if head is None:
            return known or context.erasures.lone_cut(erasure, sid)
        after, closed = _closed(head, context.clock())
        expires = context.retention_policy.of_operation(closed, now=context.clock()) if closed else None
        try:
            return context.erasures.cut_stream(erasure, head, after, closed, expires)
        except Conflict:
            continue
    raise Unavailable(_TOO_FAST)


def _closed(head: Head, now: datetime) -> tuple[Head, Window | None]:
    """Return the head with a new window open, and the window that is given up, if there is anything in it."""
    if not head.count:
        return replace(head, settings=WindowSettings()), None
    after, window = windows_rules.seal(head, Reason.ERASED, None, now=now)
    return after, replace(window, state=WindowState.ERASED, settings=WindowSettings(), due=None)


def _erase_window(window: Window, context: EraseContext, counts: Counter[str]) -> None:
    stream = window.stream
    expires = context.retention_policy.of_operation(window, now=context.clock())
    for _ in context.retry_policy.attempts():
        found = context.erasures.window(stream.bank, stream.sid, window.number)
        if found is None or context.erasures.erase_window(found, expires, now=context.clock()):
            counts["windows"] += found is not None
            return
    raise Unavailable(_TOO_FAST)


def _erase_session(bank: str, session_id: str, context: EraseContext, counts: Counter[str]) -> None:
    with contextlib.suppress(NotFound):
        sessions.delete(
            bank, session_id, sessions=context.sessions, retry_policy=context.retry_policy, now=context.clock()
        )
        counts["sessions"] += 1


def _erase_conversation(bank: str, conversation_id: str, context: EraseContext, counts: Counter[str]) -> None:
    counts["conversations"] += context.histories.find(bank, conversation_id) is not None
    chat_history.delete(
        bank,
        conversation_id,
        ANYTHING,
        histories=context.histories,
        retry_policy=context.retry_policy,
        now=context.clock(),
    )


# ---- a bank


def _bank_steps(erasure: Erasure, context: EraseContext) -> Iterator[ErasureStep]:
    """Yield a step a scope, a session, a conversation; a scope whose own erasure has no time left is asked again."""
    place = before = erasure.place
    for place, scope in context.erasures.scopes(erasure.bank, erasure.place):
        if not _is_erased(erasure, scope, context):
            yield before, partial(_erase_scope_of_bank, erasure.bank, scope, context)
        before = place
    for session_id in context.erasures.registered(erasure.bank, "X"):
        yield place, partial(_erase_session, erasure.bank, session_id, context)
    for name in context.erasures.registered(erasure.bank, "H"):
        yield place, partial(_erase_named, erasure.bank, name, context)


def _is_erased(erasure: Erasure, scope: Mapping[str, str], context: EraseContext) -> bool:
    """Tell whether this erasure of a bank has done with a scope before it was taken up again."""
    known = context.erasures.find(erasure.bank, ids.scope_id(scope))
    return known is not None and known.ended is not None and known.started >= erasure.started


def _erase_scope_of_bank(bank: str, scope: Mapping[str, str], context: EraseContext, counts: Counter[str]) -> None:
    begun = _begun(lambda: context.erasures.begin(bank, scope, ErasureTarget(), now=context.clock()), context)
    done = proceed(begun, context=context)
    if done.ended:
        counts["scopes"] += 1
        counts.update(done.counts)


def _erase_named(bank: str, name: str, context: EraseContext, counts: Counter[str]) -> None:
    conversation_id = context.histories.id_of(bank, name)
    if conversation_id is not None:
        _erase_conversation(bank, conversation_id, context, counts)


# ---- without doing it


def counted(bank: str, scope: Mapping[str, str], asked: ErasureTarget, *, context: EraseContext) -> dict[str, int]:
    """Return how many things of each kind an erasure of a scope would take now."""
    counts, cid = Counter[str](), ids.scope_id(scope)
    for sid in context.erasures.streams(bank, cid):
        counts["streams"] += 1
        context.erasures.count_stream(bank, sid, counts)
    context.erasures.count_remembered(bank, cid, counts)
    if asked.user_id is not None:
        counts["sessions"] = sum(1 for _ in context.sessions.of_user(bank, asked.user_id))
    found = (context.histories.find(bank, conversation_id) for conversation_id in asked.conversation_ids)
    counts["conversations"] = sum(1 for pointer in found if pointer)
    return _told(counts)


def counted_bank(bank: str, *, context: EraseContext) -> dict[str, int]:
    """Return how many things of each kind an erasure of a bank would take now."""
    counts = Counter[str]()
    for _, scope in context.erasures.scopes(bank):
        counts["scopes"] += 1
        counts.update(counted(bank, scope, ErasureTarget(), context=context))
    counts["sessions"] = sum(1 for _ in context.erasures.registered(bank, "X"))
    counts["conversations"] = sum(1 for _ in context.erasures.registered(bank, "H"))
    return _told(counts)


def _told(counts: Counter[str]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}
