"""Makes moto's DynamoDB hold under threads, as AWS's does.

Measured on moto 5.2.5: it has no lock, and TransactWriteItems copies the whole table and puts the copy back when it is
cancelled. Eight threads sold 585 of 500, unrelated puts vanished, and the stream showed writes that never happened.
"""

import copy
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.core.serialize import ResponseSerializer
from moto.dynamodb import exceptions as refusals
from moto.dynamodb.comparisons import get_filter_expression
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import StreamShard, Table
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

from streambank_local.emulator.moto_speed import among_candidates, get_value

TOKEN_LIFETIME_SECONDS = 600
TRANSACTION_ACTIONS = 100

Reason = tuple[str | None, str | None, dict[str, Any] | None]
Method = Callable[..., Any]

_NO_REASON: Reason = (None, None, None)
_LOCK = threading.RLock()
_replaced: list[tuple[type, str, Any]] = []

# What AWS finds only when it applies an action to the stored item: a reason of the cancelled transaction.
_FOUND_WHILE_APPLYING = (
    refusals.AttributeDoesNotExist,
    refusals.IncorrectDataType,
    refusals.InvalidUpdateExpressionInvalidDocumentPath,
    refusals.ItemSizeTooLarge,
    refusals.ItemSizeToUpdateTooLarge,
)


def install() -> None:
    """Repair moto's DynamoDB in this process; a second call does nothing."""
    if _replaced:
        return
    _replace(DynamoHandler, "call_action", _locked)
    _replace(DynamoDBStreamsHandler, "call_action", _locked)
    _replace(DynamoHandler, "transact_write_items", _once_per_token)
    _replace(DynamoDBBackend, "transact_write_items", lambda _: _transact)
    _replace(DynamoDBBackend, "update_item", _all_or_nothing)
    _replace(StreamShard, "add", _only_changes)
    _replace(Table, "query", among_candidates)
    _replace(ResponseSerializer, "get_value", lambda _: get_value)


def uninstall() -> None:
    """Put moto's own methods back."""
    while _replaced:
        owner, name, original = _replaced.pop()
        if original is None:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


def _replace(owner: type, name: str, repair: Callable[[Method], Method]) -> None:
    _replaced.append((owner, name, owner.__dict__.get(name)))
    setattr(owner, name, repair(getattr(owner, name)))


def _locked(original: Method) -> Method:
    @wraps(original)
    def call_action(handler: Any) -> Any:
        with _LOCK:
            return original(handler)

    return call_action


@dataclass(frozen=True)
class _Place:
    """Where an item lives."""

    table: Table
    hash_key: DynamoType
    range_key: DynamoType | None

    @property
    def identity(self) -> tuple[str, DynamoType, DynamoType | None]:
        return self.table.name, self.hash_key, self.range_key

    def read(self) -> Item | None:
        item: Item | None = self.table.get_item(self.hash_key, self.range_key)
        return item

    def write(self, item: Item | None) -> None:
        # moto nests the items of a table that has a range key, and only those.
        items: dict[Any, Any] = self.table.items
        home, key = (items, self.hash_key) if self.range_key is None else (items[self.hash_key], self.range_key)
        if item is None:
            home.pop(key, None)
        else:
            home[key] = item


@dataclass(frozen=True)
class _Action:
    """One action of a transaction."""

    kind: str
    place: _Place
    request: dict[str, Any]

    def reason(self) -> Reason:
        """Return why the action's condition is not met, as AWS's CancellationReasons have it."""
        condition = self.request.get("ConditionExpression")
        stored = self.place.read()
        if condition is None or self._expression(condition).expr(stored):
            return _NO_REASON
        wanted = self.request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        shown = stored.to_json()["Attributes"] if wanted and stored is not None else None
        return "ConditionalCheckFailed", "The conditional request failed", shown

    def apply(self, backend: DynamoDBBackend) -> None:
        name = self.place.table.name
        if self.kind == "Put":
            backend.put_item(name, self.request["Item"])
        elif self.kind == "Delete":
            backend.delete_item(name, self.request["Key"])
        elif self.kind == "Update":
            names, values = self._names_and_values()
            backend.update_item(name, self.request["Key"], self.request["UpdateExpression"], names, values)

    def _expression(self, condition: str) -> Any:
        return get_filter_expression(condition, *self._names_and_values())

    def _names_and_values(self) -> tuple[Any, Any]:
        return self.request.get("ExpressionAttributeNames"), self.request.get("ExpressionAttributeValues")


class _Undo:
    """What stood at some places, and how long their streams were, before a write."""

    def __init__(self, places: Iterable[_Place]) -> None:
        self._before = [(place, copy.deepcopy(place.read())) for place in places]
        shards = [place.table.stream_shard for place, _ in self._before]
        self._shards = [(shard, len(shard.items)) for shard in shards if shard is not None]

    def restore(self) -> None:
        for place, item in self._before:
            place.write(item)
        for shard, length in self._shards:
            del shard.items[length:]

    def keep_last_record(self) -> None:
        """Drop all but the last new record: moto records a missing item bare, before it updates it."""
        for shard, length in self._shards:
            if len(shard.items) > length + 1:
                last = shard.items[-1]
                shard.items[length:] = [last]
                last.record["dynamodb"]["SequenceNumber"] = str(shard.starting_sequence_number + length)


def _transact(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    if len(transact_items) > TRANSACTION_ACTIONS:
        raise refusals.TooManyTransactionsException
    actions = [_action(backend, item) for item in transact_items]
    if len({action.place.identity for action in actions}) < len(actions):
        raise refusals.MultipleTransactionsException
    reasons = [action.reason() for action in actions]
    if any(reason is not _NO_REASON for reason in reasons):
        raise refusals.TransactionCanceledException(reasons)
    _apply(backend, actions)


def _action(backend: DynamoDBBackend, item: dict[str, Any]) -> _Action:
    if len(item) != 1:
        raise refusals.TransactWriteSingleOpException
    kind, request = next(iter(item.items()))
    keyed_by = request["Item"] if kind == "Put" else request["Key"]
    return _Action(kind, _place(backend.get_table(request["TableName"]), keyed_by), request)


def _place(table: Table, attributes: dict[str, Any]) -> _Place:
    names = [table.hash_key_attr] + ([table.range_key_attr] if table.range_key_attr else [])
    if any(name not in attributes for name in names):
        raise refusals.ProvidedKeyDoesNotExist
    keys = [DynamoType(attributes[name]) for name in names]
    return _Place(table, keys[0], keys[1] if len(keys) == 2 else None)


def _apply(backend: DynamoDBBackend, actions: list[_Action]) -> None:
    undo = _Undo(action.place for action in actions)
    for number, action in enumerate(actions):
        try:
            action.apply(backend)
        except Exception as error:
            undo.restore()
            if not isinstance(error, _FOUND_WHILE_APPLYING):
                raise
            reasons = [_NO_REASON] * len(actions)
            reasons[number] = ("ValidationError", error.exception_msg, None)
            raise refusals.TransactionCanceledException(reasons) from error


def _once_per_token(original: Method) -> Method:
    @wraps(original)
    def transact_write_items(handler: DynamoHandler) -> Any:
        token = handler.body.get("ClientRequestToken")
        if not token:
            return original(handler)
        # The tokens live on the backend, so that a reset of moto forgets them with the tables.
        tokens = vars(handler.dynamodb_backend).setdefault("_transaction_tokens", OrderedDict())
        return _once(tokens, token, _fingerprint(handler.body), lambda: original(handler))

    return transact_write_items


def _once(tokens: "OrderedDict[str, tuple[float, str, Any]]", token: str, content: str, run: Callable[[], Any]) -> Any:
    _forget_old(tokens)
    if token not in tokens:
        answer = run()  # a cancelled transaction raises here, and its token stays unused
        tokens[token] = (time.monotonic(), content, answer)
    _, first_content, answer = tokens[token]
    if first_content != content:
        raise JsonRESTError(
            refusals.ERROR_TYPE_PREFIX + "IdempotentParameterMismatchException",
            "The request uses the same client token as a previous, but non-identical request.",
        )
    return answer


def _forget_old(tokens: "OrderedDict[str, tuple[float, str, Any]]") -> None:
    oldest_kept = time.monotonic() - TOKEN_LIFETIME_SECONDS
    while tokens and next(iter(tokens.values()))[0] < oldest_kept:
        tokens.popitem(last=False)


def _fingerprint(body: dict[str, Any]) -> str:
    # repr, because binary attributes arrive as bytes.
    content = json.dumps(body["TransactItems"], sort_keys=True, default=repr)
    return hashlib.sha256(content.encode()).hexdigest()


def _all_or_nothing(original: Method) -> Method:
    @wraps(original)
    def update_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *rest: Any, **named: Any) -> Any:
        undo = _Undo([_place(backend.get_table(table_name), key)])
        try:
            item = original(backend, table_name, key, *rest, **named)
        except Exception:
            undo.restore()
            raise
        undo.keep_last_record()
        return item

    return update_item


def _only_changes(original: Method) -> Method:
    @wraps(original)
    def add(shard: StreamShard, old: Item | None, new: Item | None) -> None:
        if old is None or new is None or old.to_json() != new.to_json():
            original(shard, old, new)

    return add
