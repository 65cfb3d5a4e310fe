"""The extraction types, their defaults and what they refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.strands.hooks import AgentHooks
from streambank_client.strands.triggers import IntervalTrigger, InvocationTrigger
from streambank_client.strands.types import (
    DEFAULT_MEMORY_MESSAGE_FILTER,
    ExtractionConfig,
    ExtractionResult,
    ExtractionTrigger,
    ExtractionTriggerContext,
    ExtractorContext,
    MemoryMessageFilter,
    extraction_config,
)
from tests.client.strands.talking import Shouting

TALK = {
    "role": "assistant",
    "tracking_id": "t1",
    "content": [
        {"text": "let me look"},
        {"toolUse": {"toolUseId": "1", "name": "weather", "input": {}}},
        {"image": {"format": "png", "source": {"bytes": b"i"}}},
    ],
}
RESULT = {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "status": "success", "content": []}}]}
KINDS = ["text", "toolUse", "toolResult", "image", "reasoningContent", "cachePoint"]


def fired(trigger: ExtractionTrigger, turns: int, contexts: int = 1) -> list[int]:
    """Return how often *trigger* fired in each of its contexts while an agent lived through *turns*."""
    agent, fires = AgentHooks(), [0] * contexts

    def fire(place: int) -> Any:
        def count() -> None:
            fires[place] += 1

        return count

    for place in range(contexts):
        trigger.attach(ExtractionTriggerContext(agent, fire(place)))
    for _ in range(turns):
        agent.invocation_ended()
    return fires


def test_default_filter_drops_tools() -> None:
    """The default filter takes out tool traffic and nothing else, and keeps the message's own id."""
    assert DEFAULT_MEMORY_MESSAGE_FILTER.exclude == ("toolUse", "toolResult")
    kept = DEFAULT_MEMORY_MESSAGE_FILTER.kept(TALK)
    assert kept == TALK | {"content": [TALK["content"][0], TALK["content"][2]]}


def test_filter_drops_emptied() -> None:
    """A message of which nothing is left is dropped."""
    assert DEFAULT_MEMORY_MESSAGE_FILTER.kept(RESULT) is None
    assert DEFAULT_MEMORY_MESSAGE_FILTER.kept({"role": "user", "content": []}) is None


def test_empty_filter_keeps_all() -> None:
    """A filter that excludes nothing keeps every block."""
    assert MemoryMessageFilter(exclude=[]).kept(TALK) == TALK
    assert MemoryMessageFilter(exclude=[]).kept(RESULT) == RESULT


def test_filter_reads_plain_text() -> None:
    """Content that is a string counts as one text block."""
    kept = DEFAULT_MEMORY_MESSAGE_FILTER.kept({"role": "user", "content": "hi"})
    assert kept == {"role": "user", "content": [{"text": "hi"}]}
    assert MemoryMessageFilter(exclude=["text"]).kept({"role": "user", "content": "hi"}) is None


@given(st.lists(st.sampled_from(KINDS)), st.sets(st.sampled_from(KINDS)))
def test_filter_keeps_order(kinds: list[Any], exclude: set[Any]) -> None:
    """What a filter keeps is the blocks of the other kinds, in their order, and the message itself is left alone."""
    message = {"role": "user", "content": [{kind: {"n": number}} for number, kind in enumerate(kinds)]}
    before = [*message["content"]]
    kept = MemoryMessageFilter(exclude=sorted(exclude)).kept(message)
    wanted = [block for block in before if not exclude & set(block)]
    assert (kept["content"] if kept else []) == wanted
    assert message["content"] == before


@pytest.mark.parametrize("exclude", [["tools"], ["text", "toolUses"], "text", [""]])
def test_filter_refuses_unknown(exclude: Any) -> None:
    """A kind of block that does not exist is an error, not a filter that never matches."""
    with pytest.raises(ValueError, match="kinds of content blocks"):
        MemoryMessageFilter(exclude=exclude)


@pytest.mark.parametrize("content", ["", "  \n"])
def test_result_refuses_blank(content: str) -> None:
    """A fact without content is refused where it is made."""
    with pytest.raises(ValueError, match="blank"):
        ExtractionResult(content)


def test_defaults() -> None:
    """What the seed leaves open is None: a result's metadata, a context's model, all of a config."""
    assert ExtractionResult("x").metadata is None
    assert ExtractorContext().default_model is None
    assert ExtractionConfig() == ExtractionConfig(None, None, None)
    assert ExtractionConfig().triggers == ()


def test_config_refuses_no_triggers() -> None:
    """An empty list of triggers never saves, so it is an error, in a dict too."""
    with pytest.raises(ValueError, match="empty list"):
        ExtractionConfig(trigger=[])
    with pytest.raises(ValueError, match="empty list"):
        extraction_config({"trigger": []})


def test_config_from_dict() -> None:
    """A dict and our dataclass say the same; True is the defaults, False and None are off."""
    one = InvocationTrigger()
    assert extraction_config({"trigger": one}) == ExtractionConfig(one)
    assert extraction_config(ExtractionConfig(one)) == ExtractionConfig(one)
    assert extraction_config(True) == ExtractionConfig()
    assert extraction_config(False) is None
    assert extraction_config(None) is None


def test_config_refuses_unknown_keys() -> None:
    """A misspelt key of a dict is an error."""
    with pytest.raises(ValueError, match="has no triggers"):
        extraction_config({"triggers": InvocationTrigger()})


def test_config_as_dict() -> None:
    """Strands gets a dict of what is given, and nothing that would override its defaults."""
    one, extractor = InvocationTrigger(), Shouting()
    assert ExtractionConfig().as_dict() == {}
    given = ExtractionConfig(one, extractor, MemoryMessageFilter([])).as_dict()
    assert given == {"trigger": [one], "extractor": extractor, "filter": MemoryMessageFilter([])}


def test_invocation_fires_each_turn() -> None:
    """InvocationTrigger fires after each turn."""
    assert fired(InvocationTrigger(), 3) == [3]


def test_interval_counts_apart() -> None:
    """A trigger that is attached twice counts for each by itself."""
    assert fired(IntervalTrigger(3), 7, contexts=2) == [2, 2]


@given(st.integers(1, 9), st.integers(0, 60))
def test_interval_counts(every: int, turns: int) -> None:
    """After any number of turns, IntervalTrigger has fired once for each full interval."""
    assert fired(IntervalTrigger(every), turns) == [turns // every]


@pytest.mark.parametrize("turns", [0, -1, True, False, 1.5, "3", None])
def test_interval_refuses(turns: Any) -> None:
    """Anything but a whole number of 1 or more is refused, True too."""
    with pytest.raises(ValueError, match="whole number"):
        IntervalTrigger(turns)


def test_trigger_names() -> None:
    """Both triggers have the names that Strands gives them."""
    assert (InvocationTrigger().name, IntervalTrigger(1).name) == ("invocation", "interval")
