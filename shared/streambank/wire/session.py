"""Sessions in requests and replies."""

import json
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import session as model
from streambank.model.session import MAX_STATE_BYTES, SESSION_ID, SessionFields
from streambank.wire import reader, settings
from streambank.wire.fields import Instant, Labels, Name, RequiredId, Ttl, json_object
from streambank.wire.ingest import MAX_EVENT_DEPTH
from streambank.wire.model import Read, RequestModel
from streambank.wire.reply import JsonObject, Page, Time, optional_time, rfc3339, without_nulls

# What an update may name, and the field of the model that it changes; a user id may be named, not changed.
_CHANGEABLE = {
    "displayName": "display_name",
    "sessionState": "state",
    "labels": "labels",
    "ttl": "expiry",
    "expireTime": "expiry",
}
_READ_ONLY = frozenset({"name", "createTime", "updateTime"})


def session_id(text: str | None) -> str | None:
    """Return the id that a caller chose for a new session, or None. Raises InvalidArgument."""
    if text and not SESSION_ID.fullmatch(text):
        raise InvalidArgument("sessionId", "must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, and not only dots")
    return text or None


def check_size(value: Any, path: str, *, most_bytes: int) -> None:
    """Raise InvalidArgument if a value is nested too deeply, which is checked first, or has too much JSON."""
    if not reader.depth(value, MAX_EVENT_DEPTH):
        raise InvalidArgument(path, f"is nested more than {MAX_EVENT_DEPTH} levels deep")
    size = reader.byte_length(json.dumps(value, ensure_ascii=False, separators=(",", ":")), path)
    if size > most_bytes:
        raise InvalidArgument(path, f"has {size} bytes of JSON; the limit is {most_bytes}")


def _state(value: Any, path: str) -> JsonObject:
    check_size(value, path, most_bytes=MAX_STATE_BYTES)
    return json_object(value, path)


class SessionBody(RequestModel):
    """The last three are read-only: they are accepted and ignored."""

    exclusive = (("ttl", "expireTime"),)

    display_name: Name | None = None
    session_state: Annotated[JsonObject, Read(_state, {"type": "object", "additionalProperties": True})] | None = None
    labels: Labels | None = None
    ttl: Ttl | None = None
    expire_time: Instant | None = None
    name: Any = None
    create_time: Any = None
    update_time: Any = None

    def _fields(self, user_id: str | None, names: frozenset[str]) -> SessionFields:
        """Return what an update of the fields *names* sets; a field that the body lacks is cleared."""
        labels = self.labels if "labels" in names and self.labels else {}
        if len(labels) > settings.MAX_MAP_KEYS:
            raise InvalidArgument("labels", f"has {len(labels)} keys; the limit is {settings.MAX_MAP_KEYS}")
        check_size(labels, "labels", most_bytes=settings.MAX_MAP_BYTES)
        return SessionFields(
            user_id=user_id,
            display_name=self.display_name or None if "displayName" in names else None,
            state=self.session_state or {} if "sessionState" in names else {},
            labels=labels,
            expiry=settings.expiry(
                self.ttl if "ttl" in names else None, self.expire_time if "expireTime" in names else None
            ),
            changed=frozenset(_CHANGEABLE[name] for name in names if name in _CHANGEABLE),
        )


class CreateSessionRequest(SessionBody):
    user_id: RequiredId

    def fields(self) -> SessionFields:
        """Return the fields of the new session. Raises InvalidArgument."""
        return self._fields(self.user_id, frozenset(_CHANGEABLE))


class UpdateSessionRequest(SessionBody):
    """Changes what updateMask names, else the fields that it has; a user id may be named, not changed."""

    user_id: RequiredId | None = None

    def fields(self, mask: str | None) -> SessionFields:
        """Return the changes. Raises InvalidArgument."""
        names = _mask(mask) if mask else frozenset(map(reader.camel, self.model_fields_set)) - _READ_ONLY
        return self._fields(self.user_id if "userId" in names else None, names)


def _mask(mask: str) -> frozenset[str]:
    changeable = frozenset(_CHANGEABLE) | {"userId"}
    names = frozenset(reader.camel(path.strip()) for path in mask.split(","))
    if names == {"*"}:
        return changeable
    if not names <= changeable:
        raise InvalidArgument("updateMask", "names " + ", ".join(sorted(names - changeable)) + ", which cannot change")
    return names


class Session(TypedDict):
    name: str
    userId: str
    displayName: NotRequired[str | None]
    sessionState: NotRequired[JsonObject | None]
    labels: NotRequired[dict[str, str] | None]
    createTime: Time
    updateTime: Time
    expireTime: NotRequired[Time | None]


class SessionOperation(TypedDict):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]
    response: Session


class Sessions(Page):
    sessions: list[Session]


def session(one: model.Session, bank_name: str) -> Session:
    """Return a session; its state is returned as it was sent."""
    return without_nulls(
        Session(
            name=f"{bank_name}/sessions/{one.id}",
            userId=one.user_id,
            displayName=one.display_name,
            sessionState=one.state or None,
            labels=one.labels or None,
            createTime=rfc3339(one.created),
            updateTime=rfc3339(one.updated),
            expireTime=optional_time(one.expires),
        )
    )
