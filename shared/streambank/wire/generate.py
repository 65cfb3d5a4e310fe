"""GenerateMemories requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.event import KeyedEvent
from streambank.model.rule import WindowSettings
from streambank.model.window import DirectMemory
from streambank.wire import ingest, reader, topics
from streambank.wire.reader import Fields, swap
from streambank.wire.settings import SETTINGS, window_settings

MAX_DIRECT_MEMORIES = 5
MAX_FACT_BYTES = 8_192

_SOURCES = ("vertexSessionSource", "directContentsSource", "directMemoriesSource")
_CALL = frozenset({*_SOURCES, "scope", "disableConsolidation", "allowedTopics"}) | SETTINGS
_SESSION = frozenset({"session", "startTime", "endTime"})
_MEMORIES = frozenset({"directMemories"})
_MEMORY = frozenset({"fact", "topics"})


@dataclass(frozen=True, slots=True)
class SessionSource:
    """Events of a session from *start* on and before *end*; *bank* is the one that its whole name names, if any."""

    session: str
    bank: str | None = None
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """A checked request: exactly one source; *scope* is None where the session's user gives it."""

    scope: dict[str, str] | None
    settings: WindowSettings
    events: tuple[KeyedEvent, ...] = ()
    memories: tuple[DirectMemory, ...] = ()
    session: SessionSource | None = None


def generate_request(body: Any) -> GenerateRequest:
    """Return the request that *body* makes. Raises InvalidArgument naming the first field that breaks a rule."""
    fields = reader.message(body, "", _CALL)
    given = [name for name in _SOURCES if name in fields]
    if len(given) != 1:
        raise InvalidArgument(given[1] if given else "", "exactly one of " + ", ".join(_SOURCES) + " is needed")
    session = _session(fields)
    scope = ingest.scope(*swap(fields.get("scope", ("scope", None)))) if "scope" in fields or not session else None
    return GenerateRequest(scope, _settings(fields), ingest.events(fields, None), _memories(fields), session)


def _settings(fields: Fields) -> WindowSettings:
    said = window_settings(fields)
    skip = reader.boolean(*swap(fields["disableConsolidation"])) if "disableConsolidation" in fields else None
    allowed = topics.topics(*swap(fields["allowedTopics"])) if "allowedTopics" in fields else None
    return said.overridden_by(WindowSettings(disable_consolidation=skip, allowed_topics=allowed or None))


def _session(fields: Fields) -> SessionSource | None:
    if "vertexSessionSource" not in fields:
        return None
    path, value = fields["vertexSessionSource"]
    named = reader.message(value, path, _SESSION)
    name = reader.text(*swap(named.get("session", (f"{path}.session", ""))), least_bytes=1, most_bytes=1_024)
    start, end = (reader.instant(*swap(named[key])) if key in named else None for key in ("startTime", "endTime"))
    return SessionSource(name.rsplit("/", 1)[-1], _bank_of(name), start, end)


def _bank_of(name: str) -> str | None:
    parts = name.split("/")
    return parts[-3] if len(parts) >= 3 else None


def _memories(fields: Fields) -> tuple[DirectMemory, ...]:
    if "directMemoriesSource" not in fields:
        return ()
    path, value = fields["directMemoriesSource"]
    listed_path, listed = reader.message(value, path, _MEMORIES).get("directMemories", (f"{path}.directMemories", None))
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_DIRECT_MEMORIES:
        raise InvalidArgument(listed_path, f"must be a list of 1 to {MAX_DIRECT_MEMORIES} memories")
    return tuple(_memory(one, f"{listed_path}[{index}]") for index, one in enumerate(listed))


def _memory(value: Any, path: str) -> DirectMemory:
    fields = reader.message(value, path, _MEMORY)
    said = fact(*swap(fields.get("fact", (reader.join(path, "fact"), ""))))
    return DirectMemory(said, topics.topics(*swap(fields["topics"])) if "topics" in fields else ())


def fact(value: Any, path: str) -> str:
    """Return a fact: 1 to 8,192 bytes, not blank."""
    said = reader.text(value, path, least_bytes=1, most_bytes=MAX_FACT_BYTES)
    if not said.strip():
        raise InvalidArgument(path, "must not be blank")
    return said
