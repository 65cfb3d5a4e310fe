"""Banks: made, changed, and deleted with all that is in them."""

from datetime import timedelta

import pytest

from tests.journeys.caller import DEFAULT_BANK, PARENT, Caller, Document, moment, said

pytestmark = pytest.mark.usefixtures("rested")


def short(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def trigger(**rule: object) -> Document:
    return {"generationConfig": {"generation_trigger_config": {"generation_rule": rule}}}


def test_bank_is_created_under_an_id_of_the_service(caller: Caller) -> None:
    """Creating a bank answers with a done operation whose response is the bank; operation and bank can be read."""
    body = {
        "displayName": "Bees",
        "description": "All about them",
        "context_spec": {"memory_bank_config": trigger(event_count=7)},
    }
    created = caller.post(PARENT, body)
    bank = created["response"]
    assert created["done"]
    assert (bank["displayName"], bank["description"]) == ("Bees", "All about them")
    config = bank["contextSpec"]["memoryBankConfig"]
    assert config["generationConfig"]["generationTriggerConfig"]["generationRule"] == {"eventCount": 7}
    assert caller.get(bank["name"]) == bank
    polled = caller.get(created["name"])
    assert (polled["done"], polled["response"]) == (True, bank)
    assert short(bank["name"]).isdigit()


def test_bank_without_a_configuration_has_no_context(caller: Caller) -> None:
    """An empty contextSpec would crash Google's SDK, so it is left out."""
    for body in ({}, {"context_spec": {"memory_bank_config": {}}}):
        assert "contextSpec" not in caller.post(PARENT, body)["response"]


def test_banks_are_listed_in_pages(caller: Caller) -> None:
    """A list of banks holds `default` and every other one, each on exactly one page."""
    made = {caller.bank() for _ in range(3)}
    names, token = [], None
    while token != "":
        query = {"pageSize": "2"} | ({"pageToken": token} if token else {})
        page = caller.get(PARENT, params=query)
        names += [bank["name"] for bank in page["reasoningEngines"]]
        token = page.get("nextPageToken", "")
    assert len(names) == len(set(names))
    assert made | {DEFAULT_BANK} <= set(names)
    assert caller.get("memoryBanks")["memoryBanks"][0]["name"].startswith("memoryBanks/")


def test_update_changes_what_it_names(caller: Caller) -> None:
    """An update without a mask changes the fields that are there, and an empty configuration changes nothing."""
    bank = caller.bank(**trigger(event_count=7))
    context = caller.get(bank)["contextSpec"]
    empty = {"context_spec": {"memory_bank_config": {}}}
    renamed = caller.call("PATCH", bank, {"displayName": "Wasps", **empty})["response"]
    assert (renamed["displayName"], renamed["contextSpec"]) == ("Wasps", context)
    changed = caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": trigger(event_count=3)}})
    shown = caller.get(bank)
    assert (shown["displayName"], shown) == ("Wasps", changed["response"])
    rule = shown["contextSpec"]["memoryBankConfig"]["generationConfig"]["generationTriggerConfig"]["generationRule"]
    assert rule == {"eventCount": 3}
    assert caller.get(changed["name"])["response"] == shown
    assert moment(shown["updateTime"]) >= moment(shown["createTime"])


def test_update_with_a_mask_changes_no_more_than_that(caller: Caller) -> None:
    """Fields beside the mask are not touched; a field that cannot change is refused."""
    bank = caller.bank()
    body = {"displayName": "Wasps", "description": "new"}
    shown = caller.call("PATCH", bank, body, params={"updateMask": "display_name"})["response"]
    assert (shown["displayName"], shown.get("description")) == ("Wasps", None)
    caller.call("PATCH", bank, body, params={"updateMask": "name"}, status=400)


def test_default_rule_of_a_bank_is_honoured(caller: Caller) -> None:
    """A call without a rule follows the bank's, as it is at the time; its own rule goes before it."""
    bank = caller.bank(**trigger(event_count=3))
    stream, other = caller.stream(bank=bank), caller.stream(bank=bank)
    assert stream.send(said("Hm."))["metadata"]["nextTrigger"]["remainingEvents"] == 2
    assert other.send(said("Hm."), rule={"event_count": 9})["metadata"]["nextTrigger"]["remainingEvents"] == 8
    caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": trigger(event_count=2)}})
    sent = stream.send(said("Hm."))
    caller.settle()
    assert caller.get(sent["name"])["metadata"]["coverage"]["covered"] == 2
    assert other.send(said("Hm."))["metadata"]["nextTrigger"]["remainingEvents"] == 7


def test_idle_rule_of_a_bank_fires(caller: Caller) -> None:
    """A bank's idle time arms the timers of its streams."""
    bank = caller.bank(**trigger(idle_duration="300s"))
    sent = caller.stream(bank=bank).send(said("I keep bees."))
    caller.advance(seconds=270)
    assert not caller.get(sent["name"])["done"]
    caller.advance(seconds=60)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "IDLE_DURATION"


def test_revision_ttl_of_a_bank_is_the_default(caller: Caller) -> None:
    """A bank's TTL holds for revisions of calls that name none."""
    bank = caller.bank(ttlConfig={"memory_revision_default_ttl": "86400s"})
    for config, lifetime in (({}, timedelta(days=1)), ({"revision_ttl": "3600s"}, timedelta(hours=1))):
        stream = caller.stream(bank=bank)
        stream.flush(said("I keep bees."), **config)
        [memory] = caller.memories(stream.scope, bank)
        [revision] = caller.revisions(memory)
        assert moment(revision["expireTime"]) - moment(revision["createTime"]) == lifetime


def test_bank_can_switch_revisions_off(caller: Caller) -> None:
    """disableMemoryRevisions of a bank holds unless a call says otherwise."""
    bank = caller.bank(disableMemoryRevisions=True)
    for config, count in (({}, 0), ({"disable_memory_revisions": False}, 1)):
        stream = caller.stream(bank=bank)
        stream.flush(said("I keep bees."), **config)
        [memory] = caller.memories(stream.scope, bank)
        assert len(caller.revisions(memory)) == count


def test_bank_can_want_facts_in_the_third_person(caller: Caller) -> None:
    """Facts are in the first person by default; a bank's switch turns that."""
    bank = caller.bank(customizationConfigs=[{"enable_third_person_memories": True}])
    first, third = caller.stream(), caller.stream(bank=bank)
    for stream in (first, third):
        stream.flush(said("I keep bees."))
    assert caller.facts(first.scope)[0].startswith("I ")
    assert caller.facts(third.scope, bank)[0].startswith("The user ")


def test_default_bank_cannot_be_deleted(caller: Caller) -> None:
    """The bank `default` always exists, also if force is set."""
    for options in ({}, {"body": {"force": True}}, {"params": {"force": "true"}}):
        error = caller.delete(DEFAULT_BANK, status=400, **options)["error"]
        assert error["status"] == "FAILED_PRECONDITION"
    assert caller.get(DEFAULT_BANK)["name"] == DEFAULT_BANK


def test_bank_with_contents_is_not_deleted_without_force(caller: Caller) -> None:
    """A bank that holds a stream or a memory is kept unless force is set."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    stream.send(said("I keep bees."), rule={"event_count": 10})
    assert caller.delete(bank, status=400)["error"]["status"] == "FAILED_PRECONDITION"
    assert caller.delete(bank, {"force": False}, status=400)["error"]["status"] == "FAILED_PRECONDITION"
    stream.flush()
    assert len(caller.facts(stream.scope, bank)) == 1


def test_empty_bank_is_deleted_without_force(caller: Caller) -> None:
    """A bank that holds nothing goes when it is told to, and its id is not found again."""
    bank = caller.bank()
    assert caller.delete(bank)["done"]
    caller.get(bank, status=404)
    caller.delete(bank, status=404)
    assert bank not in [one["name"] for one in caller.get(PARENT, params={"pageSize": "1000"})["reasoningEngines"]]


@pytest.mark.parametrize("force", [{"body": {"force": True}}, {"params": {"force": "true"}}])
def test_deleted_bank_is_gone_at_once(caller: Caller, force: Document) -> None:
    """A bank deleted by force answers 404 on every route at once; contents go minutes later, its own item at last."""
    bank = caller.bank()
    done, pending = caller.stream(bank=bank), caller.stream(bank=bank)
    operation = done.flush(said("I collect zebrafish."))
    waiting = pending.send(said("I collect zebrafish."), rule={"event_count": 10})
    [memory] = caller.memories(done.scope, bank)
    [revision] = caller.revisions(memory)
    deleted = caller.delete(bank, **force)
    assert deleted["done"]
    for name in (
        bank,
        operation["name"],
        operation["response"]["name"],
        waiting["name"],
        memory["name"],
        revision["name"],
        f"{bank}/memories",
        f"{memory['name']}/revisions",
    ):
        caller.get(name, status=404)
    caller.post(f"{bank}/memories:retrieve", {"scope": done.scope}, status=404)
    caller.post(f"{bank}/memories:ingestEvents", done.body(said("Hm.")), status=404)
    caller.post(f"{bank}:ingestEvents", done.body(said("Hm.")), status=404)
    caller.call("PATCH", bank, {"displayName": "back"}, status=404)
    caller.delete(memory["name"], status=404)
    assert bank not in [one["name"] for one in caller.get(PARENT, params={"pageSize": "1000"})["reasoningEngines"]]
    before = caller.generations()
    caller.advance(minutes=5)
    assert [item for item in caller.items() if short(bank) in str(item) and item["PK"]["S"] != "BANKS"] == []
    caller.advance(minutes=20)
    assert [item for item in caller.items() if short(bank) in str(item)] == []
    caller.advance(hours=25)
    assert caller.generations() == before


def test_banks_do_not_share_streams(caller: Caller) -> None:
    """The same scope, stream and event ids in two banks are two streams."""
    bank, scope = caller.bank(), caller.scope()
    for stream in (caller.stream(scope, "s"), caller.stream(scope, "s", bank)):
        metadata = stream.send(said("I keep bees.", "e1"), rule={"event_count": 10})["metadata"]
        assert (metadata["acceptedEvents"], metadata["pendingEvents"]) == (1, 1)
