"""The kinds of fields, the operators of each, and the condition that a comparison sets on a value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from streambank.rules.filtering import literals, regex, typed_comparison
from streambank.rules.filtering.field_names import join_names, to_snake_case
from streambank.rules.filtering.syntax import Comparison, Op, Word
from streambank.rules.filtering.syntax_error import FilterSyntaxError

Check: TypeAlias = Callable[[Any], bool]
# A check, and the value that it requires if it is a check for equality.
CheckAndValue: TypeAlias = "tuple[Check, object | None]"


class Kind(StrEnum):
    TEXT = "TEXT"
    TIMESTAMP = "TIMESTAMP"
    NUMBER = "NUMBER"
    LIST = "LIST"
    TEXT_MAP = "TEXT_MAP"
    METADATA = "METADATA"
    BOOLEAN = "BOOLEAN"


@dataclass(frozen=True, slots=True)
class Condition:
    """What one comparison requires of a field, or of an entry of a map; *equals* is the only value that passes."""

    field: str
    key: str | None
    check: Check
    equals: object | None = None

    def holds(self, values: Mapping[str, object]) -> bool:
        """Tell whether the value is present and passes."""
        value: Any = values.get(self.field)
        if self.key is not None and value is not None:
            value = value.get(self.key)
        return value is not None and self.check(value)


_COMPARE: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQUALS: operator.eq,
    Op.DIFFERS: operator.ne,
    Op.BELOW: operator.lt,
    Op.AT_MOST: operator.le,
    Op.ABOVE: operator.gt,
    Op.AT_LEAST: operator.ge,
}


def _comparison(op: Op, expected: object) -> CheckAndValue:
    compare = _COMPARE[op]
    return lambda stored: compare(stored, expected), expected if op is Op.EQUALS else None


def _pattern(op: Op, word: Word) -> Check:
    matches = regex.compile_search(word.text)
    if op is Op.MATCHES:
        return lambda stored: isinstance(stored, str) and matches(stored)
    return lambda stored: isinstance(stored, str) and not matches(stored)


def _text(op: Op, word: Word) -> CheckAndValue:
    """Return the check of a text; `:` looks for a substring and ignores case."""
    if op in {Op.MATCHES, Op.AVOIDS}:
        return _pattern(op, word), None
    if op is not Op.HAS:
        return _comparison(op, word.text)
    part = word.text.casefold()
    if not part:
        raise ValueError("must not be empty; use * to test whether the field is set")
    return lambda stored: part in stored.casefold(), None


def _timestamp(op: Op, word: Word) -> CheckAndValue:
    return _comparison(op, literals.parse_timestamp(word.text))


def _number(op: Op, word: Word) -> CheckAndValue:
    number = None if word.quoted else literals.parse_number(word.text)
    if number is None:
        raise ValueError("must be a number without quotes")
    return _comparison(op, number)


def _boolean(op: Op, word: Word) -> CheckAndValue:
    if word.quoted or word.text not in {"true", "false"}:
        raise ValueError("must be true or false, without quotes")
    return _comparison(op, word.text == "true")


def _element(_op: Op, word: Word) -> CheckAndValue:
    return lambda stored: word.text in stored, None


def _whole_map(op: Op, word: Word) -> CheckAndValue:
    """Return the check of a map; `:` looks for a key."""
    if op is Op.HAS:
        return _element(op, word)
    return _comparison(op, literals.parse_text_map(word.text))


def _entry(op: Op, word: Word) -> CheckAndValue:
    """Return the check of a map's entry; AIP-160's `:` means that the key has this value."""
    return _text(Op.EQUALS if op is Op.HAS else op, word)


def _typed_entry(op: Op, word: Word) -> CheckAndValue:
    if op in {Op.MATCHES, Op.AVOIDS}:
        return _pattern(op, word), None
    expected = literals.possible_values(word.text, is_quoted=word.quoted)
    if op is Op.DIFFERS:
        return lambda stored: not any(typed_comparison.holds(operator.eq, stored, one) for one in expected), None
    compare = operator.eq if op is Op.HAS else _COMPARE[op]
    if isinstance(expected[0], bool) and compare is not operator.eq:
        raise ValueError("must not be true or false here, because they have no order")
    return lambda stored: any(typed_comparison.holds(compare, stored, one) for one in expected), None


_TEXT_OPS = (Op.EQUALS, Op.DIFFERS, Op.MATCHES, Op.AVOIDS, Op.HAS)
_ORDER_OPS = tuple(_COMPARE)
# The operators and the check of each kind: for the whole value, and for one entry of it.
_WHOLE_VALUE: dict[Kind, tuple[tuple[Op, ...], Callable[[Op, Word], CheckAndValue]]] = {
    Kind.TEXT: (_TEXT_OPS, _text),
    Kind.TIMESTAMP: (_ORDER_OPS, _timestamp),
    Kind.NUMBER: (_ORDER_OPS, _number),
    Kind.LIST: ((Op.HAS,), _element),
    Kind.TEXT_MAP: ((Op.EQUALS, Op.DIFFERS, Op.HAS), _whole_map),
    Kind.METADATA: ((Op.HAS,), _whole_map),
    Kind.BOOLEAN: ((Op.EQUALS, Op.DIFFERS), _boolean),
}
_ENTRY = {
    Kind.TEXT_MAP: (_TEXT_OPS, _entry),
    Kind.METADATA: (tuple(Op), _typed_entry),
}


def to_condition(comparison: Comparison, fields: Mapping[str, Kind]) -> Condition:
    """Return the condition that *comparison* sets.

    Raises:
        FilterSyntaxError: the field, its key, the operator or the value is not allowed.
    """
    name, key = _resolved(comparison, fields)
    kind, op, word = fields[name], comparison.op, comparison.word
    if word.is_star:
        return _presence(comparison, name, key)
    ops, to_check = _WHOLE_VALUE[kind] if key is None else _ENTRY[kind]
    if op not in ops:
        path = f"{name}.{key}" if key is not None else name
        raise FilterSyntaxError(comparison.op_column, f"{path} does not support {op}, only {join_names([*ops])}")
    try:
        return Condition(name, key, *to_check(op, word))
    except ValueError as error:
        raise FilterSyntaxError(word.column, f"the value {error}") from error


def _resolved(comparison: Comparison, fields: Mapping[str, Kind]) -> tuple[str, str | None]:
    """Return the longest field name that the path begins with, and the key after it."""
    by_snake_case = {to_snake_case(name): name for name in fields}
    path = comparison.path
    prefixes = [".".join(map(to_snake_case, path[:length])) for length in range(1, len(path) + 1)]
    length = max((n for n, prefix in enumerate(prefixes, 1) if prefix in by_snake_case), default=0)
    if not length:
        raise FilterSyntaxError(comparison.column, f"there is no field {path[0][:30]!r}, only {join_names([*fields])}")
    name, keys = by_snake_case[prefixes[length - 1]], path[length:]
    if keys and fields[name] not in _ENTRY:
        raise FilterSyntaxError(comparison.column, f"{name} has no field {keys[0][:30]!r}")
    if len(keys) > 1:
        raise FilterSyntaxError(comparison.column, f"{name} has one level of keys; put a key with a dot in quotes")
    return name, keys[0] if keys else None


def _presence(comparison: Comparison, name: str, key: str | None) -> Condition:
    if comparison.op is not Op.HAS:
        raise FilterSyntaxError(
            comparison.word.column, "* is only allowed alone, after :; in quotes it is an ordinary character"
        )
    return Condition(name, key, _is_filled if key is None else _is_present)


def _is_present(_stored: object) -> bool:
    return True


def _is_filled(stored: Any) -> bool:
    """Tell whether a value is not empty: AIP-160 counts an empty text, list or map as absent; so is false."""
    return bool(stored) or (stored is not False and not hasattr(stored, "__len__"))
