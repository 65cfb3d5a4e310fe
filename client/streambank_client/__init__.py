"""The client library: `from streambank_client import Streambank`. It depends on httpx and pydantic only."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streambank_client.version import __version__

if TYPE_CHECKING:
    from streambank_client import errors, types
    from streambank_client.banks import AsyncBank, AsyncStreambank, Bank, Streambank
    from streambank_client.http.settings import Hooks
    from streambank_client.operations import AsyncOperation, Operation
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
    "__version__",
    "errors",
    "types",
]

# Imported when they are first used: a program that only catches errors needs no HTTP.
_MODULES = {
    "AsyncBank": "banks",
    "AsyncOperation": "operations",
    "AsyncStreambank": "banks",
    "Bank": "banks",
    "Content": "types.events",
    "Event": "types.events",
    "GenerationRule": "types.events",
    "Hooks": "http.settings",
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
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
