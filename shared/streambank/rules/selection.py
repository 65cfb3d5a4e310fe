"""The selection of memories in a request: filter, metadata groups, types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streambank.model.memory import ManagedTopic, Memory
from streambank.rules.filtering import Filter, Groups, Kind, Order, parse, parse_order

FIELDS: Mapping[str, Kind] = {
    "fact": Kind.TEXT,
    "display_name": Kind.TEXT,
    "description": Kind.TEXT,
    "create_time": Kind.TIMESTAMP,
    "update_time": Kind.TIMESTAMP,
    "expire_time": Kind.TIMESTAMP,
    "event_time": Kind.TIMESTAMP,
    "valid_from": Kind.TIMESTAMP,
    "valid_until": Kind.TIMESTAMP,
    "topics": Kind.LIST,
    "topics.managed_memory_topic": Kind.LIST,
    "topics.custom_memory_topic_label": Kind.LIST,
    "scope": Kind.TEXT_MAP,
    "pinned": Kind.BOOLEAN,
}
ORDERS = ("create_time", "update_time", "event_time", "valid_from", "valid_until")
DEFAULT_ORDER = "create_time desc"
_TYPES = ("NATURAL_LANGUAGE_COLLECTION", "STRUCTURED_PROFILE")


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter and groups that must both match; page tokens contain *text* in their place."""

    filter: Filter
    groups: Groups
    types: tuple[str, ...] = _TYPES
    text: str = field(default="")

    def matches(self, memory: Memory) -> bool:
        """Tell whether *memory* is selected."""
        is_of_type = _TYPES[memory.profile is not None] in self.types
        return is_of_type and self.filter.matches(field_values(memory)) and self.groups.matches(memory.metadata)

    def may_match(self, scope: dict[str, str]) -> bool:
        """Tell whether a memory of *scope* can match, as far as the filter fixes the scope."""
        pinned = self.filter.pinned("scope")
        return (pinned is None or pinned == scope) and self.filter.pinned_keys("scope").items() <= scope.items()

    @property
    def scope(self) -> dict[str, str] | None:
        """Return the one scope that a match must have, or None."""
        pinned = self.filter.pinned("scope")
        return pinned if isinstance(pinned, dict) else None


def parse_selection(text: str, groups: Groups | None = None, types: tuple[str, ...] = ()) -> Selection:
    """Return the selection of a request; without *types*, that of memories in natural language.

    Raises:
        InvalidArgument: the filter cannot be read; an invalid filter is never ignored.
    """
    parsed, groups, types = parse(text, FIELDS), groups or Groups(), types or _TYPES[:1]
    return Selection(parsed, groups, types, f"{parsed} | {groups} | {sorted(types)}")


def parse_memory_order(text: str | None) -> Order:
    """Return the order of a list of memories. Raises InvalidArgument."""
    return parse_order(text, ORDERS, DEFAULT_ORDER)


def field_values(memory: Memory) -> dict[str, object]:
    """Return the values of *memory* for filters and orders."""
    return {
        "fact": memory.fact,
        "display_name": memory.display_name,
        "description": memory.description,
        "create_time": memory.created,
        "update_time": memory.updated,
        "expire_time": memory.expires,
        "event_time": memory.as_of,
        "valid_from": memory.validity.start,
        "valid_until": memory.validity.end,
        "topics": memory.topics,
        "topics.managed_memory_topic": [name for name in memory.topics if name in list(ManagedTopic)],
        "topics.custom_memory_topic_label": [name for name in memory.topics if name not in list(ManagedTopic)],
        "scope": memory.scope,
        "pinned": memory.pinned,
    }
