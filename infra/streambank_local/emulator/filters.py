"""Lambda's event filter patterns.

Source: https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html and .../with-ddb-filtering.html
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Pattern = Mapping[str, Any]

_ABSENT = object()
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def passes(patterns: Iterable[Pattern], record: Any) -> bool:
    """Return whether *record* satisfies any of *patterns*; without patterns everything passes."""
    listed = list(patterns)
    return not listed or any(matches(pattern, record) for pattern in listed)


def matches(pattern: Pattern, node: Any) -> bool:
    """Return whether *node* satisfies every field of *pattern*; raises ValueError for an unknown rule."""
    if isinstance(node, list) and node:
        return any(matches(pattern, element) for element in node)
    return all(_field_matches(name, expected, node) for name, expected in pattern.items())


def _field_matches(name: str, expected: Any, node: Any) -> bool:
    if name == "$or":
        return any(matches(alternative, node) for alternative in expected)
    value = node.get(name, _ABSENT) if isinstance(node, Mapping) else _ABSENT
    if isinstance(expected, Mapping):
        return matches(expected, value)
    return any(_rule_matches(rule, _leaves(value)) for rule in expected)


def _leaves(value: Any) -> list[Any]:
    # Rules compare leaves only: an object is no leaf, and a list is compared element by element.
    values = value if isinstance(value, list) else [value]
    return [leaf for leaf in values if leaf is not _ABSENT and not isinstance(leaf, Mapping | list)]


def _rule_matches(rule: Any, leaves: list[Any]) -> bool:
    if not isinstance(rule, Mapping):
        return any(_equal(rule, leaf) for leaf in leaves)
    ((name, argument),) = rule.items()
    if name == "exists":
        return bool(leaves) is argument
    if name not in _RULES:
        raise ValueError(f"unknown rule: {name}")
    return any(_RULES[name](argument, leaf) for leaf in leaves)


def _equal(expected: Any, leaf: Any) -> bool:
    # In JSON true and 1 differ; in Python they are equal.
    return isinstance(expected, bool) is isinstance(leaf, bool) and expected == leaf


def _has_prefix(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.startswith(argument)


def _has_suffix(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.endswith(argument)


def _equal_ignoring_case(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.casefold() == argument.casefold()


def _anything_but(argument: Any, leaf: Any) -> bool:
    excluded = argument if isinstance(argument, list) else [argument]
    return not any(_equal(value, leaf) for value in excluded)


def _is_in_range(argument: Any, leaf: Any) -> bool:
    # DynamoDB's numbers are strings, so a numeric rule never matches one.
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return False
    return all(_COMPARISONS[sign](leaf, bound) for sign, bound in zip(argument[::2], argument[1::2], strict=True))


_RULES: dict[str, Callable[[Any, Any], bool]] = {
    "prefix": _has_prefix,
    "suffix": _has_suffix,
    "equals-ignore-case": _equal_ignoring_case,
    "anything-but": _anything_but,
    "numeric": _is_in_range,
}
