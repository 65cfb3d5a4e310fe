"""Erasing a scope, or a whole bank: its events, what was derived from them, and its memories.

First the scope is closed to every writer of memories. Then each stream is cut: its open window is sealed as erased, and
the windows up to it are given up, so that no generation stores anything of them any more. Then all that is deleted.
Each step may run twice, and the sweep resumes an erasure that was interrupted.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model import ids
from streambank.model.chat import ANYTHING
from streambank.model.erasure import Cut, Erasure, ErasureTarget, RegistryCursor
from streambank.model.rule import Reason, WindowSettings
from streambank.model.stream import Head
from streambank.model.window import Window, WindowState
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.erase_stream import CONTENDED, CountingStep, StreamErasure
from streambank.pipeline.jobs.job import JobContext, Step
from streambank.pipeline.sessions import chat_history, sessions
from streambank.rules import window as windows_rules
from streambank.rules.batches import batches
from streambank.store.chat_histories import ChatHistories
from streambank.store.cuts import Cuts
from streambank.store.erasures import Erasures
from streambank.store.sessions import Sessions
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.table import BATCH_DELETES

_NAME = "erasure"


@dataclass(frozen=True, slots=True)
class EraseContext(JobContext):
    """What an erasure needs."""

    erasures: Erasures
    cuts: Cuts
    streams: Streams
    sessions: Sessions
    histories: ChatHistories
    retention_policy: RetentionPolicy


def erase_scope(bank: str, scope: Mapping[str, str], request: ErasureTarget, *, context: EraseContext) -> Erasure:
    """Erase a scope and return how far the erasure has come; one that is under way is resumed.

    Raises:
        Unavailable: the scope is written by others at the same time, or an erasure with another request is under way.
    """
    erasure = _begin(bank, scope, request, context)
    job.check_request(erasure, request, "erasure of the scope")
    return proceed(erasure, context=context)


def erase_bank(bank: str, *, context: EraseContext) -> Erasure:
    """Erase all that a bank holds but its configuration, scope by scope.

    Events that a scope gets before the erasure reaches it are erased too. Raises as `erase_scope` does.
    """
    erasure = job.begin(lambda: context.erasures.begin_bank(bank, now=context.clock()), _NAME, context=context)
    return proceed(erasure, context=context)


def resume(bank: str, cid: str, *, context: EraseContext) -> Erasure | None:
    """Resume the erasure of a scope, or of the bank where *cid* is empty; None if none is under way.

    Raises as `proceed` does.
    """
    erasure = context.erasures.find(bank, cid)
    return proceed(erasure, context=context) if erasure and not erasure.ended else None


def proceed(erasure: Erasure, *, context: EraseContext) -> Erasure:
    """Go on with an erasure until it is done or the time is over, and return it as it is then.

    Raises:
        Unavailable: a stream, a session or a conversation is written by others at every try.
    """
    try:
        return job.proceed(_Run(erasure, context, erasure.cursor), context=context)
    except Conflict:
        current = context.erasures.find(erasure.bank, erasure.cid)
        if current and current.ended and current.number == erasure.number:
            return current  # another run has ended it
        raise


def _begin(bank: str, scope: Mapping[str, str], request: ErasureTarget, context: EraseContext) -> Erasure:
    return job.begin(lambda: context.erasures.begin(bank, scope, request, now=context.clock()), _NAME, context=context)


@dataclass(slots=True)
class _Run:
    """A run that counts what it deletes, and records that when it pauses or ends."""

    erasure: Erasure
    context: EraseContext
    cursor: RegistryCursor
    counts: Counter[str] = field(default_factory=Counter)

    def steps(self) -> Iterator[Step]:
        of_kind = _scope_steps if self.erasure.cid else _bank_steps
        for cursor, step in of_kind(self.erasure, self.context):
            yield partial(step, self.counts)
            self.cursor = cursor

    def pause(self) -> Erasure:
        self.context.erasures.pause(self.erasure, self.counts, self.cursor, now=self.context.clock())
        return self._current()

    def finish(self) -> Erasure:
        for attempt in self.context.retry_policy.attempts():
            try:
                self.context.erasures.finish(self.erasure, self.counts, now=self.context.clock())
            except Conflict:
                if attempt and self._current().ended:
                    break
                continue
            break
        return self._current()

    def _current(self) -> Erasure:
        return self.context.erasures.find(self.erasure.bank, self.erasure.cid) or self.erasure


# A step, and how far the erasure of a bank has come once it was taken.
_EraseStep = tuple[RegistryCursor, CountingStep]


# ---- a scope


def _scope_steps(erasure: Erasure, context: EraseContext) -> Iterator[_EraseStep]:
    """Yield the steps of an erasure of a scope, in the order that keeps running generations from writing.

    All streams are cut before the first reply: what is accepted after it is not erased.
    """
    sids = context.erasures.streams(erasure.bank, erasure.cid)
    last = context.cuts.of_streams(erasure.bank, sids)
    cuts = {sid: _cut(erasure, sid, last.get(sid), context) for sid in sids}
    of_streams = (_stream_steps(erasure, sid, cut, context) for sid, cut in cuts.items() if cut and not cut.is_done)
    for step in chain(chain.from_iterable(of_streams), _memory_steps(erasure, context)):
        yield erasure.cursor, step
    if erasure.request.user_id is not None:
        for session in list(context.sessions.of_user(erasure.bank, erasure.request.user_id)):
            yield erasure.cursor, partial(_erase_session, erasure.bank, session.session_id, context)
    for conversation_id in erasure.request.conversation_ids:
        if context.histories.has(erasure.bank, conversation_id):
            yield erasure.cursor, partial(_erase_conversation, erasure.bank, conversation_id, context)


def _stream_steps(erasure: Erasure, sid: str, cut: Cut, context: EraseContext) -> Iterator[CountingStep]:
    return StreamErasure(
        erasure, sid, cut, context.cuts, context.retention_policy, context.retry_policy, context.clock
    ).steps()


def _memory_steps(erasure: Erasure, context: EraseContext) -> Iterator[CountingStep]:
    for of_kind in context.erasures.erased_items(erasure.bank, erasure.cid):
        for batch in batches(of_kind, BATCH_DELETES):
            yield partial(context.erasures.delete_memories, erasure, batch)


def _cut(erasure: Erasure, sid: str, last: Cut | None, context: EraseContext) -> Cut | None:
    """Return where the stream is cut, once for each erasure; None if all of it is newer than the erasure.

    *last* is its newest cut, perhaps of an earlier erasure.
    """
    for _ in context.retry_policy.attempts():
        if last and last.erasure == erasure.number:
            return last
        if erasure.is_cut:
            return None
        head = context.streams.head(erasure.bank, sid)
        try:
            if head is None:
                return context.cuts.create_without_head(erasure, sid, last=last)
            after, closed = _sealed_as_erased(head, context.clock())
            expires = context.retention_policy.of_operation(closed, now=context.clock()) if closed else None
            return context.cuts.create(erasure, head, after, closed, last=last, expires=expires)
        except Conflict:
            current = context.erasures.find(erasure.bank, erasure.cid)
            if current is None or current.ended or current.number != erasure.number:
                raise
            erasure = current
            last = context.cuts.of_streams(erasure.bank, [sid]).get(sid)
    raise Unavailable(CONTENDED)


def _sealed_as_erased(head: Head, now: datetime) -> tuple[Head, Window | None]:
    """Return the head with a new window open, and the window that is erased, if there are events in it."""
    if not head.count:
        return replace(head, settings=WindowSettings()), None
    after, window = windows_rules.seal(head, Reason.ERASED, None, now=now)
    return after, replace(window, state=WindowState.ERASED, settings=WindowSettings(), due=None)


def _erase_session(bank: str, session_id: str, context: EraseContext, counts: Counter[str]) -> None:
    with contextlib.suppress(NotFound):
        sessions.delete(
            bank, session_id, sessions=context.sessions, retry_policy=context.retry_policy, now=context.clock()
        )
        counts["sessions"] += 1


def _erase_conversation(bank: str, conversation_id: str, context: EraseContext, counts: Counter[str]) -> None:
    counts["conversations"] += context.histories.has(bank, conversation_id)
    chat_history.delete(
        bank,
        conversation_id,
        ANYTHING,
        histories=context.histories,
        retry_policy=context.retry_policy,
        now=context.clock(),
    )


# ---- a bank


def _bank_steps(erasure: Erasure, context: EraseContext) -> Iterator[_EraseStep]:
    """Yield a step for each scope, session and conversation; a scope that is left unfinished is one in the next run."""
    cursor = before = erasure.cursor
    for cursor, scope in context.erasures.scopes(erasure.bank, erasure.cursor):
        if not _is_erased(erasure, scope, context):
            yield before, partial(_erase_scope_of_bank, erasure.bank, scope, context)
        before = cursor
    for session_id in context.erasures.session_ids(erasure.bank):
        yield cursor, partial(_erase_session, erasure.bank, session_id, context)
    for name in context.erasures.conversation_names(erasure.bank):
        yield cursor, partial(_erase_named_conversation, erasure.bank, name, context)


def _is_erased(erasure: Erasure, scope: Mapping[str, str], context: EraseContext) -> bool:
    """Tell whether an earlier run of this erasure of a bank has finished a scope."""
    of_scope = context.erasures.find(erasure.bank, ids.scope_id(scope))
    return of_scope is not None and of_scope.ended is not None and of_scope.started >= erasure.started


def _erase_scope_of_bank(bank: str, scope: Mapping[str, str], context: EraseContext, counts: Counter[str]) -> None:
    done = proceed(_begin(bank, scope, ErasureTarget(), context), context=context)
    if done.ended:
        counts["scopes"] += 1
        counts.update(done.counts)


def _erase_named_conversation(bank: str, name: str, context: EraseContext, counts: Counter[str]) -> None:
    conversation_id = context.histories.id_of(bank, name)
    if conversation_id is not None:
        _erase_conversation(bank, conversation_id, context, counts)


# ---- dry runs


def count_scope(
    bank: str, scope: Mapping[str, str], request: ErasureTarget, *, context: EraseContext
) -> dict[str, int]:
    """Return how many things of each kind an erasure of a scope would delete now."""
    counts, cid = Counter[str](), ids.scope_id(scope)
    for sid in context.erasures.streams(bank, cid):
        counts["streams"] += 1
        context.erasures.count_stream(bank, sid, counts)
    context.erasures.count_memories(bank, cid, counts)
    if request.user_id is not None:
        counts["sessions"] = sum(1 for _ in context.sessions.of_user(bank, request.user_id))
    counts["conversations"] = sum(context.histories.has(bank, one) for one in request.conversation_ids)
    return _without_zeros(counts)


def count_bank(bank: str, *, context: EraseContext) -> dict[str, int]:
    """Return how many things of each kind an erasure of a bank would delete now."""
    counts = Counter[str]()
    for _, scope in context.erasures.scopes(bank):
        counts["scopes"] += 1
        counts.update(count_scope(bank, scope, ErasureTarget(), context=context))
    counts["sessions"] = sum(1 for _ in context.erasures.session_ids(bank))
    counts["conversations"] = sum(1 for _ in context.erasures.conversation_names(bank))
    return _without_zeros(counts)


def _without_zeros(counts: Counter[str]) -> dict[str, int]:
    return {kind: count for kind, count in counts.items() if count}
