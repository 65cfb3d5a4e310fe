"""The texts of a memory in the order of their evidence."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.bank import BankConfig
from streambank.model.extraction import FactChange
from streambank.model.memory import Revision
from streambank.model.rule import WindowSettings
from streambank.model.validity import Moment, Statement, Validity
from streambank.rules import consolidation, history, timeline
from streambank.rules.consolidation import WindowPolicy
from tests.rules.building import HASHES, NOW, candidate, memory, window

DAY = timedelta(days=1)
QUIET = WindowSettings()


class Past:
    """A memory and its stored revisions, told one statement after another."""

    def __init__(self):
        self.memory, self.revisions, self.told = None, {}, 0

    def tell(self, text, day, validity=None, *, is_correction=False, change=None):
        """Let a window state *text* as of *day*; it is learnt an hour after the one before."""
        self.told += 1
        now = NOW + 99 * DAY + self.told * timedelta(hours=1)
        one = candidate(
            text, at=NOW + day * DAY, validity=validity or Validity(), is_correction=is_correction, change=change
        )
        policy = WindowPolicy(window(number=self.told), BankConfig(), HASHES)
        step = (
            consolidation.update_step(one, self.memory, text, "changed", QUIET)
            if self.memory
            else consolidation.create_step(one)
        )
        made = consolidation.change(policy, "m1", one, step, self.memory, now=now)
        for revision in made.stored_revisions(now) if made else ():
            self.revisions[revision.number] = revision
        self.memory = made.after if made else self.memory
        return now

    @property
    def all(self):
        whole = self.memory.whole_revision
        return [*self.revisions.values(), whole]

    def at(self, day=None, known=None):
        moment = Moment(None if day is None else NOW + day * DAY, known)
        found = timeline.memory_at(self.memory, self.all, moment)
        return found and found.fact


def told(*statements):
    past = Past()
    for text, day in statements:
        past.tell(text, day)
    return past


STATEMENTS = st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 9)), min_size=1, max_size=9)


@given(STATEMENTS)
def test_the_newest_evidence_until_then_decides(statements):
    """For statements in any order, the text at T is that of the newest evidence until T, ties as they were learnt."""
    past = told(*statements)
    for day in range(-1, 10):
        until = [(at, number, text) for number, (text, at) in enumerate(statements) if at <= day]
        assert past.at(day) == (max(until)[2] if until else None)


@given(STATEMENTS)
def test_what_was_known_is_the_text_of_then(statements):
    """For statements in any order, the text known at K is the one that the memory had at K, as of any time too."""
    past, texts = Past(), []
    for text, day in statements:
        texts.append((past.tell(text, day), past.memory.fact))
    for index, (known, text) in enumerate(texts):
        assert past.at(known=known) == text
        assert past.at(5, known) == told(*statements[: index + 1]).at(5)
    assert past.at(known=NOW) is None


@given(STATEMENTS)
def test_a_whole_history_has_no_bound(statements):
    """As long as every revision is there, no text is missing, and the oldest evidence is known."""
    past = told(*statements)
    assert timeline.whole_since(past.memory, past.all) is None
    assert timeline.first_evidence(past.memory, past.all) == NOW + min(day for _, day in statements) * DAY


@given(STATEMENTS, st.sets(st.integers(1, 9)))
def test_from_its_start_on_a_history_is_right(statements, lost):
    """Whatever revisions are gone, the texts from the start of the history on are those of the whole one."""
    past = told(*statements)
    left = [one for one in past.all if one.number not in lost]
    start = timeline.whole_since(past.memory, left)
    for day in range(10):
        if start is None or NOW + day * DAY >= start:
            found = timeline.memory_at(past.memory, left, Moment(NOW + day * DAY))
            assert (found and found.fact) == past.at(day)


def test_a_correction_takes_the_whole_place_of_a_text():
    """It holds from when the wrong text was said first, however often that was said again."""
    past = told(("A", 0), ("B", 2), ("B", 4))
    past.tell("C", 6, is_correction=True)
    assert [past.at(day) for day in (1, 2, 5, 6)] == ["A", "C", "C", "C"]
    past.tell("D", 8)
    assert [past.at(day) for day in (7, 8)] == ["C", "D"]


def test_a_text_of_the_future_leaves_the_older_one_until_it_begins():
    """ "From the 5th" is said on the 2nd: until the 5th the older text holds; after its end nothing does."""
    past = told(("A", 0))
    past.tell("B", 2, Validity(NOW + 5 * DAY, NOW + 7 * DAY))
    assert [past.at(day) for day in (1, 3, 5, 6, 7)] == ["A", "A", "B", "B", None]
    assert past.memory.fact == "B"


def test_an_end_that_is_said_later_counts_for_the_same_text():
    """The same words with another end make a revision, and the text holds from its first evidence on."""
    past = told(("A", 0))
    past.tell("A", 2, Validity(None, NOW + 4 * DAY))
    assert (past.memory.revision, past.memory.validity.end) == (2, NOW + 4 * DAY)
    assert [past.at(day) for day in (1, 3, 4)] == ["A", "A", None]


def test_the_found_text_shows_its_own_times():
    """A past memory has the time, the validity, the vector and the number of its revision, and no later evidence."""
    past = told(("A", 0), ("B", 2))
    found = timeline.memory_at(past.memory, past.all, Moment(NOW + DAY))
    first = past.revisions[1]
    assert (found.as_of, found.updated, found.revision, found.evidence) == (NOW, first.created, 1, ())
    assert found.created == past.memory.created


@pytest.mark.parametrize("has_revision", [True, False])
def test_a_memory_of_an_earlier_release_is_read(has_revision):
    """Its revisions count from their creation, its text from its newest evidence."""
    old = memory(fact="B", as_of=NOW + 2 * DAY, updated=NOW + 3 * DAY, revision=2)
    revisions = [Revision("m1", 1, "A", NOW, None)]
    if has_revision:
        revisions.append(Revision("m1", 2, "B", NOW + 3 * DAY, None))
    texts = [timeline.memory_at(old, revisions, Moment(NOW + day * DAY)) for day in (-1, 1, 2)]
    assert [one and one.fact for one in texts] == [None, "A", "B"]
    assert texts[2].revision == (2 if has_revision else 0)


def test_a_text_keeps_few_statements():
    """However often a text is said, a memory keeps the first statement, the oldest and the newest of it."""
    many = memory()
    for number in range(3 * history.MAX_STATEMENTS):
        many = history.with_statement(many, NOW + ((7 * number) % 99 - 50) * DAY, now=NOW)
    assert len(many.statements) == history.MAX_STATEMENTS
    assert many.statements[0] == Statement(NOW, NOW)
    assert {min(one.at for one in many.statements), max(one.at for one in many.statements)} == {
        NOW - 50 * DAY,
        NOW + 48 * DAY,
    }


def test_fields_of_a_profile_have_their_own_past():
    """Each field has its newest value until then, also where another field's evidence is newer."""
    past = Past()
    one = candidate('{"a":1}', at=NOW, profile="p")
    policy = WindowPolicy(window(), BankConfig(), HASHES)
    made = consolidation.change(policy, "m1", one, consolidation.create_step(one), None, now=NOW + 99 * DAY)
    past.memory = made.after
    for number, (text, day) in enumerate([('{"b":5}', 5), ('{"b":3}', 3), ('{"a":7}', 7), ('{"a":4}', 4)], 1):
        other = candidate(text, at=NOW + day * DAY, profile="p")
        step = consolidation.profiles.plan_step(other, past.memory)
        now = NOW + (99 + number) * DAY
        made = consolidation.change(policy, "", other, step, past.memory, now=now)
        for revision in made.stored_revisions(now):
            past.revisions[revision.number] = revision
        past.memory = made.after
    values = [past.at(day) for day in (-1, 0, 3, 4, 5, 7)]
    assert values == [None, '{"a":1}', '{"a":1,"b":3}', '{"a":4,"b":3}', '{"a":4,"b":5}', '{"a":7,"b":5}']


@given(STATEMENTS)
def test_what_was_to_be_forgotten_is_shown_as_of_no_time(statements):
    """Once a part is forgotten, the texts before are in no answer, whatever comes later."""
    past = told(*statements)
    past.tell("D", 9, change=FactChange.FORGETS)
    for day in (None, *range(11)):
        assert past.at(day) in (None, "D")
        assert past.at(day, NOW + 99 * DAY + timedelta(hours=len(statements))) is None
    assert timeline.whole_since(past.memory, past.all) is None
    past.tell("E", 10)
    assert [past.at(day) for day in (8, 9, 10)] == [None, "D", "E"]


def test_a_number_of_any_size_is_counted_at_once():
    """An import may bring any number of a revision: what is missing below it is not counted one by one."""
    many = history.with_first_text(memory(revision=10**12), None)
    assert timeline.whole_since(many, []) == NOW


def test_what_is_lost_without_a_revision_begins_the_history():
    """A text that was replaced while revisions were off is gone: the history begins with the next one."""
    before = history.with_first_text(memory(), None)
    after = history.with_next_text(before, replace(before, fact="B"), None, NOW + DAY, now=NOW + DAY)
    assert timeline.whole_since(replace(after, revision=0), []) == NOW + DAY
