"""What the service answers about sessions."""

from infra.openapi.answered import Finished, Object, Page, Time
from infra.openapi.leaves import Answer


class Session(Answer):
    name: str
    user_id: str
    create_time: Time
    update_time: Time
    expire_time: Time | None = None
    display_name: str | None = None
    session_state: Object | None = None
    labels: dict[str, str] | None = None


class SessionEvent(Answer):
    name: str
    author: str
    invocation_id: str
    timestamp: Time
    content: Object | None = None
    actions: Object | None = None
    event_metadata: Object | None = None
    error_code: str | None = None
    error_message: str | None = None
    raw_event: Object | None = None


class SessionOperation(Finished):
    response: Session


class Sessions(Page):
    sessions: list[Session]


class SessionEvents(Page):
    session_events: list[SessionEvent]
