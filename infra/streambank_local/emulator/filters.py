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
    return all(_field_matches(name, wanted, node) for name, wanted in pattern.items())


def _field_matches(name: str, wanted: Any, node: Any) -> bool:
    if name == "$or":
        return any(matches(alternative, node) for alternative in wanted)
    value = node.get(name, _ABSENT) if isinstance(node, Mapping) else _ABSENT
    if isinstance(wanted, Mapping):
        return matches(wanted, value)
    return any(_rule_matches(rule, _leaves(value)) for rule in wanted)


def _leaves(value: Any) -> list[Any]:
    # Rules see leaves only: an object is not one, and a list stands for each of its elements.
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


def _equal(wanted: Any, leaf: Any) -> bool:
    # JSON's true is not its 1, as Python's is.
    return isinstance(wanted, bool) is isinstance(leaf, bool) and wanted == leaf


def _starts(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.startswith(argument)


def _ends(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.endswith(argument)


def _equal_ignoring_case(argument: Any, leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf.casefold() == argument.casefold()


def _other_than(argument: Any, leaf: Any) -> bool:
    refused = argument if isinstance(argument, list) else [argument]
    return not any(_equal(value, leaf) for value in refused)


def _within(argument: Any, leaf: Any) -> bool:
    # DynamoDB's numbers are strings, so a numeric rule never matches one.
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return False
    return all(_COMPARISONS[sign](leaf, bound) for sign, bound in zip(argument[::2], argument[1::2], strict=True))


_RULES: dict[str, Callable[[Any, Any], bool]] = {
    "prefix": _starts,
    "suffix": _ends,
    "equals-ignore-case": _equal_ignoring_case,
    "anything-but": _other_than,
    "numeric": _within,
}
