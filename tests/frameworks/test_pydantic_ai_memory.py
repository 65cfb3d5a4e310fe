"""Agents of pydantic-ai with memory: what the model is given, and what is stored, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from streambank_local.service import LocalService
from tests.frameworks.programs import Program, needs_frameworks, page_block, run_example

pytestmark = [pytest.mark.slow, needs_frameworks]
Texts = Callable[[str], list[str]]
BLOCK = "<streambank-memory>"


@pytest.fixture(scope="module")
def cases(service: LocalService) -> Iterator[Program]:
    with Program("pydantic_ai_program.py", service.base_url, page_block("pydantic-ai.md")) as program:
        yield program


def test_a_later_conversation_recalls_an_earlier_one(cases: Program, event_texts: Texts) -> None:
    """Memories are in the prompt and in no history; each message is stored once, without the traffic of tools."""
    answer = cases.ask("conversation")
    block, question = answer["prompt"]
    assert block.startswith(BLOCK)
    assert "I live in Graz" in block
    assert question == "Where do I live?"
    assert answer["history"] == ["Where do I live?"]
    assert answer["again"] == [True, True]
    assert answer["is_same_conversation"]
    assert answer["tools"] == ["recall", "remember"]
    texts = ["I live in Graz.", "Noted.", "I like tea.", "I see.", "Where do I live?", "In Graz."]
    assert event_texts(answer["user"]) == sorted(texts)


def test_awaited_and_streamed_runs(cases: Program, event_texts: Texts) -> None:
    """Awaited and streamed runs recall and store too, and without tools the model has none."""
    answer = cases.ask("awaited")
    assert answer["answer"] == "You like tea."
    assert "I like tea" in answer["prompt"][0]
    assert answer["tools"] == []
    assert event_texts(answer["user"]) == ["I like tea.", "Noted.", "What do I like?", "You like tea."]


def test_tools(cases: Program, event_texts: Texts) -> None:
    """What a model remembers, it recalls at once; without recall its prompt is the user's alone."""
    answer = cases.ask("tool_calls")
    stored, recalled = answer["returns"]
    assert stored == "It is stored."
    assert "My dog is called Rex" in recalled
    assert answer["prompt"] == ["Who is my dog?"]
    assert "My dog is called Rex." in event_texts(answer["user"])


def test_the_history_processor_alone(cases: Program, event_texts: Texts) -> None:
    """A history has one block at most, before the last prompt, and no block is ever stored."""
    answer = cases.ask("processor")
    first, second = answer["prompts"]
    assert [text.startswith(BLOCK) for text in first] == [True, False]
    assert [text.startswith(BLOCK) for text in second] == [False, True, False]
    assert answer["is_stored"]
    assert event_texts(answer["user"]) == ["In which town do I live?", "One.", "Two.", "Where do I live?"]


def test_the_code_of_the_page(cases: Program, event_texts: Texts) -> None:
    """The parts alone recall and have tools, and store nothing by themselves."""
    answer = cases.ask("page")
    assert answer["output"] == "Graz."
    assert "Lives in Graz" in answer["prompt"][0]
    assert answer["tools"] == ["recall", "remember"]
    assert event_texts(answer["user"]) == []


def test_a_service_that_is_away_breaks_no_run(cases: Program) -> None:
    """The run has no memory and no error, and its tools say what they could not do."""
    answer = cases.ask("away")
    assert answer["answer"] == "One."
    assert answer["prompt"] == ["I like tea."]
    assert answer["returns"][0].startswith("It could not be stored.")


def test_the_example_runs(service: LocalService) -> None:
    """The second run recalls what the first one said."""
    first, second = run_example("pydantic_ai_agent.py", service.base_url)
    assert first == "I live in Graz. -> Noted."
    assert second.startswith("Where do I live? -> I remember: I live in Graz.")
