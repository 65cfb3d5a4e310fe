"""What a step of the second answer says, where it gets its text, and what a merge or a request to forget leaves."""

from dataclasses import replace

import pytest

from streambank.model.decision import Action, Decision
from streambank.model.extraction import FactChange
from streambank.model.verdict import NEW, RESTATED, Verdict
from streambank.rules import proposals
from streambank.rules.second_answer import CHANGED, FORGOTTEN, MERGED, NOT_KEPT
from tests.rules.building import NOW, memory
from tests.rules.test_rules_second_answer import GRAZ, candidate, steps

NEAR = replace(memory("m2"), fact="I live near the Mur", as_of=NOW)
FORGET = candidate("Forget: Graz", FactChange.FORGETS, GRAZ)
FACT = candidate("I live in Graz near the Mur")


@pytest.mark.parametrize(
    ("fact", "decision", "reason"),
    [
        (FACT, Decision(1, Action.CREATE), NEW),
        (FACT, Decision(1, Action.NONE, (1,)), RESTATED),
        (FACT, Decision(1, Action.NONE), NOT_KEPT),
        (FACT, Decision(1, Action.UPDATE, (1,), "I live in Graz near the Mur"), CHANGED),
        (FORGET, Decision(1, Action.DELETE, (1,)), FORGOTTEN),
        (FORGET, Decision(1, Action.UPDATE, (1,), "I live"), FORGOTTEN),
    ],
    ids=lambda value: str(value.action) if isinstance(value, Decision) else "",
)
def test_a_step_has_the_reason_of_the_model_or_of_the_rule(fact, decision, reason):
    """Where the model says why, its reason is the verdict's; where it does not, the rule has one."""
    [without] = steps([fact], [GRAZ], decision)
    [with_one] = steps([fact], [GRAZ], replace(decision, reason="because"))
    assert (without.reason, with_one.reason) == (reason, "because")


def test_what_a_merge_ends_says_so():
    """The memory that gets the text has the model's reason, the other one that it became part of another."""
    merge = Decision(1, Action.UPDATE, (1, 2), "I live in Graz near the Mur", "both")
    [step] = steps([FACT], [GRAZ, NEAR], merge)
    assert [one.reason for one in step.all] == ["both", MERGED]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I like long walks in Graz", "I like long walks in Graz"),
        (None, "I like walks"),
        ("I own Monaco", "I like walks"),
    ],
)
def test_a_new_memory_has_the_text_of_the_answer_if_it_can_be_used(text, kept):
    """Without a text, or with one that nobody said, it has the fact's."""
    [step] = steps([candidate("I like walks")], [GRAZ], Decision(1, Action.CREATE, (), text), known={0: ["in Graz"]})
    assert (step.verdict, step.text) == (Verdict.CREATED, kept)


def test_a_change_without_a_text_has_the_fact_as_its_text():
    """The second answer may name the memory alone."""
    [step] = steps([FACT], [GRAZ], Decision(1, Action.UPDATE, (1,)))
    assert (step.verdict, step.memory_id, step.text) == (Verdict.UPDATED, "m1", FACT.fact)


@pytest.mark.parametrize("action", [Action.CREATE, Action.NONE])
def test_only_a_deletion_or_the_rest_of_a_memory_forgets(action):
    """For a request to forget another action changes no memory, whatever text it has, and makes none."""
    [step] = steps([FORGET], [GRAZ], Decision(1, action, (1,), "I live"))
    assert (step.verdict, step.memory_id) == (Verdict.REJECTED, None)


@pytest.mark.parametrize("named", [(1, 2), ()])
def test_the_rest_of_a_memory_is_that_of_one_memory(named):
    """An UPDATE of several memories, or of none, forgets nothing: one text is not the rest of both."""
    [step] = steps([FORGET], [GRAZ, NEAR], Decision(1, Action.UPDATE, named, "I live"))
    assert (step.verdict, step.memory_id) == (Verdict.REJECTED, None)


@pytest.mark.parametrize("text", ["", "  ", "I live in Monaco"])
def test_the_rest_of_a_memory_has_words_of_the_memory(text):
    """A rest that is blank, or that has a name of nowhere, is none: the memory stays as it is."""
    [step] = steps([FORGET], [GRAZ], Decision(1, Action.UPDATE, (1,), text))
    assert (step.verdict, step.memory_id) == (Verdict.REJECTED, None)


def test_a_merge_whose_text_is_refused_ends_nothing():
    """Where the first memory does not get the text, the others stay, and the fact is a memory of its own."""
    nurse = candidate("I am a nurse", FactChange.CHANGES, GRAZ, text="I live in Graz and am a nurse")
    merge = Decision(2, Action.UPDATE, (1, 2), "I live in Graz near the Mur")
    first, second = steps([nurse, FACT], [GRAZ, NEAR], merge)
    assert (first.verdict, first.memory_id) == (Verdict.UPDATED, "m1")
    assert [(one.verdict, one.text) for one in second.all] == [(Verdict.CREATED, FACT.fact)]


def test_a_merge_with_newer_memories_leaves_them():
    """A memory that is newer than the fact does not end, and where the first one is newer nothing happens."""
    newer = replace(NEAR, as_of=FACT.at.replace(year=2030))
    merge = Decision(1, Action.UPDATE, (1, 2), "I live in Graz near the Mur")
    [step] = steps([FACT], [GRAZ, newer], merge)
    assert [(one.verdict, one.memory_id) for one in step.all] == [(Verdict.UPDATED, "m1")]
    [step] = steps([FACT], [newer, GRAZ], merge)
    assert [(one.verdict, one.memory_id) for one in step.all] == [(Verdict.REJECTED, "m2")]


def test_a_fact_gets_the_sources_of_all_that_say_the_same():
    """Three facts of which two name the third are one memory with three sources."""
    first, second, third = (replace(candidate(f"My rent is 900{end}"), seqs=(n,)) for n, end in enumerate(" !?", 1))
    same = [Decision(number, Action.NONE, same_as=1) for number in (2, 3)]
    made = steps([first, second, third], [GRAZ], *same)
    assert (made[0].verdict, made[0].seqs) == (Verdict.CREATED, (2, 3))
    assert [one.verdict for one in made[1:]] == [Verdict.REJECTED] * 2


def test_a_fact_that_names_no_other_fact_is_kept():
    """The number of a fact that does not exist is no other fact: the first answer counts."""
    [step] = steps([FACT], [GRAZ], Decision(1, Action.NONE, same_as=7))
    assert (step.verdict, step.text) == (Verdict.CREATED, FACT.fact)


def test_same_as_counts_for_no_other_action():
    """A fact that is created keeps its own sources."""
    first, second = candidate("My rent is 900"), candidate("My rent is 900 euros")
    made = steps([first, second], [GRAZ], Decision(2, Action.CREATE, same_as=1))
    assert [one.verdict for one in made] == [Verdict.CREATED] * 2


def test_an_answer_that_can_be_followed_in_part_is_followed_in_part():
    """Of several decisions about one fact what is done comes first, then what belongs to the past of a memory."""
    newer = replace(NEAR, as_of=FACT.at.replace(year=2030))
    both = [Decision(1, Action.UPDATE, (number,), FACT.fact) for number in (2, 1)]
    [step] = steps([FACT], [GRAZ, newer], *both)
    assert [(one.verdict, one.memory_id) for one in step.all] == [(Verdict.UPDATED, "m1"), (Verdict.REJECTED, "m2")]
    assert step.all[1].is_late
    blank = Decision(1, Action.CREATE, text=FACT.fact)
    refused = Decision(1, Action.NONE)
    [step] = steps([FACT], [GRAZ], refused, blank)
    assert [one.verdict for one in step.all] == [Verdict.CREATED]


def test_a_doubted_merge_that_is_left_out_changes_its_first_memory():
    """Without a second answer the others stay."""
    both = candidate("I live in Graz near the Mur", FactChange.CHANGES, GRAZ, NEAR, text="I live in Graz near the Mur")
    [step] = steps([both], [GRAZ, NEAR])
    assert [(one.verdict, one.memory_id) for one in step.all] == [(Verdict.UPDATED, "m1")]


def test_a_doubt_about_a_text_needs_no_second_answer_to_keep_the_fact():
    """Only words of the fact itself that nobody said cost the fact."""
    doubted = candidate("I like walks", FactChange.NEW, doubts=(proposals.TEXT_DOUBT,))
    [step] = steps([doubted], [])
    assert (step.verdict, step.text) == (Verdict.CREATED, "I like walks")
