"""Sessions of Strands in chat histories of a bank; they need the extra `strands`.

Three conversations hold a session: its record, each agent's record, and each agent's messages, to which are appended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from strands.session.session_repository import SessionRepository
from strands.types.session import Session, SessionAgent, SessionMessage

from streambank_client.banks import Bank
from streambank_client.errors import (
    AlreadyExists,
    InvalidArgument,
    PayloadTooLarge,
    PreconditionFailed,
    StreambankError,
    Unavailable,
)
from streambank_client.http.encoding import JsonObject
from streambank_client.limits import with_method

FORMAT = "strands-session"
_MAX_ATTEMPTS = 20
# How much longer than messages their session's and agent's records are kept, at most.
_RECORD_GRACE_SECONDS = 30 * 24 * 3600
# What a repeat would meet again.
_REFUSALS = (AlreadyExists, InvalidArgument, PayloadTooLarge)
_log = logging.getLogger("streambank_client")


class StreambankSessionRepository(SessionRepository):
    """Keeps sessions in a bank.

    Reads, and the creation of a session or an agent, raise StreambankError. Later writes never do, so that an agent
    goes on while the service is away: they wait in their order, and are tried again before the next one and by `flush`.
    Each append has an idempotency key, so that none is stored twice. What the service refuses for good is logged, and
    counted in *lost*.

    *ttl_seconds* is the time after the last message for which a session is kept. Records are kept a little longer, and
    are stored again from time to time while messages come, so that no record expires before its messages.

    Raises:
        ValueError: *bank* is no `Bank` of a `Streambank`.
    """

    def __init__(self, bank: Bank, *, ttl_seconds: float | None = None) -> None:
        self.lost = 0
        self._bank = with_method(bank, "bank", "append_chat_history")
        self._ttl_seconds = ttl_seconds
        self._waiting: defaultdict[str, deque[Callable[[], object]]] = defaultdict(deque)
        self._writing = threading.RLock()
        self._grace_seconds = min((ttl_seconds or 0) / 2, _RECORD_GRACE_SECONDS)
        self._records: dict[str, JsonObject] = {}
        self._stored_at: dict[str, float] = {}

    # ---- sessions and agents

    def create_session(self, session: Session, **_: Any) -> Session:
        """Store a session's record."""
        self._put(_path(session.session_id), session.to_dict())
        return session

    def read_session(self, session_id: str, **_: Any) -> Session | None:
        """Return a session, or None."""
        record = self._record(_path(session_id))
        return Session.from_dict(record) if record else None

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        """Store an agent's record."""
        self._put(_path(session_id, session_agent.agent_id), session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **_: Any) -> SessionAgent | None:
        """Return an agent, or None; an agent whose messages have expired is a new one."""
        record = self._record(_path(session_id, agent_id))
        if record and self._ttl_seconds is not None:
            messages = self._bank.load_chat_history(conversation_id=_messages(session_id, agent_id))
            record = record if messages.etag else None
        return SessionAgent.from_dict(record) if record else None

    def update_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        """Store an agent's record; of several that wait only the newest counts."""
        path = _path(session_id, session_agent.agent_id)
        with self._writing:
            self._waiting[path].clear()
            self._write(path, partial(self._put, path, session_agent.to_dict()))

    # ---- messages

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        """Append a message, once."""
        path = _messages(session_id, agent_id)
        self._write(path, partial(self._append, path, session_message.to_dict(), str(uuid4())))
        if self._ttl_seconds is not None:
            for record_path in (_path(session_id), _path(session_id, agent_id)):
                self._keep_alive(record_path)

    def read_message(self, session_id: str, agent_id: str, message_id: int, **_: Any) -> SessionMessage | None:
        """Return a message by its number, or None."""
        stored = self.list_messages(session_id, agent_id)
        return next((one for one in stored if one.message_id == message_id), None)

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        """Replace a message, as a guardrail does that redacts it."""
        path = _messages(session_id, agent_id)
        self._write(path, partial(self._replace, path, session_message.to_dict()))

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **_: Any
    ) -> list[SessionMessage]:
        """Return messages from number *offset* on, *limit* at most, in the order in which they came."""
        path = _messages(session_id, agent_id)
        self._drain(path)
        stored = self._bank.load_chat_history(conversation_id=path).messages
        end = None if limit is None else offset + limit
        return [SessionMessage.from_dict(one) for one in stored[offset:end]]

    # ---- what waits

    def flush(self) -> int:
        """Try the writes that wait, and return how many still do; never raises StreambankError."""
        with self._writing:
            for path in list(self._waiting):
                self._drain(path)
            return sum(map(len, self._waiting.values()))

    def _write(self, path: str, write: Callable[[], object]) -> None:
        with self._writing:
            self._waiting[path].append(write)
            self._drain(path)

    def _drain(self, path: str) -> None:
        """Carry out what waits for one conversation, up to the first write that may succeed later."""
        with self._writing:
            waiting = self._waiting[path]
            while waiting:
                try:
                    waiting[0]()
                except StreambankError as error:
                    is_refused = isinstance(error, _REFUSALS)
                    reason = "session write refused" if is_refused else "session write waits"
                    _log.warning(reason, extra={"error_type": type(error).__name__, "waiting": len(waiting)})
                    if not is_refused:
                        return
                    self.lost += 1
                waiting.popleft()
            del self._waiting[path]

    # ---- calls

    def _record(self, path: str) -> JsonObject | None:
        self._drain(path)
        record = next(iter(self._bank.load_chat_history(conversation_id=path).messages), None)
        if record:
            self._records[path] = record
        return record

    def _put(self, path: str, record: JsonObject) -> None:
        ttl_seconds = None if self._ttl_seconds is None else self._ttl_seconds + self._grace_seconds
        self._bank.store_chat_history(conversation_id=path, messages=[record], format=FORMAT, ttl_seconds=ttl_seconds)
        self._records[path], self._stored_at[path] = record, time.monotonic()

    def _keep_alive(self, path: str) -> None:
        """Store a record again if half of its grace is over, or if this process has only read it."""
        stored_at = self._stored_at.get(path)
        is_fresh = stored_at is not None and time.monotonic() < stored_at + self._grace_seconds / 2
        if path in self._records and not is_fresh and not self._waiting.get(path):
            self._write(path, partial(self._put, path, self._records[path]))

    def _append(self, path: str, message: JsonObject, key: str) -> None:
        self._bank.append_chat_history(
            conversation_id=path,
            messages=[message],
            format=FORMAT,
            ttl_seconds=self._ttl_seconds,
            idempotency_key=key,
        )

    def _replace(self, path: str, message: JsonObject) -> None:
        """Replace the newest message with the number and the time of *message*; one that is gone stays so."""
        for _ in range(_MAX_ATTEMPTS):
            history = self._bank.load_chat_history(conversation_id=path)
            numbers = [at for at, one in enumerate(history.messages) if _is_same(one, message)]
            if not numbers:
                return
            messages = [*history.messages]
            messages[numbers[-1]] = message
            try:
                self._bank.store_chat_history(
                    conversation_id=path,
                    messages=messages,
                    format=FORMAT,
                    if_match=history.etag,
                    ttl_seconds=self._ttl_seconds,
                )
            except PreconditionFailed:
                continue
            return
        raise Unavailable("the messages are written by others at the same time")


def _is_same(stored: JsonObject, message: JsonObject) -> bool:
    return all(stored.get(name) == message.get(name) for name in ("message_id", "created_at"))


def _path(session_id: str, agent_id: str | None = None) -> str:
    """Return the id of the conversation that holds a record; no two names have the same."""
    agent = "" if agent_id is None else f"/agents/{quote(agent_id, safe='')}"
    return f"strands/{quote(session_id, safe='')}{agent}"


def _messages(session_id: str, agent_id: str) -> str:
    return f"{_path(session_id, agent_id)}/messages"
