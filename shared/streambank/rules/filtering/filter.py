"""AIP-160 filters over plain values.

A value that is absent passes no comparison, `!=` and `!~` included; NOT of any comparison lets it pass.
`*` in quotes is a character like any other: there are no wildcards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from streambank.errors import InvalidArgument
from streambank.rules.filtering import conditions, syntax
from streambank.rules.filtering.conditions import Condition, Kind
from streambank.rules.filtering.syntax import And, Comparison, Node, Not, Or
from streambank.rules.filtering.syntax_error import FilterSyntaxError

Values: TypeAlias = Mapping[str, object]
Predicate: TypeAlias = Callable[[Values], bool]


def _everything(_values: Values) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood to the last character; its text as a string is the same for equal filters."""

    root: Node | None = None
    predicate: Predicate = field(default=_everything, compare=False, repr=False)
    conjuncts: tuple[Condition, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return "" if self.root is None else syntax.write(self.root)

    @property
    def is_blank(self) -> bool:
        """Tell whether nothing was asked for, so that everything matches."""
        return self.root is None

    def matches(self, values: Values) -> bool:
        """Tell whether *values*, by the names that `parse` was given, pass."""
        return self.predicate(values)

    def pinned(self, name: str) -> object | None:
        """Return the value that the field *name* has in anything that matches, or None if none follows."""
        found = (demand.equals for demand in self.conjuncts if demand.field == name and demand.key is None)
        value = next((value for value in found if value is not None), None)
        return dict(value) if isinstance(value, dict) else value

    def pinned_keys(self, name: str) -> dict[str, str]:
        """Return the entries that the map *name* has in anything that matches, as far as they follow."""
        whole = self.pinned(name)
        entries: dict[str, str] = whole if isinstance(whole, dict) else {}
        for demand in self.conjuncts:
            if demand.field == name and demand.key is not None and isinstance(demand.equals, str):
                entries.setdefault(demand.key, demand.equals)
        return entries


def parse(text: str, fields: Mapping[str, Kind], *, field_name: str = "filter") -> Filter:
    """Return the filter that *text* says about *fields*, whose names may hold dots (`topics.managed_memory_topic`).

    Raises:
        InvalidArgument: any part of it is not understood; the problem begins with its column.
    """
    if not text.strip():
        return Filter()
    try:
        root = syntax.read(text)
        demands = {comparison: conditions.to_condition(comparison, fields) for comparison in syntax.comparisons(root)}
    except FilterSyntaxError as error:
        raise InvalidArgument(field_name, str(error)) from error
    parts = root.parts if isinstance(root, And) else (root,)
    conjuncts = tuple(demands[part] for part in parts if isinstance(part, Comparison))
    return Filter(root, _predicate(root, demands), conjuncts)


def _predicate(node: Node, demands: Mapping[Comparison, Condition]) -> Predicate:
    match node:
        case Comparison():
            return demands[node].holds
        case Not(part):
            inner = _predicate(part, demands)
            return lambda values: not inner(values)
        case And(parts):
            every = [_predicate(part, demands) for part in parts]
            return lambda values: all(holds(values) for holds in every)
        case Or(parts):
            some = [_predicate(part, demands) for part in parts]
            return lambda values: any(holds(values) for holds in some)
