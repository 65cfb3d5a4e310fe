"""Writes as values: actions, and conditions that have names. Every attribute name is aliased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streambank.store import schema
from streambank.store.attributes import Item, Value, packed
from streambank.store.keys import Key

T = TypeVar("T")
# TransactWriteItems takes 100 actions and 4 MB; what guards a transaction is among them.
_MOST_ACTIONS = 90
_MOST_BYTES = 3_500_000


@dataclass(frozen=True, slots=True)
class Condition:
    """Clauses that must all hold."""

    clauses: tuple[str, ...]
    names: frozenset[str]
    values: Mapping[str, str | int | bytes] = field(default_factory=dict)

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.clauses + other.clauses, self.names | other.names, {**self.values, **other.values})

    def __or__(self, other: Condition) -> Condition:
        clause = f"({self.expression} OR {other.expression})"
        return Condition((clause,), self.names | other.names, {**self.values, **other.values})

    @property
    def expression(self) -> str:
        return " AND ".join(self.clauses)


def absent() -> Condition:
    """The item is not there."""
    return Condition(("attribute_not_exists(#PK)",), frozenset({"PK"}))


def absent_or_expired(now_seconds: int) -> Condition:
    """The item is not there, or has expired: TTL deletion lags by up to 48 hours."""
    clause = "(attribute_not_exists(#PK) OR #ttl < :now)"
    return Condition((clause,), frozenset({"PK", "ttl"}), {":now": now_seconds})


def absent_or_with(attribute: str) -> Condition:
    """The item is not there, or has this attribute."""
    clause = f"(attribute_not_exists(#PK) OR attribute_exists(#{attribute}))"
    return Condition((clause,), frozenset({"PK", attribute}))


def present() -> Condition:
    """The item is there."""
    return Condition(("attribute_exists(#PK)",), frozenset({"PK"}))


def without(attribute: str) -> Condition:
    """The item is not there, or has no such attribute."""
    return Condition((f"attribute_not_exists(#{attribute})",), frozenset({attribute}))


def equals(**attributes: str | int | bytes) -> Condition:
    """Each attribute has this value."""
    clauses = tuple(f"#{name} = :is_{name}" for name in attributes)
    return Condition(clauses, frozenset(attributes), {f":is_{name}": value for name, value in attributes.items()})


def as_read(item: Mapping[str, Any], *names: str) -> Condition:
    """The item is there and each attribute is as it was read, also one that it does not have."""
    condition = equals(**{name: item[name] for name in names if name in item})
    for name in names:
        if name not in item:
            condition &= without(name)
    return condition


def differs(**attributes: str | int | bytes) -> Condition:
    """Each attribute has another value, or none."""
    clauses = tuple(f"#{name} <> :not_{name}" for name in attributes)
    return Condition(clauses, frozenset(attributes), {f":not_{name}": value for name, value in attributes.items()})


def below(attribute: str, limit: int) -> Condition:
    """The item is not there, or has no such attribute, or a smaller number."""
    clause = f"(attribute_not_exists(#{attribute}) OR #{attribute} < :limit)"
    return Condition((clause,), frozenset({attribute}), {":limit": limit})


def above(**attributes: int) -> Condition:
    """Each attribute has a greater value."""
    clauses = tuple(f"#{name} > :above_{name}" for name in attributes)
    return Condition(clauses, frozenset(attributes), {f":above_{name}": value for name, value in attributes.items()})


@dataclass(frozen=True, slots=True)
class Put:
    """Write the whole item."""

    key: Key
    values: Mapping[str, Value | None]
    condition: Condition | None = None

    def request(self, table: str) -> dict[str, Any]:
        """Return the parameters of PutItem."""
        return {"TableName": table, "Item": self._item(), **_conditional(self.condition)}

    def is_done(self, item: Item | None) -> bool:
        """Tell whether the stored *item* is as this action leaves it."""
        return item == self._item()

    def is_stored(self, values: Mapping[str, Any] | None) -> bool:
        """Tell whether *values*, those of an item that was read, are as this action leaves them."""
        return values is not None and packed(values) == self._item()

    def _item(self) -> Item:
        return packed({"PK": self.key.pk, "SK": self.key.sk, schema.ATTRIBUTE: schema.VERSION, **self.values})


@dataclass(frozen=True, slots=True)
class Update:
    """Set attributes, and remove those that are None."""

    key: Key
    values: Mapping[str, Value | None]
    condition: Condition

    def request(self, table: str) -> dict[str, Any]:
        """Return the parameters of UpdateItem."""
        sets = {name: value for name, value in self.values.items() if value is not None}
        removes = [name for name in self.values if name not in sets]
        return {
            "TableName": table,
            "Key": item_key(self.key),
            "UpdateExpression": _update_expression(sets, removes),
            **_conditional(self.condition, set(self.values), {f":to_{name}": value for name, value in sets.items()}),
        }

    def is_done(self, item: Item | None) -> bool:
        """Tell whether the stored *item* is as this action leaves it."""
        return item is not None and packed(self.values) == {name: item[name] for name in self.values if name in item}


def _update_expression(sets: Mapping[str, Any], removes: list[str]) -> str:
    clauses = []
    if sets:
        clauses.append("SET " + ", ".join(f"#{name} = :to_{name}" for name in sets))
    if removes:
        clauses.append("REMOVE " + ", ".join(f"#{name}" for name in removes))
    return " ".join(clauses)


@dataclass(frozen=True, slots=True)
class Add:
    """Add to numbers, which begin at 0, and set attributes; the item may not exist yet."""

    key: Key
    sums: Mapping[str, int]
    values: Mapping[str, str | int]
    condition: Condition | None = None

    def request(self, table: str) -> dict[str, Any]:
        """Return the parameters of UpdateItem."""
        adds = ", ".join(f"#{name} :by_{name}" for name in self.sums)
        form = schema.ATTRIBUTE
        sets = ", ".join(
            [*(f"#{name} = :to_{name}" for name in self.values), f"#{form} = if_not_exists(#{form}, :form)"]
        )
        by = {f":by_{name}": value for name, value in self.sums.items()}
        to = {f":to_{name}": value for name, value in self.values.items()}
        return {
            "TableName": table,
            "Key": item_key(self.key),
            "UpdateExpression": f"SET {sets} ADD {adds}",
            **_conditional(self.condition, {*self.sums, *self.values, form}, {**by, **to, ":form": schema.VERSION}),
        }


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the item."""

    key: Key
    condition: Condition | None = None

    def request(self, table: str) -> dict[str, Any]:
        """Return the parameters of DeleteItem."""
        return {"TableName": table, "Key": item_key(self.key), **_conditional(self.condition)}

    def is_done(self, item: Item | None) -> bool:
        """Tell whether the stored *item* is as this action leaves it."""
        return item is None


@dataclass(frozen=True, slots=True)
class ConditionCheck:
    """Write nothing, but only let the transaction pass if the condition holds."""

    key: Key
    condition: Condition

    def request(self, table: str) -> dict[str, Any]:
        """Return the parameters of a ConditionCheck."""
        return {"TableName": table, "Key": item_key(self.key), **_conditional(self.condition)}


Action = Put | Update | Add | Delete | ConditionCheck


def written_bytes(actions: Iterable[Action]) -> int:
    """Return about how many bytes the Puts among *actions* write: their values."""
    values = (value for action in actions if isinstance(action, Put) for value in action.values.values())
    return sum(len(value if isinstance(value, bytes) else str(value).encode()) for value in values)


def together(units: Iterable[T], actions_of: Callable[[T], Sequence[Action]]) -> Iterator[list[T]]:
    """Yield *units* in order, as many together as one transaction takes; *actions_of* returns the actions of one."""
    batch, count, size = list[T](), 0, 0
    for unit in units:
        actions = actions_of(unit)
        weight = written_bytes(actions)
        if batch and (count + len(actions) > _MOST_ACTIONS or size + weight > _MOST_BYTES):
            yield batch
            batch, count, size = [], 0, 0
        batch.append(unit)
        count, size = count + len(actions), size + weight
    if batch:
        yield batch


def item_key(key: Key) -> Item:
    return packed({"PK": key.pk, "SK": key.sk})


def _conditional(
    condition: Condition | None, names: set[str] | None = None, values: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    names = (names or set()) | (condition.names if condition else set())
    values = {**(values or {}), **(condition.values if condition else {})}
    request: dict[str, Any] = {"ConditionExpression": condition.expression} if condition else {}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in sorted(names)}
    if values:
        request["ExpressionAttributeValues"] = packed(values)
    return request
