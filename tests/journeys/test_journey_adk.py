"""What ADK gives our memory service: all of it is stored, mended or left out, and settings have their effect."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, Caller, Document, moment

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("adk_cases.py")
PYTHON = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")
ABOUT_A_DAY = (timedelta(hours=23), timedelta(hours=25))

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk"
)


@dataclass
class Played:
    """What the program printed, and what the service holds of it."""

    caller: Caller
    prefix: str
    printed: dict[str, Any]

    def value(self, case: str) -> Any:
        return self.printed[case]["value"]

    def warnings(self, case: str) -> list[str]:
        return [record for record in self.printed[case]["log"] if "attempt failed" not in record]

    def scope(self, case: str, suffix: str = "") -> dict[str, str]:
        return {"app_name": "app", "user_id": f"{self.prefix}-{case}".replace("_", "-") + suffix}

    def memories(self, case: str, suffix: str = "") -> list[Document]:
        return self.caller.memories(self.scope(case, suffix))

    def facts(self, case: str) -> set[str]:
        return {memory["fact"] for memory in self.memories(case)}

    def events(self, case: str, query: str) -> dict[str, Document]:
        """Return raw events by their texts."""
        params = {"search_query": query, "include_events": True, "top_k": 100}
        body = {"scope": self.scope(case), "similaritySearchParams": params}
        rows = self.caller.post(f"{DEFAULT_BANK}/memories:retrieve", body)["retrievedEvents"]
        return {row["event"]["content"]["parts"][0]["text"]: row["event"] for row in rows}

    def revision(self, memory: Document) -> Document:
        return self.caller.revisions(memory)[0]


@pytest.fixture(scope="module")
def played(service: LocalService, client: httpx.Client) -> Iterator[Played]:
    """Run the program once."""
    caller = Caller(service, client)
    prefix = f"adk-{caller.scope()['user_id']}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    command = [str(PYTHON), "-W", "ignore", str(PROGRAM), service.base_url, prefix]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert ran.returncode == 0, ran.stderr
    caller.settle()
    yield Played(caller, prefix, json.loads(ran.stdout))
    caller.leave()


def test_bad_events_block_nothing(played: Played) -> None:
    """Events with half a surrogate pair, too much depth, milliseconds or a long id are mended or left out."""
    expected = {"I live in Graz", "I like \ufffd tea", "I play chess", "I have a cat", "I collect stamps"}
    assert played.facts("bad_events") == expected | {"I own a red kite"}


def test_times_in_milliseconds_are_times(played: Played) -> None:
    """The event with milliseconds has the time that was meant."""
    event = played.events("bad_events", "chess")["Chess is a fine game."]
    assert event["eventTime"] == "2026-03-04T00:00:00Z"


def test_what_is_left_out_is_logged_without_text(played: Played) -> None:
    """The log has the reasons, and no word of the events."""
    log = played.warnings("bad_events")
    assert all("'too_deep': 3" in record and "'not_json': 1" in record for record in log)
    assert len(log) == 2
    assert not [word for word in ("Graz", "tea", "private", "inner", "chess") if word in str(log)]


def test_one_refused_event_is_left_out(played: Played) -> None:
    """The service refuses a call for one event of nine: halving finds it, and the eight others are stored."""
    assert played.value("refused_event") == 7
    assert played.facts("refused_event") == {"I live in Graz"}
    [record] = played.warnings("refused_event")
    assert "an event was refused" in record
    assert played.events("refused_event", "Noted").keys() >= {f"Noted {number}" for number in range(8) if number != 5}
    assert "Noted 5" not in played.events("refused_event", "Noted")


def test_refused_call_is_raised(played: Played) -> None:
    """A call that is refused for its rule raises, and no event is blamed."""
    assert played.value("refused_call") == "generationTriggerConfig.generationRule.eventCount"


def test_arguments_that_can_never_work(played: Played) -> None:
    """The constructor refuses them by name without a call, and each method an app name or a user id."""
    said = played.value("wrong_arguments")
    beginnings = ["bank: an id has 1 to 36", "bank: an id has 1 to 36", "generation_rule: has no idle"]
    beginnings += ["generation_rule: idle_duration must be a multiple of 60", "generation_rule: event_count must be"]
    assert len(said["constructor"]) == len(beginnings)
    assert all(map(str.startswith, said["constructor"], beginnings))
    size = "scope: each key and each value must be text of 1 to 256 bytes of UTF-8"
    assert said["calls"] == [size, "scope: a value must not contain '*'", size] * 6


def test_edited_events_are_learnt(played: Played) -> None:
    """An event with the id of another content is stored beside it, once, and nothing is logged."""
    sources = {memory["fact"]: memory["sources"] for memory in played.memories("edited")}
    assert "I live in Graz" in sources
    assert [source["sequences"] for source in sources["I like coffee"]] == [[3]]
    assert played.warnings("edited") == []


def test_pending_messages_are_in_searches(played: Played) -> None:
    """A search finds messages of which no memories are made yet, unless they are the query or switched off."""
    found = played.value("pending")
    memory = ["Likes green tea.", "user", "user", False, {}]
    marks = {"pending": True, "stream_id": "session"}
    own, answer = ["My tea is from Japan.", "user", "user", True, marks], ["Nice tea!", "model", "model", True, marks]
    assert found["all"] == [memory, own, answer]
    assert found["without"] == found["blank"] == [memory]
    assert found["most"] in ([memory, own], [memory, answer])
    assert found["own"] == [memory, answer]
    assert "2026-03-04T00:00:00+00:00" in found["times"]


def test_a_call_can_have_its_own_timeout(played: Played) -> None:
    """The timeout in http_options, in milliseconds, is the call's."""
    assert 0.2 < played.value("own_timeout") < 10


def test_turns_that_were_taken_back_are_not_learnt(played: Played) -> None:
    """A rewind leaves out the turns from the named one on, until the rewind."""
    assert played.facts("rewound") == {"I live in Graz", "I play chess"}


def test_rewind_that_was_taken_back_has_no_effect(played: Played) -> None:
    """A rewind before a rewind brings the turns back, as in ADK."""
    assert played.facts("rewind_taken_back") == {"I live in Graz", "I like tea"}


def test_finished_transcriptions_are_events(played: Played) -> None:
    """What the user said aloud is learnt; fragments of it are not stored."""
    assert played.facts("transcriptions") == {"I live in Graz"}
    assert _covered(played, "transcriptions") == 2


def _covered(played: Played, case: str) -> int:
    """Return the number of events in the window that the first memory of a case is made of."""
    operation = played.memories(case)[0]["sources"][0]["operation"]
    covered: int = played.caller.get(operation)["metadata"]["coverage"]["events"]
    return covered


def test_settings_of_events_have_their_effect(played: Played) -> None:
    """Settings in custom_metadata are no metadata: they choose stream and flush, and set expiry and labels."""
    [memory] = played.memories("event_settings")
    assert memory["metadata"] == {
        "level": {"doubleValue": 3},
        "source": {"stringValue": "crm"},
        "tags": {"stringValue": "['a', 'b']"},
    }
    revision = played.revision(memory)
    assert revision["labels"] == {"channel": "phone"}
    low, high = ABOUT_A_DAY
    assert low < moment(revision["expireTime"]) - moment(revision["createTime"]) < high
    [record] = played.warnings("event_settings")
    assert "'settings': ['http_options.api_version']" in record
    stream = played.caller.stream(played.scope("event_settings"), "own")
    assert stream.send()["metadata"]["coverage"]["events"] == 1


def test_rule_can_change_without_events(played: Played) -> None:
    """A trigger config makes events wait, and a call without events changes it."""
    assert played.facts("waiting_events") == set()
    stream = played.caller.stream(played.scope("waiting_events"), "default")
    stream.send({"content": {"role": "user", "parts": [{"text": "I like tea."}]}, "event_id": "2"})
    played.caller.settle()
    assert played.facts("waiting_events") == {"I live in Graz", "I like tea"}


def test_allowed_topics_limit_what_is_learnt(played: Played) -> None:
    """With allowed_topics, memories of these topics alone are made, at once."""
    assert played.facts("allowed_topics") == {"I like tea"}


def test_facts_are_as_those_of_adks_own_service(played: Played) -> None:
    """The same fact with the same settings is the same memory, whichever service stores it."""
    [ours] = played.memories("facts_of_both_services")
    [googles] = played.memories("facts_of_both_services", "-google")
    assert ours["name"].endswith("-ours")
    assert googles["name"].endswith("-googles")
    fields = ("fact", "displayName", "description", "topics", "metadata")
    assert {name: ours[name] for name in fields} == {name: googles[name] for name in fields}
    low, high = ABOUT_A_DAY
    for memory in (ours, googles):
        assert low < moment(memory["expireTime"]) - moment(memory["createTime"]) < high


def test_events_are_as_those_of_adks_own_service(played: Played) -> None:
    """The same event with a ttl and metadata becomes the same memory at once, whichever service sends it."""
    [ours] = played.memories("events_of_both_services")
    [googles] = played.memories("events_of_both_services", "-google")
    assert (ours["fact"], ours["metadata"]) == (googles["fact"], googles["metadata"])
    low, high = ABOUT_A_DAY
    for revision in map(played.revision, (ours, googles)):
        assert low < moment(revision["expireTime"]) - moment(revision["createTime"]) < high


def test_labels_of_facts(played: Played) -> None:
    """Author and time of an entry are labels of the memory's revision, beside the caller's own."""
    [memory] = played.memories("labels")
    assert played.revision(memory)["labels"] == {"a": "b", "author": "ada", "timestamp": "2026-01-02"}


def test_ids_of_entries_are_ids_of_memories(played: Played) -> None:
    """An entry's id finds its memory; a repeat adds nothing, and another text under it is an error that names it."""
    found, memory_id = played.value("ids"), f"{played.prefix}-ids-fact"
    assert found["first"] == found["again"] == ["added", [[memory_id, "Likes tea."]]]
    assert memory_id in found["other text"][0]
    assert found["other text"][1] == [[memory_id, "Likes tea."]]
    assert found["own id"] == ["added", 2]
    assert found["deleted"] == [[f"{memory_id}-2", "Likes soup."]]
    assert memory_id in found["after deletion"]


def test_facts_can_be_consolidated(played: Played) -> None:
    """Seven facts that are consolidated twice are seven memories, whose metadata has no settings."""
    memories = played.memories("consolidated")
    assert len(memories) == 7
    assert not any(memory.get("metadata") for memory in memories)
    assert played.value("consolidated") == [
        'TypeError: custom_metadata["enable_consolidation"] must be a bool',
        "ValueError: memories must have at least one entry",
        "ValueError: memories[0] must have text",
    ]


def test_queries_of_any_text(played: Played) -> None:
    """A query with half a surrogate pair and one of 24,000 bytes find the memory."""
    assert played.value("odd_queries") == [1, 1]


def test_profiles_are_as_those_of_adks_own_service(played: Played) -> None:
    """Both services return no profile where there is none, and the same one of the same reply."""
    assert played.value("profiles") == [[], [], [["person", {"diet": "vegan"}]], [["person", {"diet": "vegan"}]]]
