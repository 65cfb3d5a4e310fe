"""Whatever both answers of a model are, a window with a usable row is done, and no memory is lost by one answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.llm.bedrock.converse import Converse
from streambank.llm.dialogue.consolidator import ModelConsolidator
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.model import ids
from streambank.model.window import WindowState
from streambank.rules.grounding import MAX_FACT_BYTES
from tests import aws
from tests.bedrock.converse_server import tool
from tests.bedrock.requests import MODELS
from tests.bedrock.test_bedrock_fuzz import decision_rows, fact_rows
from tests.world import SCOPE, World, event

KNOWN = ["I live in Graz", "I ski in winter", "Sam plays chess"]
USABLE = {"fact": "I keep bees", "events": [1], "change": "NEW"}
FEW = settings(max_examples=10 if settings.default.max_examples < 100 else 200)


class Scripted:
    """A client of Bedrock that repeats one answer for each tool, and keeps the names of the tools."""

    def __init__(self, **inputs: list[object]) -> None:
        self.inputs, self.names = inputs, list[str]()

    def converse(self, **request: object) -> object:
        name = request["toolConfig"]["tools"][0]["toolSpec"]["name"]
        self.names.append(name)
        [(key, rows)] = [one for one in self.inputs.items() if (one[0] == "facts") == (name == "record_facts")]
        return tool(name, {key: rows})[1]


def scripted_models(facts, decisions):
    """Return the models of a Bedrock that answers every question with *facts* or *decisions*."""
    client = Scripted(facts=facts, decisions=decisions)
    model = Converse(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.0))
    return ModelExtractor(model), ModelConsolidator(model)


def played(client, facts, decisions):
    """Return the world after a window about which a model answered with *facts* and *decisions*."""
    aws.empty(client)
    world = World(client)
    world.ingest(*map(event, KNOWN), forceFlush=True)
    world.settle()
    world.clock.move(days=1)
    world.extractor, world.consolidator = scripted_models(facts, decisions)
    world.ingest(event("I keep bees."), event("Forget about Sam, and no more skiing."), forceFlush=True)
    world.settle()
    return world


def named(row, key):
    value = row.get(key) if isinstance(row, dict) else None
    return str(value).upper() if isinstance(value, str) else ""


@FEW
@given(st.lists(fact_rows, max_size=4), st.lists(decision_rows, max_size=4))
def test_a_usable_row_is_a_memory_and_one_answer_deletes_nothing(emulator, facts, decisions):
    """Each candidate has a verdict with a reason, and memories go only where both answers say so."""
    world = played(emulator, [*facts, USABLE], decisions)
    window = world.windows.get("default", ids.stream_key(SCOPE, ""), 2)
    assert window.state is WindowState.DONE
    verdicts = world.plans.verdicts(window)
    assert {one.number for one in verdicts} >= set(range(len(facts) + 1))
    assert all(one.reason for one in verdicts)
    texts = [one.fact for one in world.memories.of_scope("default", SCOPE, now=world.clock())]
    assert all(len(one.encode()) <= MAX_FACT_BYTES for one in texts)
    forgets = any(named(row, "change") in ("FORGETS", "DELETE", "FORGET") for row in facts)
    forgets |= any(isinstance(row, dict) and str(row.get("fact")).strip().startswith("Forget:") for row in facts)
    if not (forgets and any(named(row, "action") == "DELETE" for row in decisions)):
        assert not [one for one in verdicts if one.verdict == "DELETED" and "part of another" not in one.reason]
