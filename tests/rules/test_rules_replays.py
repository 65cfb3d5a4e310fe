"""What a replay judges by, and how both answers are compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.ids import OperationId
from streambank.model.memory import Memory, Profile, Revision
from streambank.model.plan import Candidate, Extracted, Plan
from streambank.model.replay import Comparison, JudgedWindow, MemoriesFrom, ReplayedVerdict, ReplayId
from streambank.model.usage import Usage
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.rules import replays
from streambank.rules.bank_config import bank_config
from streambank.rules.replays import WindowHistory

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OPERATION = OperationId("a" * 26, 3)


def history(verdicts: tuple[RecordedVerdict, ...] = (), offered: dict[str, str] | None = None) -> WindowHistory:
    return WindowHistory(Extracted((), offered=offered or {}), None, verdicts, AT)


def lived(*texts: str, first: datetime = AT - 10 * MINUTE) -> tuple[Memory, list[Revision]]:
    """Return a memory that had *texts*, one a minute from *first* on, and its revisions, newest first."""
    times = [first + number * MINUTE for number in range(len(texts))]
    revisions = [
        Revision("m", number, text, at, None) for number, (text, at) in enumerate(zip(texts, times, strict=True), 1)
    ]
    memory = Memory("m", texts[-1], {"u": "1"}, first, times[-1], times[-1], revision=len(texts), vector=b"now")
    return memory, revisions[::-1]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), st.integers(0, 9))
def test_a_memory_is_what_its_newest_revision_before_the_window_says(texts, minutes):
    """Whatever changed it and when: the text of the time, and evidence and change that are not newer than it."""
    memory, revisions = lived(*texts, first=AT - minutes * MINUTE)
    then = replays.memory_before(memory, revisions, history())
    assert then.fact == texts[min(minutes, len(texts) - 1)]
    assert then.as_of <= AT
    assert then.updated <= AT
    assert then.vector == (b"now" if then.fact == memory.fact else b"")


def test_a_fingerprint_says_more_than_the_time():
    """The memory that a model was given is the one that its fingerprint names, though nothing else tells it."""
    memory, revisions = lived("old", "new", first=AT)
    before = replace(memory, fact="old", revision=1, updated=AT, as_of=AT - MINUTE)
    then = replays.memory_before(memory, revisions, history(offered={"m": before.fingerprint}))
    assert (then.fact, then.revision, then.as_of, then.updated) == ("old", 1, AT - MINUTE, AT)


def test_a_plan_that_was_made_on_the_way_is_no_witness():
    """Where the plan was made anew after the first slices, what the extraction was given counts."""
    memory, _ = lived("old")
    first, second = memory.fingerprint, replace(memory, revision=2).fingerprint
    extracted = Extracted((), offered={"m": first})
    assert WindowHistory(extracted, Plan(1, 0, (), {"m": second}), (), AT).offered == {"m": second}
    assert WindowHistory(extracted, Plan(1, 2, (), {"m": second}), (), AT).offered == {"m": first}
    marks = {"tombstone m": "x", "forget s-1-0": "y"}
    assert WindowHistory(None, Plan(1, 0, (), marks), (), AT).offered == {}


def test_what_the_window_changed_is_undone():
    """The verdict names the revision before it, also where the clock stood still; what it created is left out."""
    memory, revisions = lived("old", "new", first=AT)
    memory, revisions = replace(memory, updated=AT), [replace(one, created=AT) for one in revisions]
    changed = RecordedVerdict(0, Verdict.UPDATED, "new", memory_id="m", revision=2, previous_revision=1)
    assert replays.memory_before(memory, revisions, history((changed,))).fact == "old"
    created = replace(changed, verdict=Verdict.CREATED, revision=1, previous_revision=None)
    assert history((created,)).is_created(memory)
    assert not history((changed,)).is_created(memory)
    assert history().is_created(replace(memory, created=AT + MINUTE))


def test_a_text_that_no_revision_has_is_not_known():
    """Without the revision, or without any, the text of the time is unknown; an unchanged memory is known."""
    memory, _ = lived("old", "new", first=AT)
    assert replays.memory_before(memory, [], history()) is None
    unrevised = replace(memory, revision=0, updated=AT + MINUTE, created=AT - MINUTE)
    assert replays.memory_before(unrevised, [], history()) is None
    assert replays.memory_before(replace(unrevised, updated=AT), [], history()).fact == "new"


def test_a_profile_has_the_fields_of_the_time():
    """No field has evidence that is newer than the newest of then, so the window's own evidence is newer."""
    times = {"name": AT - 5 * MINUTE, "pet": AT}
    memory, revisions = lived('{"name":"Ann"}', '{"name":"Ann","pet":"cat"}', first=AT - MINUTE)
    memory = replace(memory, profile=Profile("p", times))
    mark = replace(memory, revision=1, updated=AT - MINUTE, as_of=AT - 5 * MINUTE).fingerprint
    then = replays.memory_before(memory, revisions, history(offered={"m": mark}))
    assert (then.fact, then.profile.times) == ('{"name":"Ann"}', {"name": AT - 5 * MINUTE})


VERDICTS = st.lists(
    st.builds(
        ReplayedVerdict,
        st.sampled_from(list(Verdict)),
        st.sampled_from(["I like tea", "I like  tea.", "I own a cat", "I run"]),
        memory_id=st.sampled_from([None, "m", "n"]),
        text=st.sampled_from([None, "x"]),
    ),
    max_size=5,
)


def compared(recorded: list[ReplayedVerdict], replayed: list[ReplayedVerdict]) -> Comparison:
    sides = (JudgedWindow(tuple(one), Usage(1, 2, 3, 4)) for one in (recorded, replayed))
    return Comparison(MemoriesFrom.BEFORE_WINDOW, *sides)


@given(VERDICTS, VERDICTS, st.randoms())
def test_a_difference_is_symmetrical_and_knows_no_order(recorded, replayed, random):
    """Equal answers in another order do not differ; a difference names what one side has in place of the other."""
    shuffled = random.sample(recorded, len(recorded))
    assert replays.difference(compared(recorded, shuffled), OPERATION) is None
    one = replays.difference(compared(recorded, replayed), OPERATION)
    other = replays.difference(compared(replayed, recorded), OPERATION)
    assert (one is None) == (other is None)
    if one:
        assert one.verdicts == other.verdicts > 0
        assert (one.only_recorded, one.only_replayed) == (other.only_replayed, other.only_recorded)


@given(VERDICTS, VERDICTS)
def test_counts_add_up(recorded, replayed):
    """Each verdict of either side is counted once, and so is what it cost."""
    comparison = compared(recorded, replayed)
    counts = replays.counts(comparison, replays.difference(comparison, OPERATION))
    for name, side in (("recorded", recorded), ("replayed", replayed)):
        assert sum(counts[f"{name}.{verdict}"] for verdict in Verdict) == len(side)
        assert (counts[f"{name}.inputTokens"], counts[f"{name}.outputTokens"]) == (3, 4)


def test_what_is_stored_is_bounded():
    """A window with more text than has room keeps the first verdicts of both sides, and says how many are left out."""
    many = [ReplayedVerdict(Verdict.CREATED, f"{number} " + "x" * 8_000, text="y" * 8_000) for number in range(30)]
    whole = compared(many, many[:2])
    kept = replays.bounded(whole)
    assert (len(kept.recorded.verdicts), len(kept.replayed.verdicts), kept.omitted) == (6, 2, 24)
    different = replays.difference(whole, OPERATION)
    assert (len(different.only_recorded), different.omitted) == (1, 27)


def test_verdicts_on_forgotten_events_are_not_shown():
    """A candidate that cites an event of a deleted memory is hidden with all of its verdicts (I11)."""
    extracted = Extracted((Candidate("a", (1,), AT), Candidate("b", (2,), AT)))
    verdicts = [RecordedVerdict(number, Verdict.CREATED, fact) for number, fact in ((0, "a"), (0, "a2"), (1, "b"))]
    assert [one.fact for one in replays.visible_verdicts(verdicts, extracted, frozenset({1}))] == ["b"]
    alone = [replace(verdicts[0], seqs=(1,)), verdicts[2]]
    assert [one.fact for one in replays.visible_verdicts(alone, None, frozenset({1}))] == ["b"]


def test_overrides_stand_in_place_of_the_banks_customization():
    """What a replay gives counts for its scope, whatever keys the bank's customization has; the rest stays."""
    document = {
        "customizationConfigs": [
            {"scopeKeys": ["u"], "enableThirdPersonMemories": True, "memoryTopics": [_topic("bees")]},
            {"memoryTopics": [_topic("ants")]},
        ],
        "generationConfig": {"model": "own", "dailyTokenBudget": 5},
    }
    plain = bank_config(replays.overridden(document, {"u": "1"}, {}))
    assert (plain.topics, plain.third_person, plain.model, plain.daily_tokens) == (("bees",), True, "own", 5)
    overrides = {"customization": {"memoryTopics": [_topic("hens")]}, "generationConfig": {"model": "other"}}
    changed = bank_config(replays.overridden(document, {"u": "1"}, overrides))
    assert (changed.topics, changed.third_person, changed.model, changed.daily_tokens) == (("hens",), True, "other", 5)


def _topic(label: str) -> dict[str, dict[str, str]]:
    return {"customMemoryTopic": {"label": label, "description": label}}


@given(st.integers(1, 10**14), st.booleans())
def test_a_name_is_read_as_it_was_written(number, is_of_window):
    """The id of a replay names its window again; no other name is one."""
    written = ReplayId(number, OPERATION if is_of_window else None)
    assert ReplayId.parse(str(written)) == written
    for forged in (f"replay-0{number}", f"replay-{number}-", f"replay-{number}-{OPERATION}-g", f"{written}\n"):
        assert ReplayId.parse(forged) is None
