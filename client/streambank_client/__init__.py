"""The client library: `from streambank_client import Streambank`; httpx and pydantic are all that it needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streambank_client import errors, types
    from streambank_client.banks import AsyncBank, AsyncStreambank, Bank, Streambank
    from streambank_client.operations import AsyncOperation, Operation
    from streambank_client.sending import Hooks
    from streambank_client.types.events import Content, Event, GenerationRule, Part
    from streambank_client.types.memories import Memory, RetrievedMemories, RetrievedMemory

__all__ = [
    "AsyncBank",
    "AsyncOperation",
    "AsyncStreambank",
    "Bank",
    "Content",
    "Event",
    "GenerationRule",
    "Hooks",
    "Memory",
    "Operation",
    "Part",
    "RetrievedMemories",
    "RetrievedMemory",
    "Streambank",
    "errors",
    "types",
]

# Imported when they are asked for: a program that only raises our errors needs no HTTP.
_HOMES = {
    "AsyncBank": "banks",
    "AsyncOperation": "operations",
    "AsyncStreambank": "banks",
    "Bank": "banks",
    "Content": "types.events",
    "Event": "types.events",
    "GenerationRule": "types.events",
    "Hooks": "sending",
    "Memory": "types.memories",
    "Operation": "operations",
    "Part": "types.events",
    "RetrievedMemories": "types.memories",
    "RetrievedMemory": "types.memories",
    "Streambank": "banks",
}


def __getattr__(name: str) -> Any:
    if name in ("errors", "types"):
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
