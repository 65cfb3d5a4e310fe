"""Sessions of Strands in a bank, with the real package, against the whole service."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest

pytest.importorskip("strands", reason="needs the extra strands")

from strands import Agent, tool
from strands.session.repository_session_manager import RepositorySessionManager
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from streambank_client import Streambank
from streambank_client.errors import StreambankError
from streambank_client.strands import StreambankSessionManager, StreambankSessionRepository
from streambank_local.service import LocalService
from tests.client.strands.scripted import Scripted

_ids = count(1)


@pytest.fixture(scope="module")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


class Unreliable(httpx.HTTPTransport):
    """Loses requests, or their replies, as long as it is told to."""

    loses: str = ""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request) if self.loses != "requests" else None
        if self.loses:
            raise httpx.ReadError("lost")
        assert response
        return response


@pytest.fixture
def transport() -> Unreliable:
    return Unreliable()


@pytest.fixture
def client(service: LocalService, transport: Unreliable) -> Iterator[Streambank]:
    with Streambank(service.base_url, token="local", transport=transport, retries=0) as client:
        yield client


def fresh() -> str:
    return f"session {next(_ids)}/with:any#text"


@tool
def look_up() -> str:
    """Return something."""
    return "I live on Mars."


def agent(manager: RepositorySessionManager, *replies: Any) -> Agent:
    blocks = iter(replies)
    model = Scripted(lambda _: next(blocks)) if replies else Scripted()
    return Agent(model=model, tools=[look_up], session_manager=manager, callback_handler=None)


def texts(messages: Any) -> list[str]:
    return [block["text"] for message in messages for block in message["content"] if "text" in block]


def test_a_conversation_goes_on_in_another_process(client: Streambank) -> None:
    """Messages, tool traffic and state come back in their order, each message once."""
    name = fresh()
    first = agent(
        StreambankSessionManager(name, client.bank()),
        [{"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {}}}],
        [{"text": "Noted."}],
    )
    first("I live in Graz.")
    first.state.set("city", "Graz")
    second = agent(StreambankSessionManager(name, client.bank()), [{"text": "Hello again."}])
    assert second.messages == first.messages
    second("Hi.")
    third = agent(StreambankSessionManager(name, client.bank()))
    assert texts(third.messages) == ["I live in Graz.", "Noted.", "Hi.", "Hello again."]
    assert [message["role"] for message in third.messages][:4] == ["user", "assistant", "user", "assistant"]
    assert agent(StreambankSessionManager(fresh(), client.bank())).messages == []


def test_the_repository_keeps_what_strands_gives_it(client: Streambank) -> None:
    """Sessions, agents and messages are read as they were written, bytes too; the unknown is None."""
    repository, name = StreambankSessionRepository(client.bank()), fresh()
    assert repository.read_session(name) is None
    repository.create_session(Session(session_id=name, session_type=SessionType.AGENT))
    found = repository.read_session(name)
    assert found is not None
    assert (found.session_id, found.session_type) == (name, SessionType.AGENT)
    assert repository.read_agent(name, "a/b") is None
    repository.create_agent(name, SessionAgent("a/b", {"n": 1}, {"k": None}))
    repository.update_agent(name, SessionAgent("a/b", {"n": 2}, {"k": None}))
    stored = repository.read_agent(name, "a/b")
    assert stored is not None
    assert stored.state == {"n": 2}
    image = {"image": {"format": "png", "source": {"bytes": b"\x00\xff"}}}
    for number in range(4):
        content = [{"text": f"m{number}"}, image]
        repository.create_message(name, "a/b", SessionMessage({"role": "user", "content": content}, number))
    assert [one.message_id for one in repository.list_messages(name, "a/b", limit=2, offset=1)] == [1, 2]
    one = repository.read_message(name, "a/b", 3)
    assert one is not None
    assert one.message["content"] == [{"text": "m3"}, image]
    assert repository.read_message(name, "a/b", 9) is None
    assert repository.list_messages(name, "a") == []


@pytest.mark.parametrize("loses", ["requests", "replies"])
def test_an_agent_goes_on_while_the_service_is_away(client: Streambank, transport: Unreliable, loses: str) -> None:
    """What could not be written waits in its order, and is stored once when the service is back."""
    name = fresh()
    manager = StreambankSessionManager(name, client.bank(), scope={"user_id": name})
    running = agent(manager, *([{"text": f"a{number}"}] for number in range(3)))
    running("q0")
    transport.loses = loses
    running("q1")
    assert manager.flush() > 0
    transport.loses = ""
    running("q2")
    assert (manager.flush(), manager.repository.lost) == (0, 0)
    restored = agent(StreambankSessionManager(name, client.bank()))
    assert texts(restored.messages) == ["q0", "a0", "q1", "a1", "q2", "a2"]


def test_a_session_that_cannot_be_read_is_no_new_one(client: Streambank, transport: Unreliable) -> None:
    """An agent is not made with an empty conversation because the service is away."""
    transport.loses = "requests"
    with pytest.raises(StreambankError):
        StreambankSessionManager(fresh(), client.bank())


def test_a_session_lives_as_long_as_its_messages(service: LocalService, client: Streambank) -> None:
    """Each message moves the end of the whole session; after that an agent begins anew, without old state."""
    name = fresh()

    def restored(ttl_seconds: float = 3_600) -> Agent:
        return agent(StreambankSessionManager(name, client.bank(), ttl_seconds=ttl_seconds))

    def pass_seconds(seconds: int) -> None:
        headers = {"authorization": "Bearer local"}
        httpx.post(f"{service.base_url}/_local/clock:advance", json={"seconds": seconds}, headers=headers)

    for number in range(3):
        restored()(f"q{number}")
        pass_seconds(3_000)
    running = restored()
    assert texts(running.messages) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    running.state.set("city", "Graz")
    running("q3")
    pass_seconds(3_700)
    late = restored()
    assert (late.messages, late.state.get("city")) == ([], None)
    late("q4")
    assert texts(restored().messages) == ["q4", "a4"]


def test_a_redacted_message_is_stored_and_learnt_as_it_was_redacted(client: Streambank) -> None:
    """What a guardrail takes out is in no history, and in no event."""
    name, scope = fresh(), {"user_id": fresh()}
    manager = StreambankSessionManager(name, client.bank(), scope=scope, generation_rule={"event_count": 100})
    running = agent(manager)
    message: Any = {"role": "user", "content": [{"text": "My secret is 42."}], "tracking_id": "m-1"}
    running.messages.append(message)
    manager.append_message(message, running)
    redacted: Any = {"role": "user", "content": [{"text": "[taken out]"}], "tracking_id": "m-1"}
    manager.redact_latest_message(redacted, running)
    manager._end_turn(running.agent_id)
    stored = StreambankSessionRepository(client.bank()).list_messages(name, running.agent_id)
    assert texts(one.to_message() for one in stored) == ["[taken out]"]
    found = client.bank().retrieve_memories(scope=scope, query="secret", include_events=True, include_pending=True)
    assert [hit.event.content.text for hit in found.events] == ["[taken out]"]


def test_turns_are_learnt_once_and_tools_never(client: Streambank) -> None:
    """With a scope memories are made of what was said, not of tools, and not again by an agent that is restored."""
    name, scope = fresh(), {"user_id": fresh()}

    def restored(*replies: Any) -> Agent:
        manager = StreambankSessionManager(name, client.bank(), scope=scope, generation_rule={"event_count": 100})
        return agent(manager, *replies)

    restored([{"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {}}}], [{"text": "Noted."}])(
        "I live in Graz."
    )
    restored([{"text": "Good."}])("I keep bees.")
    found = client.bank().retrieve_memories(
        scope=scope, query="live", top_k=100, include_events=True, include_pending=True
    )
    events = sorted(found.events, key=lambda hit: hit.sequence)
    assert [hit.event.content.text for hit in events] == ["I live in Graz.", "Noted.", "I keep bees.", "Good."]
    client.bank().ingest_events(scope=scope, stream_id=name, force_flush=True).wait()
    facts = [row.memory.fact for row in client.bank().retrieve_memories(scope=scope)]
    assert sorted(facts) == ["I keep bees", "I live in Graz"]
