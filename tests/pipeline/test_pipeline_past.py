"""The past of a scope, by the whole pipeline: what was true at a time is what a replay of its events shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from streambank.llm.ports import (
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    FactChange,
)
from streambank.model.validity import Validity
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import create_memory, roll_back
from streambank.rules.edits import Edit
from tests.pipeline import test_pipeline_transfer as transfers
from tests.pipeline.looking_back import HOUR, SUBJECTS, VALUES, OneMemoryPerSubject, edit, look, made, say, texts
from tests.world import SCOPE, START

HISTORIES = st.lists(
    st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(VALUES), st.integers(0, 5)), min_size=1, max_size=5
)


@examples(max_examples=5)
@given(HISTORIES)
def test_what_was_true_is_what_a_replay_shows(emulator: Any, history: list[tuple[str, str, int]]) -> None:
    """For any events in any order of arrival, the texts at T are those of a new scope with the events until T."""
    world = made(emulator)
    for subject, value, hours_ago in history:
        say(world, f"{subject} {value}", hours_ago)
    seen = {hours_ago: texts(look(world, true_at=hours_ago)) for hours_ago in {6, *(said for *_, said in history)}}
    for hours_ago, found in seen.items():
        other = made(emulator)
        for subject, value, said in history:
            if said >= hours_ago:
                say(other, f"{subject} {value}", said)
        assert found == other.facts(), hours_ago


@examples(max_examples=5)
@given(HISTORIES)
def test_what_was_known_is_what_was_shown(emulator: Any, history: list[tuple[str, str, int]]) -> None:
    """For any events in any order of arrival, the texts known at K are those that the scope showed at K."""
    world = made(emulator)
    shown = list[tuple[datetime, list[str]]]()
    for subject, value, hours_ago in history:
        shown.append((world.clock() - timedelta(milliseconds=1), world.facts()))
        say(world, f"{subject} {value}", hours_ago)
    shown.append((world.clock(), world.facts()))
    for known_at, facts in shown:
        assert texts(look(world, known_at=known_at)) == facts


def test_older_evidence_that_comes_late_belongs_to_the_past(client):
    """It is rejected as superseded, and a revision of its own has it; today's text stays."""
    world = made(client)
    say(world, "I live in Graz", 1)
    say(world, "I live in Linz", 5)
    assert world.facts() == ["I live in Graz"]
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    late, own = world.memories.revisions("default", memory, now=world.clock())
    assert (late.number, late.fact, late.is_late, late.as_of) == (2, "I live in Linz", True, START - 5 * HOUR)
    assert own.number == 1
    assert late.vector
    assert texts(look(world, true_at=3)) == ["I live in Linz"]
    assert texts(look(world, true_at=6)) == []
    [past] = look(world, true_at=3).memories
    assert (past.revision, past.as_of, past.evidence) == (2, START - 5 * HOUR, ())


def test_a_correction_takes_the_place_of_what_was_never_true(client):
    """The wrong text is nowhere in the past by evidence, and is what was known until the correction."""
    world = made(client)
    say(world, "I live in Wien", 9)
    say(world, "I live in Graz", 6)
    known_at = world.clock()
    world.clock.move(seconds=1)
    say(world, "Correction: I live in Linz", 2)
    assert [texts(look(world, true_at=ago)) for ago in (8, 4, 1)] == [
        ["I live in Wien"],
        ["I live in Linz"],
        ["I live in Linz"],
    ]
    assert texts(look(world, known_at=known_at)) == ["I live in Graz"]
    assert texts(look(world, true_at=4, known_at=known_at)) == ["I live in Graz"]
    assert texts(look(world, known_at=START - HOUR)) == []


def test_a_callers_edit_corrects_unless_it_says_from_when_it_holds(client):
    """An edit of the text replaces it; with another start, the older text held until then."""
    world = made(client)
    say(world, "I live in Graz", 5)
    edit(world, fields={"fact"}, fact="I live in Linz")
    world.clock.move(hours=1)
    assert texts(look(world, true_at=3)) == ["I live in Linz"]
    starts = world.clock() + 2 * HOUR
    edit(world, fields={"fact", "validFrom"}, fact="I live in Wien", validity=Validity(starts))
    at = (world.clock() - START) / HOUR
    assert texts(look(world, true_at=-at - 1)) == ["I live in Linz"]
    assert texts(look(world, true_at=-at - 3)) == ["I live in Wien"]
    assert world.facts() == ["I live in Wien"]


def test_a_text_that_is_over_is_not_there(client):
    """After its end nothing is true of it, and the retrieval of today has it still."""
    world = made(client)
    edit_ = Edit({"fact", "validUntil"}, "I am in Rome", validity=Validity(None, START + HOUR))
    create_memory("default", "m1", SCOPE, edit_, repeats=lambda _: False, context=world.editing())
    assert texts(look(world, true_at=-0.5)) == ["I am in Rome"]
    assert texts(look(world, true_at=-1)) == []
    assert world.facts() == ["I am in Rome"]


def test_a_deleted_memory_has_no_past(client):
    """What was deleted is not shown as of any time; rolled back, it has its past again."""
    world = made(client)
    say(world, "I live in Graz", 5)
    say(world, "I live in Linz", 3)
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    delete_memory(
        "default",
        memory.id,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )
    assert texts(look(world, true_at=4)) == texts(look(world, known_at=world.clock())) == []
    world.clock.move(minutes=1)
    roll_back("default", memory.id, 2, context=world.editing())
    assert texts(look(world, true_at=4)) == ["I live in Graz"]
    assert texts(look(world, true_at=2)) == ["I live in Linz"]


def test_late_evidence_of_what_was_deleted_brings_nothing_back(client):
    """I11: an event that a late revision cites is among the deletion's, as is its text."""
    world = made(client)
    say(world, "I live in Graz", 1)
    say(world, "I live in Linz", 5)
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    delete_memory(
        "default",
        memory.id,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )
    say(world, "I live in Linz", 5, streamId="other")
    assert world.facts() == []


@pytest.mark.parametrize("hours", [0, 24])
def test_the_history_begins_where_no_text_is_missing(client, hours):
    """Revisions that have expired bound it: the oldest text that is left begins it."""
    world = made(client)
    for number, value in enumerate(VALUES):
        say(world, f"I live in {value}", 9 - 3 * number, revisionTtl="86400s" if number == 0 else "864000s")
    world.clock.move(hours=hours)
    view = look(world, true_at=1)
    assert view.start == START - (9 if not hours else 6) * HOUR
    assert texts(look(world, true_at=4)) == ["I live in Linz"]


def test_without_revisions_the_history_begins_with_the_text(client):
    """What is changed without a revision is lost, and the answer says so."""
    world = made(client)
    say(world, "I live in Graz", 5, disableMemoryRevisions=True)
    assert look(world, true_at=1).start == START - 5 * HOUR
    say(world, "I live in Linz", 3, disableMemoryRevisions=True)
    view = look(world, true_at=1)
    assert (texts(view), view.start, view.memories[0].revision) == (["I live in Linz"], START - 3 * HOUR, 0)
    assert texts(look(world, true_at=4)) == []
    say(world, "I live in Wien", 4, disableMemoryRevisions=True)
    assert look(world, true_at=1).start == START - 3 * HOUR


def test_the_past_goes_with_an_export(client):
    """In the bank of an import the past is the same: by evidence, by what was known, and how far it reaches."""
    world = transfers.made(client)
    world.consolidator = OneMemoryPerSubject()
    for text, hours_ago in (("I live in Graz", 9), ("I live in Wien", 2), ("I live in Linz", 5), ("I live in Wien", 1)):
        say(world, text, hours_ago)
    known_at = START + timedelta(seconds=1)
    edit(world, fields={"validUntil"}, validity=Validity(None, START + 9 * HOUR))
    transfers.imported(world, transfers.manifest_of(transfers.exported(world)))
    for moment in ({"true_at": 10}, {"true_at": 6}, {"true_at": 3}, {"known_at": known_at}, {"true_at": -9}):
        here, there = look(world, **moment), look(world, bank=transfers.OTHER, **moment)
        assert texts(here) == texts(there)
        assert here.start == there.start
    [memory] = world.memories.of_scope(transfers.OTHER, SCOPE, now=world.clock())
    assert memory.validity.end == START + 9 * HOUR


class OneCorrection:
    """A model that corrects the memory that it is shown, and says until when the text holds."""

    def __init__(self, end: datetime) -> None:
        self.end = end

    def extract(self, request: ExtractionRequest) -> Extraction:
        [turn] = request.turns
        named = tuple(one.number for one in request.memories)
        change = FactChange.CHANGES if named else FactChange.NEW
        fact = ExtractedFact(turn.text, (turn.number,), "USER_PERSONAL_INFO", change, named, turn.text if named else "")
        return Extraction((replace(fact, validity=Validity(None, self.end), is_correction=bool(named)),))


def test_a_first_answer_says_what_corrects_and_until_when(client):
    """One call of the model suffices: the memory, its revision and the past have the end and the correction."""
    world, end = made(client), START + 9 * HOUR
    world.extractor = OneCorrection(end)
    say(world, "I live in Graz", 9)
    say(world, "I live in Linz", 5)
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    newest, oldest = world.memories.revisions("default", memory, now=world.clock())
    assert (memory.fact, memory.validity) == ("I live in Linz", Validity(None, end))
    assert (newest.is_correction, newest.validity, oldest.is_correction) == (True, Validity(None, end), False)
    assert texts(look(world, true_at=7)) == ["I live in Linz"]
    assert texts(look(world, true_at=-9)) == []
