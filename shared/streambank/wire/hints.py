"""What a refusal says beside the rule: what is allowed, and what was probably meant.

Only refusals import this, and inside a function: it would add to the cold start of the function `Ingest`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from streambank.wire import reader

# Names are listed up to this length, so that an error stays readable.
_MAX_LISTED_CHARACTERS = 600
_MAX_NAME_CHARACTERS = 64
_EVENT = '{"content": {"role": "user", "parts": [{"text": "..."}]}}'
_EVENTS = f'send {{"directContentsSource": {{"events": [{_EVENT}]}}}}'
_IN_RULE = "send it in generationTriggerConfig.generationRule"

# What callers send by mistake: the name of a field, a field of the object that they sent it to, and what to do.
_MISTAKES: tuple[tuple[frozenset[str], str, str], ...] = (
    (frozenset({"events", "contents", "event"}), "directContentsSource", _EVENTS),
    (
        frozenset({"messages", "message", "content", "conversation", "turns"}),
        "directContentsSource",
        f"{_EVENTS}; streambank_client.formats makes events of the messages of other frameworks",
    ),
    (
        frozenset({"userId", "appName", "agentId", "user", "userid"}),
        "scope",
        'send it in the scope, such as {"scope": {"user_id": "123"}}',
    ),
    (frozenset({"sessionId", "threadId", "conversationId", "stream"}), "streamId", "did you mean streamId?"),
    (frozenset({"role", "parts", "text", "message"}), "content", f"an event is {_EVENT}"),
    (frozenset({"id", "messageId"}), "eventId", "did you mean eventId?"),
    (frozenset({"time", "timestamp", "createTime", "createdAt"}), "eventTime", "did you mean eventTime?"),
    (frozenset({"text", "content", "message"}), "parts", 'send {"parts": [{"text": "..."}]}'),
    (
        frozenset({"eventCount", "tokenCount", "idleDuration", "fixedInterval", "overlapEventCount"}),
        "generationRule",
        _IN_RULE,
    ),
    (
        frozenset({"eventCount", "tokenCount", "idleDuration", "fixedInterval", "overlapEventCount", "generationRule"}),
        "generationTriggerConfig",
        _IN_RULE,
    ),
    (frozenset({"ttl"}), "revisionTtl", "did you mean revisionTtl?"),
    (frozenset({"flush", "force"}), "forceFlush", "did you mean forceFlush?"),
    (frozenset({"text", "content", "memory"}), "fact", "did you mean fact?"),
    (frozenset({"query", "searchQuery", "topK"}), "similaritySearchParams", "send it in similaritySearchParams"),
)
_ROLES = {
    "assistant": 'the role of a model is "model"',
    "ai": 'the role of a model is "model"',
    "bot": 'the role of a model is "model"',
    "agent": 'the role of a model is "model"',
    "human": 'the role of a person is "user"',
    "system": "leave the event out: no memories are made of instructions",
    "developer": "leave the event out: no memories are made of instructions",
    "tool": 'leave the event out, or send a functionResponse part in the role "user"',
    "function": 'leave the event out, or send a functionResponse part in the role "user"',
}


def unknown_field(name: str, allowed: Iterable[str]) -> str:
    """Return what a refusal says of the unknown field *name* of an object with the *allowed* camelCase fields."""
    names = sorted(allowed)
    problem = f"unknown field; the fields are {_listed(names)}" if names else "unknown field; the object has no fields"
    hint = _mistake(reader.camel(name), names) or _near(name, names)
    return f"{problem}; {hint}" if hint else problem


def unknown_parameter(name: str, allowed: Iterable[str]) -> str:
    """Return what a refusal says of the query parameter *name* of a route that takes the *allowed* ones."""
    names = sorted(allowed)
    if not names:
        return "unknown query parameter; the route takes none"
    problem = f"unknown query parameter; the route takes {_listed(names)}"
    hint = _near(name, names)
    return f"{problem}; {hint}" if hint else problem


def role(value: Any) -> str:
    """Return what a refusal says of the role *value*."""
    problem = "must be a valid role: user, model"
    hint = _ROLES.get(value.lower()) if isinstance(value, str) else None
    if hint is None and isinstance(value, str) and value.lower() in ("user", "model"):
        hint = f"did you mean {value.lower()}?"
    return f"{problem}; {hint}" if hint else problem


def content(value: Any) -> str:
    """Return what a refusal says of the content *value*, which is no object."""
    shape = 'must be an object such as {"role": "user", "parts": [{"text": "..."}]}'
    return f"{shape}, not a string" if isinstance(value, str) else shape


def parts(value: Any) -> str:
    """Return what a refusal says of the parts *value*, which is no list."""
    return 'must be a list such as [{"text": "..."}]' + (", not a string" if isinstance(value, str) else "")


def duration(value: Any) -> str:
    """Return what a refusal says of the duration *value*."""
    problem = 'must be a duration in seconds such as "300s"'
    seconds = str(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    match = re.fullmatch(r"([0-9]{1,12})(?:\.0+)?(?: ?s| ?sec| ?seconds)?", seconds)
    return f'{problem}; did you mean "{match[1]}s"?' if match else problem


def _mistake(name: str, allowed: list[str]) -> str | None:
    if name in allowed:
        return None
    return next((hint for names, field, hint in _MISTAKES if name in names and field in allowed), None)


def _near(name: str, allowed: list[str]) -> str | None:
    """Return the allowed name that *name* probably stands for, in the spelling that the caller uses."""
    if len(name) > _MAX_NAME_CHARACTERS:
        return None
    by_letters = {_letters(one): one for one in allowed}
    near = difflib.get_close_matches(_letters(name), by_letters, 1, 0.75)
    if not near:
        return None
    meant = by_letters[near[0]]
    return f"did you mean {_snake(meant) if '_' in name else meant}?"


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _snake(name: str) -> str:
    return re.sub("([A-Z])", lambda match: "_" + match[1].lower(), name)


def _listed(names: list[str]) -> str:
    text = ", ".join(names)
    if len(text) <= _MAX_LISTED_CHARACTERS:
        return text
    return text[:_MAX_LISTED_CHARACTERS].rpartition(", ")[0] + ", ..."
