from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import islice

import pytest

from streambank.errors import Conflict, NotFound
from streambank.model.bank import Bank, BankStatus
from streambank.model.rule import TriggerRule
from streambank.pipeline.memories.deletion import delete_memory
from streambank.store import keys
from tests import aws
from tests.store.building import NOW
from tests.world import event

FULL = Bank(
    "1234",
    NOW,
    NOW,
    "d",
    "e",
    default_rule=TriggerRule(10, timedelta(minutes=5), None, 2, 500),
    retention=timedelta(days=45),
    dedup_horizon=timedelta(days=7),
)
DOCUMENT = {"customizationConfigs": [{"enableThirdPersonMemories": True}]}


def owned(world, bank):
    """Return the keys of every item that belongs to *bank*."""
    found = [(item["PK"]["S"], item["SK"]["S"]) for item in aws.dump(world.client)]
    return {key for key in found if f"#{bank}#" in f"{key[0]}#" or key == ("BANKS", bank)}


@contextmanager
def calls_of(world):
    """Collect the names of the calls to DynamoDB."""
    sent, events = [], world.client.meta.events

    def collect(model, **_):
        sent.append(model.name)

    events.register("before-call.dynamodb", collect)
    yield sent
    events.unregister("before-call.dynamodb", collect)


def test_a_bank_comes_back(world):
    """A bank and its configuration are what was stored; without an own configuration it has an empty one."""
    world.banks.create(FULL, DOCUMENT)
    assert world.banks.get("1234") == FULL
    assert world.banks.document("1234") == DOCUMENT
    assert world.banks.document("default") == {}


def test_the_default_bank_needs_no_item(world):
    """`default` always exists, in lists too; any other id does not."""
    assert world.banks.get("default") == Bank("default")
    assert world.banks.get("1") is None
    assert list(world.banks.list()) == [Bank("default")]
    world.banks.create(FULL, {})
    assert [bank.id for bank in world.banks.list()] == ["1234", "default"]


def test_a_page_of_banks_reads_no_other_page(world):
    """However many banks there are, ten of them behind an id are one query; banks that are named are one read."""
    for number in range(40):
        world.banks.create(replace(FULL, id=f"{number:04}"), {})
    world.banks.create(replace(FULL, id="zeta"), {})
    with calls_of(world) as sent:
        _check_pages(world, sent)


def _check_pages(world, sent):
    page = islice(world.banks.list("0029", page=11), 10)
    assert [bank.id for bank in page] == [f"{number:04}" for number in range(30, 40)]
    assert sent == ["Query"]
    assert [bank.id for bank in world.banks.list("0039")] == ["default", "zeta"]
    assert [bank.id for bank in world.banks.list("default")] == ["zeta"]
    sent.clear()
    assert [bank.id for bank in world.banks.named(["zeta", "none", "0007", "default"])] == ["0007", "default", "zeta"]
    assert sent == ["BatchGetItem"]


def test_an_id_is_given_once(world):
    """Creating a bank whose id is taken writes nothing."""
    world.banks.create(FULL, DOCUMENT)
    with pytest.raises(Conflict):
        world.banks.create(Bank("1234"), {})
    assert (world.banks.get("1234"), world.banks.document("1234")) == (FULL, DOCUMENT)


def test_an_update_changes_what_it_says(world):
    """Without a document the configuration stays; the default bank gets its item with its first update."""
    world.banks.create(FULL, DOCUMENT)
    changed = world.banks.update("1234", lambda bank: replace(bank, display_name="new"), None)
    assert changed == world.banks.get("1234") == replace(FULL, display_name="new")
    assert world.banks.document("1234") == DOCUMENT
    world.banks.update("default", lambda bank: replace(bank, description="mine"), {"a": 1})
    assert world.banks.get("default").description == "mine"
    assert world.banks.document("default") == {"a": 1}
    assert world.banks.update("9", lambda bank: bank, None) is None


def test_two_updates_at_once_cannot_both_win(world):
    """An update that read an older bank conflicts, and the other's change stays."""
    world.banks.create(FULL, {})

    def meanwhile(bank):
        world.banks.update("1234", lambda found: replace(found, description="other"), None)
        return replace(bank, display_name="mine")

    with pytest.raises(Conflict):
        world.banks.update("1234", meanwhile, None)
    assert world.banks.get("1234") == replace(FULL, description="other")


def test_a_closing_bank_is_gone_at_once(world):
    """From the moment of its deletion a bank is in no reading and no list, and takes no event."""
    world.banks.create(FULL, {})
    world.ingest(event("x"), bank="1234")
    world.banks.close("1234", now=world.clock())
    assert world.banks.is_closing("1234")
    assert world.banks.get("1234") is None
    assert [bank.id for bank in world.banks.list()] == ["default"]
    with pytest.raises(NotFound):
        world.ingest(event("y"), bank="1234")
    with pytest.raises(Conflict):
        world.banks.close("1234", now=world.clock())


def test_a_bank_ends_no_sooner_than_a_minute_later(world):
    """The cascade is due 60 seconds after the deletion: longer than a call that read the bank before may run."""
    world.banks.create(FULL, {})
    world.banks.close("1234", now=NOW)
    item = world.table.get(keys.bank("1234"))
    assert item["G1SK"] == NOW.timestamp() + 60
    assert item["st"] == BankStatus.DELETING


def test_everything_of_a_bank_goes_and_nothing_of_another(world):
    """Deleting a bank walks its registry: heads, events, markers, windows, plans, memories, look-ups, revisions."""
    for bank in (FULL, Bank("5678", NOW, NOW)):
        world.banks.create(bank, DOCUMENT)
        for user in ("u1", "u2"):
            world.ingest(event("I like tea", "e1"), bank=bank.id, scope={"user_id": user}, forceFlush=True)
            world.ingest(
                event("I like milk"), bank=bank.id, scope={"user_id": user}, streamId="s", rule={"eventCount": 9}
            )
    world.settle()
    [memory] = world.memories.of_scope("1234", {"user_id": "u1"}, now=world.clock())
    policy, now = world.retry_policy, world.clock()
    stores = {"memories": world.memories, "retry_policy": policy, "id_secret": world.id_secret}
    delete_memory("1234", memory.id, now=now, **stores)  # that makes revisions and a tombstone
    kinds = {key[1].split("#")[0] for key in owned(world, "1234")}
    assert kinds >= {"HEAD", "B", "D", "W", "P", "V", "M", "R", "N", "F", "C", "S", "CONFIG"}
    kept = owned(world, "5678")
    counted = sum(world.banks.delete_contents("1234"))
    assert owned(world, "1234") == {("BANKS", "1234")}
    assert owned(world, "5678") == kept
    assert counted > 20


def test_a_cascade_can_be_taken_up_again(world):
    """A deletion that stopped anywhere is finished by the next one, and its end can be repeated."""
    world.banks.create(FULL, {})
    for user in ("u1", "u2", "u3"):
        world.ingest(event("x", "e1"), bank="1234", scope={"user_id": user})
    world.settle()
    next(world.banks.delete_contents("1234"))
    assert owned(world, "1234")
    assert list(world.banks.delete_contents("1234"))
    assert list(world.banks.delete_contents("1234")) == []
    assert owned(world, "1234") == {("BANKS", "1234")}


def test_a_bank_ends_with_a_walk_that_finds_nothing(world):
    """Its item goes last, a quarter of an hour after a walk, if nothing was written in between."""
    world.banks.create(FULL, {})
    world.banks.close("1234", now=NOW)
    for minutes, is_empty in ((0, False), (15, False), (20, True)):
        world.banks.finish_walk("1234", is_empty=is_empty, now=NOW + timedelta(minutes=minutes))
        assert world.banks.is_closing("1234")
    assert world.table.get(keys.bank("1234"))["G1SK"] == (NOW + timedelta(minutes=30)).timestamp()
    world.banks.finish_walk("1234", is_empty=True, now=NOW + timedelta(minutes=30))
    assert world.table.get(keys.bank("1234")) is None


def test_an_empty_bank_is_known_by_its_registry(world):
    """A bank holds something from its first stream on."""
    world.banks.create(FULL, {})
    assert world.banks.is_empty("1234")
    world.ingest(event("x"), bank="1234", rule={"eventCount": 9})
    assert not world.banks.is_empty("1234")
    assert world.banks.is_empty("default")


def registered(world):
    return sorted(
        (item["PK"]["S"], item["SK"]["S"]) for item in aws.dump(world.client) if item["PK"]["S"].startswith("K#")
    )


def test_streams_and_scopes_are_registered_once(world):
    """A stream is entered with its first head, a scope with its first version, and never again."""
    for number in range(3):
        world.ingest(event(f"I like tea {number}"), rule={"eventCount": 1})
        world.settle()
    world.ingest(event("more"), streamId="s2", rule={"eventCount": 5})
    world.settle()
    kinds = [sk.split("#")[0] for _, sk in registered(world)]
    assert sorted(kinds) == ["C", "S", "S"]
    assert all(pk.startswith("K#default#") for pk, _ in registered(world))


def test_a_stream_without_memories_has_no_scope_entry(world):
    """What was only buffered has no scope yet."""
    world.ingest(event("x"), rule={"eventCount": 5})
    assert [sk.split("#")[0] for _, sk in registered(world)] == ["S"]
