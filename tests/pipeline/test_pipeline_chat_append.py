"""Appends to chat histories under kills, races, repeats and time: each block once, whole, in its order."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.units import Meter
from streambank.errors import InvalidArgument, KeyReused, PayloadTooLarge, PreconditionFailed, Unavailable
from streambank.model import ids
from streambank.model.chat import ANYTHING, ChatAppend, ChatDraft, Expectation
from streambank.model.event import CallMarker
from streambank.pipeline.sessions import chat_history
from streambank.rules import chat_size
from streambank.store import keys
from streambank.store.chat_histories import ChatHistories
from tests import aws
from tests.aws import Killed
from tests.pipeline.test_pipeline_chat import Meddler
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.world import World

CHUNK, BLOCKS, DAY = 500, 4, timedelta(days=1)
# Histories that an append meets: none, one in its pointer, of chunks, of blocks, and one with no room for more blocks.
THERE = ("none", "small", "large", "blocks", "full")


@pytest.fixture(scope="module")
def client():
    with aws.dynamodb() as client:
        yield client


class Chats:
    """Conversations of one bank; a message is a number and a text that does not compress."""

    def __init__(self, client):
        _clear(client)
        self.world = World(client)
        self.world.histories = ChatHistories(self.world.table, chunk_bytes=CHUNK, max_blocks=BLOCKS)
        self.versions = itertools.count()

    @property
    def context(self):
        return {"histories": self.world.histories, "retry_policy": self.world.retry_policy, "now": self.world.clock()}

    def append(self, *numbers, key=None, expected=ANYTHING, ttl=None, name="c", label="f"):
        """Append messages; *key* is an idempotency key, and the body its messages."""
        call = CallMarker(ids.call_key(key), ids.fingerprint(list(numbers))) if key else None
        sent = ChatAppend(name, messages_of(numbers), f"v{next(self.versions)}", label, ttl, call)
        return chat_history.append("default", sent, expected, keys_kept=90 * DAY, **self.context)

    def store(self, *numbers, ttl=None, name="c"):
        draft = ChatDraft(messages_of(numbers), "f", ttl)
        history = draft.at(self.world.clock(), conversation_id=name, version=f"v{next(self.versions)}")
        chat_history.store("default", history, ANYTHING, **self.context)

    def delete(self, name="c"):
        chat_history.delete("default", name, ANYTHING, **self.context)

    def load(self, name="c"):
        """Return the numbers of the messages, or None; every message is whole."""
        found = chat_history.load("default", name, **self.context)
        if found is None:
            return None
        numbers = [message["n"] for message in found.messages]
        assert found.messages == messages_of(numbers)
        return numbers

    def pointer(self, name="c"):
        return self.world.histories.find("default", name)

    def rest(self):
        """Let the sweep alone do what is left to do, and check that nothing lies about."""
        self.world.clock.move(minutes=3)
        report = self.world.sweep()
        assert not report.faults, report.faults
        items = aws.dump(self.world.client)
        pointers = [item for item in items if item["SK"]["S"] == "H"]
        bases = {item["base"]["S"] for item in pointers}
        parts = [item["SK"]["S"].split("#") for item in items if item["SK"]["S"][:2] in ("C#", "A#")]
        assert {base for _, base, _ in parts} <= bases, "parts that no pointer names"
        assert len(parts) == sum(int(item["n"]["N"]) + int(item.get("blk", {"N": 0})["N"]) for item in pointers)
        assert not [item for item in items if item["SK"]["S"].startswith("O#")], "notes that are never taken away"
        registered = {item["SK"]["S"][2:] for item in items if item["PK"]["S"].startswith("K#")}
        partitions = {item["PK"]["S"].split("#")[2] for item in items if item["PK"]["S"].startswith("H#")}
        assert registered == partitions, "what a bank's end walks is what there is"

    def put(self, there):
        """Make the conversation one of THERE, and return its numbers."""
        match there:
            case "small":
                self.store(1)
            case "large":
                self.store(*range(30))
            case "blocks" | "full":
                for number in range(BLOCKS if there == "full" else 2):
                    self.append(number)
        return self.load() or []


def messages_of(numbers):
    return tuple({"n": n, "text": ids.digest("text", str(n))} for n in numbers)


# ---- kills


@pytest.mark.parametrize("there", THERE)
def test_a_kill_after_any_call_appends_all_or_nothing_and_a_repeat_ends_it(client, there):
    """Killed after each AWS call, an append is there whole or not at all; its repeat makes it one, not two."""
    _kill_until_the_append_ends(client, there, itertools.product(range(30), [True]))


@pytest.mark.slow
@pytest.mark.parametrize("there", THERE)
def test_a_kill_before_or_after_any_call_appends_all_or_nothing(client, there):
    """The same before and after every AWS call."""
    _kill_until_the_append_ends(client, there, itertools.product(range(30), (False, True)))


def _kill_until_the_append_ends(client, there, points):
    for at, after in points:
        chats, killer = Chats(client), Killer()
        before = chats.put(there)
        killer.at, killer.after = at, after
        disarm = _armed(chats.world.client, killer)
        try:
            chats.append(100, 101, key="k")
        except Killed:
            assert chats.load() in (before or None, [*before, 100, 101])
        finally:
            is_over, killer.at = killer.at is not None, None
            disarm()
        if not at % 2:
            chats.rest()
        chats.append(100, 101, key="k")
        assert chats.load() == [*before, 100, 101]
        chats.append(102)
        chats.rest()
        assert chats.load() == [*before, 100, 101, 102]
        if is_over:
            assert at > 0
            return
    raise AssertionError("an append never ends")


@pytest.mark.parametrize("there", ["blocks", "full"])
@pytest.mark.parametrize(("act", "after"), [("store", [7]), ("delete", None)])
def test_a_kill_while_blocks_are_replaced_leaves_the_old_or_the_new_history(client, there, act, after):
    """Killed after each AWS call, the history is the old or the new one, the sweep clears the rest, and keys stay."""
    for at in range(30):
        chats, killer = Chats(client), Killer()
        before = [*chats.put(there), 100]
        chats.append(100, key="k")
        killer.at, killer.after = at, True
        disarm = _armed(chats.world.client, killer)
        try:
            chats.store(7) if act == "store" else chats.delete()
        except Killed:
            assert chats.load() in (before, after)
        finally:
            is_over, killer.at = killer.at is not None, None
            disarm()
        chats.rest()
        chats.append(100, key="k")
        assert chats.load() in ([after] if is_over else [before, after])
        if is_over:
            assert at > 0
            return
    raise AssertionError("a change never ends")


# ---- races

# What somebody else does, and what the history may be then.
RACES = {
    "append": (
        lambda chats: chats.append(200, 201),
        lambda there, mine: [[*there, *mine, 200, 201], [*there, 200, 201, *mine]],
    ),
    "store": (lambda chats: chats.store(7), lambda _, mine: [[7], [7, *mine]]),
    "delete": (lambda chats: chats.delete(), lambda _, mine: [None, mine]),
}


@pytest.mark.parametrize("there", THERE)
@pytest.mark.parametrize("theirs", RACES)
def test_a_race_loses_no_block_and_doubles_none(client, there, theirs):
    """Whoever appends, replaces or deletes between any two calls of an append, the result is that of one order."""
    act, results = RACES[theirs]
    for at in range(40):
        chats = Chats(client)
        before = chats.put(there)
        meddler = Meddler(client, at, lambda chats=chats: act(chats))
        disarm = meddler()
        try:
            chats.append(100, 101, key="k")
        finally:
            disarm()
        allowed = results(before, [100, 101])
        is_over = meddler.calls <= at
        assert chats.load() in (([*before, 100, 101],) if is_over else allowed)
        chats.rest()
        if is_over:
            assert at > 1
            return
    raise AssertionError("an append never ends")


@pytest.mark.parametrize("there", ["blocks", "full"])
def test_a_reading_that_races_an_append_is_of_one_version(client, there):
    """Whoever appends between any two calls of a reading, it shows the history before or after, whole."""
    for at in range(20):
        chats = Chats(client)
        before = chats.put(there)
        meddler = Meddler(client, at, lambda chats=chats: chats.append(100))
        disarm = meddler()
        try:
            assert chats.load() in (before, [*before, 100])
        finally:
            disarm()
        if meddler.calls <= at:
            assert at > 1
            return
    raise AssertionError("a reading never ends")


def test_an_append_that_always_loses_is_unavailable(client):
    """An append that is overtaken each time gives up, says so, and has written nothing."""
    chats, busy = Chats(client), []

    def overtaken(model, **_):
        if model.name == "TransactWriteItems" and not busy:
            busy.append(1)
            chats.append(1)
            busy.clear()

    client.meta.events.register("before-call.dynamodb", overtaken)
    try:
        with pytest.raises(Unavailable):
            chats.append(100, key="k")
    finally:
        client.meta.events.unregister("before-call.dynamodb", overtaken)
    assert set(chats.load()) == {1}
    chats.rest()


# ---- repeats


def test_a_repeat_answers_again_whatever_happened_since(client):
    """The same key is the same append: after another one, a replacement, a deletion, under an expectation."""
    chats = Chats(client)
    first = chats.append(1, key="k")
    for act, after in (
        (lambda: chats.append(2), [1, 2]),
        (lambda: chats.store(3), [3]),
        (lambda: chats.delete(), None),
        (lambda: chats.append(4), [4]),
    ):
        act()
        assert chats.append(1, key="k", expected=Expectation(must_be_absent=True)) == first
        assert chats.load() == after
    chats.append(1, key="another")
    assert chats.load() == [4, 1]


def test_a_key_is_bound_to_its_body_and_its_conversation(client):
    """Another body under a key is refused; in another conversation it is another key."""
    chats = Chats(client)
    chats.append(1, key="k")
    with pytest.raises(KeyReused):
        chats.append(2, key="k")
    chats.append(2, key="k", name="other")
    assert (chats.load(), chats.load("other")) == ([1], [2])


def test_a_deletion_leaves_hashes_alone_and_they_end(client):
    """Of a deleted conversation stay hashes of keys that no body can be compared with, until they are forgotten."""
    chats = Chats(client)
    chats.append(1, key="k")
    chats.delete()
    chats.rest()
    chats.delete()
    items = aws.dump(client)
    name = ids.digest("c")
    assert {item["SK"]["S"] for item in items} == {"H", f"I#{ids.call_key('k')}", f"H#{name}"}
    assert not chats.world.histories.has("default", "c")
    assert list(chats.world.erasures.conversation_names("default")) == []
    assert all("ttl" in item for item in items)
    [pointer] = [item for item in items if item["SK"]["S"] == "H"]
    assert (pointer["id"]["S"], "salt" in pointer, pointer["d"]["B"]) == ("", False, b"")
    chats.append(9, key="k")
    assert chats.load() is None
    chats.world.clock.move(days=91)
    chats.append(1, key="k")
    assert chats.load() == [1]
    assert list(chats.world.erasures.conversation_names("default")) == [name]


def test_the_end_of_a_bank_takes_the_keys_of_deleted_conversations(client):
    """Nothing of a conversation outlives its bank, whether it was deleted before or not, or has expired."""
    chats = Chats(client)
    chats.append(1, key="k", name="deleted")
    chats.delete("deleted")
    chats.append(1, key="k", name="there")
    chats.append(1, key="k", name="expired", ttl=timedelta(seconds=60))
    chats.world.clock.move(seconds=61)
    list(chats.world.banks.delete_contents("default"))
    assert [item for item in aws.dump(client) if item["PK"]["S"][:2] in ("H#", "K#")] == []


def test_a_conversation_without_keys_is_deleted_without_a_trace(client):
    """Parts, pointer and registry entry go."""
    chats = Chats(client)
    chats.put("full")
    chats.delete()
    chats.rest()
    assert aws.dump(client) == []


# ---- expectations, formats, sizes


def test_an_expectation_holds_for_an_append(client):
    """With a version nothing is appended to another one, and each append makes a new one."""
    chats = Chats(client)
    with pytest.raises(PreconditionFailed):
        chats.append(1, expected=Expectation(must_exist=True))
    first = chats.append(1, expected=Expectation(must_be_absent=True))
    second = chats.append(2, expected=Expectation(must_exist=True, version=first.version))
    assert second.version != first.version
    with pytest.raises(PreconditionFailed):
        chats.append(3, expected=Expectation(must_exist=True, version=first.version))
    assert (chats.load(), second.messages) == ([1, 2], 2)


def test_a_format_is_that_of_the_conversation(client):
    """Messages of two formats are not mixed; an append without one takes the conversation's."""
    chats = Chats(client)
    chats.append(1)
    with pytest.raises(InvalidArgument):
        chats.append(2, label="g")
    chats.append(2, label="")
    assert (chats.load(), chats.pointer().format) == ([1, 2], "f")


@pytest.mark.parametrize("there", THERE[1:])
def test_a_conversation_that_would_be_too_large_stays_as_it_is(client, there, monkeypatch):
    """The limits hold for the whole conversation, however its messages came."""
    chats = Chats(client)
    before = chats.put(there)
    monkeypatch.setattr(chat_size, "MAX_MESSAGES", len(before) + 1)
    stored = aws.dump(client)
    with pytest.raises(PayloadTooLarge):
        chats.append(100, 101)
    assert [item for item in aws.dump(client) if item not in stored] == []
    chats.append(100)
    assert chats.load() == [*before, 100]


def test_an_item_of_an_earlier_release_is_appended_to(client):
    """A pointer without the attributes of this release is read, and written anew by the first append."""
    chats = Chats(client)
    chats.put("large")
    old = {"id", "fmt", "ver", "at", "n", "PK", "SK"}
    key = keys.chat_pointer("default", ids.digest("c"))
    [item] = [item for item in aws.dump(client) if (item["PK"]["S"], item["SK"]["S"]) == key]
    client.put_item(TableName=chats.world.table.name, Item={name: item[name] for name in old})
    assert chats.load() == list(range(30))
    chats.append(100, key="k")
    chats.append(100, key="k")
    assert chats.load() == [*range(30), 100]
    chats.rest()


def test_an_append_of_small_blocks_costs_the_same_however_long_the_history_is(client):
    """One read, one transaction of three items, none of which grows; only every fifth writes the whole anew."""
    chats, costs = Chats(client), []

    def counted(model, params, **_):
        if model.name == "TransactWriteItems":
            costs[-1].append(len(params["body"]))
        elif model.name != "BatchGetItem":
            costs[-1].append(model.name)

    client.meta.events.register("before-call.dynamodb", counted)
    try:
        for number in range(2 * BLOCKS):
            costs.append([])
            chats.append(number, key=f"k{number}")
    finally:
        client.meta.events.unregister("before-call.dynamodb", counted)
    cheap = [cost for cost in costs if len(cost) == 1]
    assert len(cheap) == 2 * BLOCKS - 1
    assert max(size for [size] in cheap) < 2_500


def test_an_append_costs_what_the_documents_say(client):
    """Six write units under a key, four without; two more for the first one of a conversation; two calls each."""
    chats = Chats(client)
    meter = Meter(client, chats.world.table.name)

    def cost(number, key):
        with meter.running() as bill:
            chats.append(number, key=key)
        assert bill.calls == {"BatchGetItem": 1, "TransactWriteItems": 1}
        assert bill.index_units == 0
        return bill.write_units

    assert [cost(1, "k"), cost(2, "l"), cost(3, None)] == [8, 6, 4]


# ---- time


def test_appends_extend_the_time_of_a_conversation_and_its_parts(client):
    """Each append with a ttl moves the end, and no part expires before it."""
    chats = Chats(client)
    for hour in range(60):
        chats.append(hour, ttl=3 * DAY)
        pointer = chats.pointer()
        ends = [int(item["ttl"]["N"]) for item in aws.dump(client) if item["SK"]["S"][:2] in ("A#", "C#", "H#")]
        assert min(ends) >= int(pointer.expires.timestamp())
        chats.world.clock.move(hours=1)
    assert chats.load() == list(range(60))
    chats.append(60)
    assert chats.pointer().expires == pointer.expires, "an append without a ttl leaves the end as it is"
    chats.world.clock.move(days=3)
    assert chats.load() is None
    chats.append(1)
    assert (chats.load(), chats.pointer().expires) == ([1], None)
    chats.rest()


def test_a_ttl_for_a_conversation_without_an_end_gives_its_parts_one(client):
    """Parts that would never expire are written anew with a TTL: nothing is left when the pointer is gone."""
    chats = Chats(client)
    chats.put("blocks")
    chats.append(2, ttl=DAY)
    chats.rest()
    assert all("ttl" in item for item in aws.dump(client))
    assert chats.load() == [0, 1, 2]


_ends = st.sampled_from([None, 60, 600])
_steps = st.one_of(
    st.tuples(st.just("append"), st.sampled_from([None, "1", "2"]), _ends),
    st.tuples(st.just("store"), st.integers(0, 30), _ends),
    st.tuples(st.just("delete")),
    st.tuples(st.just("wait"), st.integers(1, 400)),
)


@settings(max_examples=40)
@given(st.lists(_steps, max_size=14))
def test_a_history_is_a_list_that_is_replaced_appended_to_and_expires(client, steps):
    """Whatever is appended, repeated, replaced, deleted and waited for, the history is what a list would be."""
    chats, known, end, used = Chats(client), None, None, {}
    for kind, *given_ in steps:
        now = chats.world.clock()
        if kind == "append":
            key, seconds = given_
            numbers = range(int(key or 3))
            result = chats.append(*numbers, key=key, ttl=seconds and timedelta(seconds=seconds))
            if key is None or key not in used or used[key] < now:
                known, end = [*(known or []), *numbers], now + timedelta(seconds=seconds) if seconds else end
                used[key] = chats.pointer().keys_until
                assert (result.messages, result.expires) == (len(known), end)
        elif kind == "store":
            count, seconds = given_
            chats.store(*range(count), ttl=seconds and timedelta(seconds=seconds))
            known, end = list(range(count)), seconds and now + timedelta(seconds=seconds)
        elif kind == "delete":
            chats.delete()
            known, end = None, None
        else:
            chats.world.clock.move(seconds=given_[0])
        if end and end <= chats.world.clock():
            known, end = None, None
        assert chats.load() == known
    chats.rest()
