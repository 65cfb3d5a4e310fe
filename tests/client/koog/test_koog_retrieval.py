"""What is remembered reaches the model for one call, and nothing else."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest
from pydantic import BaseModel

from streambank_client.koog import (
    FailurePolicy,
    IngestionSettings,
    IngestionTiming,
    InMemoryStorage,
    LongTermMemory,
    MemoryRecord,
    PromptMessage,
    RetrievalError,
    RetrievalSettings,
    SearchRequest,
    SearchResult,
    SystemPromptAugmenter,
    UserPromptAugmenter,
    last_user_message,
    with_text,
)
from tests.client.koog.agents import KINDS, Broken, Model, Recording, assistant, called, play, system, texts, user

every_kind = pytest.mark.parametrize("kind", KINDS)
LIKES = "The user likes red kites."
PROMPT = [system("be brief"), user("which kites do I like?")]


@pytest.fixture
def storage() -> InMemoryStorage:
    storage = InMemoryStorage()
    storage.add([MemoryRecord(LIKES, "likes")])
    return storage


def recalling(storage: Any, **settings: Any) -> LongTermMemory:
    return LongTermMemory(retrieval=RetrievalSettings(storage=storage, **settings))


@every_kind
def test_model_is_told_what_is_remembered(storage: InMemoryStorage, kind: str) -> None:
    """By default what matches the user's last message is added to the system message, as a marked block."""
    model = Model(["red ones"])
    play(recalling(storage), model, kind, PROMPT)
    told = model.prompts[0]
    assert told[0]["content"] == f"be brief\n\n<streambank-memory>\n- {LIKES}\n</streambank-memory>"
    assert told[1:] == PROMPT[1:]


@every_kind
@pytest.mark.parametrize("timing", IngestionTiming)
@pytest.mark.parametrize("augmenter", [SystemPromptAugmenter(), UserPromptAugmenter()])
def test_what_was_recalled_is_never_stored(
    storage: InMemoryStorage, kind: str, timing: IngestionTiming, augmenter: Any
) -> None:
    """No echo: at either timing and wherever the block was put, the records are what was really said."""
    kept, model = InMemoryStorage(), Model(["red ones", "you are welcome"])
    everything = IngestionSettings(
        storage=kept,
        timing=timing,
        extraction_strategy=lambda messages: [MemoryRecord(message.text, message.id) for message in messages],
    )
    memory = LongTermMemory(ingestion=everything, retrieval=RetrievalSettings(storage=storage, augmenter=augmenter))
    longer = [*PROMPT, assistant("red ones"), user("I like kites")]
    play(memory, model, kind, PROMPT, longer)
    assert all("<streambank-memory>" in str(prompt) for prompt in model.prompts)
    assert texts(kept) == ["be brief", "which kites do I like?", "red ones", "I like kites", "you are welcome"]


@pytest.mark.parametrize("augmenter", [SystemPromptAugmenter(), UserPromptAugmenter()])
def test_prompt_itself_is_not_changed(storage: InMemoryStorage, augmenter: Any) -> None:
    """The caller's list and messages are as they were, so that nothing recalled gets into a history."""
    prompt = copy.deepcopy(PROMPT)
    play(recalling(storage, augmenter=augmenter), Model(["red ones"]), "plain", prompt)
    assert prompt == PROMPT


def test_first_system_message_is_told(storage: InMemoryStorage) -> None:
    """Of several system messages the first is told, and of several user messages the last, and no other."""
    prompt = [*PROMPT, system("later"), user("kites?")]
    for augmenter, at in ((SystemPromptAugmenter(), 0), (UserPromptAugmenter(), 3)):
        model = Model(["a"])
        play(recalling(storage, augmenter=augmenter), model, "plain", prompt)
        assert [LIKES in message["content"] for message in model.prompts[0]] == [place == at for place in range(4)]


def test_prompt_without_a_system_message_is_left_alone(storage: InMemoryStorage) -> None:
    """The system augmenter does nothing without a system message; the user's adds to what the user said last."""
    model = Model(["a", "b"])
    play(recalling(storage), model, "plain", PROMPT[1:])
    play(recalling(storage, augmenter=UserPromptAugmenter()), model, "plain", [*PROMPT, assistant("hm")])
    assert model.prompts[0] == PROMPT[1:]
    assert LIKES in model.prompts[1][1]["content"]
    assert [model.prompts[1][at] for at in (0, 2)] == [PROMPT[0], assistant("hm")]


@every_kind
def test_search_comes_before_every_call(kind: str) -> None:
    """Each call of a run searches anew, ten results of any positive score by default."""
    storage = Recording()
    play(recalling(storage), Model(["a", "b"]), kind, PROMPT, [*PROMPT, assistant("a"), user("and blue?")])
    default = {"top_k": 10, "threshold": 0.0}
    queries = ["which kites do I like?", "and blue?"]
    assert storage.searched == [(SearchRequest(query=query, **default), None) for query in queries]


def test_settings_reach_the_storage() -> None:
    """Query, number, threshold and namespace are those of the settings."""
    storage = Recording()
    query = lambda messages: f"{len(messages)} messages"
    play(recalling(storage, query=query, top_k=3, threshold=0.5, namespace="n"), Model(["a"]), "plain", PROMPT)
    assert storage.searched == [(SearchRequest(query="2 messages", top_k=3, threshold=0.5), "n")]


def test_nothing_to_search_for_searches_nothing() -> None:
    """Without a query, as in a prompt without a user, the storage is not asked."""
    storage = Recording()
    play(recalling(storage), Model(["a"]), "plain", [system("be brief"), user("  ")])
    play(recalling(storage, query=lambda _: None), Model(["a"]), "plain", PROMPT)
    assert storage.searched == []


def test_ingestion_comes_first() -> None:
    """A prompt is stored before it is searched for, and both before the model is called."""
    order: list[str] = []

    class Noting(Recording):
        def add(self, documents: Any, namespace: str | None = None) -> list[str]:
            order.append("add")
            return super().add(documents, namespace)

        def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
            order.append("search")
            return super().search(request, namespace)

    storage = Noting()
    memory = LongTermMemory(ingestion=IngestionSettings(storage=storage), retrieval=RetrievalSettings(storage=storage))
    play(memory, Model(["hi"], during=lambda: order.append("model")), "plain", PROMPT)
    assert order == ["add", "search", "model", "add"]


def test_manual_retrieval_searches_nothing_by_itself(storage: InMemoryStorage) -> None:
    """Without automatic retrieval no prompt changes, and the storage may be searched by hand."""
    memory, model = recalling(storage, enable_automatic_retrieval=False), Model(["hm"])
    play(memory, model, "plain", PROMPT)
    assert model.prompts == [PROMPT]
    assert memory.retrieval_storage is storage


@every_kind
def test_failed_search_costs_the_call_nothing(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """By default a search that fails is logged without the query, and the model is asked as it stands."""
    model = Model(["hi"])
    with caplog.at_level(logging.DEBUG, logger="streambank_client"):
        play(recalling(Recording(failure=Broken("kites"))), model, kind, PROMPT)
    assert model.prompts == [PROMPT]
    assert [record.message for record in caplog.records] == ["retrieval failed"]
    assert "kites" not in caplog.text


def test_failed_searches_are_counted() -> None:
    """A run counts its failed searches."""
    with recalling(Recording(failure=Broken())).run() as run:
        called(run, Model(["hi"]), "plain", PROMPT)
        called(run, Model(["hi"]), "plain", PROMPT)
    assert run.counts.failed_searches == 2


@every_kind
def test_failed_search_may_fail_the_run(kind: str) -> None:
    """FAIL_FAST raises RetrievalError with the cause, and the model is not called."""
    failure, model = Broken("down"), Model(["hi"])
    memory = recalling(Recording(failure=failure), failure_policy=FailurePolicy.FAIL_FAST)
    with pytest.raises(RetrievalError) as caught:
        play(memory, model, kind, PROMPT)
    assert caught.value.__cause__ is failure
    assert model.prompts == []


def test_own_augmenter_sees_messages_and_results(storage: InMemoryStorage) -> None:
    """An augmenter is any callable that makes the messages to send of those that were read and what was found."""

    def first(messages: Any, results: Any) -> list[Any]:
        assert [message.role for message in messages] == ["system", "user"]
        return [system(results[0].document.content), *(message.raw for message in messages)]

    model = Model(["hm"])
    play(recalling(storage, augmenter=first), model, "plain", PROMPT)
    assert model.prompts == [[system(LIKES), *PROMPT]]


@pytest.mark.parametrize("part", ["query", "augmenter"])
def test_what_own_parts_raise_reaches_the_caller(storage: InMemoryStorage, part: str) -> None:
    """A query or an augmenter that fails is a fault of the program, not of a storage."""

    def failing(*_: Any) -> Any:
        raise Broken

    with pytest.raises(Broken):
        play(recalling(storage, **{part: failing}), Model(["hi"]), "plain", PROMPT)


def test_settings_are_checked() -> None:
    """What settings cannot mean is a ValueError when they are made."""
    storage = InMemoryStorage()
    with pytest.raises(ValueError, match="storage must be set"):
        RetrievalSettings()
    for settings in ({"top_k": 0}, {"top_k": 101}, {"top_k": True}, {"threshold": 2}, {"threshold": float("nan")}):
        with pytest.raises(ValueError, match="must be"):
            RetrievalSettings(storage=storage, **settings)  # type: ignore[arg-type]


def test_query_is_what_the_user_said_last() -> None:
    """The default query passes over blank messages and other roles."""
    said = [("user", "first"), ("user", "second"), ("user", " "), ("tool", "42")]
    assert last_user_message([PromptMessage(role, text) for role, text in said]) == "second"
    assert last_user_message([]) is None


class Spoken(BaseModel):
    type: str = "human"
    content: Any = "hi"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"role": "user", "content": "hi"}, {"role": "user", "content": "hi\n\nM"}),
        ({"role": "user", "content": ""}, {"role": "user", "content": "M"}),
        (
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "M"}]},
        ),
        (
            {"role": "user", "content": [{"type": "image_url"}]},
            {"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "M"}]},
        ),
        (
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "user", "content": [{"text": "hi"}, {"text": "M"}]},
        ),
        (
            {"role": "model", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "hi"}, {"text": "M"}]},
        ),
        (
            {"type": "human", "data": {"content": "hi", "id": "1"}},
            {"type": "human", "data": {"content": "hi\n\nM", "id": "1"}},
        ),
        (
            {"type": "a.Message.User", "parts": [{"type": "a.Text", "text": "hi", "x": 1}]},
            {
                "type": "a.Message.User",
                "parts": [{"type": "a.Text", "text": "hi", "x": 1}, {"type": "a.Text", "text": "M"}],
            },
        ),
        (Spoken(), Spoken(content="hi\n\nM")),
    ],
)
def test_text_is_added_in_the_shape_of_the_message(message: Any, told: Any) -> None:
    """A text is added as each format writes one, to a copy."""
    before = copy.deepcopy(message)
    assert with_text(message, "M") == told
    assert message == before


@pytest.mark.parametrize("message", ["hi", {"role": "user", "content": 5}])
def test_text_cannot_be_added_to_anything(message: Any) -> None:
    """What is no message is a TypeError that quotes nothing of it."""
    with pytest.raises(TypeError, match=r"of type (str|int)"):
        with_text(message, "M")
