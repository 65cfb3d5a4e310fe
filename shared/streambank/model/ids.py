"""Ids of scopes, streams, events, memories and operations, and how they are derived."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT_BANK = "default"
DEFAULT_STREAM = "default"
# The server makes bank ids; they are part of keys ('#' separates) and of execution names (80 characters).
BANK_ID = re.compile(r"[A-Za-z0-9._-]{1,36}")
REVIEW_ID = re.compile(r"[a-z2-7]{26}-0[a-z2-7]{26}")
_OPERATION_ID = re.compile(r"([a-z2-7]{26})-(0|[1-9][0-9]{0,11})(-g)?")


def digest(*parts: str) -> str:
    """Return the hash of *parts*, separated by NUL, as 26 characters of base32 (130 bits)."""
    return _spelled(hashlib.sha256(_joined(parts)).digest())


def secret_id(secret: bytes, *parts: str) -> str:
    """Return an id that only the service derives: a keyed hash of *parts*, with a digit first.

    Callers cannot foresee it without the *secret*, nor name it: a memory's id of theirs begins with a letter.
    """
    return "0" + _spelled(hmac.digest(secret, _joined(parts), hashlib.sha256))


def keyed_hash(secret: bytes, *parts: str) -> str:
    """Return 8 bytes of a keyed hash of *parts* as base64url: enough to recognise them, and no way back to them."""
    return keyed_hash_text(hmac.digest(secret, _framed(parts), hashlib.sha256)[:8])


def keyed_hash_bytes(text: str) -> bytes:
    """Return the 8 bytes of a `keyed_hash`."""
    return base64.urlsafe_b64decode(text + "=")


def keyed_hash_text(raw: bytes) -> str:
    """Return the `keyed_hash` of its 8 bytes."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _framed(parts: tuple[str, ...]) -> bytes:
    """Return *parts* so that no others give the same bytes: callers' texts may hold any character."""
    return json.dumps(parts).encode()


def _joined(parts: tuple[str, ...]) -> bytes:
    return "\0".join(parts).encode()


def _spelled(raw: bytes) -> str:
    return base64.b32encode(raw).decode().lower()[:26]


def canonical(scope: Mapping[str, str]) -> str:
    """Return *scope* as JSON with sorted keys; no character is normalized."""
    return json.dumps(dict(scope), sort_keys=True, separators=(",", ":"))


def scope_id(scope: Mapping[str, str]) -> str:
    """Return the `cid` of *scope* within its bank."""
    return digest(canonical(scope))


def stream_key(scope: Mapping[str, str], stream_id: str) -> str:
    """Return the `sid` of a stream within its bank."""
    return digest(canonical(scope), stream_id or DEFAULT_STREAM)


def event_key(event_id: str) -> str:
    """Return the key under which the caller's id of an event is stored."""
    return digest("event", event_id)


def derived_event_key(idempotency_key: str, position: int) -> str:
    """Return the key of an event without an id in a call with X-Idempotency-Key; it never equals a caller's id."""
    return digest("idempotency", idempotency_key, str(position))


def call_key(idempotency_key: str) -> str:
    """Return the key of the marker of a call with X-Idempotency-Key; it never equals the key of an event."""
    return digest("idempotent call", idempotency_key)


def fingerprint(value: Any) -> bytes:
    """Return a hash of a parsed request: *value* may hold whatever JSON or `str` can write, keys in any order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).digest()[:12]


@dataclass(frozen=True, slots=True)
class OperationId:
    """The operation of a window; *downstream* names its GenerateMemories operation."""

    sid: str
    window: int
    downstream: bool = False

    def __str__(self) -> str:
        return f"{self.sid}-{self.window}" + ("-g" if self.downstream else "")

    @classmethod
    def parse(cls, text: str) -> OperationId | None:
        """Return the id in *text*, or None if *text* is not one."""
        match = _OPERATION_ID.fullmatch(text)
        return cls(match[1], int(match[2]), match[3] is not None) if match else None


def execution_name(bank: str, sid: str, window: int, attempt: int) -> str:
    """Return the name of an attempt's execution: at most 36 + 26 + 15 of Step Functions' 80 characters."""
    return f"{bank}-{sid}-{window}-{attempt}"


def replay_execution_name(bank: str, replay_id: str, run: int) -> str:
    """Return the name of the execution of a run of a replay; it never equals that of an attempt."""
    return f"{bank}-{digest('replay', replay_id)}-r{run}"
