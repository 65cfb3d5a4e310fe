"""What Koog's tests pin down of ingestion (I1 to I12), for models of every kind, and what else it promises."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from concurrent import futures
from typing import Any

import pytest

from streambank_client.koog import (
    FailurePolicy,
    FilteringExtractionStrategy,
    IngestionError,
    IngestionSettings,
    IngestionTiming,
    InMemoryStorage,
    LongTermMemory,
    MemoryRecord,
)
from tests.client.koog.agents import (
    KINDS,
    NOON,
    STREAMS,
    AsyncRecording,
    Broken,
    Model,
    Recording,
    assistant,
    called,
    called_async,
    play,
    system,
    texts,
    user,
)
from tests.client.koog.rows import (
    COMPLETION,
    HELLO,
    InMemoryBackend,
    KoogRows,
    both_timings,
    every_kind,
    remembering,
    roles,
)


@pytest.fixture
def storage() -> InMemoryStorage:
    return InMemoryStorage()


class TestKoogRowsInMemory(KoogRows):
    """I1 to I12, against the storage in memory."""

    @pytest.fixture
    def backend(self) -> InMemoryBackend:
        return InMemoryBackend()

    @pytest.fixture(params=KINDS)
    def kind(self, request: pytest.FixtureRequest) -> Any:
        return request.param

    @pytest.fixture(params=STREAMS)
    def stream_kind(self, request: pytest.FixtureRequest) -> Any:
        return request.param


@every_kind
@both_timings
def test_strategy_that_returns_nothing_calls_no_storage(kind: str, timing: IngestionTiming) -> None:
    """Without records the storage is not even asked."""
    storage = Recording()
    play(remembering(storage, timing=timing, extraction_strategy=lambda _: []), Model(["hi"]), kind, HELLO)
    assert storage.added == []


@every_kind
def test_each_message_is_delivered_once(kind: str) -> None:
    """No storage has to know repeats: what a second prompt repeats is not delivered to it again."""
    storage = Recording()
    model = Model(["first answer", "second answer"])
    play(remembering(storage), model, kind, HELLO, [*HELLO, assistant("first answer"), user("and?")])
    sent = [[record.content for record in records] for records, _ in storage.added]
    assert sent == [["hello there"], ["first answer"], ["and?"], ["second answer"]]


# ---- records


def test_records_say_who_spoke_and_when(storage: InMemoryStorage) -> None:
    """A record has its role's name and its time in milliseconds in its metadata: the message's own, or else now."""
    memory = LongTermMemory(ingestion=IngestionSettings(storage=storage), format="koog-0.8", clock=lambda: NOON)
    meta = {"metaInfo": {"timestamp": "2026-01-02T03:04:05.678Z"}}
    question = {"type": "ai.koog.prompt.message.Message.User", "parts": [{"text": "hello"}], **meta}
    play(memory, Model(["hi"]), "plain", [question])
    stamped, now = storage.records()
    assert stamped.metadata == {"messageRole": "User", "timestampMs": 1_767_323_045_678}
    assert now.metadata == {"messageRole": "Assistant", "timestampMs": round(NOON.timestamp() * 1000)}


def test_texts_of_a_message_are_joined_by_lines(storage: InMemoryStorage) -> None:
    """A message of several text parts is one record, a line for each; a picture is no text."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    parts = [{"type": "text", "text": "one"}, picture, {"type": "text", "text": "two"}]
    play(remembering(storage), Model([""]), "plain", [{"role": "user", "content": parts}])
    assert texts(storage) == ["one\ntwo"]


def test_blank_messages_make_no_record(storage: InMemoryStorage) -> None:
    """White space, calls of tools and Koog 1.x' results, which are parts of the user's message, are no records."""
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    prompt = [user("  \n"), {"role": "assistant", "content": None, "tool_calls": calls}]
    play(remembering(storage), Model([" "]), "plain", prompt)
    result = {"type": "ai.koog.prompt.message.MessagePart.Tool.Result", "id": "c", "tool": "f", "parts": []}
    koog = LongTermMemory(ingestion=IngestionSettings(storage=storage), format="koog-1")
    play(koog, Model([""]), "plain", [{"type": "ai.koog.prompt.message.Message.User", "parts": [result]}])
    assert texts(storage) == []


def test_instructions_and_tools_are_stored_only_on_demand(storage: InMemoryStorage) -> None:
    """System messages and what tools answer are left out by default, and kept where their roles are named."""
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    prompt = [
        system("be brief"),
        user("ask the tool"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "42"},
    ]
    play(remembering(storage), Model(["it says 42"]), "plain", prompt)
    assert texts(storage) == ["ask the tool", "it says 42"]
    others = InMemoryStorage()
    play(remembering(others, extraction_strategy=roles("system", "tool")), Model(["it says 42"]), "plain", prompt)
    assert texts(others) == ["be brief", "42"]


def test_records_go_to_the_namespace(storage: InMemoryStorage) -> None:
    """The namespace is given to the storage; without one the storage's own default is meant."""
    play(remembering(storage, namespace="travel"), Model(["hi"]), "plain", HELLO)
    assert texts(storage, "travel") == ["hello there", "hi"]
    assert texts(storage) == []


@every_kind
def test_message_ids_are_event_ids(kind: str) -> None:
    """A message with an id keeps it in every run, so that a storage knows it again; equal texts remain two messages."""
    storage = InMemoryStorage()
    prompt = [user("yes", id="m1"), assistant("sure?", id="m2"), user("yes", id="m3")]
    for _ in range(2):
        play(remembering(storage), Model([""]), kind, prompt)
    assert [(record.id, record.content) for record in storage.records()] == [
        ("m1", "yes"),
        ("m2", "sure?"),
        ("m3", "yes"),
    ]


@every_kind
@both_timings
def test_run_that_is_done_again_stores_nothing_twice(
    storage: InMemoryStorage, kind: str, timing: IngestionTiming
) -> None:
    """Messages without ids get the run's id and their number: the same run again adds only what it says anew."""
    memory = remembering(storage, timing=timing)
    play(memory, Model(["hi"]), kind, HELLO, run_id="run-1")
    play(memory, Model(["hi"]), kind, HELLO, run_id="run-1")
    assert texts(storage) == ["hello there", "hi"]
    play(memory, Model(["good day"]), kind, HELLO, run_id="run-1")
    assert texts(storage) == ["hello there", "hi", "good day"]
    assert all(str(record.id).startswith("run-1-") for record in storage.records())


def test_known_history_is_not_stored_again(storage: InMemoryStorage) -> None:
    """Messages of earlier turns that a run is told of are passed over, a new message of the same text is not."""
    history = [user("yes"), assistant("fine")]
    with remembering(storage).run(known=history) as run:
        called(run, Model(["noted"]), "plain", [*history, user("yes")])
    assert texts(storage) == ["yes", "noted"]


# ---- when


@every_kind
def test_prompt_is_stored_before_the_call_and_its_reply_after(storage: InMemoryStorage, kind: str) -> None:
    """ON_LLM_CALL, the default: the prompt's records are there while the model is called, the reply's come after."""
    during: list[list[str]] = []
    play(remembering(storage), Model(["hi"], during=lambda: during.append(texts(storage))), kind, HELLO)
    assert during == [["hello there"]]
    assert texts(storage) == ["hello there", "hi"]


@every_kind
@pytest.mark.parametrize(("timing", "stored"), [(IngestionTiming.ON_LLM_CALL, ["hello there"]), (COMPLETION, [])])
def test_failed_run(storage: InMemoryStorage, kind: str, timing: IngestionTiming, stored: list[str]) -> None:
    """Of a run that fails the prompt so far is stored on calls, and nothing at completion."""
    model = Model(["hi"], breaks_after_frames=1)
    with pytest.raises(Broken):
        play(remembering(storage, timing=timing), model, kind, HELLO)
    assert texts(storage) == stored


@pytest.mark.parametrize("kind", STREAMS)
def test_frames_of_a_failed_stream_are_thrown_away(storage: InMemoryStorage, kind: str) -> None:
    """A stream that fails after two frames leaves no record, nor anything in the next stream's."""
    memory = remembering(storage, extraction_strategy=roles("assistant"))
    with memory.run() as run:
        for frames in (2, None):
            model = Model(["one two three"], breaks_after_frames=frames)
            try:
                called(run, model, kind, HELLO) if kind == "stream" else asyncio.run(
                    called_async(run, model, kind, HELLO)
                )
            except Broken:
                assert frames == 2
    assert texts(storage) == ["one two three"]


@pytest.mark.parametrize("kind", STREAMS)
def test_stream_that_nobody_reads_to_its_end_is_not_stored(storage: InMemoryStorage, kind: str) -> None:
    """Who stops reading after a frame has no whole reply, so none is stored; the source is closed at once."""
    closed: list[bool] = []

    def frames(_: Any) -> Any:
        try:
            yield "one "
            yield "two"
        finally:
            closed.append(True)

    async def frames_async(_: Any) -> Any:
        for frame in frames(_):
            yield frame

    # Whoever still holds a source does not keep it open.
    source, source_async = frames(HELLO), frames_async(HELLO)

    async def read_one(run: Any) -> None:
        stream = run.wrap(lambda _: source_async)(HELLO)
        assert await anext(stream) == "one "
        await stream.aclose()
        assert closed == [True]

    with remembering(storage).run() as run:
        if kind == "stream":
            stream = run.wrap(lambda _: source)(HELLO)
            assert next(stream) == "one "
            stream.close()
        else:
            asyncio.run(read_one(run))
    assert closed == [True]
    assert texts(storage) == ["hello there"]


def test_parallel_calls_of_one_run_store_their_common_prompt_once(storage: InMemoryStorage) -> None:
    """Three calls at once with one prompt in one run: its messages are stored once, each reply too."""

    async def main() -> None:
        async with remembering(storage).run() as run:
            models = [Model([f"reply {number}"]) for number in range(3)]
            await asyncio.gather(*(called_async(run, model, "asynchronous", HELLO) for model in models))

    asyncio.run(main())
    assert sorted(texts(storage)) == ["hello there", "reply 0", "reply 1", "reply 2"]


class Slow(dict[str, Any]):
    """A message without words that takes its time when it is looked at."""

    def __repr__(self) -> str:
        time.sleep(0.02)
        return "slow"


def test_threads_of_one_run_store_their_common_prompt_once(storage: InMemoryStorage) -> None:
    """The same from eight threads that look at the prompt at the same time."""
    prompt, together = [Slow(role="user", content=""), *HELLO], threading.Barrier(8)

    def call(number: int) -> None:
        together.wait()
        called(run, Model([f"reply {number}"]), "plain", prompt)

    with remembering(storage).run() as run, futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(call, range(8)))
    assert sorted(texts(storage)) == sorted(["hello there", *(f"reply {number}" for number in range(8))])
    assert run.counts.stored == 9


# ---- by hand


@every_kind
def test_manual_storage_is_reachable_and_nothing_is_automatic(storage: InMemoryStorage, kind: str) -> None:
    """Without automatic ingestion no call stores anything, and the storage may be used by hand."""
    memory = remembering(storage, enable_automatic_ingestion=False)
    play(memory, Model(["hi"]), kind, HELLO)
    assert texts(storage) == []
    assert memory.ingestion_storage is storage
    memory.ingestion_storage.add([MemoryRecord("by hand")])
    assert texts(storage) == ["by hand"]


def test_what_is_not_configured_cannot_be_used_by_hand() -> None:
    """Asking for a storage that was never configured is a RuntimeError."""
    for name in ("ingestion_storage", "retrieval_storage"):
        with pytest.raises(RuntimeError, match="without"):
            getattr(LongTermMemory(), name)


# ---- failures


@every_kind
@both_timings
def test_failed_storing_is_logged_and_counted(
    kind: str, timing: IngestionTiming, caplog: pytest.LogCaptureFixture
) -> None:
    """By default a storage that fails costs the run nothing but a warning, which does not say what was said."""
    storage, model = Recording(failure=Broken("hello there")), Model(["hi"])
    memory = remembering(storage, timing=timing)
    with caplog.at_level(logging.DEBUG, logger="streambank_client"):
        assert play(memory, model, kind, HELLO) == ["hi"]
    assert {record.message for record in caplog.records} == {"ingestion failed"}
    assert {record.error_type for record in caplog.records} == {"Broken"}
    assert "hello" not in caplog.text


def test_message_with_an_id_that_was_lost_is_made_good() -> None:
    """What a failed storage lost is stored by the next run whose prompt has it, once, if it has an id."""
    storage = Recording(failure=Broken())
    history = [user("one", id="m1"), assistant("two", id="m2"), user("three", id="m3")]
    play(remembering(storage), Model([""]), "plain", history[:1])
    storage.failure = None
    play(remembering(storage), Model([""]), "plain", history)
    assert [record.id for record in storage.added[-1][0]] == ["m1", "m2", "m3"]


def test_counts_tell_what_became_of_records() -> None:
    """A run counts the records that were stored, refused and lost."""
    storage = Recording()
    with remembering(storage).run() as run:
        called(run, Model(["hi"]), "plain", HELLO)
        storage.failure = Broken()
        called(run, Model(["ho"]), "plain", [user("one"), user("two")])
    assert (run.counts.stored, run.counts.refused, run.counts.lost) == (2, 0, 3)

    class Choosy(Recording):
        def add(self, documents: Any, namespace: str | None = None) -> list[str]:
            return super().add(documents, namespace)[1:]

    with remembering(Choosy()).run() as run:
        called(run, Model(["hi"]), "plain", [user("one"), user("two")])
    assert (run.counts.stored, run.counts.refused) == (1, 2)


@every_kind
@both_timings
def test_failed_storing_may_fail_the_run(kind: str, timing: IngestionTiming) -> None:
    """FAIL_FAST raises IngestionError with the storage's failure as its cause."""
    failure = Broken("full")
    memory = remembering(Recording(failure=failure), timing=timing, failure_policy=FailurePolicy.FAIL_FAST)
    with pytest.raises(IngestionError) as caught:
        play(memory, Model(["hi"]), kind, HELLO)
    assert caught.value.__cause__ is failure


@every_kind
@both_timings
@pytest.mark.parametrize("policy", FailurePolicy)
def test_strategy_that_fails_fails_the_run(kind: str, timing: IngestionTiming, policy: FailurePolicy) -> None:
    """What a strategy raises reaches the caller as it is, whatever the policy, and the storage is not called."""
    storage = Recording()

    def failing(messages: Any) -> Any:
        raise Broken

    memory = remembering(storage, timing=timing, failure_policy=policy, extraction_strategy=failing)
    with pytest.raises(Broken):
        play(memory, Model(["hi"]), kind, HELLO)
    assert storage.added == []


class Shouting:
    """A strategy as a class of an application."""

    def extract(self, messages: Any) -> list[MemoryRecord]:
        return [MemoryRecord(message.text.upper(), message.id) for message in messages]


class ShoutingLater(Shouting):
    """The same, awaited."""

    async def extract(self, messages: Any) -> list[MemoryRecord]:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().extract(messages)


def test_strategy_may_be_an_object(storage: InMemoryStorage) -> None:
    """An object with `extract` makes the records, also the library's own, and also if it has to be awaited."""
    play(remembering(storage, extraction_strategy=Shouting()), Model(["hi"]), "plain", [user("ho")])
    later = remembering(storage, extraction_strategy=ShoutingLater())
    play(later, Model(["bye"]), "asynchronous", [user("now")])
    assert texts(storage) == ["HO", "HI", "NOW", "BYE"]
    assert FilteringExtractionStrategy().extract([]) == []


@pytest.mark.parametrize("policy", FailurePolicy)
@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        *itertools.product(KINDS, [asyncio.CancelledError(), futures.CancelledError()]),
        # asyncio hands an interrupt to its loop, not to who waits for the task.
        *itertools.product(["plain", "stream"], [KeyboardInterrupt()]),
    ],
)
def test_cancellation_is_never_swallowed(kind: str, failure: BaseException, policy: FailurePolicy) -> None:
    """A cancellation inside of the storage ends the run under either policy, as what it is."""
    storage = (AsyncRecording if "async" in kind else Recording)(failure=failure)
    with pytest.raises(type(failure)):
        play(remembering(storage, failure_policy=policy), Model(["hi"]), kind, HELLO)


@both_timings
def test_cancelled_task_stops_and_completes_nothing(timing: IngestionTiming) -> None:
    """A task that is cancelled while it stores ends as cancelled, and its run stores no more."""
    stored: list[Any] = []
    entered = asyncio.Event()

    class Slow(AsyncRecording):
        async def add(self, documents: Any, namespace: str | None = None) -> list[str]:
            entered.set()
            await asyncio.sleep(60)
            stored.append(documents)
            return []

    async def agent() -> None:
        async with remembering(Slow(), timing=timing).run() as run:
            await called_async(run, Model(["hi"]), "asynchronous", HELLO)

    async def main() -> None:
        task = asyncio.create_task(agent())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert stored == []


# ---- settings


def test_settings_are_checked() -> None:
    """What settings cannot mean is a ValueError when they are made."""
    storage = InMemoryStorage()
    with pytest.raises(ValueError, match="storage must be set"):
        IngestionSettings()
    with pytest.raises(ValueError, match="NOW"):
        IngestionSettings(storage=storage, timing="NOW")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="namespace"):
        IngestionSettings(storage=storage, namespace="")
    with pytest.raises(ValueError, match="RETRY"):
        IngestionSettings(storage=storage, failure_policy="RETRY")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="roles"):
        FilteringExtractionStrategy(roles={"robot"})
    with pytest.raises(ValueError, match="format"):
        LongTermMemory(format="xml")  # type: ignore[arg-type]


def test_settings_have_the_defaults_of_koog() -> None:
    """Everything but the storage has the default that Koog gives it."""
    settings = IngestionSettings(storage=InMemoryStorage())
    assert settings.extraction_strategy == FilteringExtractionStrategy(roles={"user", "assistant"})
    assert settings.timing is IngestionTiming.ON_LLM_CALL
    assert settings.enable_automatic_ingestion
    assert settings.namespace is None
    assert settings.failure_policy is FailurePolicy.LOG_AND_CONTINUE
    assert IngestionSettings(storage=InMemoryStorage(), timing="ON_AGENT_COMPLETION").timing is COMPLETION  # type: ignore[arg-type]
