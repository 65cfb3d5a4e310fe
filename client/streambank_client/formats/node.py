"""Reading the fields of a message by name, with errors that name the field's path and quote no content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Node:
    """A JSON object and its path within the message; a null field counts as absent."""

    def __init__(self, value: Any, path: str) -> None:
        """Raises ValueError if *value* is not an object."""
        if not isinstance(value, Mapping):
            raise type_error(path, "an object", value)
        self.value = value
        self.path = path

    def get(self, name: str) -> Any:
        return self.value.get(name)

    def text(self, name: str) -> str:
        """Return the string *name*, or `""` if it is absent."""
        return self.optional_text(name) or ""

    def optional_text(self, name: str) -> str | None:
        return self._typed(name, str, "a string")

    def array(self, name: str) -> list[Any]:
        """Return the list *name*, or an empty list if it is absent."""
        return self._typed(name, list, "a list") or []

    def optional_object(self, name: str) -> Node | None:
        value = self.value.get(name)
        return None if value is None else Node(value, f"{self.path}.{name}")

    def object(self, name: str) -> Node:
        """Return the object *name*, or an empty object if it is absent."""
        return self.optional_object(name) or Node({}, f"{self.path}.{name}")

    def objects(self, name: str) -> list[Node]:
        """Return the list of objects *name*, or an empty list if it is absent."""
        return [Node(item, f"{self.path}.{name}[{index}]") for index, item in enumerate(self.array(name))]

    def other_fields(self, *known: str) -> list[str]:
        """Return the names of the fields besides *known* that are not empty."""
        return [str(name) for name, value in self.value.items() if name not in known and not _is_empty(value)]

    def _typed(self, name: str, kind: type[T], expected: str) -> T | None:
        value = self.value.get(name)
        if value is not None and not isinstance(value, kind):
            raise type_error(f"{self.path}.{name}", expected, value)
        return value


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def wrong_type(node: Node, name: str, expected: str) -> ValueError:
    """Return the error for the field *name*, which is not what is *expected*."""
    return type_error(f"{node.path}.{name}", expected, node.get(name))


def type_error(path: str, expected: str, value: Any) -> ValueError:
    """Return the error for the value at *path*, which is not what is *expected*."""
    return ValueError(f"{path}: must be {expected}, not {type(value).__name__}")
