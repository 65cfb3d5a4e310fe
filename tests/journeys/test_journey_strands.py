"""Real Strands agents with a scripted model remember over HTTP: nothing is lost, nothing is stored twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from streambank_client import Streambank
from streambank_client.errors import NotFound
from streambank_local.service import LocalService
from tests.journeys.caller import Caller

pytest.importorskip("strands", reason="needs the extra strands")

import strands
from strands import Agent
from strands.memory import MemoryManager

from streambank_client.strands import (
    ExtractionConfig,
    InvocationTrigger,
    MemoryMessageFilter,
    StreambankFactStore,
    StreambankMemoryStore,
    attach,
)
from streambank_client.strands import StreambankMemoryManager as OurManager
from tests.client.strands.scripted import Scripted
from tests.client.strands.talking import Shouting

ROOT = Path(__file__).resolve().parents[2]
EACH_TURN = ExtractionConfig(InvocationTrigger())
# So many that no window is sealed by itself: all events stay to be looked at.
KEPT_OPEN = {"event_count": 10_000}


class Wire(httpx.BaseTransport):
    """The way to the service; it can lose a reply, refuse what holds a word, and be cut."""

    def __init__(self) -> None:
        self.wire = httpx.HTTPTransport()
        self.lose = 0
        self.refuse: dict[str, int] = {}
        self.is_cut = False
        self.is_away = False
        self.ingests = 0
        self.parts: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("no way", request=request)
        if not request.url.path.endswith(":ingestEvents"):
            return self.wire.handle_request(request)
        if self.is_cut:
            raise httpx.ConnectError("no way", request=request)
        self.ingests += 1
        self.parts += parts_of(request)
        for word, status in self.refuse.items():
            if word.encode() in request.content:
                error = {"code": status, "message": "no", "status": "INVALID_ARGUMENT"}
                return httpx.Response(status, json={"error": error})
        reply = self.wire.handle_request(request)
        if self.lose:
            self.lose -= 1
            reply.read()
            raise httpx.ReadError("the reply is lost", request=request)
        return reply

    def close(self) -> None:
        self.wire.close()


def parts_of(request: httpx.Request) -> list[dict[str, Any]]:
    """Return the parts of all events of a call."""
    events = json.loads(request.content).get("directContentsSource", {}).get("events", [])
    return [part for event in events for part in event["content"]["parts"]]


class Person:
    """Somebody who talks to agents: a scope of their own, and all that the service knows of it."""

    def __init__(self, service: LocalService, caller: Caller) -> None:
        self.scope = caller.scope()
        self.wire = Wire()
        self.client = Streambank(service.base_url, token="local", transport=self.wire, retries=0)
        self._stream = caller.stream(self.scope, "default")
        self._stream.may_wait = True

    def store(self, kind: type[StreambankMemoryStore] = StreambankMemoryStore, **more: Any) -> StreambankMemoryStore:
        return kind(**{"client": self.client, "scope": self.scope, "generation_rule": KEPT_OPEN, **more})

    def agent(self, *stores: StreambankMemoryStore, model: Scripted | None = None, **more: Any) -> Agent:
        manager = MemoryManager(list(stores) or [self.store()], injection=more.pop("injection", False))
        return Agent(model=model or Scripted(), memory_manager=manager, callback_handler=None, **more)

    def events(self) -> list[Any]:
        """Return what the stream holds, in order."""
        bank = self.client.bank()
        found = bank.retrieve_memories(
            scope=self.scope, query="q", top_k=100, include_events=True, include_pending=True
        ).events
        return sorted(found, key=lambda one: one.sequence)

    @property
    def texts(self) -> list[str]:
        return [one.event.content.text for one in self.events()]


@pytest.fixture
def person(service: LocalService, caller: Caller) -> Iterator[Person]:
    person = Person(service, caller)
    yield person
    person.client.close()


def said(*turns: int) -> list[str]:
    return [text for number in turns for text in (f"q{number}", f"a{number}")]


def flush(agent: Agent) -> None:
    assert agent.memory_manager is not None
    asyncio.run(agent.memory_manager.flush())


# ---- who drives the agent


def test_sync(person: Person) -> None:
    """A synchronous agent's turn is stored when its call returns, whatever the trigger."""
    agent = person.agent()
    for number in (1, 2, 3):
        agent(f"q{number}")
        assert person.texts == said(*range(1, number + 1))
    assert [one.event.content.role for one in person.events()] == ["user", "model"] * 3


def test_async(person: Person) -> None:
    """An asynchronous agent's turns are stored when its manager's flush returns."""

    async def talk() -> None:
        agent = person.agent()
        for number in (1, 2):
            await agent.invoke_async(f"q{number}")
        assert person.wire.ingests == 0
        await agent.memory_manager.flush()  # type: ignore[union-attr]

    asyncio.run(talk())
    assert person.texts == said(1, 2)


def test_async_without_flush(person: Person) -> None:
    """Without a flush the turns wait for the fifth, and none of the five is lost with the loop that ends then."""

    async def talk() -> None:
        agent = person.agent()
        for number in range(1, 6):
            assert person.wire.ingests == 0
            await agent.invoke_async(f"q{number}")

    asyncio.run(talk())
    assert person.texts == said(1, 2, 3, 4, 5)


def test_loop_per_request(person: Person) -> None:
    """With `asyncio.run` for each request and no flush at all, every turn is stored."""
    agent = person.agent(person.store(extraction=EACH_TURN))
    for number in (1, 2, 3):
        asyncio.run(agent.invoke_async(f"q{number}"))
    assert person.texts == said(1, 2, 3)


def test_loop_per_request_with_flush(person: Person) -> None:
    """A handler that awaits the flush before it returns stores its turn, under the default trigger too."""

    async def handle(agent: Agent, number: int) -> None:
        await agent.invoke_async(f"q{number}")
        await agent.memory_manager.flush()  # type: ignore[union-attr]

    agent = person.agent()
    for number in (1, 2, 3):
        asyncio.run(handle(agent, number))
        assert person.texts == said(*range(1, number + 1))


# ---- what goes wrong


def test_lost_reply(person: Person) -> None:
    """A turn whose reply was lost is sent again in a larger batch and stored once."""
    agent = person.agent(person.store(extraction=EACH_TURN))
    person.wire.lose = 2  # the trigger's save, and the flush after it
    agent("q1")
    assert person.wire.ingests == 2
    agent("q2")
    assert person.texts == said(1, 2)


def test_outage(person: Person) -> None:
    """While the service is out of reach agents answer as ever, and their turns are stored when it is back."""
    agent = person.agent()
    person.wire.is_cut = True
    for number in range(1, 16):
        assert str(agent(f"q{number}")).strip() == f"a{number}"
    person.wire.is_cut = False
    agent("q16")
    assert person.texts == said(*range(1, 17))


@pytest.mark.parametrize("status", [400, 413])
def test_poison(person: Person, status: int) -> None:
    """A message that is never taken is left out, and everything before and after it is stored."""
    agent = person.agent()
    person.wire.refuse = {"akumquat": status}
    for question in ("q1", "qkumquat", "q3"):
        agent(question)
    assert person.texts == ["q1", "a1", "qkumquat", "q3", "a3"]


def test_refusal_keeps_all(person: Person) -> None:
    """A key that is refused is nobody's poison: nothing is dropped, and all is stored once it is taken again."""
    agent = person.agent()
    person.wire.refuse = {"q": 403}
    agent("q1")
    person.wire.refuse = {}
    agent("q2")
    assert person.texts == said(1, 2)


def test_oversized(person: Person) -> None:
    """What no event can hold is left out by itself: text and a huge image lose the image alone."""
    agent = person.agent()
    image = {"image": {"format": "png", "source": {"bytes": b"x" * 1_000_000}}}
    agent([{"text": "q1"}, image])
    agent("q" + "2" * 400_000)
    agent("q3")
    texts = person.texts
    assert texts[:2] == said(1)
    assert texts[-2:] == said(3)
    assert all(set(part) == {"text"} for part in person.wire.parts)


def test_missing_bank(person: Person) -> None:
    """A bank that is not there is known when the agent is made."""
    with pytest.raises(NotFound):
        person.agent(person.store(bank="nowhere"))


def test_agent_begins_while_the_service_is_away(person: Person, caplog: pytest.LogCaptureFixture) -> None:
    """An agent that is made while the service is away runs without memory, logged once; then its memory is back."""
    person.wire.is_away = True
    model = Scripted()
    agent = person.agent(person.store(), injection=True, model=model)
    assert str(agent("q1")).strip() == "a1"
    person.wire.is_away = False
    person.client.bank().create_memory(scope=person.scope, fact="q2 is about tea").result()
    agent("q2")
    assert "q2 is about tea" in str(model.prompts[-1])
    assert person.texts == said(1, 2)
    messages = [record.message for record in caplog.records if record.name.startswith("streambank_client")]
    assert messages.count("memory unavailable") == 1


def test_search_fails_open(person: Person) -> None:
    """An agent whose memory cannot be searched answers all the same."""
    store = person.store()
    agent = person.agent(store, injection=True)
    store._bank = Streambank("http://127.0.0.1:9", token="x", retries=0).bank()
    assert str(agent("q1")).strip() == "a1"


# ---- agents


def test_two_agents(person: Person) -> None:
    """Two living agents, each with a store of its own, say the same words and both are stored."""
    first, second = person.agent(), person.agent()
    for agent in (first, second, first):
        agent("q1")
    assert person.texts == said(1, 1, 1)


def test_two_agents_share_a_store(person: Person) -> None:
    """Two agents that share a store against all advice lose nothing, as long as they say different things."""
    store = person.store()
    first, second = person.agent(store), person.agent(store)
    for number, agent in enumerate([first, second, first, second], 1):
        agent(f"q{number}")
    assert person.texts == said(1, 2, 3, 4)


def test_restart(person: Person) -> None:
    """A conversation that goes on in a new agent is not stored again, and equal words later are."""
    agent = person.agent()
    agent("q1")
    restored = person.agent(messages=agent.messages)
    restored("q1")
    assert person.texts == said(1, 1)


def test_restart_on_one_store(person: Person) -> None:
    """A second agent that takes over a store begins a new run: its first turn is stored though its number was used."""
    store = person.store()
    person.agent(store)("q1")
    person.agent(store)("q1")
    assert person.texts == said(1, 1)


# ---- what is stored


def test_tools(person: Person) -> None:
    """Tool traffic is left out by default; where it is kept, a result has the name of its tool."""

    @strands.tool
    def weather() -> str:
        """Tell the weather."""
        return "sunny"

    def answer(prompts: Sequence[Any]) -> list[Any]:
        if "toolResult" in prompts[-1]["content"][0]:
            return [{"text": "a1"}]
        return [{"reasoning": "hm"}, {"toolUse": {"toolUseId": f"t{len(prompts)}", "name": "weather"}}]

    default, whole = person.store(), person.store(extraction={"filter": MemoryMessageFilter([])}, stream_id="whole")
    person.agent(default, model=Scripted(answer), tools=[weather])("q1")
    assert person.texts == said(1)
    person.agent(whole, model=Scripted(answer), tools=[weather])("q1")
    assert [kind for part in person.wire.parts for kind in part] == [
        *("text", "text"),
        *("text", "functionCall", "functionResponse", "text"),
    ]
    result = person.wire.parts[4]["functionResponse"]
    assert (result["name"], result["response"]) == ("weather", {"output": "sunny"})


def test_injection_is_not_stored(person: Person) -> None:
    """A memory reaches the prompt of the next agent, and what was injected is not ingested again."""
    person.client.bank().create_memory(scope=person.scope, fact="I drink tea").result()
    model = Scripted()
    person.agent(injection=True, model=model)("q1")
    assert "I drink tea" in str(model.prompts)
    assert person.texts == said(1)


def test_rule_sets_the_pace(person: Person, caller: Caller) -> None:
    """The service makes memories when the store's rule says so, and an agent finds them."""
    store = person.store(generation_rule={"event_count": 2})

    def answer(_: Sequence[Any]) -> list[Any]:
        return [{"text": "Good to know."}]

    person.agent(store, model=Scripted(answer))("I drink tea every morning")
    caller.settle()
    found = asyncio.run(store.search("What do they drink?"))
    assert [entry.content for entry in found] == caller.facts(person.scope)
    assert "tea" in found[0].content


def test_extractor(person: Person, caller: Caller) -> None:
    """With an extractor on the client its facts become memories, once, also after a failure."""
    store = person.store(StreambankFactStore, extraction=ExtractionConfig(InvocationTrigger(), Shouting()))
    agent = person.agent(store)
    agent("q1")
    agent("q2")
    assert sorted(caller.facts(person.scope)) == ["A1", "A2", "Q1", "Q2"]
    assert person.texts == []


def test_add_tool_needs_a_fact_store(person: Person) -> None:
    """Strands finds no `add` in a store that the service extracts for, and finds it in the other."""
    with pytest.raises(ValueError, match="no writable stores implement add"):
        MemoryManager([person.store()], add_tool_config=True)
    assert MemoryManager([person.store(StreambankFactStore)], add_tool_config=True)


def test_pending_messages_are_recalled(person: Person) -> None:
    """What is told in one session is known in the next one, while the service waits for more events."""
    rule = {"event_count": 10}
    person.agent(person.store(stream_id="session 1", generation_rule=rule))("qI live in Linz.")
    model = Scripted()
    agent = person.agent(person.store(stream_id="session 2", generation_rule=rule), injection=True, model=model)
    agent("qWhere do I live?")
    assert "qI live in Linz." in str(model.prompts[0])
    agent("qAnd where do I live now?")
    assert str(model.prompts[1][-1]).count("qWhere do I live?") == 0


def test_edits_are_learnt(person: Person) -> None:
    """A message that an agent has changed is stored beside the first one, once."""
    for text in ("q1", "q2", "q2", "q1"):
        manager = OurManager([person.store()])
        manager.attach().message_added({"role": "user", "content": [{"text": text}]}, message_id="m1")
        assert manager.flush_sync().lost == 0
    assert person.texts == ["q1", "q2"]


# ---- our manager in the place of Strands'


def test_our_manager_has_its_own_name(person: Person) -> None:
    """Strands' agent takes Strands' manager only; the name of ours does not collide with it."""
    ours: Any = OurManager([person.store()])
    with pytest.raises(ValueError, match="MemoryManager"):
        Agent(model=Scripted(), memory_manager=ours)
    assert OurManager.__name__ not in dir(strands.memory)
    assert person.agent(person.store()).memory_manager is not None


def test_our_manager(person: Person) -> None:
    """Our manager takes Strands' own message ids, reports what it saved, and needs no flush in each loop."""
    manager = OurManager([person.store(extraction=EACH_TURN)])
    agent = Agent(model=Scripted(), callback_handler=None)
    attach(manager, agent)
    for number in (1, 2):
        asyncio.run(agent.invoke_async(f"q{number}"))
    assert manager.flush_sync().failed == 0
    assert person.texts == said(1, 2)
    assert [one.event.event_id for one in person.events()] == [m["tracking_id"] for m in agent.messages]


def test_our_manager_reports(person: Person) -> None:
    """Where Strands' flush says nothing, ours tells how many messages failed, and of two agents at once."""
    manager = OurManager([person.store()])
    agents = [Agent(model=Scripted(), callback_handler=None) for _ in range(2)]
    for agent in agents:
        attach(manager, agent)
        agent("q1")
    person.wire.is_cut = True
    assert manager.flush_sync().failed == 4
    person.wire.is_cut = False
    result = manager.flush_sync()
    assert (result.saved, result.failed) == (4, 0)
    assert person.texts == said(1, 1)


# ---- kill -9


class Process:
    """The program of an agent, and what it told."""

    def __init__(self, url: str, user: str, folder: str) -> None:
        command = [sys.executable, "-m", "tests.journeys.strands_program", url, user, folder]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "client")])}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
        )
        self.told: list[str] = []
        self.read_until("ready")

    def turn(self, number: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"q{number}\n")
        self.process.stdin.flush()

    def read_until(self, word: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.append(line.strip())
            if line.startswith(word):
                return
        raise AssertionError(f"the program ended: {self.told}")

    def kill(self) -> None:
        """End it at once, and hear what it still had to tell."""
        self.process.kill()
        rest, _ = self.process.communicate(timeout=30)
        self.told += [line for line in rest.splitlines() if line]

    @property
    def stored(self) -> list[str]:
        return [line.removeprefix("stored ") for line in self.told if line.startswith("stored ")]


@pytest.fixture
def process(service: LocalService, person: Person) -> Iterator[Callable[..., Process]]:
    begun: list[Process] = []

    def begin(folder: str = "") -> Process:
        begun.append(Process(service.base_url, person.scope["user_id"], folder))
        return begun[-1]

    yield begin
    for one in begun:
        one.kill()


@pytest.mark.slow
def test_killed_between_turns(person: Person, process: Callable[..., Process], tmp_path: Path) -> None:
    """An agent that is killed between turns and goes on in its conversation lost no turn and stores none twice."""
    for first in (1, 3):
        agent = process(str(tmp_path))
        assert agent.told == [f"ready {(first - 1) * 2}"]
        for number in (first, first + 1):
            agent.turn(number)
            agent.read_until("ended")
        assert agent.stored == said(first, first + 1)
        agent.kill()
    assert person.texts == said(1, 2, 3, 4)


@pytest.mark.slow
def test_killed_at_any_time(person: Person, process: Callable[..., Process]) -> None:
    """An agent that is killed in the midst of a turn lost none for which `add_messages` had returned."""
    chance, stored = random.Random(7), list[str]()
    for first in (1, 11, 21):
        agent = process()
        for number in range(first, first + 10):
            agent.turn(number)
        agent.read_until(f"begun q{first + chance.randrange(1, 9)}")
        time.sleep(chance.random() / 50)
        agent.kill()
        stored += agent.stored
    texts = person.texts
    assert stored
    assert set(stored) <= set(texts)
    assert len(texts) == len(set(texts))
