"""The client library against the whole service, over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from streambank_client import AsyncStreambank, Bank, Content, Event, GenerationRule, Part, Streambank, errors
from streambank_client.types import MemoryBankConfig, TtlConfig
from streambank_local.service import LocalService
from tests.journeys.caller import Caller

ROOT = Path(__file__).resolve().parents[2]
ADK_PROGRAM = Path(__file__).with_name("adk_program.py")
ADK_PYTHON = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")
REFERENCE = ROOT / "docs" / "client.md"
HOSTILE = ["session/with:special@chars#123!&spaces too", "../../other", "100%41+%2F", "a:purge?b=c&d", "漢 ü\n\t", "."]
MANY = GenerationRule(event_count=10_000)


class Losing(httpx.BaseTransport):
    """Carries requests to the service, and loses the second half of as many replies as it is told."""

    def __init__(self) -> None:
        self.losses = self.carried = 0
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.carried += 1
        response = self._inner.handle_request(request)
        if self.losses == 0:
            return response
        self.losses -= 1
        response.read()
        return httpx.Response(response.status_code, headers=response.headers, stream=Half(response.content))

    def close(self) -> None:
        self._inner.close()


class Half(httpx.SyncByteStream):
    """A body that breaks off."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content[: len(self._content) // 2]
        raise httpx.ReadError("connection reset")


@pytest.fixture
def streambank(service: LocalService) -> Iterator[Streambank]:
    with Streambank(service.base_url, key="local") as client:
        yield client


@pytest.fixture
def bank(streambank: Streambank, caller: Caller) -> Bank:
    """The default bank; what a test leaves pending stays in its own streams."""
    assert caller.service
    return streambank.bank()


@pytest.fixture
def losing(service: LocalService) -> Iterator[Losing]:
    """A way to the service on which nothing is lost until a test says so."""
    transport = Losing()
    yield transport
    transport.close()


@pytest.fixture
def weak(service: LocalService, losing: Losing) -> Bank:
    """The default bank at the end of that way."""
    return Streambank(service.base_url, token="local", transport=losing, jitter=lambda: 0.0).bank()


# ---- what it is for


def test_conversation_becomes_memories(bank: Bank, caller: Caller) -> None:
    """What is ingested is waited for and found again, with what it was made of."""
    scope = caller.scope()
    turns = [Event.from_text("I am allergic to peanuts."), Event.from_text("Noted.", role="model")]
    taken = bank.ingest_events(scope=scope, stream_id="s", events=turns, generation_rule=MANY, force_flush=True)
    assert taken.metadata.accepted_events == 2
    done = taken.wait()
    assert done.metadata.state == "DONE"
    made = bank.get_operation(operation=done.result().generate_memories_operation or "").result()
    found = bank.retrieve_memories(scope=scope, query="allergies", include_events=True)
    assert "peanuts" in found[0].memory.fact
    assert found[0].memory.name == made["generatedMemories"][0]["memory"]["name"]
    assert found[0].memory.sources[0].operation == done.name
    assert bank.get_memory(memory=found[0].memory.name).fact == found[0].memory.fact


def test_conversation_becomes_memories_awaiting(service: LocalService, caller: Caller) -> None:
    """The same, awaited, with many calls at once."""
    scopes = [caller.scope() for _ in range(5)]

    async def remembered(client: AsyncStreambank, scope: dict[str, str]) -> list[str]:
        bank = client.bank()
        events = [Event.from_text("I am allergic to peanuts.")]
        taken = await bank.ingest_events(scope=scope, events=events, force_flush=True)
        await taken.wait()
        return [found.memory.fact async for found in bank.retrieve_all_memories(scope=scope)]

    async def main() -> list[list[str]]:
        async with AsyncStreambank(service.base_url, key="local") as client:
            return await asyncio.gather(*(remembered(client, scope) for scope in scopes))

    assert [["peanuts" in fact for fact in facts] for facts in asyncio.run(main())] == [[True]] * 5


# ---- what is lost on the way


def test_ingest_whose_reply_is_lost_is_taken_once(weak: Bank, losing: Losing, caller: Caller, bank: Bank) -> None:
    """A reply that breaks off makes the client send the same events again, and nothing is there twice."""
    scope, losing.losses = caller.scope(), 2
    events = [Event.from_text(f"My {number}. cat is called Tom.") for number in range(3)]
    taken = weak.ingest_events(scope=scope, events=events, generation_rule=MANY)
    assert losing.carried == 3
    assert (taken.metadata.accepted_events, taken.metadata.duplicate_events) == (0, 3)
    assert taken.metadata.pending_events == 3
    weak.ingest_events(scope=scope, force_flush=True).wait()
    covered = bank.get_operation(operation=taken.name).metadata.coverage
    assert covered is not None
    assert covered.events == 3


def test_keyed_ingest_may_be_sent_again_by_its_caller(bank: Bank, caller: Caller) -> None:
    """Events without ids are known again by the caller's idempotency key."""
    scope, key = caller.scope(), f"key-{uuid.uuid4()}"
    for accepted in (2, 0):
        events = [Event.from_text("Hi."), Event.from_text("Hi.")]
        taken = bank.ingest_events(scope=scope, events=events, generation_rule=MANY, idempotency_key=key)
        assert taken.metadata.accepted_events == accepted
    bank.ingest_events(scope=scope, force_flush=True).wait()


def test_memory_whose_reply_is_lost_is_made_once(weak: Bank, losing: Losing, caller: Caller, bank: Bank) -> None:
    """Making, generating, changing and deleting memories end as if no reply had been lost."""
    scope, losing.losses = caller.scope(), 1
    made = weak.create_memory(scope=scope, fact="Has a dog.", metadata={"source": "test"}).result()
    assert [found.memory for found in bank.retrieve_all_memories(scope=scope)] == [made]
    losing.losses = 1
    changed = weak.update_memory(memory=made.name, fact="Has two dogs.").result()
    assert bank.get_memory(memory=made.id).fact == changed.fact == "Has two dogs."
    losing.losses = 1
    generated = weak.generate_memories(scope=scope, direct_memories=["Keeps bees."]).wait()
    assert generated.metadata.verdict_counts == {"CREATED": 1}
    losing.losses = 1
    assert weak.delete_memory(memory=made.id).done
    assert [found.memory.fact for found in bank.retrieve_memories(scope=scope)] == ["Keeps bees."]
    with pytest.raises(errors.NotFound):
        bank.delete_memory(memory=made.id)


def test_what_cannot_be_repeated_says_that_it_may_have_happened(weak: Bank, losing: Losing, bank: Bank) -> None:
    """An appended event whose reply is lost is there once, and its caller is told that nobody knows."""
    session = bank.create_session(user_id="u").result()
    losing.losses = 1
    with pytest.raises(errors.ConnectionLost) as lost:
        weak.append_event(session=session.id, author="user", invocation_id="1", timestamp=datetime.now(UTC))
    assert lost.value.outcome_is_unknown
    assert losing.carried == 1
    assert len(list(bank.list_session_events(session=session.name))) == 1
    bank.delete_session(session=session.id)


# ---- who calls, and how often at once


def test_threads_share_a_client(streambank: Streambank, caller: Caller) -> None:
    """Eight threads send what is theirs through one client, and each finds its own."""
    scopes = [caller.scope() for _ in range(8)]

    def work(scope: dict[str, str]) -> list[str]:
        bank = streambank.bank()
        for number in range(5):
            bank.create_memory(scope=scope, fact=f"{scope['user_id']} says {number}.")
        return sorted(found.memory.fact for found in bank.retrieve_all_memories(scope=scope, page_size=2))

    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(work, scopes))
    assert said == [[f"{scope['user_id']} says {number}." for number in range(5)] for scope in scopes]


def test_each_call_may_have_a_loop_of_its_own(service: LocalService, caller: Caller) -> None:
    """A client outlives its event loops, one after the other and beside each other, and leaves no connection open."""
    client, scope = AsyncStreambank(service.base_url, key="local"), caller.scope()

    def remember(number: int) -> str:
        return asyncio.run(remembered(f"Fact {number}."))

    async def remembered(fact: str) -> str:
        return (await (await client.bank().create_memory(scope=scope, fact=fact)).result()).fact

    assert [remember(number) for number in range(3)] == ["Fact 0.", "Fact 1.", "Fact 2."]
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(remember, range(3, 11)))) == 8


def test_refusals_are_told_by_name(service: LocalService, bank: Bank, streambank: Streambank) -> None:
    """What the service refuses is the class that it has there, with the field."""
    with Streambank(service.base_url, key="wrong") as stranger, pytest.raises(errors.Unauthenticated):
        stranger.bank().get()
    with pytest.raises(errors.InvalidArgument) as wrong:
        bank.create_memory(scope={"user_id": "*"}, fact="x")
    assert (wrong.value.field, wrong.value.problem) == ("scope.user_id", "must not contain '*'")
    for text in ("\ud800", " "):
        with pytest.raises(errors.InvalidArgument) as wrong:
            bank.create_memory(scope={"user_id": "1"}, fact=text)
        assert wrong.value.field == "fact"
    with pytest.raises(errors.PayloadTooLarge):
        bank.create_memory(scope={"user_id": "1"}, fact="x" * 5_000_000)
    with pytest.raises(errors.NotFound):
        streambank.bank("nowhere").get()
    with pytest.raises(errors.NotFound):
        streambank.bank("no/where").get()


# ---- every kind of thing


def test_hostile_ids_name_what_they_name(bank: Bank, caller: Caller) -> None:
    """Streams, events and chats take any text as their id, and tell similar ones apart."""
    scope = caller.scope()
    for hostile in HOSTILE:
        event = Event.from_text("Hi.", event_id=hostile)
        for accepted in (1, 0):
            taken = bank.ingest_events(scope=scope, stream_id=hostile, events=[event], generation_rule=MANY)
            assert taken.metadata.accepted_events == accepted
        bank.ingest_events(scope=scope, stream_id=hostile, force_flush=True).wait()
        with pytest.raises((errors.NotFound, ValueError)):
            bank.delete_memory(memory=hostile)
        with pytest.raises((errors.NotFound, ValueError)):
            bank.get_session(session=hostile)


def test_chats_of_hostile_ids_do_not_meet(bank: Bank) -> None:
    """A chat of any id is stored, loaded, replaced under its etag, and deleted."""
    for hostile in HOSTILE:
        name = f"{hostile}-{uuid.uuid4()}"
        assert (
            bank.load_chat_history(conversation_id=name).messages,
            bank.load_chat_history(conversation_id=name).etag,
        ) == ([], None)
        messages = [{"role": "user", "x_y": {"a_b": [None, "ü"]}}]
        stored = bank.store_chat_history(conversation_id=name, messages=messages, format="own", if_none_match="*")
        found = bank.load_chat_history(conversation_id=name)
        assert (found.conversation_id, found.messages, found.format, found.etag) == (name, messages, "own", stored.etag)
        with pytest.raises(errors.PreconditionFailed):
            bank.store_chat_history(conversation_id=name, messages=[], if_none_match="*")
        bank.store_chat_history(conversation_id=name, messages=[], if_match=stored.etag, ttl_seconds=60)
        with pytest.raises(errors.PreconditionFailed):
            bank.store_chat_history(conversation_id=name, messages=[], if_match=stored.etag)
        assert bank.load_chat_history(conversation_id=name).expire_time is not None
        bank.delete_chat_history(conversation_id=name)
        assert bank.load_chat_history(conversation_id=name).etag is None


def test_memories_are_kept_in_order(bank: Bank, caller: Caller) -> None:
    """Memories are listed page by page, their revisions told, rolled back, and purged."""
    scope = caller.scope()
    made = [bank.create_memory(scope=scope, fact=f"Fact {number}.").result() for number in range(3)]
    mine = f'scope.user_id="{scope["user_id"]}"'
    assert {one.id for one in bank.list_memories(filter=mine, page_size=1)} == {one.id for one in made}
    first = made[0]
    bank.update_memory(memory=first.name, fact="Another.", ttl=timedelta(days=1), revision_labels={"why": "test"})
    newest, oldest = bank.list_revisions(memory=first.name)
    assert (newest.fact, newest.labels, oldest.fact) == ("Another.", {"why": "test"}, "Fact 0.")
    assert bank.get_revision(memory=first.id, revision=oldest.name) == oldest
    assert bank.rollback_memory(memory=first.id, target_revision_id=oldest.id).result().fact == "Fact 0."
    assert bank.retrieve_profiles(scope=scope) == {}
    assert bank.purge_memories(filter=mine).result().purge_count == 3
    assert bank.purge_memories(filter=mine, force=True).result().purge_count == 3
    assert list(bank.retrieve_all_memories(scope=scope)) == []


def test_sessions_are_kept_and_read(bank: Bank, caller: Caller) -> None:
    """A session has its state and its events, and memories are made of it."""
    user = caller.scope()["user_id"]
    session = bank.create_session(user_id=user, session_state={"a_b": 1}, labels={"k": "v"}).result()
    for number in range(3):
        bank.append_event(
            session=session.name,
            author="user",
            invocation_id=str(number),
            timestamp=datetime(2026, 1, 1, 0, 0, number, tzinfo=UTC),
            content=Content(parts=[Part(text=f"My {number}. cat is called Tom.")]),
            actions={"stateDelta": {"n": number}},
        )
    events = list(bank.list_session_events(session=session.id, page_size=2))
    assert [event.invocation_id for event in events] == ["0", "1", "2"]
    assert bank.get_session(session=session.id).session_state == {"a_b": 1, "n": 2}
    assert bank.update_session(session=session.id, display_name="Tom").display_name == "Tom"
    assert [one.id for one in bank.list_sessions(filter=f'user_id="{user}"')] == [session.id]
    assert bank.generate_memories(session=session.name).wait().metadata.coverage is not None
    assert bank.delete_session(session=session.id).done


def test_banks_are_made_and_removed(streambank: Streambank, caller: Caller) -> None:
    """A bank is configured by the client's types, found among the others, changed, looked at, and deleted."""
    config = MemoryBankConfig(ttl_config=TtlConfig(default_ttl=timedelta(days=30)))
    made = streambank.create_bank(display_name="a bank", config=config).result()
    bank = streambank.bank(made.name)
    found = bank.get()
    assert found.context_spec is not None
    assert found.context_spec.memory_bank_config == config
    assert made.id in {one.id for one in streambank.list_banks(page_size=1)}
    assert bank.update(description="of a test").result().description == "of a test"
    taken = bank.ingest_events(scope=caller.scope(), events=[Event.from_text("I keep bees.")], force_flush=True).wait()
    assert [one.name for one in bank.list_operations()] == [taken.name]
    assert bank.wait_operation(operation=taken.name, timeout_seconds=0.5).done
    bank.delete_operation(operation=taken.name)
    for refused in (bank.cancel_operation, bank.redrive_operation):
        with pytest.raises(errors.FailedPrecondition):
            refused(operation=taken.name)
    assert bank.get_usage().total.model_calls > 0
    told = list(bank.changes(page_size=1))
    assert told == list(bank.changes())
    page = bank.list_changes()
    assert (page.changes, bank.list_changes(page_token=page.next_page_token).changes) == (told, [])
    assert list(bank.changes(page_token=page.next_page_token)) == []
    with pytest.raises(errors.FailedPrecondition):
        bank.delete()
    assert bank.delete(force=True).done
    with pytest.raises(errors.NotFound):
        bank.get()


@pytest.mark.slow
def test_examples_of_the_reference_run(service: LocalService, caller: Caller) -> None:
    """The examples in docs/client.md, one after the other as they stand, do what they are there to show."""
    text = REFERENCE.read_text().replace("https://abc.execute-api.eu-central-1.amazonaws.com", service.base_url)
    text = text.replace('key="sk-1"', 'key="local"').replace('"user_id": "42"', f'"user_id": "{uuid.uuid4()}"')
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 40
    names: dict[str, Any] = {"print": lambda *_: None}
    exec(compile("\n".join(blocks), str(REFERENCE), "exec"), names)
    assert names["operation"].metadata.accepted_events == 2
    assert names["created"].display_name == "Support"
    caller.advance(minutes=10)


# ---- Google's Agent Development Kit


@pytest.mark.skipif(not ADK_PYTHON.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk")
def test_adk_remembers_its_sessions(service: LocalService, caller: Caller) -> None:
    """ADK's runner keeps a session through our memory service, twice without doubling it, and finds it again."""
    user = caller.scope()["user_id"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    command = [str(ADK_PYTHON), "-W", "ignore", str(ADK_PROGRAM), service.base_url, user]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["is a memory service"]
    assert any("peanuts" in fact for fact in told["found"])
    assert told["found of another user"] == []
    # The memory may have taken its event's place between the two searches.
    assert any("peanuts" in fact for fact in told["found by the agent's tool"])
    assert told["added"] == ["Has a dog.", {"source": "test"}]
    assert told["left after deletion by another user"] == 1
    assert told["left after deletion"] == 0
    covered = {one["metadata"]["coverage"]["events"] for one in _windows(caller, user)}
    assert covered == {2}


def _windows(caller: Caller, user: str) -> list[Any]:
    """Return the operations of the windows that this user's memories are made of."""
    scope = {"app_name": "app", "user_id": user}
    names = {source["operation"] for memory in caller.memories(scope) for source in memory.get("sources", ())}
    return [caller.get(name) for name in names]
