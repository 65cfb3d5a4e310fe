"""A vector index of a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models.dynamo_type import DynamoType, Item

from streambank_local.emulator.moto_numbers import Numbers, is_number, vector_of

_INVALID = "One or more parameter values were invalid"


@dataclass(frozen=True)
class VectorIndex:
    """A definition: *types* are those of the attributes of conditions, *hashes* the attributes that an entry needs."""

    definition: Mapping[str, Any]
    name: str
    attribute: str
    dimensions: int
    types: Mapping[str, str]
    hashes: frozenset[str]

    @classmethod
    def of(cls, definition: Mapping[str, Any], attributes: Iterable[Mapping[str, str]]) -> "VectorIndex":
        """Return the index that a request or a template defines beside *attributes*; raises MockValidationException."""
        if definition["DistanceFunction"] != "DOT_PRODUCT":
            raise MockValidationException("the emulator knows the distance function DOT_PRODUCT alone")
        defined = {one["AttributeName"]: one["AttributeType"] for one in attributes}
        schema = {one["AttributeName"]: one["SearchSchemaElementType"] for one in definition.get("SearchSchema", [])}
        if not schema.keys() <= defined.keys():
            raise MockValidationException(
                f"{_INVALID}: One element in SearchSchema is not defined in attribute definitions"
            )
        return cls(
            definition,
            definition["IndexName"],
            definition["VectorAttribute"]["AttributeName"],
            int(definition["Dimensions"]),
            {name: defined[name] for name in schema},
            frozenset(name for name, kind in schema.items() if kind == "HASH"),
        )

    def describe(self, table_arn: str) -> dict[str, Any]:
        """Return what DescribeTable shows of the index."""
        return {**self.definition, "IndexStatus": "ACTIVE", "IndexArn": f"{table_arn}/index/{self.name}"}

    def fault(self, attributes: Mapping[str, DynamoType]) -> str | None:
        """Return DynamoDB's message about an item that the index cannot take, or None."""
        for name, expected in self.types.items():
            if name in attributes and attributes[name].type != expected:
                mismatch = f"Type mismatch for Index Key {name} Expected: {expected} Actual: {attributes[name].type}"
                return f"{_INVALID}: {mismatch} IndexName: {self.name}"
        fault = self._fault(attributes[self.attribute]) if self.attribute in attributes else None
        return None if fault is None else f"{_INVALID}. {fault} IndexName: {self.name}"

    def _fault(self, value: DynamoType) -> str | None:
        number = "32-bit floating point number"
        if value.type != "L":
            return f"Invalid type for parameter {self.attribute}, Expected: {number} list"
        if value.value and vector_of(value) is None:
            place, wrong = next((at, one) for at, one in enumerate(value.value) if not is_number(one))
            return f"Invalid type for parameter {self.attribute}[{place}], Expected: {number}, Actual: {wrong.type}."
        if len(value.value) != self.dimensions:
            sizes = f"Expected: {self.dimensions}, Actual: {len(value.value)}"
            return f"Invalid size for parameter {self.attribute}, {sizes}"
        return None

    def entry(self, item: Item, terms: Mapping[str, Any]) -> Numbers | None:
        """Return the vector of an item that is in the index and has the values of *terms*, or None."""
        attributes = item.attrs
        if self.attribute not in attributes or not attributes.keys() >= self.hashes:
            return None
        if any(name not in attributes or attributes[name].to_json() != value for name, value in terms.items()):
            return None
        vector = vector_of(attributes[self.attribute])
        return vector if vector is not None and len(vector) == self.dimensions else None

    def holds(self, name: str, keys: Sequence[str]) -> bool:
        """Tell whether the index has attribute *name* of its items; *keys* are the names of the table's."""
        projection = self.definition["Projection"]
        if projection["ProjectionType"] == "ALL" or name in {self.attribute, *self.types, *keys}:
            return True
        return name in projection.get("NonKeyAttributes", [])
