"""Makes moto's DynamoDB correct under threads, as AWS's is.

Measured on moto 5.2.5: it has no lock, and TransactWriteItems copies the whole table and puts the copy back when it is
cancelled. Eight threads sold 585 of 500, unrelated puts vanished, and the stream showed writes that never happened.
"""

import copy
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from botocore.regions import EndpointRulesetResolver
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator
from moto.core.exceptions import JsonRESTError
from moto.core.serialize import ResponseSerializer
from moto.dynamodb import exceptions, responses
from moto.dynamodb.comparisons import ConditionExpressionParser, get_filter_expression
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import StreamShard, Table
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined]
from moto.dynamodb.parsing.validators import ActionCountValidator, OverlappingPathsValidator
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

from streambank_local.emulator import (
    moto_expressions,
    moto_items,
    moto_numbers,
    moto_shortcut,
    moto_speed,
    moto_vectors,
    requests,
)
from streambank_local.emulator.item_location import ItemLocation
from streambank_local.emulator.patches import Patches
from streambank_local.emulator.requests import one_request

TOKEN_LIFETIME_SECONDS = 600
TRANSACTION_ACTIONS = 100

Reason = tuple[str | None, str | None, dict[str, Any] | None]
Method = Callable[..., Any]

_NO_REASON: Reason = (None, None, None)
_patches = Patches()
_shortcuts: list[Any] = []

# Errors that AWS raises when it applies an action to the stored item; they become reasons of the cancelled transaction.
_APPLY_ERRORS = (
    exceptions.AttributeDoesNotExist,
    exceptions.IncorrectDataType,
    exceptions.InvalidUpdateExpressionInvalidDocumentPath,
    exceptions.ItemSizeTooLarge,
    exceptions.ItemSizeToUpdateTooLarge,
    moto_vectors.VectorInvalid,
)


def install() -> None:
    """Patch moto's DynamoDB in this process; a second call does nothing."""
    if _patches:
        return
    _patches.replace(DynamoHandler, "call_action", _locked)
    _patches.replace(DynamoDBStreamsHandler, "call_action", _locked)
    _patches.replace(DynamoHandler, "transact_write_items", _idempotent)
    _patches.replace(DynamoDBBackend, "transact_write_items", lambda _: _transact)
    _patches.replace(DynamoDBBackend, "update_item", _atomic)
    _patches.replace(StreamShard, "add", _changes_only)
    for owner, name, repair in moto_vectors.REPAIRS:
        _patches.replace(owner, name, repair)
    _hasten()
    _shortcuts.append(moto_shortcut.install())


def _hasten() -> None:
    _patches.replace(Table, "query", moto_speed.query_candidates_only)
    _patches.replace(Table, "scan", moto_speed.scan_candidates_only)
    _patches.replace(ResponseSerializer, "get_value", lambda _: moto_speed.get_value)
    _patches.replace(EndpointRulesetResolver, "construct_endpoint", moto_speed.endpoint_once)
    _patches.replace(UpdateExpressionParser, "make", moto_expressions.parse_once)
    _patches.replace(ConditionExpressionParser, "_lex_condition_expression", moto_expressions.split_once)
    _patches.replace(moto_expressions.nodes.Node, "__deepcopy__", lambda _: moto_expressions.copy_tree)
    _patches.replace(moto_expressions.nodes.Node, "find_clauses", lambda _: moto_expressions.find_clauses)
    _patches.replace(moto_expressions.nodes.DepthFirstTraverser, "traverse", lambda _: moto_expressions.walk)
    _patches.replace(ActionCountValidator, "traverse", lambda _: moto_expressions.check_root)
    _patches.replace(OverlappingPathsValidator, "traverse", lambda _: moto_expressions.check_root)
    _patches.replace(Item, "__init__", moto_items.build)
    _patches.replace(Item, "__deepcopy__", lambda _: moto_items.copy_item)
    _patches.replace(Item, "size", lambda _: moto_items.item_size)
    _patches.replace(DynamoType, "__init__", moto_numbers.keep_as_text)
    _patches.replace(ParamValidator, "_validate_list", moto_numbers.check_at_once)
    _patches.replace(JSONSerializer, "_serialize_type_list", moto_numbers.serialize_at_once)
    _patches.replace(DynamoType, "__deepcopy__", lambda _: moto_items.copy_value)
    _patches.replace(DynamoType, "__eq__", moto_items.equals)
    _patches.replace(DynamoType, "__hash__", moto_items.hash_value)
    _patches.replace(DynamoType, "size", lambda _: moto_items.value_size)
    _patches.replace(responses, "dynamo_to_dict", lambda _: moto_items.plain)
    _patches.replace(Table, "_get_default_encryption_key", lambda _: _key_alias)


def uninstall() -> None:
    """Restore moto's own methods."""
    while _shortcuts:
        moto_shortcut.uninstall(_shortcuts.pop())
    _patches.restore()


def _key_alias(_: Table, account: str, region: str) -> str:
    """Return the name of the key that encrypts a table; moto makes one for each table, in 50 ms, and never uses it."""
    return f"arn:aws:kms:{region}:{account}:alias/aws/dynamodb"


def _locked(original: Method) -> Method:
    @wraps(original)
    def call_action(handler: Any) -> Any:
        with one_request():
            return original(handler)

    return call_action


@dataclass(frozen=True)
class _Action:
    """One action of a transaction."""

    kind: str
    location: ItemLocation
    request: dict[str, Any]

    def reason(self) -> Reason:
        """Return the action's entry in AWS's CancellationReasons."""
        condition = self.request.get("ConditionExpression")
        stored = self.location.read()
        if condition is None or self._expression(condition).expr(stored):
            return _NO_REASON
        returns_old = self.request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        old = stored.to_json()["Attributes"] if returns_old and stored is not None else None
        return "ConditionalCheckFailed", "The conditional request failed", old

    def apply(self, backend: DynamoDBBackend) -> None:
        name = self.location.table.name
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


class _Snapshot:
    """The items at some locations, and the lengths of their streams, before a write."""

    def __init__(self, locations: Iterable[ItemLocation]) -> None:
        self._before = [(location, copy.deepcopy(location.read())) for location in locations]
        shards = [location.table.stream_shard for location, _ in self._before]
        self._shards = [(shard, len(shard.items)) for shard in shards if shard is not None]

    def restore(self) -> None:
        for location, item in self._before:
            location.write(item)
        for shard, length in self._shards:
            del shard.items[length:]

    def keep_last_record(self) -> None:
        """Drop all new records but the last: moto first records a new item with its key alone, then the update."""
        for shard, length in self._shards:
            if len(shard.items) > length + 1:
                last = shard.items[-1]
                shard.items[length:] = [last]
                last.record["dynamodb"]["SequenceNumber"] = str(shard.starting_sequence_number + length)


def _transact(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    if len(transact_items) > TRANSACTION_ACTIONS:
        raise exceptions.TooManyTransactionsException
    actions = [_action(backend, item) for item in transact_items]
    if len({action.location.identity for action in actions}) < len(actions):
        raise exceptions.MultipleTransactionsException
    reasons = [action.reason() for action in actions]
    if any(reason is not _NO_REASON for reason in reasons):
        raise exceptions.TransactionCanceledException(reasons)
    _apply(backend, actions)


def _action(backend: DynamoDBBackend, item: dict[str, Any]) -> _Action:
    if len(item) != 1:
        raise exceptions.TransactWriteSingleOpException
    kind, request = next(iter(item.items()))
    attributes = request["Item"] if kind == "Put" else request["Key"]
    return _Action(kind, ItemLocation.of(backend.get_table(request["TableName"]), attributes), request)


def _apply(backend: DynamoDBBackend, actions: list[_Action]) -> None:
    snapshot = _Snapshot(action.location for action in actions)
    for number, action in enumerate(actions):
        try:
            action.apply(backend)
        except Exception as error:
            snapshot.restore()
            if not isinstance(error, _APPLY_ERRORS):
                raise
            reasons = [_NO_REASON] * len(actions)
            reasons[number] = ("ValidationError", error.exception_msg, None)
            raise exceptions.TransactionCanceledException(reasons) from error


def _idempotent(original: Method) -> Method:
    @wraps(original)
    def transact_write_items(handler: DynamoHandler) -> Any:
        token = handler.body.get("ClientRequestToken")
        if not token:
            return original(handler)
        # The tokens are kept on the backend, so that a reset of moto drops them with the tables.
        tokens = vars(handler.dynamodb_backend).setdefault("_transaction_tokens", OrderedDict())
        return _run_once(tokens, token, _fingerprint(handler.body), lambda: original(handler))

    return transact_write_items


def _run_once(
    tokens: "OrderedDict[str, tuple[float, str, Any]]", token: str, content: str, run: Callable[[], Any]
) -> Any:
    _drop_expired(tokens)
    if token not in tokens:
        reply = run()  # a cancelled transaction raises here, and its token stays unused
        tokens[token] = (time.monotonic(), content, reply)
        requests.on_loss(lambda: tokens.pop(token, None))
    _, first_content, reply = tokens[token]
    if first_content != content:
        raise JsonRESTError(
            exceptions.ERROR_TYPE_PREFIX + "IdempotentParameterMismatchException",
            "The request uses the same client token as a previous, but non-identical request.",
        )
    return reply


def _drop_expired(tokens: "OrderedDict[str, tuple[float, str, Any]]") -> None:
    oldest_kept = time.monotonic() - TOKEN_LIFETIME_SECONDS
    while tokens and next(iter(tokens.values()))[0] < oldest_kept:
        tokens.popitem(last=False)


def _fingerprint(body: dict[str, Any]) -> str:
    # repr, because binary attributes arrive as bytes.
    content = json.dumps(body["TransactItems"], sort_keys=True, default=repr)
    return hashlib.sha256(content.encode()).hexdigest()


def _atomic(original: Method) -> Method:
    @wraps(original)
    def update_item(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *rest: Any, **named: Any) -> Any:
        snapshot = _Snapshot([ItemLocation.of(backend.get_table(table_name), key)])
        try:
            item = original(backend, table_name, key, *rest, **named)
            moto_vectors.check(backend.get_table(table_name), item.attrs)
        except Exception:
            snapshot.restore()
            raise
        snapshot.keep_last_record()
        return item

    return update_item


def _changes_only(original: Method) -> Method:
    @wraps(original)
    def add(shard: StreamShard, old: Item | None, new: Item | None) -> None:
        if old is None or new is None or old.to_json() != new.to_json():
            original(shard, old, new)
            changed = old or new
            if changed is not None:
                requests.note(ItemLocation(shard.table, changed.hash_key, changed.range_key), old)

    return add
