"""Parameters of paths, queries and headers, as the OpenAPI document has them."""

from typing import Any

from streambank.model.ids import BANK_ID, REVIEW_ID
from streambank.model.session import SESSION_ID
from streambank.wire import ingest, paging, settings

JsonObject = dict[str, Any]
# As Memory Bank requires it: at most 63 of a-z, 0-9 and -, a letter first, no - last.
MEMORY_ID_PATTERN = "[a-z]([a-z0-9-]{0,61}[a-z0-9])?"


def _parameter(name: str, place: str, description: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "in": place, "description": description, "schema": schema}


def _path(name: str, description: str, **schema: Any) -> JsonObject:
    return _parameter(name, "path", description, {"type": "string", **schema}) | {"required": True}


def _query(name: str, description: str, **schema: Any) -> JsonObject:
    return _parameter(name, "query", description, {"type": "string", **schema})


def _javascript(pattern: str) -> str:
    """Return a pattern of Python as JavaScript spells it, for a whole text."""
    return f"^{pattern}$".replace(r"\Z", "$")


IN_PATH: dict[str, JsonObject] = {
    "project": _path("project", "Accepted as it is, and echoed.", pattern="^[^/]+$", examples=["demo"]),
    "location": _path("location", "Accepted as it is, and echoed.", pattern="^[^/]+$", examples=["here"]),
    "bank": _path("bank", "A bank's id.", pattern=_javascript(BANK_ID.pattern), examples=["default"]),
    "memory": _path("memory", "A memory's id.", minLength=1, maxLength=paging.MAX_ID, pattern="^[^/]+$"),
    "review": _path("review", "A review's id.", pattern=_javascript(REVIEW_ID.pattern)),
    "revision": _path("revision", "A revision's number.", pattern="^[0-9]{1,12}$", examples=["1"]),
    "session": _path("session", "A session's id.", pattern=_javascript(SESSION_ID.pattern)),
    "operation": _path("operation", "An operation's id.", minLength=1, pattern="^[^/]+$"),
}

PAGE_SIZE: JsonObject = _query("pageSize", f"By default, and for 0, {paging.DEFAULT_PAGE}.") | {
    "schema": {"type": "integer", "minimum": 0, "maximum": paging.MAX_PAGE}
}
PAGE_TOKEN = _query("pageToken", "The nextPageToken of the previous page, with the same query.")
PAGE = (PAGE_SIZE, PAGE_TOKEN)
UPDATE_MASK = _query("updateMask", "The fields that change, comma-separated; by default the fields of the body.")
MEMORY_MASK = UPDATE_MASK | {"schema": {"type": "string", "examples": ["fact,display_name"]}}
SESSION_MASK = UPDATE_MASK | {"schema": {"type": "string", "examples": ["display_name,labels"]}}
BANK_MASK = UPDATE_MASK | {"schema": {"type": "string", "examples": ["display_name,context_spec"]}}
MEMORY_FILTER = _query("filter", "AIP-160, over facts, times, topics and scopes.", examples=['scope.user_id="123"'])
REVIEW_FILTER = _query("filter", "AIP-160, over scope, action, cause and create_time.", examples=['action="DELETE"'])
CHANGE_FILTER = _query("filter", "AIP-160, over kind, change_time and scope.", examples=['scope.user_id="123"'])
REVISION_FILTER = _query("filter", "AIP-160, over labels.", examples=['labels.source="chat"'])
SESSION_FILTER = _query("filter", "AIP-160, over display_name, user_id and labels.", examples=['user_id="123"'])
EVENT_FILTER = _query("filter", "AIP-160, over timestamp.", examples=['timestamp>="2026-01-01T00:00:00Z"'])
STATE_FILTER = _query("filter", "One state.", pattern='^(state="[A-Z_]+")?$', examples=['state="PARKED"'])
SCOPE = _query("scope", "A scope, as JSON.", examples=['{"user_id": "123"}']) | {"required": True}
TIME_ORDER = _query(
    "orderBy", "create_time or update_time, with desc for newest first.", examples=["create_time desc", "update_time"]
)
MEMORY_ORDER = _query(
    "orderBy",
    "create_time, update_time, event_time, valid_from or valid_until, with desc for newest first.",
    examples=["event_time desc", "valid_until"],
)
EVENT_ORDER = _query("orderBy", "timestamp, with desc for newest first.", examples=["timestamp", "timestamp desc"])
MEMORY_ID = _query("memoryId", "The id of the new memory.", pattern=f"^({MEMORY_ID_PATTERN})?$")
NEW_SESSION_ID = _query("sessionId", "The id of the new session.", pattern=_javascript(SESSION_ID.pattern))
FORCE = _query("force", "Deletes the contents of the bank, too; also accepted in the body.", enum=["true", "false"])
VIEW = _query("view", "FULL adds the window's events and candidates; by default BASIC.", enum=["BASIC", "FULL"])
TIMEOUT = _query(
    "timeout",
    f"How long to wait. The service answers within about 2 s; up to {settings.LONGEST_TTL.days} days are accepted.",
    pattern=r"^[0-9]{1,12}(\.[0-9]{1,9})?s$",
    examples=["0.1s"],
)
IDEMPOTENCY_KEY: JsonObject = _parameter(
    "X-Idempotency-Key",
    "header",
    "Makes it safe to send the call again where the body has no ids. With another body it is refused.",
    {"type": "string", "minLength": 1, "maxLength": ingest.MAX_ID_BYTES},
)
CONVERSATION_ID: JsonObject = _query(
    "conversationId", "Any text.", minLength=1, maxLength=ingest.MAX_ID_BYTES, examples=["user 1/chat#2"]
) | {"required": True}
IF_MATCH = _parameter(
    "If-Match", "header", "An etag, or * for a conversation that must exist.", {"type": "string", "examples": ["*"]}
)
IF_NONE_MATCH = _parameter(
    "If-None-Match", "header", "For a conversation that must not exist.", {"type": "string", "enum": ["*"]}
)
CHAT = (CONVERSATION_ID, IF_MATCH, IF_NONE_MATCH)
START_DATE = _query("startDate", "The first UTC day; by default 29 days before the last one.", format="date")
END_DATE = _query("endDate", "The last UTC day; by default today.", format="date")
