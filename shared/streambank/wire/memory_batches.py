"""Requests that create, change or delete many memories, and the result of each."""

from collections.abc import Callable
from typing import Annotated, Any, NotRequired, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from streambank.errors import InvalidArgument, StreambankError
from streambank.wire import http, page_room, reader
from streambank.wire.fields import text
from streambank.wire.memory import Memory
from streambank.wire.memory_requests import CreateMemoryRequest, UpdateMemoryRequest
from streambank.wire.model import JsonSchema, Read, RequestModel, described_by
from streambank.wire.parameters import MEMORY_ID_PATTERN

MAX_BATCH = 100
MAX_NAME_BYTES = 1_024
MAX_MASK_BYTES = 1_024

M = TypeVar("M", bound=RequestModel)


class BatchItemCreate(RequestModel):
    memory: CreateMemoryRequest
    memory_id: Annotated[str, Field(pattern=f"^({MEMORY_ID_PATTERN})?$")] = ""


class BatchItemUpdate(RequestModel):
    """The memory's `name` says which one changes."""

    memory: UpdateMemoryRequest
    update_mask: Annotated[str, text(MAX_MASK_BYTES)] = ""


def _items(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_BATCH:
        raise InvalidArgument(path, f"must be a list of 1 to {MAX_BATCH}")
    return value


def _list_of(schema: JsonSchema) -> Read:
    """Return how a list is read whose elements are read one by one, so that a wrong one costs itself alone."""
    return Read(_items, {"type": "array", "minItems": 1, "maxItems": MAX_BATCH, "items": schema})


class BatchCreateMemoriesRequest(RequestModel):
    requests: Annotated[list[Any], _list_of(described_by(BatchItemCreate))]


class BatchUpdateMemoriesRequest(RequestModel):
    requests: Annotated[list[Any], _list_of(described_by(BatchItemUpdate))]


class BatchDeleteMemoriesRequest(RequestModel):
    """Names or ids of memories of the bank."""

    names: Annotated[list[Any], _list_of({"type": "string", "examples": ["memories/m1"]})]


class BatchResult(TypedDict):
    """The memory as it is now, or the error; a deleted memory has neither. Beyond 3.5 MB a memory is only named."""

    name: NotRequired[str]
    memory: NotRequired[Memory]
    error: NotRequired[http.Status]


class BatchResults(TypedDict):
    """One result for each request, in their order."""

    results: list[BatchResult]


def item(model: type[M], value: Any, index: int) -> M:
    """Return one request of a batch. Raises InvalidArgument, whose field begins with its place in the batch."""
    try:
        return model.parse(value)
    except InvalidArgument as error:
        place = f"requests[{index}]"
        raise InvalidArgument(reader.join(place, error.field) if error.field else place, error.problem) from None


def memory_id(name: Any, bank: str, path: str) -> str:
    """Return the id in a memory's name, or an id. Raises InvalidArgument for the name of anything else."""
    if not isinstance(name, str) or not 1 <= reader.byte_length(name, path) <= MAX_NAME_BYTES:
        raise InvalidArgument(path, f"must be the name of a memory, of 1 to {MAX_NAME_BYTES} bytes")
    parent, _, identifier = name.rpartition("/")
    segments = parent.split("/") if parent else []
    is_id = 1 <= reader.byte_length(identifier, path) <= http.MAX_SEGMENT_BYTES
    if not is_id or segments[-1:] not in ([], ["memories"]) or segments[:-1][-1:] not in ([], [bank]):
        raise InvalidArgument(path, "must be the name of a memory of this bank")
    return identifier


def result(change: Callable[[], BatchResult]) -> BatchResult:
    """Return what *change* returns, or the error that it raises."""
    try:
        return change()
    except StreambankError as error:
        return BatchResult(error=http.status(error))


def within_room(results: list[BatchResult]) -> BatchResults:
    """Return the results, of which those that a reply has no room for only name their memory."""
    room = page_room.PageRoom(len(results), page_room.body_bytes)
    return BatchResults(
        results=[
            one if "memory" not in one or room.admits(one) else BatchResult(name=one["memory"]["name"])
            for one in results
        ]
    )
