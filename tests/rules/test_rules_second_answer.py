"""No answer of a model deletes by itself, touches what it was not given, or loses a fact without a verdict."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.model.decision import Action, Decision
from streambank.model.extraction import FactChange
from streambank.model.plan import Candidate
from streambank.model.rule import WindowSettings
from streambank.model.verdict import SUPERSEDED, Verdict
from streambank.rules import proposals, second_answer, wording
from streambank.rules.consolidation import NOTHING_TO_FORGET
from streambank.rules.grounding import MAX_FACT_BYTES, REPEATED
from streambank.rules.second_answer import NOT_CONFIRMED, SecondAnswer
from tests.rules.building import NOW, memory

SETTINGS = WindowSettings()
GRAZ = replace(memory("m1"), fact="I live in Graz", as_of=NOW)
SAM = [
    replace(memory(f"s{n}"), fact=f"Sam {verb} chess", as_of=NOW) for n, verb in enumerate(("likes", "plays", "wins"))
]


def candidate(fact, change=None, *memories, text="", at=NOW + timedelta(days=1), doubts=()):
    ids = tuple(one.id for one in memories)
    return Candidate(fact, (1,), at, change=change, memory_ids=ids, text=text, doubts=doubts)


def steps(candidates, memories, *decisions, known=None):
    """Return the steps for *candidates*; the decisions are numbered by candidate, from 1."""
    read = {one.id: one.fingerprint for one in memories}
    proposed = proposals.propose(candidates, memories, read)
    by_index = {}
    for one in decisions:
        by_index.setdefault(one.fact - 1, []).append(one)
    indexes = {number: number - 1 for number in range(1, len(candidates) + 1)}
    return second_answer.steps(proposed, SecondAnswer(by_index, memories, known or {}, indexes), SETTINGS)


def test_one_answer_alone_never_deletes():
    """A DELETE for a fact that forgets nothing is not followed, and the fact is kept."""
    [step] = steps([candidate("I love hiking")], [GRAZ], Decision(1, Action.DELETE, (1,)))
    assert (step.verdict, step.memory_id) == (Verdict.CREATED, None)


def test_a_contradiction_is_an_update():
    """A change of a memory is done as the first answer said, where the second one would delete it."""
    moved = candidate("I live in Wien", FactChange.CHANGES, GRAZ, text="I live in Wien", doubts=(proposals.TEXT_DOUBT,))
    [step] = steps([moved], [GRAZ], Decision(1, Action.DELETE, (1,)))
    assert (step.verdict, step.memory_id, step.text) == (Verdict.UPDATED, "m1", "I live in Wien")


def test_a_second_change_keeps_what_the_first_one_made():
    """Of two changes of one memory that each begin with the old text, the later one becomes a memory of its own."""
    nurse = candidate("I am a nurse", FactChange.CHANGES, GRAZ, text="I live in Graz and am a nurse")
    cats = candidate("I have two cats", FactChange.CHANGES, GRAZ, text="I live in Graz and have two cats")
    made = steps([nurse, cats], [GRAZ])
    assert [(one.verdict, one.text) for one in made] == [
        (Verdict.UPDATED, "I live in Graz and am a nurse"),
        (Verdict.CREATED, "I have two cats"),
    ]


def test_all_that_is_meant_is_forgotten():
    """A request that both answers take for one deletes every memory that it names, each with a verdict."""
    forget = candidate("Forget: everything about Sam", FactChange.FORGETS, *SAM)
    [step] = steps([forget], SAM, Decision(1, Action.DELETE, (1, 2, 3)))
    assert [(one.verdict, one.memory_id) for one in step.all] == [(Verdict.DELETED, one.id) for one in SAM]


def test_a_part_is_forgotten():
    """An UPDATE for a request to forget leaves the rest of the memory."""
    both = replace(GRAZ, fact="I live in Graz and have two cats")
    forget = candidate("Forget: my cats", FactChange.FORGETS, both)
    [step] = steps([forget], [both], Decision(1, Action.UPDATE, (1,), "I live in Graz"))
    assert (step.verdict, step.text) == (Verdict.UPDATED, "I live in Graz")


def test_a_request_that_is_left_out_forgets_nothing():
    """Without a second answer nothing is deleted, and a verdict says so."""
    [step] = steps([candidate("Forget: Sam", FactChange.FORGETS, *SAM)], SAM)
    assert (step.verdict, step.reason) == (Verdict.REJECTED, NOTHING_TO_FORGET)


def test_words_that_nobody_said_need_a_second_answer():
    """Without one the fact is rejected; with one it is kept."""
    yachts = candidate("I own yachts in Monaco", FactChange.NEW, doubts=(proposals.FACT_DOUBT,))
    [left_out] = steps([yachts], [])
    [confirmed] = steps([yachts], [], Decision(1, Action.CREATE))
    assert (left_out.verdict, left_out.reason) == (Verdict.REJECTED, NOT_CONFIRMED)
    assert confirmed.verdict is Verdict.CREATED


def test_a_text_of_the_second_answer_that_nobody_said_gives_way_to_the_fact():
    """The fact becomes a memory of its own."""
    [step] = steps([candidate("I have a garden")], [GRAZ], Decision(1, Action.UPDATE, (1,), "I own a castle in Spain"))
    assert (step.verdict, step.text) == (Verdict.CREATED, "I have a garden")


def test_a_merge_takes_only_what_its_text_has():
    """The first memory gets the text, a memory whose words are all in it ends, and another one stays."""
    others = [replace(memory("m2"), fact="I live near the Mur"), replace(memory("m3"), fact="I have two cats")]
    fact = candidate("I live in Graz near the Mur")
    merge = Decision(1, Action.UPDATE, (1, 2, 3), "I live in Graz near the Mur")
    [step] = steps([fact], [GRAZ, *others], merge)
    assert [(one.verdict, one.memory_id, one.merged_into) for one in step.all] == [
        (Verdict.UPDATED, "m1", ""),
        (Verdict.DELETED, "m2", "m1"),
    ]


def test_equal_facts_share_their_sources():
    """A fact that says the same as another one gives it its sources; two that name each other both stay."""
    first, second = candidate("My rent is 900 euros"), replace(candidate("My rent is 900 euros now"), seqs=(2,))
    made = steps([first, second], [], Decision(2, Action.NONE, same_as=1))
    assert [(one.verdict, one.seqs, one.reason) for one in made] == [
        (Verdict.CREATED, (2,), "new"),
        (Verdict.REJECTED, (), REPEATED),
    ]
    each_other = steps([first, second], [], Decision(1, Action.NONE, same_as=2), Decision(2, Action.NONE, same_as=1))
    assert [one.verdict for one in each_other] == [Verdict.CREATED, Verdict.CREATED]
    of_none = steps([first, second], [], Decision(1, Action.NONE), Decision(2, Action.NONE, same_as=1))
    assert [one.verdict for one in of_none] == [Verdict.REJECTED, Verdict.CREATED], "its fact is kept by nobody else"


def test_older_evidence_changes_nothing():
    """A change, a deletion and a merge that are older than the memory are superseded."""
    earlier = NOW - timedelta(days=1)
    change = candidate("I live in Wien", FactChange.CHANGES, GRAZ, text="I live in Wien", at=earlier)
    forget = candidate("Forget: Graz", FactChange.FORGETS, GRAZ, at=earlier)
    made = steps([change, forget], [GRAZ], Decision(2, Action.DELETE, (1,)))
    assert [(one.verdict, one.reason) for one in made] == [(Verdict.REJECTED, SUPERSEDED)] * 2


FACTS = st.sampled_from(
    ["I live in Graz", "I live in Wien", "My rent is 900", "My rent is 950 euros", "Forget: Sam", "I own Monaco", "x"]
)
LONG = "word " * (MAX_FACT_BYTES // 4)
MEMORIES = st.lists(st.sampled_from([GRAZ, *SAM]), unique_by=lambda one: one.id, max_size=4)
PROPOSED = st.builds(
    candidate,
    FACTS,
    st.sampled_from([None, *FactChange]),
    text=st.sampled_from(["", "I live in Wien", "I own a castle in Spain", LONG]),
    at=st.sampled_from([NOW - timedelta(days=1), NOW + timedelta(days=1)]),
    doubts=st.sampled_from([(), (proposals.FACT_DOUBT,), (proposals.TEXT_DOUBT,)]),
)
NUMBERS = st.integers(-1, 9)
DECISIONS = st.builds(
    Decision,
    st.integers(1, 5),
    st.sampled_from(Action),
    st.lists(NUMBERS, max_size=4).map(tuple),
    st.sampled_from([None, "", "I live in Wien", "I own a castle in Spain", LONG]),
    st.sampled_from(["", "because"]),
    st.one_of(st.none(), NUMBERS),
)


ANSWERS = (st.lists(PROPOSED, max_size=5), MEMORIES, st.lists(DECISIONS, max_size=8), st.data())


@settings(max_examples=200)
@given(*ANSWERS)
def test_no_answer_does_harm(candidates, memories, decisions, data):
    """Whatever both answers say: each fact has a verdict, and each memory is touched for a reason that code can see."""
    check_harmless(candidates, memories, decisions, data)


@pytest.mark.slow
@settings(max_examples=2_000)
@given(*ANSWERS)
def test_two_thousand_answers_do_no_harm(candidates, memories, decisions, data):
    """The same, for many more answers."""
    check_harmless(candidates, memories, decisions, data)


def check_harmless(candidates, memories, decisions, data):
    ids = [one.id for one in memories]
    named = st.lists(st.sampled_from([*ids, "gone"]), unique=True, max_size=4)
    candidates = [replace(one, memory_ids=tuple(data.draw(named))) for one in candidates]
    made = steps(candidates, memories, *decisions)
    assert len(made) == len(candidates)
    by_id, texts = {one.id: one for one in memories}, {}
    for one, (number, fact) in zip(made, enumerate(candidates, 1), strict=True):
        allowed = {
            by_id_of(memories, n)
            for each in decisions
            if each.fact == number and each.action is Action.DELETE
            for n in each.memories
        }
        for part in one.all:
            assert part.memory_id is None or part.memory_id in by_id
            assert len((part.text or "").encode()) <= MAX_FACT_BYTES
            assert part.verdict is not Verdict.REJECTED or part.reason
            if part.verdict is Verdict.DELETED and not part.merged_into:
                assert fact.change is FactChange.FORGETS or fact.fact.startswith("Forget: ")
                assert part.memory_id in allowed
            if part.verdict is Verdict.DELETED and part.merged_into:
                assert wording.keeps(one.text, by_id[part.memory_id].fact)
            if part.verdict is Verdict.UPDATED and part.text:
                assert part.memory_id not in texts or wording.keeps(part.text, texts[part.memory_id])
                texts[part.memory_id] = part.text
            if part.memory_id and part.verdict in (Verdict.UPDATED, Verdict.DELETED) and part.text != "":
                assert fact.at >= by_id[part.memory_id].as_of


def by_id_of(memories, number):
    return memories[number - 1].id if 0 < number <= len(memories) else None
