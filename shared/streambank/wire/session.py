"""Sessions off the wire and onto it: what callers say of one, checked, and how one is shown."""

from __future__ import annotations

import json
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.rule import Expiry
from streambank.model.session import MAX_STATE_BYTES, SESSION_ID, Session, SessionFields
from streambank.wire import reader
from streambank.wire.ingest import MAX_EVENT_DEPTH, MAX_ID_BYTES
from streambank.wire.settings import LONGEST_TTL, MAX_MAP_BYTES, MAX_MAP_KEYS, SHORTEST_TTL
from streambank.wire.times import rfc3339, without_nulls

MAX_NAME_BYTES = 1_024
# What an update may name, and the field that it changes; a user id may be named, not changed.
_CHANGEABLE = {
    "displayName": "display_name",
    "sessionState": "state",
    "labels": "labels",
    "ttl": "expiry",
    "expireTime": "expiry",
}
_READ_ONLY = frozenset({"name", "createTime", "updateTime"})
_SESSION = frozenset(_CHANGEABLE) | _READ_ONLY | {"userId"}


def session_id(text: str | None) -> str | None:
    """Return the id that a caller wants for a new session, or None. Raises InvalidArgument."""
    if text and not SESSION_ID.fullmatch(text):
        raise InvalidArgument("sessionId", "must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, and not only dots")
    return text or None


def new_session(body: Any) -> SessionFields:
    """Return what the body of a creation says. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.message(body, "", _SESSION)
    if "userId" not in fields:
        raise InvalidArgument("userId", "is required")
    return _said(fields, frozenset(_CHANGEABLE))


def changed_session(body: Any, mask: str | None) -> SessionFields:
    """Return what the body of an update says; a field that *mask* names and the body lacks is cleared."""
    fields = reader.message(body, "", _SESSION)
    names = _masked(mask) if mask else frozenset(fields) - _READ_ONLY
    return _said({name: fields[name] for name in names if name in fields}, names)


def _masked(mask: str) -> frozenset[str]:
    known = frozenset(_CHANGEABLE) | {"userId"}
    names = frozenset(reader.camel(path.strip()) for path in mask.split(","))
    if names == {"*"}:
        return known
    if not names <= known:
        raise InvalidArgument("updateMask", "names " + ", ".join(sorted(names - known)) + ", which cannot change")
    return names


def _said(fields: reader.Fields, names: frozenset[str]) -> SessionFields:
    return SessionFields(
        user_id=_text(fields, "userId", MAX_ID_BYTES, least_bytes=1),
        display_name=_text(fields, "displayName", MAX_NAME_BYTES) or None,
        state=_state(fields),
        labels=_labels(fields),
        expiry=_expiry(fields),
        changed=frozenset(_CHANGEABLE[name] for name in names if name in _CHANGEABLE),
    )


def _text(fields: reader.Fields, name: str, most_bytes: int, *, least_bytes: int = 0) -> str | None:
    if name not in fields:
        return None
    path, value = fields[name]
    return reader.text(value, path, most_bytes=most_bytes, least_bytes=least_bytes)


def _state(fields: reader.Fields) -> dict[str, Any]:
    path, value = fields.get("sessionState", ("sessionState", {}))
    check_size(value, path, most_bytes=MAX_STATE_BYTES)
    return json_object(value, path)


def json_object(value: Any, path: str) -> dict[str, Any]:
    """Return an object whose keys are the caller's own and are not respelled."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be an object")
    return value


def check_size(value: Any, path: str, *, most_bytes: int) -> None:
    """Refuse what is nested too deep, which is found out first so that writing it is safe, or has too much JSON."""
    if not reader.depth(value, MAX_EVENT_DEPTH):
        raise InvalidArgument(path, f"is nested more than {MAX_EVENT_DEPTH} levels deep")
    size = reader.byte_length(json.dumps(value, ensure_ascii=False, separators=(",", ":")), path)
    if size > most_bytes:
        raise InvalidArgument(path, f"has {size} bytes of JSON; the limit is {most_bytes}")


def _labels(fields: reader.Fields) -> dict[str, str]:
    path, value = fields.get("labels", ("labels", {}))
    labels = reader.string_map(value, path, most_bytes=MAX_MAP_BYTES)
    if len(labels) > MAX_MAP_KEYS:
        raise InvalidArgument(path, f"has {len(labels)} keys; the limit is {MAX_MAP_KEYS}")
    check_size(labels, path, most_bytes=MAX_MAP_BYTES)
    return labels


def _expiry(fields: reader.Fields) -> Expiry | None:
    if "ttl" in fields and "expireTime" in fields:
        raise InvalidArgument(fields["ttl"][0], "ttl and expire_time exclude each other")
    if "ttl" in fields:
        path, value = fields["ttl"]
        return reader.duration(value, path, least=SHORTEST_TTL, most=LONGEST_TTL)
    if "expireTime" in fields:
        path, value = fields["expireTime"]
        return reader.instant(value, path)
    return None


def session(shown: Session, bank_name: str) -> dict[str, object]:
    """Return a session; its state is shown as it was sent."""
    return without_nulls(
        {
            "name": f"{bank_name}/sessions/{shown.id}",
            "userId": shown.user_id,
            "displayName": shown.display_name,
            "sessionState": shown.state or None,
            "labels": shown.labels or None,
            "createTime": rfc3339(shown.created),
            "updateTime": rfc3339(shown.updated),
            "expireTime": rfc3339(shown.expires),
        }
    )
