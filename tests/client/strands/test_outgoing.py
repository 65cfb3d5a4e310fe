"""Messages on their way: ids that make a repeat safe, calls that fit, and one bad event that stops no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.errors import InvalidArgument, PayloadTooLarge, Unavailable
from streambank_client.formats.conversion import Options, Reason
from streambank_client.formats.tool_names import ToolNames
from streambank_client.http.drivers import run
from streambank_client.strands import outgoing
from streambank_client.strands.outgoing import MOST_BYTES, MOST_EVENTS, OutgoingEvent, PreparedBatch
from streambank_client.strands.stores import AddMessagesContext
from streambank_client.types import Event
from tests.client.strands.talking import Message, assistant, user


def prepared(messages: Sequence[Message], context: AddMessagesContext, run_id: str = "run") -> PreparedBatch:
    return outgoing.prepare(messages, context, run_id=run_id, options=Options(), tool_names=ToolNames())


def ids(messages: Sequence[Message], context: AddMessagesContext, run_id: str = "run") -> list[str]:
    return [event.event_id for event in prepared(messages, context, run_id).events]


def numbered(*numbers: int, **more: Any) -> AddMessagesContext:
    return AddMessagesContext(sequence_numbers=list(numbers), **more)


def event(number: int, size: int = 100) -> OutgoingEvent:
    return OutgoingEvent(Event.from_text(str(number), event_id=str(number)), size)


# ---- ids


def test_batches_may_grow() -> None:
    """A message has the same id in a larger batch, and equal texts have different ones."""
    first = ids([user("ok"), assistant("ok")], numbered(0, 1))
    again = ids([user("ok"), assistant("ok"), user("ok")], numbered(0, 1, 5))
    assert again[:2] == first
    assert len(set(again)) == 3


def test_runs_differ() -> None:
    """The same numbers in another run are other messages."""
    assert ids([user("ok")], numbered(0), "a") != ids([user("ok")], numbered(0), "b")


def test_shared_store_differs() -> None:
    """Under Strands, which does not name the agent, what two agents say differently has different ids."""
    assert ids([user("yes")], numbered(0)) != ids([user("no")], numbered(0))


def test_run_of_the_context() -> None:
    """Under our manager, which names the run, run and number are all; a redaction does not make another message."""
    assert ids([user("4711")], numbered(3, run_id="mine")) == ["mine-3"]
    assert ids([user("[redacted]")], numbered(3, run_id="mine")) == ["mine-3"]


def test_own_ids_win() -> None:
    """A message's own id is the event's; one that is too long is hashed."""
    context = numbered(0, 1, 2, run_id="r", message_ids=["m-1", "x" * 512, "x" * 513])
    short, longest, hashed = ids([user("a"), user("b"), user("c")], context)
    assert (short, longest) == ("m-1", "x" * 512)
    assert len(hashed) == 64


def test_no_numbers() -> None:
    """Without numbers there is no telling of repeats: every call has new ids."""
    assert ids([user("a")], AddMessagesContext()) != ids([user("a")], AddMessagesContext())


@given(st.lists(st.text(max_size=5), min_size=1, max_size=20), st.integers(0, 20))
def test_ids_are_unique_and_stable(texts: list[str], cut: int) -> None:
    """Within a run no two messages share an id, and a part of a batch has the ids that the whole batch had."""
    messages = [user(text + "!") for text in texts]
    numbers = list(range(len(messages)))
    whole = ids(messages, numbered(*numbers))
    assert len(set(whole)) == len(whole)
    assert ids(messages[:cut], numbered(*numbers[:cut])) == whole[:cut]


# ---- what a message becomes


def test_reasoning_is_dropped() -> None:
    """Reasoning, cache points and guard content are left out and counted; a message of nothing else has no event."""
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
    mixed = {"role": "assistant", "content": [thought, {"cachePoint": {"type": "default"}}, {"text": "sunny"}]}
    batch = prepared([mixed, {"role": "assistant", "content": [thought]}], numbered(0, 1))
    (only,) = batch.events
    assert only.event.content.document() == {"role": "model", "parts": [{"text": "sunny"}]}
    assert batch.refused == ()
    assert batch.dropped == {Reason.REASONING: 2, Reason.UNSUPPORTED: 1, Reason.EMPTY: 1}


def test_bytes_become_base64() -> None:
    """Raw bytes travel as base64."""
    image = {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"abc"}}}]}
    (only,) = prepared([image], numbered(0)).events
    assert only.event.document()["content"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "YWJj"}}]


def test_tool_results_have_names() -> None:
    """A result that comes in a later batch has the name of the tool that was called in an earlier one."""
    names = ToolNames()
    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "weather", "input": {}}}]}
    result = {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "sun"}]}}]}
    for place, message in enumerate([call, result]):
        batch = outgoing.prepare([message], numbered(place), run_id="r", options=Options(), tool_names=names)
    response = batch.events[0].event.content.parts[0].function_response
    assert response is not None
    assert response.name == "weather"


def test_malformed_message_is_alone() -> None:
    """A message that cannot be read is refused by itself, without a word of it."""
    batch = prepared([user("a"), {"role": "user", "content": "secret"}, user("b")], numbered(0, 1, 2))
    assert [one.event.content.text for one in batch.events] == ["a", "b"]
    assert len(batch.refused) == 1
    assert "secret" not in batch.refused[0]


# ---- calls


@given(st.lists(st.integers(1, MOST_BYTES // 2), max_size=40), st.integers(0, 1_200))
def test_calls_fit(sizes: list[int], small: int) -> None:
    """Calls hold all events in order, and none has too many or too large ones."""
    events = [event(number, size) for number, size in enumerate([*sizes, *[10] * small])]
    runs = list(outgoing.call_batches(events))
    assert [one for run in runs for one in run] == events
    assert all(len(run) <= MOST_EVENTS and sum(one.size for one in run) <= MOST_BYTES for run in runs)
    assert all(runs)


class Refusing:
    """Takes a call unless it holds one of *bad*, and keeps what it took."""

    def __init__(self, bad: set[int], error: type[InvalidArgument] = InvalidArgument) -> None:
        self.bad, self.error, self.taken, self.calls = {str(number) for number in bad}, error, list[str](), 0

    def __call__(self, events: Sequence[OutgoingEvent]) -> None:
        self.calls += 1
        names = [one.event_id for one in events]
        if self.bad & set(names):
            raise self.error("events", "is bad")
        self.taken += names


@given(st.integers(1, 64), st.sets(st.integers(0, 63)), st.sampled_from([InvalidArgument, PayloadTooLarge]))
def test_poison_is_isolated(count: int, bad: set[int], error: type[InvalidArgument]) -> None:
    """Exactly the bad events are refused, all others are taken once and in order."""
    send = Refusing(bad, error)
    refused = run(outgoing.deliver([event(number) for number in range(count)], send))
    assert refused == [str(number) for number in range(count) if number in bad]
    assert send.taken == [str(number) for number in range(count) if number not in bad]


def test_poison_is_cheap() -> None:
    """One bad event among 512 takes a call for each halving and its other half, not one for each event."""
    send = Refusing({300})
    run(outgoing.deliver([event(number) for number in range(512)], send))
    assert send.calls == 2 + 2 * 9


def test_refused_call_drops_nothing() -> None:
    """Where a call without any event is refused too, the events are not to blame: the error is raised."""

    def refuse(_: Sequence[OutgoingEvent]) -> None:
        raise InvalidArgument("scope", "is wrong")

    with pytest.raises(InvalidArgument, match="scope"):
        run(outgoing.deliver([event(1), event(2)], refuse))


def test_outage_is_raised() -> None:
    """What is no event's fault is raised, also in the midst of the search for a bad one."""
    refusing, calls = Refusing({1}), 0

    def send(events: Sequence[OutgoingEvent]) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise Unavailable("busy")
        refusing(events)

    with pytest.raises(Unavailable):
        run(outgoing.deliver([event(number) for number in range(4)], send))
