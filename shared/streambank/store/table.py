"""Requests to DynamoDB: their pages, and their repeats."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from streambank.errors import Conflict, OutOfReach
from streambank.retry import RetryPolicy
from streambank.rules.batches import batches
from streambank.store import failures, schema
from streambank.store.actions import Action, Add, Delete, Put, Update, item_key
from streambank.store.attributes import Item, Value, packed, unpacked
from streambank.store.keys import Key, key_of

T = TypeVar("T")
# BatchGetItem takes 100 keys, BatchWriteItem 25 requests.
_BATCH_KEYS = 100
_VECTOR_INDEX = "vectors"
# The attribute that index `vectors` is partitioned by.
VECTOR_PARTITION = "VPK"
BATCH_DELETES = 25


class Table:
    """Reads and writes items as plain values; *client* is boto3's low-level DynamoDB client."""

    def __init__(self, client: Any, name: str, retry_policy: RetryPolicy) -> None:
        self._client = client
        self.name = name
        self.retry_policy = retry_policy

    def _call(self, operation: str, **parameters: Any) -> Any:
        try:
            return getattr(self._client, operation)(**parameters)
        except Exception as error:
            raise failures.translated(error) from error

    def get(self, key: Key) -> dict[str, Any] | None:
        """Return the item under *key*, read consistently, or None."""
        item = self._get(key)
        return _values(item) if item else None

    def _get(self, key: Key) -> Item | None:
        item: Item | None = self._call("get_item", TableName=self.name, Key=item_key(key), ConsistentRead=True).get(
            "Item"
        )
        return item

    def read(self, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """Return the items that exist under *keys*, read consistently, a hundred a round trip."""
        items: dict[Key, dict[str, Any]] = {}
        for batch in batches(dict.fromkeys(keys), _BATCH_KEYS):
            for item in self._read_batch([item_key(key) for key in batch]):
                values = _values(item)
                items[key_of(values)] = values
        return items

    def _read_batch(self, keys: list[Item]) -> Iterator[Item]:
        for _ in self.retry_policy.attempts():
            request = {self.name: {"Keys": keys, "ConsistentRead": True}}
            reply = self._call("batch_get_item", RequestItems=request)
            yield from reply["Responses"].get(self.name, [])
            keys = reply.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
            if not keys:
                return
        raise OutOfReach("UnprocessedKeys")

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        between: tuple[str, str] | None = None,
        backward: bool = False,
        page: int | None = None,
        may_lag: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of partition *pk* in order of their sort keys, page by page.

        They are read consistently, unless they *may_lag*: such a read costs half as much, and may miss what was
        written in the last second.
        """
        condition, values = _range(pk, prefix, between)
        names = {"#PK": "PK", "#SK": "SK"} if "#SK" in condition else {"#PK": "PK"}
        request = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": packed(values),
            "ConsistentRead": not may_lag,
            "ScanIndexForward": not backward,
        }
        return self._pages(request, page)

    def query_index(
        self,
        index: str,
        partition: str,
        *,
        since: int | None = None,
        up_to: int | None = None,
        backward: bool = False,
        page: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the keys that *index* (`due` or `list`) holds in *partition*, in order; it may lag a little.

        One of *since* and *up_to* may bound them.
        """
        prefix = {"due": "G1", "list": "G2"}[index]
        clause = " AND #sk <= :to" if up_to is not None else " AND #sk >= :from" if since is not None else ""
        values: dict[str, Value | None] = {":pk": partition, ":to": up_to, ":from": since}
        request = {
            "TableName": self.name,
            "IndexName": index,
            "KeyConditionExpression": f"#pk = :pk{clause}",
            "ExpressionAttributeNames": {"#pk": f"{prefix}PK"} | ({"#sk": f"{prefix}SK"} if clause else {}),
            "ExpressionAttributeValues": packed(values),
            "ScanIndexForward": not backward,
        }
        return self._pages(request, page)

    def search(self, partition: str, vector: Sequence[float], count: int) -> list[dict[str, Any]]:
        """Return the entries of *partition* nearest to *vector*, nearest first, at most 100: it may lag for minutes.

        Raises:
            NotIndexed: index `vectors` cannot be searched.
        """
        request = {
            "TableName": self.name,
            "IndexName": _VECTOR_INDEX,
            "SearchVector": [{"N": f"{number:.7g}"} for number in vector],
            "TopK": count,
            "SearchConditionExpression": "#partition = :partition",
            "ExpressionAttributeNames": {"#partition": VECTOR_PARTITION},
            "ExpressionAttributeValues": packed({":partition": partition}),
        }
        try:
            reply = self._client.search_vectors(**request)
        except Exception as error:
            raise failures.of_search(error) from error
        return [_values(one["Item"]) for one in reply["SearchResults"]]

    def _pages(self, request: dict[str, Any], page: int | None) -> Iterator[dict[str, Any]]:
        if page:
            request["Limit"] = page
        while True:
            reply = self._call("query", **request)
            yield from map(_values, reply["Items"])
            if "LastEvaluatedKey" not in reply:
                return
            request["ExclusiveStartKey"] = reply["LastEvaluatedKey"]

    def write(self, action: Put | Update | Add | Delete) -> dict[str, Any] | None:
        """Carry out one *action* and return the item as it is then (updates only); it is repeated after contention.

        Raises:
            Conflict: the condition does not hold.
            OutOfReach: the table did not answer, or other writes contended for the item at every try.
        """
        return self._despite_contention(lambda: self._write(action))

    def _write(self, action: Put | Update | Add | Delete) -> dict[str, Any] | None:
        """Carry out *action* once.

        Botocore repeats a request whose reply was lost. If the first send was carried out, the condition of the second
        one does not hold: the write is told from another writer's by what is stored.
        """
        try:
            return self._send(action)
        except Conflict as conflict:
            is_repeated = conflict.__cause__ and failures.repeats_hide_outcome(conflict.__cause__)
            if isinstance(action, Add) or conflict.is_contention or not is_repeated:
                raise
            item = self._get(action.key)
            if not action.is_done(item):
                raise
            return _values(item) if item else None

    def _send(self, action: Put | Update | Add | Delete) -> dict[str, Any] | None:
        request = action.request(self.name)
        if isinstance(action, Put):
            self._call("put_item", **request)
        elif isinstance(action, Delete):
            self._call("delete_item", **request)
        else:
            reply = self._call("update_item", ReturnValues="ALL_NEW", **request)
            return _values(reply["Attributes"])
        return None

    def transact_despite_contention(self, actions: Sequence[Action]) -> None:
        """Do as `transact` does, and repeat it while other writes contend for the items. Raises as it."""
        self._despite_contention(lambda: self.transact(actions))

    def _despite_contention(self, write: Callable[[], T]) -> T:
        """Return the result of *write*, which is repeated after contention: then it has written nothing."""
        for _ in self.retry_policy.attempts():
            try:
                return write()
            except Conflict as conflict:
                if not conflict.is_contention:
                    raise
        raise OutOfReach(Conflict.CONTENDED)

    def transact(self, actions: Sequence[Action]) -> None:
        """Carry out all of *actions* or none; the first must carry the condition that rules them out for good.

        A failure with an open outcome repeats the same request under the same token. After one, only the first
        action's failed condition proves that nothing was written; any other cancellation is repeated again, or
        events without ids could be stored twice.

        Raises:
            Conflict: nothing was written; read again.
            OutOfReach: the tries are used up, and the outcome is unknown.
        """
        request = {
            "TransactItems": [{_operation(action): action.request(self.name)} for action in actions],
            "ClientRequestToken": uuid.uuid4().hex,
        }
        is_open = False
        for _ in self.retry_policy.attempts():
            try:
                self._client.transact_write_items(**request)
            except Exception as error:
                failure = failures.translated(error)
                is_open = is_open or failures.repeats_hide_outcome(error)
                if isinstance(failure, Conflict) and (not is_open or failure.failed(0)):
                    raise failure from error
                if not isinstance(failure, Conflict | OutOfReach):
                    raise
                is_open = True
            else:
                return
        raise OutOfReach("TransactWriteItems")

    def delete_all(self, keys: Iterable[Key]) -> int:
        """Delete *keys* unconditionally, twenty-five a round trip, and return how many."""
        deleted = 0
        for batch in batches(keys, BATCH_DELETES):
            self._write_batch([{"DeleteRequest": {"Key": item_key(key)}} for key in batch])
            deleted += len(batch)
        return deleted

    def _write_batch(self, requests: list[dict[str, Any]]) -> None:
        for _ in self.retry_policy.attempts():
            reply = self._call("batch_write_item", RequestItems={self.name: requests})
            requests = reply.get("UnprocessedItems", {}).get(self.name, [])
            if not requests:
                return
        raise OutOfReach("UnprocessedItems")


def _operation(action: Action) -> str:
    return "Update" if isinstance(action, Add) else type(action).__name__


def _values(item: Item) -> dict[str, Any]:
    return schema.checked(unpacked(item))


def _range(pk: str, prefix: str, between: tuple[str, str] | None) -> tuple[str, dict[str, Value | None]]:
    if between:
        condition = "#PK = :pk AND #SK BETWEEN :first AND :last"
        return condition, {":pk": pk, ":first": between[0], ":last": between[1]}
    if prefix:
        return "#PK = :pk AND begins_with(#SK, :prefix)", {":pk": pk, ":prefix": prefix}
    return "#PK = :pk", {":pk": pk}
