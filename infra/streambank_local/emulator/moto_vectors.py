"""Vector indexes, which moto 5.2.5 does not have: their definitions, what may be written, and SearchVectors.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearch.html; texts of errors as DynamoDB
has them. An index here is never behind its table.
"""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from moto import backend_index
from moto.core.responses import ActionResult
from moto.dynamodb import urls
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import RestoredPITTable, Table
from moto.dynamodb.responses import DynamoHandler

from streambank_local.emulator.vector_index import VectorIndex
from streambank_local.emulator.vector_search import VectorSearch

Method = Callable[..., Any]

# A search has a host of its own.
HOSTS = (r"https?://search-dynamodb\.(.+)\.amazonaws\.com", r"https?://(.+)\.search-ddb\.(.+)\.amazonaws\.com")


def indexes(table: Table) -> dict[str, VectorIndex]:
    """Return the vector indexes of a table by their names."""
    by_name: dict[str, VectorIndex] = vars(table).setdefault("vector_indexes", {})
    return by_name


def with_search_hosts(patterns: list[Any]) -> list[Any]:
    """Return moto's patterns of hosts, and those that searches go to."""
    return [*patterns, *(("dynamodb", re.compile(host)) for host in HOSTS)]


def create_table(original: Method) -> Method:
    """Let CreateTable take vector indexes."""

    @wraps(original)
    def create(handler: DynamoHandler) -> Any:
        body = handler.body
        declared = [VectorIndex.of(one, body["AttributeDefinitions"]) for one in body.get("VectorIndexes", [])]
        searched = {name for index in declared for name in index.types}
        keys = {key["AttributeName"] for part in _keyed(body) for key in part["KeySchema"]}
        # moto refuses an attribute that is defined for a vector index alone.
        defined = [one for one in body["AttributeDefinitions"] if one["AttributeName"] not in searched - keys]
        handler.body = body | {"AttributeDefinitions": defined}
        original(handler)
        return ActionResult(_add(handler, declared, body["AttributeDefinitions"]).describe())

    return create


def update_table(original: Method) -> Method:
    """Let UpdateTable add a vector index, which is there at once, or remove one."""

    @wraps(original)
    def update(handler: DynamoHandler) -> Any:
        result = original(handler)
        if "VectorIndexUpdates" not in handler.body:
            return result
        [change] = handler.body["VectorIndexUpdates"]
        table = handler.dynamodb_backend.get_table(handler.body["TableName"])
        if "Delete" in change:
            indexes(table).pop(change["Delete"]["IndexName"])
        else:
            index = VectorIndex.of(change["Create"], table.attr)
            indexes(table)[index.name] = index
        return ActionResult(table.describe())

    return update


def _keyed(body: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return [body, *body.get("GlobalSecondaryIndexes", []), *body.get("LocalSecondaryIndexes", [])]


def _add(handler: DynamoHandler, declared: list[VectorIndex], attributes: list[dict[str, str]]) -> Table:
    table = handler.dynamodb_backend.get_table(handler.body["TableName"])
    table.attr = attributes
    indexes(table).update({index.name: index for index in declared})
    return table


def create_from_template(original: Method) -> Any:
    """Let a template's table have vector indexes."""

    @wraps(original)
    def create(name: str, template: dict[str, Any], *rest: Any, **named: Any) -> Table:
        table: Table = original(name, template, *rest, **named)
        for one in template["Properties"].get("VectorIndexes", []):
            indexes(table)[one["IndexName"]] = VectorIndex.of(one, table.attr)
        return table

    return staticmethod(create)


def describe(original: Method) -> Method:
    """Let the description of a table name its vector indexes."""

    @wraps(original)
    def described(table: Table, base_key: str = "TableDescription") -> dict[str, Any]:
        result: dict[str, Any] = original(table, base_key)
        if indexes(table):
            result[base_key]["VectorIndexes"] = [index.describe(table.table_arn) for index in indexes(table).values()]
        return result

    return described


def restore(original: Method) -> Method:
    """Let a restored table have the vector indexes of its source."""

    @wraps(original)
    def initialize(table: Table, *rest: Any, source: Table, **named: Any) -> None:
        original(table, *rest, source=source, **named)
        indexes(table).update(indexes(source))

    return initialize


class VectorInvalid(MockValidationException):
    """An item that a vector index of its table cannot take."""


def put_item(original: Method) -> Method:
    """Let a table refuse an item that its vector indexes cannot take."""

    @wraps(original)
    def put(table: Table, item_attrs: dict[str, Any], *rest: Any, **named: Any) -> Any:
        if indexes(table):
            read = {name for index in indexes(table).values() for name in (index.attribute, *index.types)}
            values = {name: DynamoType(item_attrs[name]) for name in read & item_attrs.keys()}
            check(table, values)
            # The item gets the values that the check made, with their numbers.
            item_attrs = item_attrs | {name: value for name, value in values.items() if value.type == "L"}
        return original(table, item_attrs, *rest, **named)

    return put


def check(table: Table, attributes: dict[str, DynamoType]) -> None:
    """Raise VectorInvalid if a vector index of the table cannot take an item with *attributes*."""
    for index in indexes(table).values():
        fault = index.fault(attributes)
        if fault is not None:
            raise VectorInvalid(fault)


def search_vectors(handler: DynamoHandler) -> ActionResult:
    """Answer SearchVectors."""
    search = VectorSearch(handler.body)
    table = handler.dynamodb_backend.get_table(handler.body["TableName"])
    return ActionResult(search.run(indexes(table), items(table), table.table_key_attrs))


def items(table: Table) -> Iterable[Item]:
    """Return all items of a table."""
    if not table.has_range_key:
        return list(table.items.values())  # type: ignore[arg-type]
    return [item for partition in table.items.values() for item in partition.values()]


REPAIRS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (DynamoHandler, "search_vectors", lambda _: search_vectors),
    (DynamoHandler, "create_table", create_table),
    (DynamoHandler, "update_table", update_table),
    (Table, "create_from_cloudformation_json", create_from_template),
    (Table, "describe", describe),
    (Table, "put_item", put_item),
    (RestoredPITTable, "__init__", restore),
    (backend_index, "backend_url_patterns", with_search_hosts),
    (urls, "url_bases", lambda hosts: [*hosts, *HOSTS]),
)
