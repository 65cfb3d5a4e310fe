"""What waits for review, and what a decision does."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import FailedPrecondition
from streambank.model.bank import BankConfig
from streambank.model.extraction import FactChange
from streambank.model.memory import Profile
from streambank.model.plan import Plan, PlanStep
from streambank.model.review import ReviewAction, ReviewCause, ReviewPolicy, ReviewState
from streambank.model.tombstone import Tombstone
from streambank.model.validity import OPEN, Validity
from streambank.model.verdict import Verdict
from streambank.rules import consolidation, reviews
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.held_steps import HeldStep, held, pinned_merges
from streambank.rules.reviews import REJECTED_BEFORE, TOO_MANY, accepted_changes, admit, check_acceptable, mark_of
from tests.rules.building import HASHES, MINUTE, NOW, candidate, memory, window

LATER = NOW + MINUTE
EXPIRES = NOW + timedelta(days=90)
EVENTS = {seq: HASHES.of_text(f"any event {seq}") for seq in range(1, 9)}
NAMES = ("m1", "m2", "m3", "m4")
EVERYTHING = ReviewPolicy(frozenset({Verdict.CREATED, Verdict.UPDATED, Verdict.DELETED}))
NOTHING = ReviewPolicy()
UNTIL = Validity(None, NOW + timedelta(days=9))


def policy(**config):
    return WindowPolicy(window(), BankConfig(**config), HASHES, EVENTS)


def review(*steps, known=(), cause=ReviewCause.PINNED, about=None, **more):
    step, by_id = HeldStep(steps, cause), {one.id: one for one in known}
    made = reviews.review_of(0, about or candidate(at=LATER), step, policy(), by_id, expires=EXPIRES, now=NOW)
    return replace(made, **more)


def update(name="m1", text="I like coffee"):
    return PlanStep(Verdict.UPDATED, name, text, reason="changed")


def merge(*names, into="m1"):
    return [PlanStep(Verdict.DELETED, name, reason="merged", merged_into=into) for name in names]


@st.composite
def memories_and_steps(draw):
    """Memories of which some are pinned, and steps of one candidate, each for another memory, merges among them."""
    known = {name: memory(name, f"text of {name}", pinned=draw(st.booleans())) for name in NAMES}
    names = draw(st.permutations(NAMES))[: draw(st.integers(0, 4))]
    texts = st.sampled_from([None, "text of m1", "text of m2", "another text", ""])
    steps = list[PlanStep]()
    for name in names:
        verdict = draw(st.sampled_from(Verdict))
        into = draw(st.sampled_from(("", *NAMES))) if verdict is Verdict.DELETED else ""
        steps.append(PlanStep(verdict, name, draw(texts), merged_into=into if into != name else ""))
    return known, [*steps, *draw(st.lists(st.just(PlanStep(Verdict.CREATED, text="new")), max_size=1))]


# ---- what is held back


@given(memories_and_steps(), st.sampled_from([NOTHING, EVERYTHING]))
def test_no_step_that_is_carried_out_changes_a_pinned_memory(known_and_steps, wanted):
    """Whatever the steps are, those that remain leave the text, the metadata and the life of a pinned memory alone."""
    known, steps = known_and_steps
    merges = pinned_merges(Plan(1, 0, tuple(steps), {}), known)
    about = candidate(at=LATER, topics=("OTHER",))
    result = held(about, steps, known, wanted, merges)
    for step in result:
        if isinstance(step, HeldStep):
            continue
        before = known.get(step.memory_id)
        change = consolidation.change(policy(generate_updated_ttl=MINUTE), "new", about, step, before, now=LATER)
        if before and before.pinned and change:
            assert change.after == replace(
                before, evidence=change.after.evidence, as_of=LATER, statements=change.after.statements
            )
        assert not (step.merged_into in known and known[step.merged_into].pinned)
        assert not (wanted is EVERYTHING and step.verdict in (Verdict.CREATED, Verdict.DELETED))
    flat = [part for step in result for part in (step.steps if isinstance(step, HeldStep) else [step])]
    assert {(one.memory_id, one.merged_into) for one in flat} == {(one.memory_id, one.merged_into) for one in steps}


@given(memories_and_steps())
def test_without_pins_and_policy_nothing_waits(known_and_steps):
    """Every step of memories that nobody pinned, of a bank without a policy, is carried out as it is, in any order."""
    known, steps = known_and_steps
    free = {name: replace(one, pinned=False) for name, one in known.items()}
    assert sorted(map(repr, held(candidate(), steps, free, NOTHING))) == sorted(map(repr, steps))


@pytest.mark.parametrize("pinned", NAMES[:3])
def test_a_merge_waits_as_a_whole(pinned):
    """Where one of the memories is pinned, nothing of the merge is done, also where a plan has divided it."""
    known = {name: memory(name, pinned=name == pinned) for name in NAMES[:3]}
    steps = [update(), *merge("m2", "m3")]
    [waiting] = held(candidate(), steps, known, NOTHING)
    assert waiting == HeldStep(tuple(steps), ReviewCause.PINNED)
    plan = Plan(1, 0, (replace(update(), others=tuple(merge("m2"))), *merge("m3")), {})
    for step in plan.steps:
        assert all(
            isinstance(one, HeldStep) for one in held(candidate(), step.all, known, NOTHING, pinned_merges(plan, known))
        )


@pytest.mark.parametrize(
    ("wanted", "about", "waits"),
    [
        (ReviewPolicy(frozenset({Verdict.UPDATED})), (), True),
        (ReviewPolicy(frozenset({Verdict.DELETED})), (), False),
        (ReviewPolicy(frozenset({Verdict.UPDATED}), frozenset({"A"})), (), False),
        (ReviewPolicy(frozenset({Verdict.UPDATED}), frozenset({"A"})), ("A",), True),
        (ReviewPolicy(frozenset({Verdict.UPDATED}), frozenset({"B"})), ("A",), True),  # the memory's own topic
    ],
)
def test_a_policy_holds_what_it_names(wanted, about, waits):
    """Verdict and topic of the fact, or of the memory, decide."""
    known = {"m1": memory(topics=("B",))}
    [step] = held(candidate(topics=about), [update()], known, wanted)
    assert isinstance(step, HeldStep) is waits
    [restated] = held(candidate(topics=("A",)), [PlanStep(Verdict.UPDATED, "m1")], known, wanted)
    assert isinstance(restated, PlanStep), "what changes no text is not reviewed"


# ---- which reviews are kept


def test_the_same_change_is_one_review():
    """Another spelling, another window and other events are the same change; another text or memory is not."""
    one = review(update(), known=[memory()])
    again = review(update(text="I  like coffee."), known=[memory()], about=candidate(at=NOW, seqs=(2,)))
    assert again.id == one.id
    joined = admit(again, {one.id: one})
    assert [evidence.seqs for evidence in joined.evidence] == [(1, 2)]
    assert joined.at == LATER
    others = [review(update(text="I like tea"), known=[memory()]), review(update("m2"), known=[memory("m2")])]
    assert len({one.id, *(other.id for other in others)}) == 3


def test_the_same_events_do_not_propose_again_what_was_rejected():
    """A mark refuses its own events alone: a further one, or one without id and time, proposes anew."""
    one = review(update(), known=[memory()])
    mark = mark_of(one, ReviewState.REJECTED, ["m1"])
    assert (mark.text, mark.fact, mark.evidence) == ("", "", ())
    assert admit(one, {one.id: mark}) == REJECTED_BEFORE
    both = review(update(), known=[memory()], about=candidate(seqs=(1, 2)))
    assert admit(both, {one.id: mark}).state is ReviewState.OPEN
    nameless = review(update(), known=[memory()], about=candidate(seqs=(99,)))
    assert admit(nameless, {one.id: mark}).state is ReviewState.OPEN
    second = mark_of(admit(both, {one.id: mark}), ReviewState.REJECTED, ["m1"])
    assert admit(one, {one.id: second}) == REJECTED_BEFORE


def test_a_scope_has_a_bounded_number_of_reviews():
    """The 501st is refused, a repetition is not; beyond 500 marks the oldest goes."""
    known = {str(number): review(update(), known=[memory()], id=str(number)) for number in range(500)}
    assert admit(review(update("m2"), known=[memory("m2")]), known) == TOO_MANY
    assert admit(known["7"], known).id == "7"
    marks = [
        mark_of(replace(one, created=NOW + MINUTE * int(name)), ReviewState.REJECTED, []) for name, one in known.items()
    ]
    assert [one.id for one in reviews.dropped_marks(marks)] == ["0"]
    assert reviews.dropped_marks([*marks[1:], *known.values()]) == []


def test_a_review_expires_with_its_memory():
    """A review is kept no longer than the memory that it would change."""
    assert review(update(), known=[memory(expires=LATER)]).expires == LATER
    assert review(update(), known=[memory()]).expires == EXPIRES


# ---- decisions


def accepted(waiting, known):
    by_id = {one.id: one for one in known}
    return accepted_changes(waiting, by_id, policy(generate_updated_ttl=MINUTE), b"vector", "new", now=LATER)


def test_an_acceptance_changes_a_pinned_memory_that_stays_pinned():
    """The text and the evidence are new, with a revision; the pin and the expiry of a pinned memory are not."""
    known = memory(pinned=True)
    [change] = accepted(review(update(), known=[known]), [known])
    after = change.after
    assert (after.fact, after.vector, after.pinned, after.expires) == ("I like coffee", b"vector", True, None)
    assert after.evidence[0].hashes == (EVENTS[1],)
    assert change.revision.fact == "I like coffee"


@pytest.mark.parametrize(
    ("step", "about"),
    [
        (PlanStep(Verdict.CREATED, text="I am in Rome", validity=UNTIL), candidate("I am in Rome", at=LATER)),
        (replace(update(), validity=UNTIL), candidate(at=LATER)),
        (replace(update(), is_correction=True), candidate(at=LATER)),
        (update(text="I like"), candidate("Do not remember tea", at=LATER, change=FactChange.FORGETS)),
        (PlanStep(Verdict.DELETED, "m1"), candidate("Forget: tea", at=LATER)),
    ],
)
@pytest.mark.parametrize("known", [memory(validity=UNTIL, revision=3), memory()])
def test_an_acceptance_is_what_a_generation_would_have_done(step, about, known):
    """When the text holds, whether it corrects, and what is hidden of the past are as without a review."""
    step = replace(step, vector=b"vector" if step.text else b"")
    before = known if step.memory_id else None
    direct = consolidation.change(policy(generate_updated_ttl=MINUTE), "new", about, step, before, now=LATER)
    assert accepted(review(step, known=[known], about=about), [known]) == [direct]


def test_the_newer_proposal_says_when_a_text_holds():
    """Of two proposals of one change the newer evidence counts, in any order, and the older where it does not say."""
    silent, says, other = (
        review(replace(update(), validity=validity), known=[memory()], about=candidate(at=at, seqs=(seq,)))
        for seq, (validity, at) in enumerate([(OPEN, LATER), (UNTIL, NOW), (Validity(NOW), LATER)], 1)
    )
    for first, second, expected in ((silent, says, UNTIL), (says, other, Validity(NOW))):
        for one, two in ((first, second), (second, first)):
            assert admit(two, {one.id: one}).validity == expected


def test_an_accepted_merge_is_pinned_if_any_part_was():
    """What a pinned memory becomes part of is pinned; the others end as merged."""
    known = [memory("m1"), memory("m2", pinned=True), memory("m3")]
    waiting = review(update(), *merge("m2", "m3"), known=known)
    assert waiting.action is ReviewAction.MERGE
    first, *others = accepted(waiting, known)
    assert (first.after.id, first.after.pinned) == ("m1", True)
    assert [(one.after.id, one.tombstone.is_merge) for one in others] == [("m2", True), ("m3", True)]


def test_an_accepted_deletion_has_the_time_of_its_evidence():
    """What is said after the request may be learnt again."""
    known = memory(pinned=True)
    [change] = accepted(review(PlanStep(Verdict.DELETED, "m1"), known=[known], at=NOW), [known])
    assert (change.after.deleted, change.tombstone.at) == (LATER, NOW)


def test_an_accepted_profile_has_the_times_of_its_fields():
    """A pinned profile gets the whole data that the review shows, and the field that changed its time."""
    known = memory(fact='{"diet":"vegan"}', profile=Profile("food", {"diet": NOW}), pinned=True)
    about = candidate('{"diet":"none"}', at=LATER, profile="food")
    waiting = review(update(text='{"diet":"none"}'), known=[known], about=about)
    assert waiting.profile == "food"
    [change] = accepted(waiting, [known])
    assert (change.after.fact, change.after.profile) == ('{"diet":"none"}', Profile("food", {"diet": LATER}))
    created = review(PlanStep(Verdict.CREATED, text='{"diet":"none"}'), about=about)
    with pytest.raises(FailedPrecondition, match="by now"):
        check_acceptable(created, {"m1": known}, (), HASHES)


def test_a_review_of_another_text_is_refused():
    """A memory that changed or went refuses the acceptance; a pin, a name and another spelling do not."""
    waiting = review(update(), known=[memory()])
    for same in (memory(pinned=True, display_name="x", updated=LATER), memory(fact="i like tea.")):
        check_acceptable(waiting, {"m1": same}, (), HASHES)
    for other in ({"m1": memory(fact="I like cocoa")}, {}):
        with pytest.raises(FailedPrecondition, match="has changed"):
            check_acceptable(waiting, other, (), HASHES)


@pytest.mark.parametrize(
    ("events", "texts", "at"),
    [({EVENTS[1]}, (), NOW), ((), {HASHES.of_text("I like coffee")}, LATER + MINUTE)],
)
def test_a_deletion_refuses_the_acceptance_of_what_was_said_before(events, texts, at):
    """A tombstone of all its events, or of its text and later than its evidence, is not undone by an acceptance."""
    waiting = review(PlanStep(Verdict.CREATED, text="I like coffee"))
    tombstone = Tombstone("m9", at, frozenset(events), frozenset(texts), EXPIRES)
    with pytest.raises(FailedPrecondition, match="deleted"):
        check_acceptable(waiting, {}, [tombstone], HASHES)
    check_acceptable(waiting, {}, [replace(tombstone, events=frozenset(), texts=frozenset())], HASHES)


def test_what_is_there_is_not_created_again():
    """A text that the scope has by now, or a profile of the schema, refuses the acceptance."""
    waiting = review(PlanStep(Verdict.CREATED, text="I like tea"))
    with pytest.raises(FailedPrecondition, match="by now"):
        check_acceptable(waiting, {"m1": memory(fact="i like tea.")}, (), HASHES)
