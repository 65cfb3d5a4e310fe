"""Checks of arguments that can never work, with the service's limits: a constructor raises, not its first call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import ValidationError

from streambank_client.calls.resources import BANK_NAME
from streambank_client.http.encoding import camel_case
from streambank_client.routes import Asynchronous, Synchronous
from streambank_client.types.events import GenerationRule

T = TypeVar("T")
# The limits of the service; a test compares them with the service's own.
MAX_SCOPE_PAIRS = 5
MAX_SCOPE_BYTES = 256
MAX_ID_BYTES = 512
MAX_FORMAT_BYTES = 64
MAX_EVENT_COUNT = 10_000
MAX_TOKEN_COUNT = 1_000_000
MAX_TIMED_OVERLAP = 100
MINUTE = timedelta(seconds=60)
LONGEST_TRIGGER = timedelta(days=30)
BANK_ID = re.compile(r"[A-Za-z0-9._-]{1,36}")

_SPAN = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?s")
_SPAN_FIELDS = ("idle_duration", "fixed_interval")
_RULE_FIELDS = {spelling: name for name in GenerationRule.model_fields for spelling in (name, camel_case(name))}


class WrongObject(ValueError, TypeError):
    """An argument of a kind that can never work: a ValueError, as for other wrong arguments, and a TypeError."""


def checked_scope(scope: Any) -> dict[str, str]:
    """Return a scope as a dict.

    Raises:
        ValueError: it does not have 1 to 5 pairs of texts of 1 to 256 bytes, or a value has a `*`.
    """
    if not isinstance(scope, Mapping) or not 1 <= len(scope) <= MAX_SCOPE_PAIRS:
        raise ValueError(f"scope: must be a map of 1 to {MAX_SCOPE_PAIRS} texts, such as {{'user_id': '42'}}")
    for key, value in scope.items():
        if not _has_bytes(key, 1, MAX_SCOPE_BYTES) or not _has_bytes(value, 1, MAX_SCOPE_BYTES):
            raise ValueError(f"scope: each key and each value must be text of 1 to {MAX_SCOPE_BYTES} bytes of UTF-8")
        if "*" in value:
            raise ValueError("scope: a value must not contain '*'")
    return dict(scope)


def checked_namespace(scope: Mapping[str, str], namespace: str | None, *, key: str) -> dict[str, str]:
    """Return a scope with its namespace as one more pair.

    Raises:
        ValueError: the scope has no room for it, has a namespace already, or the namespace cannot be a value.
    """
    if namespace is None:
        return dict(scope)
    if key in scope:
        raise ValueError(f"the scope has a key {key!r}, so there can be no namespace")
    return checked_scope({**scope, key: namespace})


def checked_stream_id(stream_id: Any) -> str:
    """Return a stream id; the empty one is the stream `default`. Raises ValueError above 512 bytes."""
    return _checked_text(stream_id, "stream_id", most_bytes=MAX_ID_BYTES)


def checked_format(label: Any) -> str:
    """Return the label of a history's format. Raises ValueError above 64 bytes."""
    return _checked_text(label, "format", most_bytes=MAX_FORMAT_BYTES)


def checked_bank_id(bank: Any) -> str:
    """Return the id or the name of a bank.

    Raises:
        ValueError: its id has other characters than letters, digits, `.`, `_` and `-`, or not 1 to 36 of them.
    """
    text = bank if isinstance(bank, str) else ""
    bank_id = text.rpartition("/")[2] if BANK_NAME.fullmatch(text) else text
    if not BANK_ID.fullmatch(bank_id) or bank_id in (".", ".."):
        raise ValueError("bank: an id has 1 to 36 letters, digits, dots, underscores and hyphens")
    return text


def _checked_text(text: Any, name: str, *, most_bytes: int) -> str:
    if not _has_bytes(text, 0, most_bytes):
        raise ValueError(f"{name}: must be text of at most {most_bytes} bytes of UTF-8")
    return str(text)


def _has_bytes(text: Any, least: int, most: int) -> bool:
    try:
        return isinstance(text, str) and least <= len(text.encode()) <= most
    except UnicodeEncodeError:
        return False


# ---- trigger rules


def checked_rule(rule: GenerationRule | Mapping[str, Any] | None) -> GenerationRule | None:
    """Return a rule for generation; a map may have the names of Python or of the API.

    Raises:
        ValueError: a field is unknown or beyond its limits, or the conditions exclude each other.
    """
    if rule is None:
        return None
    parsed = rule if isinstance(rule, GenerationRule) else _parsed_rule(rule)
    problem = _problem_of(parsed)
    if problem:
        raise ValueError(f"generation_rule: {problem}")
    return parsed


def _parsed_rule(rule: Any) -> GenerationRule:
    if not isinstance(rule, Mapping):
        raise WrongObject("generation_rule: must be a GenerationRule or a map, such as {'event_count': 10}")
    unknown = [str(name) for name in rule if name not in _RULE_FIELDS]
    if unknown:
        allowed = ", ".join(GenerationRule.model_fields)
        raise ValueError(f"generation_rule: has no {', '.join(sorted(unknown))}; it has {allowed}")
    names = [_RULE_FIELDS[name] for name in rule]
    if len(set(names)) < len(names):
        raise ValueError("generation_rule: has a field in both spellings")
    fields: dict[str, Any] = {_RULE_FIELDS[name]: value for name, value in rule.items() if value is not None}
    for name, value in fields.items():
        is_span = isinstance(value, timedelta) or (isinstance(value, str) and _SPAN.fullmatch(value))
        if name in _SPAN_FIELDS and not is_span:
            raise ValueError(f"generation_rule: {name} must be a timedelta, or seconds such as '300s'")
        if value is True or value is False:
            raise ValueError(f"generation_rule: {name} must be a whole number")
    try:
        return GenerationRule.model_validate(fields)
    except ValidationError as error:
        place = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        raise ValueError(f"generation_rule: {place[0]} must be a whole number") from None


def _problem_of(rule: GenerationRule) -> str | None:
    """Return what is wrong with a rule, or None."""
    for name in _SPAN_FIELDS:
        span = getattr(rule, name)
        if span is not None and (not MINUTE <= span <= LONGEST_TRIGGER or span % MINUTE):
            return f"{name} must be a multiple of 60 seconds, from 60 seconds to 30 days"
    if rule.event_count is not None and not 1 <= rule.event_count <= MAX_EVENT_COUNT:
        return f"event_count must be from 1 to {MAX_EVENT_COUNT}"
    if rule.token_count is not None and not 1 <= rule.token_count <= MAX_TOKEN_COUNT:
        return f"token_count must be from 1 to {MAX_TOKEN_COUNT}"
    if rule.idle_duration is not None and rule.fixed_interval is not None:
        return "idle_duration and fixed_interval exclude each other"
    return _overlap_problem(rule)


def _overlap_problem(rule: GenerationRule) -> str | None:
    if rule.overlap_event_count is None:
        return None
    if {rule.event_count, rule.token_count, rule.idle_duration, rule.fixed_interval} == {None}:
        return "overlap_event_count needs another condition beside it"
    most = rule.event_count - 1 if rule.event_count else MAX_TIMED_OVERLAP
    if not 1 <= rule.overlap_event_count <= most:
        return f"overlap_event_count must be at least 1, and less than event_count or at most {MAX_TIMED_OVERLAP}"
    return None


# ---- objects


def synchronous(owner: T, name: str, method: str) -> T:
    """Return a client or bank that waits for its replies. Raises ValueError for another object."""
    if isinstance(owner, Asynchronous):
        raise WrongObject(f"{name}: must be synchronous, a Streambank or one of its banks, not {_type_of(owner)}")
    return with_method(owner, name, method)


def asynchronous(owner: T, name: str, method: str) -> T:
    """Return a client or bank whose calls are awaited. Raises ValueError for another object."""
    if isinstance(owner, Synchronous):
        raise WrongObject(
            f"{name}: must be asynchronous, an AsyncStreambank or one of its banks, not {_type_of(owner)}"
        )
    return with_method(owner, name, method)


def with_method(owner: T, name: str, method: str) -> T:
    """Return an object that has *method*. Raises ValueError for another one, and for a class."""
    if isinstance(owner, type) or not callable(getattr(owner, method, None)):
        raise WrongObject(f"{name}: must be an object with {method}, not {_type_of(owner)}")
    return owner


def checked_function(value: Any, name: str, method: str) -> Callable[..., Any]:
    """Return the function of *value*: its method of the name *method*, or else itself.

    Raises:
        ValueError: it is neither an object with that method nor callable, or it is a class of such objects.
    """
    function = getattr(value, method, None)
    if isinstance(value, type) and function is not None:
        raise WrongObject(f"{name}: must be an object, not its class: {value.__name__}()")
    if not callable(function):
        function = value
    if not callable(function):
        raise WrongObject(f"{name}: must be a function, or an object with {method}(messages), not {_type_of(value)}")
    return function  # type: ignore[no-any-return]


def _type_of(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
