"""Chat histories in the table: what is written, turned, read and cleared."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.chat import ChatHistory, ChatSize
from streambank.store import keys
from streambank.store.chat_histories import ChatHistories
from streambank.store.chat_items import Pointer, pointer_of, pointer_values
from streambank.store.due import DueItem, DueKind, due_item
from tests import aws
from tests.store.building import FEW, NOW, instants, json_values, texts, through_item

DAY = timedelta(days=1)
CHUNK = 100
NAME = ids.digest("c 1")


@pytest.fixture
def histories(world):
    return ChatHistories(world.table, chunk_bytes=CHUNK)


def a_history(text="hi", version="v1", conversation_id="c 1", **more):
    return ChatHistory(conversation_id, ({"text": text},), "openai", version, NOW, **more)


def large(version, **more):
    """Return a history whose text no compression makes as small as a chunk."""
    return a_history("".join(ids.digest(version, str(n)) for n in range(12)), version, **more)


def stored(histories, history, before=None, bank="default"):
    """Store *history* in the place of *before* and return its pointer."""
    pointer = histories.prepare(bank, history, now=NOW)
    histories.replace(bank, before, pointer, now=NOW)
    return pointer


def sort_keys(world):
    return [item["SK"]["S"] for item in aws.dump(world.client) if item["PK"]["S"].startswith("H#")]


@FEW
@given(
    st.builds(
        Pointer,
        conversation_id=texts,
        format=texts,
        version=st.text(min_size=1, max_size=9),
        updated=instants(),
        expires=st.none() | instants(),
        chunks=st.just(0),
        data=st.binary(min_size=1, max_size=9),
        base=st.text(min_size=1, max_size=9),
        blocks=st.integers(0, 100),
        size=st.none() | st.builds(ChatSize, st.integers(0, 9), st.integers(2, 9), st.integers(2, 9)),
        parts_expire=st.none() | instants(),
        salt=st.text(max_size=9),
        keys_until=st.none() | instants(),
    )
)
def test_a_pointer_comes_back_as_it_was(pointer):
    """Round trip: the id is kept as it was sent, whatever it holds, and so are the times."""
    key = keys.chat_pointer("b", ids.digest(pointer.conversation_id))
    assert pointer_of(through_item(key, pointer_values(pointer))) == pointer


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=4).map(tuple))
def test_messages_come_back_as_they_were(world, messages):
    """Whatever JSON messages hold, in one item or in many, is what is read."""
    for number, size in enumerate((7, 350_000)):
        histories = ChatHistories(world.table, chunk_bytes=size)
        history = replace(a_history(version=f"v{number}"), messages=({"text": "hello"}, *messages))
        pointer = stored(histories, history, histories.find("default", "c 1"))
        assert (pointer.chunks > 1) is (size == 7)
        assert histories.read("default", histories.find("default", "c 1")) == history


def test_a_small_history_is_one_item_and_one_write_to_replace(world, histories):
    """A history that fits is in its pointer; replacing one that never expires writes nothing else."""
    first = stored(histories, a_history("a"))
    assert sort_keys(world) == ["H"]
    seen = []
    world.client.meta.events.register("before-call.dynamodb", lambda model, **_: seen.append(model.name))
    stored(histories, a_history("b", "v2"), first)
    assert seen == ["PutItem"]


def test_chunks_are_in_no_reading_before_the_turn(world, histories):
    """A large history is written beside the old one, which is read until one write turns the pointer."""
    first = stored(histories, large("v1"))
    prepared = histories.prepare("default", large("v2"), now=NOW)
    assert histories.read("default", histories.find("default", "c 1")) == large("v1")
    assert {key[:5] for key in sort_keys(world)} == {"C#v1#", "C#v2#", "H", "O#v2"}
    histories.replace("default", first, prepared, now=NOW)
    assert histories.read("default", histories.find("default", "c 1")) == large("v2")
    assert {key[:5] for key in sort_keys(world)} == {"C#v1#", "C#v2#", "H", "O#v1"}


def test_chunks_that_are_read_never_expire_by_themselves(world, histories):
    """Without an end of its own nothing of a history has a TTL; with one, its parts are kept up to a day longer."""
    first = stored(histories, large("v1"))
    assert not [item for item in aws.dump(world.client) if "ttl" in item]
    stored(histories, large("v2", expires=NOW + DAY), first)
    histories.clear("default", NAME, "v1")
    ends = {item["SK"]["S"][:2]: int(item["ttl"]["N"]) for item in aws.dump(world.client)}
    end, parts_end = int((NOW + DAY).timestamp()), int((NOW + 2 * DAY).timestamp())
    assert ends == {"H": end, "C#": parts_end, "H#": parts_end}


def test_nobody_writes_over_what_he_did_not_read(world, histories):
    """A writer who read another version, or none, turns nothing and deletes nothing."""
    first = stored(histories, a_history("a"))
    second = stored(histories, a_history("b", "v2"), first)
    before = aws.dump(world.client)
    for stale in (None, first):
        with pytest.raises(Conflict):
            histories.replace("default", stale, replace(second, version="v3"), now=NOW)
    with pytest.raises(Conflict):
        histories.delete("default", first, now=NOW)
    assert aws.dump(world.client) == before


def test_what_was_cleared_cannot_be_turned_to(world, histories):
    """A writer so slow that the sweep took its chunks for left behind fails: no pointer names what is gone."""
    first = stored(histories, a_history("a"))
    late = histories.prepare("default", large("v2"), now=NOW)
    histories.clear("default", NAME, "v2")
    with pytest.raises(Conflict):
        histories.replace("default", first, late, now=NOW)
    assert histories.read("default", histories.find("default", "c 1")) == a_history("a")
    assert sort_keys(world) == ["H"]


def test_what_was_turned_to_cannot_be_cleared(world, histories):
    """A sweep that read the note before the turn deletes nothing."""
    stored(histories, large("v1"))
    before = aws.dump(world.client)
    with pytest.raises(Conflict):
        histories.clear("default", NAME, "v1")
    assert aws.dump(world.client) == before


def test_an_overtaken_reading_says_so(histories):
    """Who holds a pointer whose chunks are cleared meanwhile gets nothing, not a part."""
    first = stored(histories, large("v1"))
    stored(histories, a_history("b", "v2"), first)
    histories.clear("default", NAME, "v1")
    assert histories.read("default", first) is None


def test_a_deleted_history_leaves_nothing(world, histories):
    """Pointer, registry entry and chunks go."""
    pointer = stored(histories, large("v1"))
    histories.delete("default", pointer, now=NOW)
    histories.clear("default", NAME, "v1")
    assert aws.dump(world.client) == []


def test_histories_are_kept_apart(histories):
    """One id in two banks, and two ids in one, are two histories (I8)."""
    stored(histories, a_history("a"))
    stored(histories, a_history("b"), bank="b2")
    stored(histories, a_history("c", conversation_id="c 1#"))
    assert [histories.read(bank, histories.find(bank, name)).messages[0]["text"] for bank, name in
            (("default", "c 1"), ("b2", "c 1"), ("default", "c 1#"))] == ["a", "b", "c"]  # fmt: skip
    assert histories.find("b2", "c 1#") is None


def test_histories_go_with_their_bank(world, histories):
    """Deleting a bank takes its histories with chunks and notes, and none of another bank; an empty bank holds none."""
    stored(histories, large("v1"), bank="b2")
    kept = aws.dump(world.client)
    assert world.banks.is_empty("1234")
    pointer = stored(histories, large("v1"), bank="1234")
    stored(histories, large("v2"), pointer, bank="1234")
    histories.prepare("1234", large("v3"), now=NOW)
    assert not world.banks.is_empty("1234")
    list(world.banks.delete_contents("1234"))
    assert aws.dump(world.client) == kept


def test_a_note_says_what_is_due():
    """The index holds keys only; a note's names bank, conversation and version."""
    assert due_item(keys.chat_note("b", "n", "v")) == DueItem(DueKind.CHAT, "b", "n", version="v")
