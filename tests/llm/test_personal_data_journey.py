"""Personal data, found by a service: it is never stored, and where the service does not answer nothing is."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import PARENT, Caller, said
from tests.journeys.test_journey_content_policy import check_nothing_stored, policy
from tests.llm.personal_data_server import PersonalData, running
from tests.stack.deployed import Deployed

RULES = policy({"name": "PERSONAL", "detector": "PERSONAL_DATA", "action": "REDACT"})


@pytest.fixture(scope="module")
def comprehend() -> Iterator[PersonalData]:
    if Deployed.named():
        pytest.skip("needs a service of its own")
    with running(PersonalData()) as server:
        yield server


@pytest.fixture(scope="module")
def caller(comprehend: PersonalData) -> Iterator[Caller]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_COMPREHEND", comprehend.url)
        parameters = {"PersonalDataDetector": "COMPREHEND"}
        with LocalService(parameters=parameters, timer_enabled=False) as service:
            headers = {"authorization": "Bearer local"}
            with httpx.Client(base_url=service.base_url, headers=headers, timeout=60) as client:
                yield Caller(service, client)


def test_personal_data_is_never_stored(caller: Caller, comprehend: PersonalData) -> None:
    """Events, facts and chats have markers, and one call asks the service once about all its events."""
    bank = caller.bank(**RULES)
    stream = caller.stream(bank=bank)
    before = len(comprehend.requests)
    stream.send(said("I am Ann Miller and I like tea.", "a"), said("Ann Miller again.", "b"), rule={"event_count": 9})
    assert len(comprehend.requests) == before + 1
    stream.flush()
    before = len(comprehend.requests)
    metadata = {name: {"stringValue": f"of Ann Miller {name}"} for name in "abcdefgh"}
    memory = {"scope": stream.scope, "fact": "Ann Miller likes bees.", "metadata": metadata}
    caller.post(f"{bank}/memories", memory)
    assert len(comprehend.requests) == before + 2, "one for the texts, and one for all metadata"
    chat = {"params": {"conversationId": "c"}}
    caller.call("PUT", f"{bank}/chatHistory", {"messages": [{"content": "Ann Miller"}]}, **chat)
    assert "[REDACTED:PERSONAL] likes bees." in caller.facts(stream.scope, bank)
    check_nothing_stored(caller, bank, "Ann Miller")


def test_usage_counts_what_the_service_bills(caller: Caller, comprehend: PersonalData) -> None:
    """Each request of each function is counted for its bank, with its units of text, and takes none of its tokens."""
    bank, other = caller.bank(**RULES), caller.bank(**RULES)
    stream = caller.stream(bank=bank)
    before = len(comprehend.requests)
    stream.send(said("I like tea. " * 50, "a"), rule={"event_count": 9})
    caller.post(f"{bank}/memories", {"scope": stream.scope, "fact": "I like bees."})
    units = [max(3, -(-len(one["Text"]) // 100)) for one in comprehend.requests[before:]]
    assert units == [6, 3]
    total = caller.get(f"{bank}/usage")["total"]
    assert (total["personalDataCalls"], total["personalDataUnits"]) == (2, 9)
    stream.flush()
    report = caller.get(f"{bank}/usage")
    assert report["total"]["personalDataCalls"] == len(comprehend.requests) - before > 2
    assert report["tokensToday"] == total["inputTokens"] == 0
    assert caller.get(f"{other}/usage")["total"]["personalDataCalls"] == 0


def test_a_service_that_is_away_refuses_the_call(caller: Caller, comprehend: PersonalData) -> None:
    """The answer is 503 with a time to come again, and nothing of the text is stored; the same call works later."""
    bank = caller.bank(**RULES)
    stream = caller.stream(bank=bank)
    comprehend.failures += [(500, "InternalServerException")] * 3
    event = said("I am Ann Miller.", "a")
    reply = caller.client.post(f"/v1beta1/{bank}/memories:ingestEvents", json=stream.body(event))
    assert (reply.status_code, reply.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert reply.headers["retry-after"] == "5"
    check_nothing_stored(caller, bank, "Ann Miller")
    comprehend.failures.clear()
    assert stream.send(event)["metadata"]["acceptedEvents"] == 1
    stream.flush()


def test_the_parent_of_banks_is_still_there(caller: Caller) -> None:
    """A policy with the detector is accepted where the deployment has one."""
    body = {"context_spec": {"memory_bank_config": RULES}}
    assert caller.post(PARENT, body)["done"]
