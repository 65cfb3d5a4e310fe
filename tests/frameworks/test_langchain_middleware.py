"""Agents of LangChain with the middleware: what the model is given, and what is stored, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from streambank_local.service import LocalService
from tests.frameworks.programs import Program, needs_frameworks, run_example

pytestmark = [pytest.mark.slow, needs_frameworks]
Texts = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def cases(service: LocalService) -> Iterator[Program]:
    with Program("langchain_program.py", service.base_url) as program:
        yield program


def test_a_later_conversation_recalls_an_earlier_one(cases: Program, event_texts: Texts) -> None:
    """Memories are in the system message of a call and in no message of the state; tool traffic is not stored."""
    answer = cases.ask("conversation")
    last = answer["prompts"][-1]
    assert [kind for kind, _ in last] == ["system", "human"]
    assert last[0][1].startswith("Be helpful.\n\n<streambank-memory>\n- I live in Graz")
    assert answer["state"] == [["human", "Where do I live?"], ["ai", "In Graz."]]
    assert answer["keys"] == ["messages"]
    assert {"streambank_recalled", "streambank_delivered"} <= set(answer["saved"])
    user_texts = ["What is the weather?", "I live in Graz.", "Where do I live?"]
    assert event_texts(answer["user"]) == sorted([*user_texts, "It rains.", "Noted.", "In Graz."])


def test_awaited_runs(cases: Program, event_texts: Texts) -> None:
    """An awaited run does the same, and a system message of blocks gets one more block."""
    answer = cases.ask("awaited")
    [_, system], question = answer["prompt"]
    assert "Be helpful." in system
    assert "I like tea" in system
    assert question == ["human", "What do I like?"]
    assert event_texts(answer["user"]) == ["I like tea.", "Noted.", "Tea.", "What do I like?"]


def test_streamed_runs(cases: Program, event_texts: Texts) -> None:
    """A streamed run is stored at its end, awaited or not."""
    assert event_texts(cases.ask("streamed")["user"]) == ["I like bees.", "I like tea.", "I see.", "Noted."]


def test_a_history_without_ids_is_stored_once(cases: Program, event_texts: Texts) -> None:
    """Without a checkpointer a run stores its own messages, not those that come again, and recalls none of these."""
    answer = cases.ask("no_checkpointer")
    assert [[kind for kind, _ in prompt] for prompt in answer["prompts"]] == [
        ["human"],
        ["human", "ai", "human"],
        ["human", "ai", "human", "ai", "human"],
    ]
    texts = ["I like tea.", "Noted.", "I like bees.", "I see.", "I like bread.", "Fine."]
    assert event_texts(answer["user"]) == sorted(texts)


def test_a_service_that_is_away_breaks_no_run(cases: Program, event_texts: Texts) -> None:
    """Runs have no memory and no error, and the next run of the thread stores what is missing, in its order."""
    answer = cases.ask("away")
    assert answer["answers"] == ["One.", "Two.", "Three."]
    assert answer["first"][0] == ["system", "Be helpful."]
    assert event_texts(answer["user"]) == sorted(["First.", "One.", "Second.", "Two.", "Third.", "Three."])


def test_a_run_that_fails_stores_nothing(cases: Program, event_texts: Texts) -> None:
    """The error of a model is the caller's; the thread's next run stores the message that was kept."""
    answer = cases.ask("failed")
    assert (answer["problem"], answer["answer"]) == ("the model is away", "Noted.")
    assert event_texts(answer["user"]) == ["I like bees.", "I like tea.", "Noted."]


def test_what_is_not_the_user_s_is_not_stored(cases: Program, event_texts: Texts) -> None:
    """A summary that LangChain's own middleware writes as a message of the user is left out."""
    assert event_texts(cases.ask("not_the_user")["user"]) == ["I like tea.", "Noted."]


def test_a_scope_that_can_never_be_one_breaks_no_run(cases: Program) -> None:
    """The run goes on without memory."""
    answer = cases.ask("wrong_scope")
    assert answer["answer"] == "Noted."
    assert answer["prompt"] == [["system", "Be helpful."], ["human", "I like tea."]]


def test_the_example_runs(service: LocalService) -> None:
    """The second run recalls what the first one said."""
    first, second = run_example("langchain_middleware.py", service.base_url)
    assert first == "I live in Graz. -> Noted."
    assert second.startswith("Where do I live? -> I remember: I live in Graz.")
