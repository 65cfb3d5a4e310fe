"""Batches of memories: the name of each, and the room of their reply."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument, NotFound
from streambank.wire import memory_batches, page_room
from streambank.wire.memory_batches import BatchResult

BANK = "default"


@pytest.mark.parametrize("parent", ["", "memories/", f"{BANK}/memories/", f"projects/p/memoryBanks/{BANK}/memories/"])
def test_a_memory_is_named_by_its_id_or_its_name(parent: str) -> None:
    """An id, and a name that begins anywhere, name the same memory."""
    assert memory_batches.memory_id(f"{parent}m1", BANK, "names[0]") == "m1"


@pytest.mark.parametrize(
    "name",
    ["", "/", "memories/", "sessions/m1", "another/memories/m1", f"{BANK}/sessions/m1", "a" * 257, "m1/", None, 1],
)
def test_the_name_of_anything_else_is_refused(name: Any) -> None:
    """Nothing, another kind, another bank, too long an id: each alone is enough."""
    with pytest.raises(InvalidArgument) as refused:
        memory_batches.memory_id(name, BANK, "names[0]")
    assert refused.value.field == "names[0]"


@given(name=st.one_of(st.text(max_size=30), st.none(), st.integers(), st.lists(st.text(max_size=2), max_size=2)))
def test_any_name_is_read_or_refused(name: Any) -> None:
    """Whatever is sent is an id of 1 to 256 bytes without a slash, or refused with the place of the field."""
    try:
        identifier = memory_batches.memory_id(name, BANK, "names[0]")
    except InvalidArgument as error:
        identifier, field = "refused", error.field
    else:
        field = "names[0]"
    assert field == "names[0]"
    assert "/" not in identifier
    assert 1 <= len(identifier.encode()) <= 256


def test_results_without_room_name_their_memories() -> None:
    """Results of more than 3.5 MB keep their number and order; the last of them only name their memory."""
    large: list[Any] = [{"memory": {"name": f"memories/{n}", "fact": "x" * 90_000}} for n in range(40)]
    error = memory_batches.result(lambda: (_ for _ in ()).throw(NotFound("gone")))
    results = memory_batches.within_room([*large, error])["results"]
    assert page_room.body_bytes(results) < page_room.PAGE_BYTES + 10_000
    kept = sum("memory" in one for one in results)
    assert 30 < kept < 40
    assert results == [*large[:kept], *({"name": f"memories/{n}"} for n in range(kept, 40)), error]


def test_an_error_is_a_result() -> None:
    """A change that fails has the code, status and message of its error."""

    def fail() -> BatchResult:
        raise NotFound("there is no memory 'm1'")

    assert memory_batches.result(fail) == {
        "error": {"code": 404, "message": "there is no memory 'm1'", "status": "NOT_FOUND"}
    }
