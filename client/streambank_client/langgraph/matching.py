"""Which items a filter selects, and which namespaces a condition: as LangGraph's store in memory does it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.store.base import Item, ListNamespacesOp, MatchCondition, SearchOp

_EQUAL = {"$eq": operator.eq, "$ne": operator.ne}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def is_selected(item: Item, op: SearchOp) -> bool:
    """Return whether an item is in the namespaces of a search and passes its filter. Raises as `passes` does."""
    prefix = op.namespace_prefix
    return item.namespace[: len(prefix)] == prefix and passes(item.value, op.filter)


def passes(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Return whether an item's value has all fields of a filter.

    Raises:
        ValueError: an operator is unknown, or compares what is no number.
        TypeError: an operator compares what cannot be a number.
    """
    return all(_matches(value.get(name), condition) for name, condition in (conditions or {}).items())


def _matches(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(name.startswith("$") for name in condition):
            return all(_holds(value, name, operand) for name, operand in condition.items())
        return isinstance(value, Mapping) and passes(value, condition)
    if isinstance(condition, list | tuple):
        is_list = isinstance(value, list | tuple) and len(value) == len(condition)
        return is_list and all(map(_matches, value, condition))
    return bool(value == condition)


def _holds(value: Any, name: str, operand: Any) -> bool:
    if name in _EQUAL:
        return bool(_EQUAL[name](value, operand))
    if name not in _ORDER:
        raise ValueError(f"the filter has an unknown operator; these are known: {', '.join([*_EQUAL, *_ORDER])}")
    return _ORDER[name](float(value), float(operand))


def selected_namespaces(namespaces: set[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """Return the page of *namespaces* that an operation asks for, cut at its depth, in their order."""
    conditions = op.match_conditions or ()
    matching = (one for one in namespaces if all(_fits(one, condition) for condition in conditions))
    ordered = sorted({one[: op.max_depth] for one in matching})
    return ordered[op.offset : op.offset + op.limit]


def _fits(namespace: Sequence[str], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(pattern in ("*", label) for pattern, label in zip(path, part, strict=True))
