"""Long-term memory as Koog has it, over HTTP: what is said becomes events, and what is remembered comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from streambank_client import AsyncStreambank, GenerationRule, Hooks, Streambank
from streambank_client.errors import Unauthenticated
from streambank_client.koog import (
    AsyncStreambankStorage,
    FailurePolicy,
    IngestionError,
    IngestionSettings,
    LongTermMemory,
    MemoryRecord,
    RetrievalSettings,
    SearchRequest,
    StreambankStorage,
    UserPromptAugmenter,
)
from streambank_local.service import LocalService
from tests.client.koog.agents import Model, assistant, called, called_async, play, system, user
from tests.client.koog.rows import HELLO, KoogRows, remembering
from tests.journeys.caller import Caller, Stream

# Without a rule each call's events are made into memories at once; with this one they wait until a test flushes them.
LATER = GenerationRule(event_count=10_000)
KITES = [user("My favorite sport is flying red kites.")]
RED = "red kites"


@pytest.fixture
def token(service: LocalService) -> str:
    return str(getattr(service, "token", "local"))


@pytest.fixture
def streambank(service: LocalService, token: str) -> Iterator[Streambank]:
    with Streambank(service.base_url, token=token) as client:
        yield client


@pytest.fixture
def stream(caller: Caller) -> Stream:
    """A stream that the test leaves flushed."""
    stream = caller.stream(name="koog")
    stream.may_wait = True
    return stream


class ServiceBackend:
    """Storages over one stream; its texts are those of its events."""

    def __init__(self, service: LocalService, token: str, client: Streambank, stream: Stream) -> None:
        self._service = service
        self._token = token
        self.bank = client.bank()
        self.scope = stream.scope
        self.stream_id = stream.name

    def storage(self, kind: str = "plain") -> StreambankStorage | AsyncStreambankStorage:
        if "asynchronous" not in kind:
            return StreambankStorage(self.bank, scope=self.scope, stream_id=self.stream_id, generation_rule=LATER)
        bank = AsyncStreambank(self._service.base_url, token=self._token).bank()
        return AsyncStreambankStorage(bank, scope=self.scope, stream_id=self.stream_id, generation_rule=LATER)

    def texts(self) -> list[str]:
        """Return the texts of the events that no memories were made of yet, in their order."""
        found = self.bank.retrieve_memories(scope=self.scope, query="anything", top_k=100, include_pending=True)
        return [row.event.content.text for row in sorted(found.events, key=lambda row: row.sequence)]


@pytest.fixture
def backend(service: LocalService, token: str, streambank: Streambank, stream: Stream) -> ServiceBackend:
    return ServiceBackend(service, token, streambank, stream)


class TestKoogRowsOverHttp(KoogRows):
    """I1 to I12, against the service; what a storage sees does not depend on more than these two kinds."""

    @pytest.fixture(params=["plain", "asynchronous_stream"])
    def kind(self, request: pytest.FixtureRequest) -> Any:
        return request.param

    @pytest.fixture
    def stream_kind(self) -> str:
        return "asynchronous_stream"


def facts(results: Any) -> list[str]:
    return [result.document.content for result in results]


def test_what_was_said_is_remembered_in_the_next_run(caller: Caller, backend: ServiceBackend, stream: Stream) -> None:
    """What one run says is found by the next and told to its model; nothing that was recalled becomes an event."""
    storage = backend.storage()
    memory = LongTermMemory(
        ingestion=IngestionSettings(storage=storage),
        retrieval=RetrievalSettings(storage=storage, augmenter=UserPromptAugmenter()),
    )
    play(memory, Model(["Noted."]), "plain", KITES)
    stream.flush()
    model = Model(["Red ones."])
    play(memory, model, "plain", [user("Which kites do I fly?")])
    assert "<streambank-memory>" in model.prompts[0][0]["content"]
    assert RED in model.prompts[0][0]["content"]
    assert backend.texts() == ["Which kites do I fly?", "Red ones."]
    before = caller.facts(stream.scope)
    stream.flush()
    assert caller.facts(stream.scope) == before


def test_asynchronous_agent_remembers_too(service: LocalService, token: str, stream: Stream) -> None:
    """An asynchronous client stores and recalls in one loop, streamed replies included."""

    async def main() -> list[Any]:
        async with AsyncStreambank(service.base_url, token=token) as client:
            bank = client.bank()
            storage = AsyncStreambankStorage(bank, scope=stream.scope, stream_id=stream.name, generation_rule=LATER)
            memory = LongTermMemory(
                ingestion=IngestionSettings(storage=storage), retrieval=RetrievalSettings(storage=storage)
            )
            async with memory.run() as run:
                await called_async(run, Model(["Noted."]), "asynchronous_stream", KITES)
            await asyncio.to_thread(stream.flush)
            async with memory.run() as run:
                model = Model(["Red."])
                await called_async(run, model, "asynchronous", [system("be brief"), user("Which kites?")])
                return model.prompts

    assert RED in asyncio.run(main())[0][0]["content"]


def test_run_that_is_done_again_is_taken_once(backend: ServiceBackend) -> None:
    """A run under its own id, and messages under theirs, are known again by the service: no event comes twice."""
    for _ in range(2):
        memory = remembering(backend.storage())
        play(memory, Model(["hi"]), "plain", HELLO, run_id="run-1")
        play(
            memory,
            Model(["ho"]),
            "plain",
            [user("yes", id="m1"), assistant("?", id="m2"), user("yes", id="m3")],
            run_id="run-2",
        )
    assert backend.texts() == ["hello there", "hi", "yes", "?", "yes", "ho"]


def test_namespaces_are_scopes_of_their_own(caller: Caller, backend: ServiceBackend, stream: Stream) -> None:
    """A namespace is a key of the scope: its memories are found in it, and neither outside nor in another."""
    storage = backend.storage()
    play(remembering(storage, namespace="travel"), Model(["Noted."]), "plain", KITES)
    inside = caller.stream({**stream.scope, "namespace": "travel"}, "koog")
    inside.flush()
    request = SearchRequest(query="kites")
    assert backend.texts() == []
    assert any(RED in fact for fact in facts(storage.search(request, "travel")))
    assert facts(storage.search(request)) == facts(storage.search(request, "work")) == []


def test_threshold_leaves_out_what_is_far(backend: ServiceBackend, stream: Stream) -> None:
    """Results are those whose score, a cosine, reaches the threshold, the best first."""
    storage = backend.storage()
    play(remembering(storage), Model([""]), "plain", [*KITES, user("I live in Graz.")])
    stream.flush()
    everything = storage.search(SearchRequest(query="flying red kites", threshold=-1))
    scores = [result.score for result in everything]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)
    near = storage.search(SearchRequest(query="flying red kites", threshold=sum(scores) / 2))
    assert [RED in fact for fact in facts(near)] == [True]


def test_memories_are_updated_in_their_own_scope(caller: Caller, backend: ServiceBackend, stream: Stream) -> None:
    """Update sets what a found memory says; the unknown, and one of another scope, are left out and unchanged."""
    storage = backend.storage()
    play(remembering(storage), Model([""]), "plain", KITES)
    stream.flush()
    mine = storage.search(SearchRequest(query="kites"))[0].document
    new = {mine.id: MemoryRecord("I fly blue kites."), "404": MemoryRecord("nothing")}
    assert storage.update(new, "elsewhere") == []
    assert caller.facts(stream.scope) == [mine.content]
    assert storage.update(new) == [mine.id]
    assert caller.facts(stream.scope) == ["I fly blue kites."]


def test_poison_is_left_out_and_counted(backend: ServiceBackend) -> None:
    """A message that the service never takes costs only itself: the run goes on and tells that one was refused."""
    with remembering(backend.storage()).run() as run:
        prompt = [user("one"), user("two", id="x" * 513), user("three"), user("y" * 350_000)]
        called(run, Model(["four"]), "plain", prompt)
    assert backend.texts() == ["one", "three", "four"]
    assert (run.counts.stored, run.counts.refused, run.counts.lost) == (3, 2, 0)


def test_edit_is_learnt(backend: ServiceBackend) -> None:
    """An id that the service knows for another text is an edit: it is stored once under an id of its own."""
    memory = remembering(backend.storage())
    play(memory, Model([""]), "plain", [user("one", id="m1")])
    for text in ("another", "another", "one"):
        with memory.run() as run:
            called(run, Model([""]), "plain", [user(text, id="m1"), user("two", id="m2")])
        assert (run.counts.stored, run.counts.refused) == (2, 0)
    assert backend.texts() == ["one", "two", "another"]


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_pending_messages_are_recalled(backend: ServiceBackend, stream: Stream, kind: str) -> None:
    """What one run says is recalled by the next, while the service waits for more events."""
    storage: Any = backend.storage(kind)
    memory = LongTermMemory(
        ingestion=IngestionSettings(storage=storage),
        retrieval=RetrievalSettings(storage=storage, augmenter=UserPromptAugmenter()),
    )
    play(memory, Model(["Noted."]), kind, KITES)
    model = Model(["Red ones."])
    question = "Which kites do I fly?"
    play(memory, model, kind, [user(question)])
    prompt = model.prompts[0][0]["content"]
    assert RED in prompt
    assert prompt.count(question) == 1


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_agent_runs_while_the_service_is_away(service: LocalService, stream: Stream, token: str, kind: str) -> None:
    """Without a service a run has no memory and no error; when the service is back, so is memory."""
    is_away = True

    def cut(request: httpx.Request) -> None:
        if is_away:
            raise httpx.ConnectError("no way", request=request)

    settings: Any = {"token": token, "hooks": Hooks(on_request=[cut]), "retries": 0}
    target: Any = {"scope": stream.scope, "stream_id": stream.name, "generation_rule": LATER}
    client = Streambank(service.base_url, **settings)
    storage: Any = StreambankStorage(client.bank(), **target)
    if kind == "asynchronous":
        storage = AsyncStreambankStorage(AsyncStreambank(service.base_url, **settings).bank(), **target)
    memory = LongTermMemory(
        ingestion=IngestionSettings(storage=storage),
        retrieval=RetrievalSettings(storage=storage, augmenter=UserPromptAugmenter()),
    )
    assert play(memory, Model(["Hello."]), kind, [user("Hello")]) == ["Hello."]
    is_away = False
    play(memory, Model(["Noted."]), kind, KITES)
    model = Model(["Red ones."])
    play(memory, model, kind, [user("Which kites do I fly?")])
    assert RED in model.prompts[0][0]["content"]
    client.close()


def test_long_conversation_is_stored_whole(backend: ServiceBackend) -> None:
    """A completed run of 250 messages is stored in as many calls as it needs, in order."""
    prompt = [user(f"message {number}") for number in range(249)]
    with remembering(backend.storage(), timing="ON_AGENT_COMPLETION").run() as run:
        called(run, Model(["the end"]), "plain", prompt)
    assert run.counts.stored == 250


def test_refused_caller(service: LocalService, stream: Stream) -> None:
    """A wrong token loses the records and is counted, or ends the run with the reason, as the policy says."""
    with Streambank(service.base_url, token="wrong") as client:
        storage = StreambankStorage(client.bank(), scope=stream.scope)
        with remembering(storage).run() as run:
            assert called(run, Model(["hi"]), "plain", HELLO) == "hi"
        assert (run.counts.stored, run.counts.lost) == (0, 2)
        failing = remembering(storage, failure_policy=FailurePolicy.FAIL_FAST)
        with pytest.raises(IngestionError) as caught, failing.run() as run:
            called(run, Model(["hi"]), "plain", HELLO)
        assert isinstance(caught.value.__cause__, Unauthenticated)
