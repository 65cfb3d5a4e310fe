"""Tool calls and results in what a model reads."""

from __future__ import annotations

from typing import Any

import pytest

from streambank.llm.ports import ExtractedFact, Extraction, ExtractionRequest
from streambank.model.usage import Usage
from streambank.pipeline.banks import BankChange, create_bank
from tests import aws
from tests.world import OneFactPerEvent, World, event

CALL = {"content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}
RESULT = {"content": {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "b"}}}]}}
TOOL = ['call f {"a": 1}', 'result f {"output": "b"}']
BANK = "b1"


class OneFactPerTurn(OneFactPerEvent):
    """Takes every turn for a fact, also those of tools."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        return Extraction(tuple(ExtractedFact(turn.text, (turn.number,), "") for turn in request.turns), Usage(1, 0))


@pytest.fixture
def world():
    with aws.dynamodb() as client:
        yield World(client)


def prompted(world: World, *calls: Any, config: bool | None = None) -> list[str]:
    """Return the texts of the turns of tools in the prompt of a window of *calls*, each with its setting."""
    generation = {} if config is None else {"includeToolTraffic": config}
    change = BankChange(document={"generationConfig": generation})
    create_bank(BANK, change, banks=world.banks, now=world.clock())
    for setting in calls:
        fields = {} if setting is None else {"includeToolTraffic": setting}
        world.ingest(bank=BANK, rule={"eventCount": 3}, **fields)
    world.ingest(event("I moved to Graz."), CALL, RESULT, bank=BANK)
    world.settle()
    [request] = world.extractor.requests
    assert [turn.text for turn in request.turns if turn.role == "user"] == ["I moved to Graz."]
    return [turn.text for turn in request.turns if turn.role == "tool"]


@pytest.mark.parametrize(
    ("config", "calls", "is_included"),
    [
        (None, [None], False),
        (True, [None], True),
        (True, [False], False),
        (False, [True], True),
        (None, [True, None], True),
        (None, [True, False], False),
        (None, [False, True, None], True),
    ],
)
def test_the_last_explicit_setting_of_a_window_wins(
    world: World, config: bool | None, calls: list[bool | None], is_included: bool
) -> None:
    """A call decides over its bank, a later one over an earlier one, and one that is silent over none."""
    assert prompted(world, *calls, config=config) == (TOOL if is_included else [])


def test_a_window_of_tool_traffic_alone_calls_no_model(world: World) -> None:
    """By default there is nothing to read."""
    world.ingest(CALL, RESULT)
    world.settle()
    assert world.extractor.requests == []


def test_a_fact_of_a_tool_result_alone_is_refused(world: World) -> None:
    """A result is no statement of the user where the user has words in the window."""
    world.ingest(event("I moved to Graz."), CALL, RESULT, includeToolTraffic=True)
    world.settle()
    assert world.facts() == ["I moved to Graz."]


def test_words_beside_a_tool_result_do_not_support_it(world: World) -> None:
    """In one event with both, a fact that cites the result alone is refused, and one of the words is stored."""
    parts = [RESULT["content"]["parts"][0], {"text": "I moved to Graz."}]
    world.extractor = OneFactPerTurn()
    world.ingest({"content": {"role": "user", "parts": parts}}, event("Thanks."), includeToolTraffic=True)
    world.settle()
    [request] = world.extractor.requests
    assert [turn.number for turn in request.turns] == [1, 2, 3]
    assert [turn.role for turn in request.turns] == ["user", "tool", "user"]
    assert world.facts() == ["I moved to Graz.", "Thanks."]
