"""A call of SearchVectors over the items of a table."""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item

from streambank_local.emulator.dot_products import dot_products
from streambank_local.emulator.moto_numbers import BYTES_OF_A_NUMBER, Numbers, vector_of
from streambank_local.emulator.vector_index import VectorIndex

MOST_RESULTS = 100


class VectorSearch:
    """A request, and what it finds."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._names: dict[str, str] = request.get("ExpressionAttributeNames") or {}
        self._values: dict[str, Any] = request.get("ExpressionAttributeValues") or {}

    def run(self, indexes: Mapping[str, VectorIndex], items: Iterable[Item], keys: Sequence[str]) -> dict[str, Any]:
        """Return the reply, the nearest entry first; *keys* are the names of the table's keys.

        Raises:
            MockValidationException: DynamoDB would refuse the request.
        """
        top = self._request["TopK"]
        if not 1 <= top <= MOST_RESULTS:
            limits = f"The value must be between 1 and {MOST_RESULTS} inclusive"
            raise MockValidationException(f"Provided TopK value '{top}' is out of valid range. {limits}")
        name = self._request["IndexName"]
        if name not in indexes:
            raise MockValidationException(f"The table does not have the specified index: {name}")
        index = indexes[name]
        query, terms = self._vector(index), self._terms(index)
        entries = [(item, vector) for item in items if (vector := index.entry(item, terms)) is not None]
        scores = _scores(query, [vector for _, vector in entries])
        ranked = sorted(zip(scores, (item for item, _ in entries), strict=True), key=_rank)
        results = [{"Item": self._projected(item, index, keys), "Score": score} for score, item in ranked[:top]]
        reply: dict[str, Any] = {"SearchResults": results}
        if self._request.get("ReturnConsumedCapacity", "NONE") != "NONE":
            examined = BYTES_OF_A_NUMBER * index.dimensions * (len(entries) + 1)
            reply["ConsumedCapacity"] = {"VectorSearchRequestBytes": float(examined)}
        return reply

    def _vector(self, index: VectorIndex) -> Numbers:
        vector = vector_of(DynamoType({"L": self._request["SearchVector"]}))
        if vector is None:
            raise MockValidationException(
                "Search vector contains invalid values. "
                "All values in the search vector must be a 32-bit floating-point number attribute"
            )
        if len(vector) != index.dimensions:
            raise MockValidationException(
                f"Input search vector dimension {len(vector)} does not match vector index dimension {index.dimensions}"
            )
        return vector

    def _terms(self, index: VectorIndex) -> dict[str, Any]:
        """Return the values that the condition wants, by attribute."""
        condition = self._request.get("SearchConditionExpression")
        if not condition:
            if index.hashes:
                raise MockValidationException(
                    "SearchConditionExpression must be provided when SearchSchema has a HASH key"
                )
            return {}
        return dict(self._term(part, index) for part in re.split(r"\s+AND\s+", condition.strip()))

    def _term(self, part: str, index: VectorIndex) -> tuple[str, Any]:
        word, comparator, value = (re.findall(r"[#:]?\w+|[<>=]+|\S", part) + [""] * 3)[:3]
        name = self._names.get(word, word)
        if name not in index.types:
            raise MockValidationException(
                "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
                f"Invalid attribute: {name}"
            )
        prefix = "Invalid SearchConditionExpression: "
        if comparator != "=":
            raise MockValidationException(f"{prefix}Invalid comparator used in SearchConditionExpression")
        if value not in self._values:
            raise MockValidationException(
                f"{prefix}An expression attribute value used in expression is not defined; attribute value: {value}"
            )
        return name, self._values[value]

    def _projected(self, item: Item, index: VectorIndex, keys: Sequence[str]) -> dict[str, Any]:
        held = [name for name in item.attrs if index.holds(name, keys)]
        projection = self._request.get("ProjectionExpression")
        if projection:
            names = {self._names.get(word.strip(), word.strip()) for word in projection.split(",")}
        else:
            names = {name for name in held if name != index.attribute}
        return {name: _plain(name, item, index) for name in held if name in names}


def _plain(name: str, item: Item, index: VectorIndex) -> Any:
    vector = vector_of(item.attrs[name]) if name == index.attribute else None
    if vector is not None:
        return {"L": [{"N": f"{number:.9g}"} for number in vector.floats()]}
    return item.attrs[name].to_regular_json()


def _scores(query: Numbers, vectors: Sequence[Numbers]) -> list[float]:
    """Return the dot products, which are higher the nearer a vector is."""
    return [_float32(one) for one in dot_products(query.floats(), [vector.floats() for vector in vectors])]


def _float32(number: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def _rank(scored: tuple[float, Item]) -> tuple[float, str, str]:
    score, item = scored
    return -score, str(item.hash_key.value), str(item.range_key.value if item.range_key is not None else "")
