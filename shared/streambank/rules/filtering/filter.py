"""AIP-160 filters over plain values.

An absent value passes no comparison, not even `!=` and `!~`; it passes NOT of any comparison.
`*` in quotes is an ordinary character: there are no wildcards.
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
    """A parsed filter; equal filters have the same text as a string."""

    root: Node | None = None
    predicate: Predicate = field(default=_everything, compare=False, repr=False)
    conjuncts: tuple[Condition, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return "" if self.root is None else syntax.write(self.root)

    @property
    def is_blank(self) -> bool:
        """Tell whether the filter is empty, so that everything matches."""
        return self.root is None

    def matches(self, values: Values) -> bool:
        """Tell whether *values*, keyed by the field names of `parse`, pass."""
        return self.predicate(values)

    def pinned(self, name: str) -> object | None:
        """Return the one value that the field *name* can have in a match, or None if the filter does not fix it."""
        values = (one.equals for one in self.conjuncts if one.field == name and one.key is None)
        value = next((value for value in values if value is not None), None)
        return dict(value) if isinstance(value, dict) else value

    def pinned_keys(self, name: str) -> dict[str, str]:
        """Return the entries that the map *name* must have in a match, as far as the filter fixes them."""
        whole = self.pinned(name)
        entries: dict[str, str] = whole if isinstance(whole, dict) else {}
        for one in self.conjuncts:
            if one.field == name and one.key is not None and isinstance(one.equals, str):
                entries.setdefault(one.key, one.equals)
        return entries


def parse(text: str, fields: Mapping[str, Kind], *, field_name: str = "filter") -> Filter:
    """Return the filter in *text* over *fields*, whose names may contain dots (`topics.managed_memory_topic`).

    Raises:
        InvalidArgument: *text* is not a valid filter; the message begins with the column.
    """
    if not text.strip():
        return Filter()
    try:
        root = syntax.parse_tree(text)
        by_comparison = {one: conditions.to_condition(one, fields) for one in syntax.comparisons(root)}
    except FilterSyntaxError as error:
        raise InvalidArgument(field_name, str(error)) from error
    parts = root.parts if isinstance(root, And) else (root,)
    conjuncts = tuple(by_comparison[part] for part in parts if isinstance(part, Comparison))
    return Filter(root, _predicate(root, by_comparison), conjuncts)


def _predicate(node: Node, by_comparison: Mapping[Comparison, Condition]) -> Predicate:
    match node:
        case Comparison():
            return by_comparison[node].holds
        case Not(part):
            inner = _predicate(part, by_comparison)
            return lambda values: not inner(values)
        case And(parts):
            every = [_predicate(part, by_comparison) for part in parts]
            return lambda values: all(holds(values) for holds in every)
        case Or(parts):
            some = [_predicate(part, by_comparison) for part in parts]
            return lambda values: any(holds(values) for holds in some)
