"""The addresses of the pages: readable, complete, and good to share. They never hold a credential."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

_SCOPE_PREFIX = "scope."
Pairs = Iterable[tuple[str, str]]


def overview(bank: str) -> str:
    return f"/banks/{quote(bank, safe='')}"


def streams(bank: str) -> str:
    return _address(bank, "streams", {})


def windows(bank: str, state: str = "") -> str:
    return _address(bank, "windows", {"state": state})


def memories(bank: str, text_filter: str = "") -> str:
    return _address(bank, "memories", {"filter": text_filter})


def scope(bank: str, pairs: Mapping[str, str], *, text_filter: str = "") -> str:
    return _address(bank, "scope", {"filter": text_filter}, pairs)


def memory(bank: str, name: str) -> str:
    return f"{overview(bank)}/memories/{quote(last_part(name), safe='')}"


def window(bank: str, operation: str, *, event: int | None = None, memory_name: str = "") -> str:
    """Return the address of a window's way, with the event or the memory that it is looked at for."""
    marks = {"event": "" if event is None else str(event), "memory": last_part(memory_name)}
    return _with_query(f"{overview(bank)}/windows/{quote(last_part(operation), safe='')}", marks)


def event(bank: str, pairs: Mapping[str, str], stream: str, event_id: str) -> str:
    return _address(bank, "event", {"stream": stream, "id": event_id}, pairs)


def search(bank: str, pairs: Mapping[str, str], query: str = "") -> str:
    return _address(bank, "search", {"q": query}, pairs)


def try_it(bank: str, pairs: Mapping[str, str], stream: str = "") -> str:
    return _address(bank, "try", {"stream": stream}, pairs)


def read_scope(query: Pairs) -> dict[str, str]:
    """Return the scope of an address: each `scope.KEY=VALUE` is a pair of it."""
    return {key.removeprefix(_SCOPE_PREFIX): value for key, value in query if key.startswith(_SCOPE_PREFIX)}


def scope_fields(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of an address that hold a scope."""
    return {f"{_SCOPE_PREFIX}{key}": value for key, value in pairs.items()}


def last_part(name: str) -> str:
    """Return the id at the end of a resource's name."""
    return name.rsplit("/", 1)[-1]


def _address(bank: str, page: str, fields: Mapping[str, str], pairs: Mapping[str, str] | None = None) -> str:
    return _with_query(f"{overview(bank)}/{page}", {**scope_fields(pairs or {}), **fields})


def _with_query(path: str, fields: Mapping[str, str]) -> str:
    query = urlencode({key: value for key, value in fields.items() if value})
    return f"{path}?{query}" if query else path
