"""Keeps a vector of an item as one text: as moto's values a vector of 1,024 numbers takes 200 KB and 5 ms.

botocore checks and serializes each number by itself, in 10 ms for such a vector; here both take a list of numbers as it
is. Measured on moto 5.2.5 and botocore 1.44.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from botocore.model import Shape
from moto.dynamodb.models.dynamo_type import DynamoType

from streambank_local.emulator.dot_products import dot_products

BYTES_OF_A_NUMBER = 4
# A shorter list stays a list: an expression may change it in place.
FEWEST = 256


class Numbers:
    """The elements of a list attribute that are numbers, as text with commas; nothing changes them in place."""

    __slots__ = ("_floats", "_is_finite", "_norm", "count", "text")

    def __init__(self, text: str, count: int) -> None:
        self.text, self.count = text, count
        self._floats: array[float] | None = None
        self._norm: float | None = None
        self._is_finite: bool | None = None

    def floats(self) -> "array[float]":
        """Return the numbers with 32 bits each, computed once."""
        if self._floats is None:
            self._floats = array("f", map(float, self.text.split(",")))
        return self._floats

    def is_finite(self) -> bool:
        """Tell whether each number has room in 32 bits: one that has none is infinite, and with it the sum."""
        if self._is_finite is None:
            try:
                self._is_finite = math.isfinite(sum(self.floats())) and len(self.floats()) == self.count
            except ValueError:  # a text that is no number
                self._is_finite = False
        return self._is_finite

    def norm(self) -> float:
        """Return the length of the vector, computed once."""
        if self._norm is None:
            [square] = dot_products(self.floats(), [self.floats()])
            self._norm = math.sqrt(square)
        return self._norm

    def size(self) -> int:
        """Return the bytes that DynamoDB counts for a vector."""
        return BYTES_OF_A_NUMBER * self.count

    def to_json(self) -> list[dict[str, str]]:
        """Return the list as requests and replies have it."""
        return [{"N": number} for number in self.text.split(",")]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[DynamoType]:
        return iter([DynamoType(one) for one in self.to_json()])

    def __getitem__(self, index: int) -> DynamoType:
        return DynamoType({"N": self.text.split(",")[index]})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __deepcopy__(self, _: Any) -> list[dict[str, str]]:
        # moto copies a value where it makes plain values of it, and nowhere else: copies of items are moto_items'.
        return self.to_json()


def vector_of(value: DynamoType) -> Numbers | None:
    """Return the vector that an attribute value is, or None if it is none that has 32 bits a number."""
    if value.type != "L":
        return None
    numbers = value.value
    if type(numbers) is list:
        if not all(one.type == "N" for one in numbers):
            return None
        numbers = Numbers(",".join([one.value for one in numbers]), len(numbers))
    return numbers if len(numbers) and numbers.is_finite() else None


def is_number(value: DynamoType) -> bool:
    """Tell whether an element of a vector is a number that has room in 32 bits."""
    return value.type == "N" and Numbers(value.value, 1).is_finite()


def keep_as_text(original: Callable[..., None]) -> Callable[..., None]:
    """Let a value that is a long list of numbers keep them as one text."""

    @wraps(original)
    def initialize(self: DynamoType, content: Any) -> None:
        numbers = _numbers(content)
        if numbers is None:
            original(self, content)
        else:
            self.type, self.value = "L", numbers

    return initialize


def _numbers(content: Any) -> Numbers | None:
    elements = content.value if type(content) is DynamoType else content.get("L") if type(content) is dict else None
    if isinstance(elements, Numbers):
        return elements
    texts = _texts(elements)
    return None if texts is None else Numbers(",".join(texts), len(texts))


def _texts(elements: Any) -> list[str] | None:
    """Return the numbers of a long list of nothing else, or None."""
    if type(elements) is not list or len(elements) < FEWEST or type(elements[0]) is not dict:
        return None
    try:
        texts = [one["N"] for one in elements]
    except (KeyError, TypeError):
        return None
    return texts if set(map(len, elements)) == {1} and set(map(type, texts)) == {str} else None


def check_at_once(original: Callable[..., None]) -> Callable[..., None]:
    """Let botocore check a list of numbers without a look at each number's shape."""

    @wraps(original)
    def check(validator: Any, content: Any, shape: Shape, *rest: Any, **named: Any) -> None:
        if not _is_vector(content, shape):
            original(validator, content, shape, *rest, **named)

    return check


def serialize_at_once(original: Callable[..., None]) -> Callable[..., None]:
    """Let botocore serialize a list of numbers as it is."""

    @wraps(original)
    def serialize(serializer: Any, serialized: Any, content: Any, shape: Shape, key: str) -> None:
        if _is_vector(content, shape):
            serialized[key] = content
        else:
            original(serializer, serialized, content, shape, key)

    return serialize


def _is_vector(content: Any, shape: Any) -> bool:
    return shape.member.name == "AttributeValue" and _texts(content) is not None
