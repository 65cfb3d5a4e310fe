"""Every event of a window is covered, or has one reason why it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.coverage import Coverage, NotShown
from streambank.model.event import Event, StoredEvent
from streambank.rules.coverage import coverage, not_shown_reason
from streambank.rules.prompted_parts import prompt_turns
from tests.rules.building import NOW

RECALLED = "<streambank-memory>I keep bees.</streambank-memory>"
TEXTS = st.sampled_from(["I keep bees.", "", "  ", RECALLED, f"{RECALLED} I sail."])
PARTS = st.one_of(
    TEXTS.map(lambda text: {"text": text}),
    TEXTS.map(lambda text: {"text": text, "thought": True}),
    st.sampled_from(
        [
            {"functionCall": {"name": "f"}},
            {"function_response": {"name": "f"}},
            {"inline_data": {"data": ""}},
            {"thought_signature": "x"},
            {},
        ]
    ),
)
EVENTS = st.lists(st.lists(PARTS, max_size=4), max_size=6).map(
    lambda contents: [event(*parts, seq=seq) for seq, parts in enumerate(contents, 1)]
)


def event(*parts, seq=1):
    return StoredEvent(Event("user", parts), seq, NOW)


@given(events=EVENTS, forgotten=st.sets(st.integers(1, 6)), is_disabled=st.booleans(), has_tools=st.booleans())
def test_every_event_is_counted_once(events, forgotten, is_disabled, has_tools):
    """Covered events and the others are all events of the window, and no count is 0."""
    counted = coverage(events, forgotten, is_disabled=is_disabled, include_tool_traffic=has_tools)
    assert counted.covered + sum(counted.not_covered.values()) == len(events)
    assert all(counted.not_covered.values())
    assert set(counted.not_covered) <= set(NotShown)


@given(parts=st.lists(PARTS, max_size=4), has_tools=st.booleans())
def test_an_event_is_shown_if_it_has_text_for_the_prompt(parts, has_tools):
    """An event has no reason exactly if a prompt has some text of it, whatever its other parts are."""
    for one in (event(*parts), event({"text": "I sail."}, *parts)):
        reason = not_shown_reason(one, include_tool_traffic=has_tools)
        assert (reason is None) is bool(prompt_turns(one, include_tool_traffic=has_tools))
        assert reason is not NotShown.TOOL or not has_tools


@given(events=EVENTS)
def test_what_is_forgotten_or_disabled_covers_nothing(events):
    """A bank that makes no memories covers no event; nor is one covered that a deleted memory cited."""
    assert coverage(events, (), is_disabled=True, include_tool_traffic=False).covered == 0
    everything = {one.seq for one in events}
    only = {"FORGOTTEN": len(events)} if events else {}
    assert coverage(events, everything, is_disabled=False, include_tool_traffic=False) == Coverage(0, only)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([{"text": "I sail."}], None),
        ([{"text": "I sail."}, {"functionCall": {"name": "f"}}], None),
        ([{"functionCall": {"name": "f"}}, {"inlineData": {}}], NotShown.TOOL),
        ([{"function_response": {"name": "f"}}, {"text": " "}], NotShown.TOOL),
        ([{"executable_code": {"code": "1"}}], NotShown.TOOL),
        ([{"file_data": {"file_uri": "x"}}], NotShown.MEDIA),
        ([{"text": "hm", "thought": True}], NotShown.THOUGHT),
        ([{"text": "hm", "thought": True}, {"inlineData": {}}], NotShown.MEDIA),
        ([{"text": RECALLED}], NotShown.RECALLED),
        ([{"text": " "}], NotShown.BLANK),
        ([], NotShown.BLANK),
        ([{"functionCall": None, "text": ""}], NotShown.BLANK),
    ],
)
def test_the_reason_is_what_the_event_has_instead_of_text(parts, reason):
    """An event without text for the prompt is named after its parts, tools first."""
    assert not_shown_reason(event(*parts), include_tool_traffic=False) is reason


def test_the_reasons_of_a_window_are_counted():
    """A window counts each reason; a text is disabled where the bank makes no memories."""
    events = [event({"text": "I sail."}, seq=1), event({"functionCall": {}}, seq=2), event({"text": ""}, seq=3)]
    assert coverage(events, (), is_disabled=False, include_tool_traffic=False) == Coverage(1, {"BLANK": 1, "TOOL": 1})
    assert coverage(events, {2}, is_disabled=True, include_tool_traffic=False) == Coverage(
        0, {"BLANK": 1, "DISABLED": 1, "FORGOTTEN": 1}
    )
