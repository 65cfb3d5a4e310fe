import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.bank import BankConfig
from streambank.model.memory import Evidence
from streambank.model.metadata import MergeStrategy
from streambank.model.plan import PlanStep
from streambank.model.rule import WindowSettings
from streambank.model.validity import Statement
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.rules import consolidation, verdicts
from streambank.rules.consolidation import WindowPolicy, change
from streambank.rules.evidence import newest_evidence
from streambank.rules.new_ids import NewIds
from streambank.store.memory_items import memory_values
from tests.rules.building import HASHES, MINUTE, NOW, SCOPE, STREAM, candidate, memory, settings_said, window

QUIET = WindowSettings()
LATER = NOW + MINUTE
EARLIER = NOW - MINUTE
RED, BLUE = {"colour": "red"}, {"colour": "blue"}
EVENT_HASHES = {2: HASHES.of_text("any two"), 3: HASHES.of_text("any three")}


def policy(settings=QUIET, number=1, **config):
    return WindowPolicy(window(settings=settings, number=number), BankConfig(**config), HASHES, EVENT_HASHES)


def applied(step, known=None, *, settings=QUIET, about=None, number=0, now=LATER, at=1):
    new_id = NewIds(b"s", window()).of(number)
    return change(policy(settings, number=at), new_id, about or candidate(at=LATER), step, known, now=now)


# ---- steps


def test_a_new_fact_is_created():
    """A candidate becomes a memory with its own text, or with the one that the model gave it."""
    assert consolidation.create_step(candidate("a")) == PlanStep(Verdict.CREATED, text="a", reason="new")
    assert consolidation.create_step(candidate("a"), "b", "why") == PlanStep(Verdict.CREATED, text="b", reason="why")


def test_a_refused_candidate_is_never_created():
    """A candidate that was refused before keeps its reason."""
    assert consolidation.create_step(candidate("a", rejected="blank")) == PlanStep(Verdict.REJECTED, reason="blank")


def test_a_request_to_forget_never_becomes_a_memory():
    """Where there is nothing to forget, the request itself is not remembered."""
    step = consolidation.create_step(candidate("Forget: my address"))
    assert step == PlanStep(Verdict.REJECTED, reason=consolidation.NOTHING_TO_FORGET)


def test_an_update_changes_the_text():
    """New evidence gives a memory a new text and its reason."""
    step = consolidation.update_step(candidate(at=LATER), memory(), "I like coffee", "changed", QUIET)
    assert step == PlanStep(Verdict.UPDATED, "m1", "I like coffee", reason="changed")


def test_evidence_of_the_same_instant_may_update():
    """Only strictly older evidence is superseded."""
    assert consolidation.update_step(candidate(at=NOW), memory(), "x", "", QUIET).verdict is Verdict.UPDATED


@pytest.mark.parametrize("act", ["update", "delete"])
def test_older_evidence_neither_changes_nor_deletes(act):
    """What a redriven window says against newer evidence is rejected as superseded."""
    old = candidate(at=EARLIER)
    if act == "update":
        step = consolidation.update_step(old, memory(), "other", "changed", QUIET)
    else:
        step = consolidation.delete_step(old, memory(), "asked")
    late_text = "other" if act == "update" else None  # for the past of the memory
    assert step == PlanStep(Verdict.REJECTED, "m1", late_text, reason=consolidation.SUPERSEDED)
    assert step.is_late == (act == "update")


def test_an_update_to_the_same_text_only_restates():
    """A model that updates a memory to what it says already changes nothing."""
    step = consolidation.update_step(candidate(at=NOW), memory(), "I like tea", "changed", QUIET)
    assert (step.verdict, step.reason) == (Verdict.UNCHANGED, consolidation.RESTATED)


def test_restating_renews_evidence_or_metadata_at_most():
    """A restated fact is unchanged unless its evidence is newer or its metadata differ."""
    known = memory(metadata=RED, vector=b"v")
    said = [
        consolidation.restate_step(candidate(at=at), known, WindowSettings(metadata=metadata)).verdict
        for at, metadata in ((NOW, None), (EARLIER, RED), (LATER, None), (NOW, BLUE))
    ]
    assert said == [Verdict.UNCHANGED, Verdict.UNCHANGED, Verdict.UPDATED, Verdict.UPDATED]


def test_a_deletion_names_its_memory():
    """A request to forget deletes the memory that it is about."""
    assert consolidation.delete_step(candidate(at=NOW), memory(), "asked") == PlanStep(
        Verdict.DELETED, "m1", reason="asked"
    )


# ---- what is left of a step whose memory is gone


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (
            PlanStep(Verdict.UPDATED, "m1", "new text", b"v", "r"),
            PlanStep(Verdict.CREATED, None, "new text", b"v", "r"),
        ),
        (PlanStep(Verdict.UNCHANGED, "m1", "same", b"v", "r"), PlanStep(Verdict.CREATED, None, "same", b"v", "r")),
        (PlanStep(Verdict.UPDATED, "m1", None), PlanStep(Verdict.CREATED, None, "I like coffee")),
        (PlanStep(Verdict.DELETED, "m1"), PlanStep(Verdict.REJECTED, reason=consolidation.NOTHING_TO_FORGET)),
        (PlanStep(Verdict.REJECTED, "m1", reason="r"), PlanStep(Verdict.REJECTED, "m1", reason="r")),
        (PlanStep(Verdict.CREATED, text="x"), PlanStep(Verdict.CREATED, text="x")),
    ],
)
def test_a_fact_outlives_the_memory_it_was_about(step, left):
    """A memory that expired or was forgotten meanwhile is made anew from what was said, never deleted twice."""
    assert consolidation.revise_step(candidate(), step, set()) == left
    assert consolidation.revise_step(candidate(), step, {"m1"}) == step


# ---- metadata

maps = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2).map(float), max_size=3)


@given(current=maps, said=maps, strategy=st.none() | st.sampled_from(MergeStrategy))
def test_metadata_strategies(current, said, strategy):
    """MERGE is a union in which the new value wins; by default and otherwise the new map replaces the old one."""
    merged = WindowSettings(metadata=said, merge_strategy=strategy).merged(current)
    assert merged == ({**current, **said} if strategy is MergeStrategy.MERGE else said)
    assert WindowSettings(merge_strategy=strategy).merged(current) == current


# ---- changes


def test_a_creation_is_complete():
    """A new memory has its scope, topics, metadata, vector, evidence and first revision."""
    settings = WindowSettings(metadata=RED, revision_labels={"source": "321"})
    about = candidate("I like coffee", at=EARLIER, seqs=(2, 3), topics=("USER_PREFERENCES",))
    made = applied(
        PlanStep(Verdict.CREATED, text="I like coffee!", vector=b"v"), settings=settings, about=about, number=4
    )
    assert made.before is None
    assert made.after.id == NewIds(b"s", window()).of(4)
    assert (made.after.fact, made.after.scope, made.after.vector) == ("I like coffee!", SCOPE, b"v")
    assert (made.after.created, made.after.updated, made.after.as_of) == (LATER, LATER, EARLIER)
    assert (made.after.topics, made.after.metadata) == (("USER_PREFERENCES",), RED)
    assert made.after.evidence == (Evidence(STREAM.sid, 1, (2, 3), (EVENT_HASHES[2], EVENT_HASHES[3])),)
    assert (made.revision.number, made.revision.fact, made.revision.labels) == (1, "I like coffee!", {"source": "321"})
    assert (made.revision.memory_id, made.revision.extracted) == (made.after.id, ("I like coffee",))


def test_an_update_keeps_what_it_does_not_say():
    """A new text counts the revision up and keeps name, creation, expiry and the topics that nobody renamed."""
    known = memory(revision=3, topics=("A",), display_name="d", expires=NOW + timedelta(days=9), created=EARLIER)
    done = applied(PlanStep(Verdict.UPDATED, "m1", "I like coffee", b"w"), known)
    assert done.before is known
    assert done.after == replace(
        known,
        fact="I like coffee",
        vector=b"w",
        revision=4,
        as_of=LATER,
        updated=LATER,
        evidence=(Evidence(STREAM.sid, 1, (1,)),),
        former=(HASHES.of_text(known.fact),),
        own_revision=done.revision,
        statements=(Statement(LATER, LATER),),
    )
    assert (done.revision.number, done.revision.fact) == (4, "I like coffee")


def test_renewed_evidence_is_no_new_revision():
    """A restated fact becomes younger evidence; neither its time of change nor its revision moves."""
    known = memory(vector=b"v", revision=2)
    done = applied(consolidation.restate_step(candidate(at=LATER), known, QUIET), known)
    assert (done.after.as_of, done.after.updated, done.after.revision) == (LATER, NOW, 2)
    assert done.revision is None


def test_evidence_is_kept_for_the_latest_twenty_changes():
    """A memory that is restated for ever does not grow for ever."""
    known = memory()
    for seq in range(1, 31):
        about = candidate(at=NOW + timedelta(seconds=seq), seqs=(seq,))
        known = applied(PlanStep(Verdict.UPDATED, "m1", known.fact), known, about=about, at=seq).after
    assert [found.seqs[0] for found in known.evidence] == list(range(11, 31))


def test_evidence_of_thousands_of_events_is_bounded():
    """Windows of thousands of restatements keep the newest 4,000 numbers, and the item stays below 400 KB."""
    known = memory()
    for number in range(20):
        first = 10**9 + number * 10_000
        about = candidate(at=NOW + timedelta(seconds=number), seqs=tuple(range(first, first + 8_000, 2)))
        known = applied(PlanStep(Verdict.UPDATED, "m1", known.fact), known, about=about, at=number).after
    assert [len(one.seqs) for one in known.evidence] == [4_000]
    assert known.evidence[-1].seqs[-1] == first + 7_998
    assert len(json.dumps(memory_values("b", known), default=repr)) < 120_000


@given(st.lists(st.integers(0, 5_000), max_size=30))
def test_the_newest_evidence_is_what_is_kept(counts):
    """Of any evidence the last events are kept, as many as there is room for, in their order."""
    evidence = [Evidence("s", number, tuple(range(count))) for number, count in enumerate(counts)]
    kept = newest_evidence(evidence)
    everything = [(one.window, seq) for one in evidence[-20:] for seq in one.seqs]
    assert [(one.window, seq) for one in kept for seq in one.seqs] == everything[-4_000:]
    assert len(kept) <= 20


def test_a_deletion_leaves_no_content():
    """A deleted memory holds no text, vector, topic or metadata; an empty revision tells it for 48 hours."""
    known = memory(revision=2, vector=b"v", topics=("A",), metadata=RED, display_name="d", description="d")
    known = replace(known, evidence=(Evidence("s", 1, (1,)),))
    gone = applied(PlanStep(Verdict.DELETED, "m1"), known)
    after = gone.after
    assert (after.fact, after.vector, after.topics, after.metadata) == ("", b"", (), {})
    assert (after.display_name, after.description, after.deleted, after.revision) == (None, None, LATER, 3)
    assert (gone.revision.fact, gone.revision.number) == ("", 3)
    assert gone.revision.expires == LATER + timedelta(hours=48)
    assert not after.is_live(LATER)


def test_a_rejected_candidate_changes_nothing():
    """It writes no memory."""
    assert applied(PlanStep(Verdict.REJECTED, "m1"), memory()) is None


def test_a_restated_fact_adds_its_source_once():
    """An unchanged memory gets the evidence of the candidate, and nothing else; the same evidence writes nothing."""
    change = applied(PlanStep(Verdict.UNCHANGED, "m1"), memory())
    assert change.revision is None
    statements = (Statement(NOW, NOW), Statement(LATER, LATER))
    assert change.after == replace(memory(), evidence=change.after.evidence, statements=statements)
    assert len(change.after.evidence) == 1
    assert applied(PlanStep(Verdict.UNCHANGED, "m1"), change.after) is None


@pytest.mark.parametrize("verdict", [Verdict.UPDATED, Verdict.DELETED])
def test_a_memory_that_is_gone_is_not_touched(verdict):
    """Without its memory an update or a deletion does nothing."""
    assert applied(PlanStep(verdict, "m1", "x"), None) is None


def test_a_banks_ttl_governs_generated_memories():
    """A created memory lives for the bank's TTL, an updated one from its update on; without one expiries stay."""
    ruled = policy(generate_created_ttl=MINUTE, generate_updated_ttl=2 * MINUTE)
    made = change(ruled, "0new", candidate(), PlanStep(Verdict.CREATED, text="x"), None, now=NOW)
    assert made.after.expires == NOW + MINUTE
    done = change(
        ruled, "0new", candidate(at=LATER), PlanStep(Verdict.UPDATED, "m1", "x"), memory(expires=LATER), now=LATER
    )
    assert done.after.expires == LATER + 2 * MINUTE
    assert applied(PlanStep(Verdict.CREATED, text="x")).after.expires is None


# ---- revisions


def test_when_a_revision_expires():
    """The window's word counts, else the bank's, else 365 days; an instant is taken as it is."""
    month, year = timedelta(days=30), timedelta(days=365)
    instant = NOW + timedelta(days=1)
    assert policy().revision_expiry(NOW) == NOW + year
    assert policy(revision_ttl=month).revision_expiry(NOW) == NOW + month
    assert policy(WindowSettings(revision_expiry=MINUTE), revision_ttl=month).revision_expiry(NOW) == NOW + MINUTE
    assert policy(WindowSettings(revision_expiry=instant), revision_ttl=month).revision_expiry(NOW) == instant


@pytest.mark.parametrize(
    ("said", "bank", "keeps"),
    [(None, False, True), (None, True, False), (True, False, False), (False, True, True)],
)
def test_who_switches_revisions_off(said, bank, keeps):
    """The window's explicit word overrides the bank's, in both directions."""
    settings = WindowSettings(disable_revisions=said)
    ruled = policy(settings, disable_revisions=bank)
    made = change(ruled, "0new", candidate(), PlanStep(Verdict.CREATED, text="x"), None, now=NOW)
    assert ruled.keeps_revisions is keeps
    assert (made.revision is not None) is keeps


@given(settings=settings_said(), text=st.text(min_size=1, max_size=5))
def test_a_created_memory_carries_the_windows_settings(settings, text):
    """Labels and expiry go to the revision, metadata to the memory, whatever was said."""
    made = applied(PlanStep(Verdict.CREATED, text=text), settings=settings)
    assert made.after.metadata == (settings.metadata or {})
    if settings.disable_revisions:
        assert made.revision is None
    else:
        assert made.revision.labels == (settings.revision_labels or {})
        assert made.revision.expires == policy(settings).revision_expiry(LATER)


def test_verdicts_are_counted_by_kind():
    """Each verdict that was given is counted; none is invented."""
    given_ = [
        RecordedVerdict(n, verdict, "f")
        for n, verdict in enumerate([Verdict.CREATED, Verdict.CREATED, Verdict.DELETED])
    ]
    assert verdicts.counted(given_) == {"CREATED": 2, "DELETED": 1}
    assert verdicts.counted([]) == {}
