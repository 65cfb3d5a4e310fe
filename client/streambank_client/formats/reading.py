"""Reading messages: every field by name, every wrong type by its path, and never a word of what was said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Node:
    """An object of a message and the path to it; null counts as absent."""

    def __init__(self, value: Any, path: str) -> None:
        """Raises ValueError if *value* is no object."""
        if not isinstance(value, Mapping):
            raise _wrong(path, "an object", value)
        self.value = value
        self.path = path

    def get(self, name: str) -> Any:
        return self.value.get(name)

    def text(self, name: str) -> str:
        """Return a string, `""` where there is none."""
        return self.maybe_text(name) or ""

    def maybe_text(self, name: str) -> str | None:
        return self._typed(name, str, "a string")

    def items(self, name: str) -> list[Any]:
        """Return a list, an empty one where there is none."""
        return self._typed(name, list, "a list") or []

    def node(self, name: str) -> Node | None:
        value = self.value.get(name)
        return None if value is None else Node(value, f"{self.path}.{name}")

    def object(self, name: str) -> Node:
        """Return the object *name*, an empty one where there is none."""
        return self.node(name) or Node({}, f"{self.path}.{name}")

    def nodes(self, name: str) -> list[Node]:
        """Return a list of objects, an empty one where there is none."""
        return [Node(item, f"{self.path}.{name}[{at}]") for at, item in enumerate(self.items(name))]

    def others(self, *known: str) -> list[str]:
        """Return the names of the fields besides *known* that hold anything."""
        return [str(name) for name, value in self.value.items() if name not in known and _holds(value)]

    def _typed(self, name: str, kind: type[T], what: str) -> T | None:
        value = self.value.get(name)
        if value is not None and not isinstance(value, kind):
            raise _wrong(f"{self.path}.{name}", what, value)
        return value


def _holds(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def wrong_type(node: Node, name: str, what: str) -> ValueError:
    """Return the error for a field that is not *what* it must be."""
    return _wrong(f"{node.path}.{name}", what, node.get(name))


def _wrong(path: str, what: str, value: Any) -> ValueError:
    return ValueError(f"{path}: must be {what}, not {type(value).__name__}")
