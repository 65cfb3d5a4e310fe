from dataclasses import replace
from datetime import timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.bank import BankConfig
from streambank.model.event import Event, StoredEvent
from streambank.model.memory import Evidence, Revision
from streambank.model.plan import PlanStep
from streambank.model.tombstone import TOMBSTONE_TTL, Tombstone
from streambank.model.verdict import Verdict
from streambank.rules import edits, tombstones
from streambank.rules.consolidation import WindowPolicy, change, deletion
from streambank.rules.edits import Edit
from streambank.rules.evidence import MAX_EVIDENCE_EVENTS
from streambank.rules.forgetting import FORGOTTEN
from streambank.rules.keyed_hashes import MAX_FORMER, KeyedHashes
from streambank.rules.wording import normalized
from tests.rules.building import HASHES, MINUTE, NOW, candidate, memory, window

LATER, EARLIER = NOW + MINUTE, NOW - MINUTE
CONFIG = BankConfig()
names = st.sampled_from("abcdefgh")
name_sets = st.frozensets(names)
moments = st.integers(-3, 3).map(lambda minutes: NOW + minutes * MINUTE)
stones = st.builds(
    Tombstone, st.sampled_from(["m1", "m2"]), moments, name_sets, name_sets, st.just(NOW + TOMBSTONE_TTL), st.booleans()
)


def stone(events=(), texts=(), **more):
    values = {"memory_id": "m1", "at": NOW, "expires": NOW + TOMBSTONE_TTL, **more}
    return Tombstone(events=frozenset(events), texts=frozenset(texts), **values)


def refused(events, text, at, *known, fact="I like tea"):
    return tombstones.refusal(fact, events, text, at, known)


# ---- what a tombstone refuses


@given(st.lists(stones, max_size=4), name_sets, names, moments)
def test_a_candidate_of_deleted_events_alone_is_refused(known, events, text, at):
    """It is refused exactly where one deletion covers all of its events, or its text without anything newer."""
    is_refused = any(
        (bool(events) and events <= one.events and not one.is_merge) or (text in one.texts and at <= one.at)
        for one in known
    )
    assert refused(events, text, at, *known) == (FORGOTTEN if is_refused else None)


@given(st.lists(stones, max_size=4), name_sets, names, moments)
def test_a_request_to_forget_is_never_refused(known, events, text, at):
    """What asks for a deletion brings nothing back."""
    assert refused(events, text, at, *known, fact="Forget: I like tea") is None


@given(name_sets, name_sets, moments)
def test_an_event_that_no_deletion_names_makes_a_fact_new(events, deleted, at):
    """One more event is enough, an event without a hash too; and no events are no evidence of a deletion."""
    for other in ("", "another"):
        assert refused([*events, other], "text", at, stone(deleted)) is None
    assert refused([], "text", at, stone(deleted)) is None


@given(name_sets, names)
def test_events_of_two_deletions_are_not_those_of_one(events, extra):
    """Events that two memories cited apart are not covered by one deletion."""
    cited = {*events, "x", "y"}
    assert refused(cited, "t", EARLIER, stone(cited - {"x"}), stone(cited - {"y"})) is None


@given(st.lists(stones, max_size=4), moments)
def test_what_is_said_after_a_deletion_is_new(known, at):
    """With evidence newer than every deletion, neither a text nor a memory's id is refused."""
    newer = NOW + timedelta(days=1)
    assert refused(["unknown"], "a", newer, *known) is None
    assert not tombstones.touches("m1", newer, known)


@given(st.lists(stones, max_size=4), moments)
def test_a_memory_deleted_later_is_not_touched(known, at):
    """A candidate touches no memory that was deleted after its evidence; one that was merged away does not count."""
    expected = any(one.memory_id == "m1" and at <= one.at and not one.is_merge for one in known)
    assert tombstones.touches("m1", at, known) is expected


@given(st.lists(stones, max_size=4), names)
def test_an_event_is_hidden_where_a_deletion_names_it(known, event):
    """A merge hides no event, and an event without a hash is never hidden."""
    expected = any(event in one.events and not one.is_merge for one in known)
    assert tombstones.is_cited(event, known) is expected
    assert (event in tombstones.cited_events(known)) is expected
    assert not tombstones.is_cited("", known)


@given(st.lists(stones, max_size=4), st.dictionaries(st.integers(1, 20), names))
def test_the_numbers_of_hidden_events_are_named(known, hashes):
    """Of the events of a window those whose hash a deletion names, by their numbers, and no others."""
    hidden = {seq for seq, one in hashes.items() if tombstones.is_cited(one, known)}
    assert tombstones.cited_numbers(hashes, known) == hidden


# ---- hashes


@given(st.text(max_size=30))
def test_spelling_makes_no_other_text(text):
    """Letters' case where it is one letter, space around and final punctuation do not count."""
    hashed = HASHES.of_text(text)
    assert HASHES.of_text(f"  {text}\n") == hashed
    assert HASHES.of_text(normalized(text)) == HASHES.of_text(normalized(normalized(text)))
    if any(char.isalnum() for char in text):
        assert HASHES.of_text(f"{text}.") == hashed
        assert HASHES.of_text(f"{text} !?") == hashed


def test_texts_are_compared_as_a_reader_would():
    """Case, compatible characters, space and final punctuation are no difference; words and signs inside are."""
    assert len({HASHES.of_text(text) for text in ("I like tea.", "i LIKE  tea", "I like\ttea !", "Ｉ like tea")}) == 1
    assert len({HASHES.of_text(text) for text in ("I like tea", "I like C", "I like C++", "?", "")}) == 5


@given(st.text(max_size=9), st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9))
def test_hashes_are_of_one_scope_and_one_kind(text, one, other):
    """The same words have another hash in another scope, bank, service, and as an event's id."""
    told = Event("user", (), text)
    hashes = [
        KeyedHashes.of_scope(secret, bank, scope)
        for secret, bank, scope in (
            (b"s", "b", {"k": one}),
            (b"s", "b", {"k": one + other}),
            (b"s", "c", {"k": one}),
            (b"t", "b", {"k": one}),
        )
    ]
    made = [one.of_text(text) for one in hashes] + [one.of_event("s", told) for one in hashes]
    assert len(set(made)) == len(made)
    assert all(len(one) == 11 for one in made)


def test_an_event_is_told_by_its_id_else_by_time_and_content():
    """An id is of one stream; an event without one has the same hash in each; without a time it has none."""
    named = Event("user", ({"text": "a"},), "1", NOW)
    timed = replace(named, event_id=None)
    assert HASHES.of_event("s1", named) == HASHES.of_event("s1", Event("user", ({"text": "b"},), "1"))
    assert HASHES.of_event("s1", named) != HASHES.of_event("s2", named)
    east = NOW.astimezone(timezone(timedelta(hours=5)))
    assert HASHES.of_event("s1", timed) == HASHES.of_event("s2", replace(timed, time=east))
    others = (replace(timed, time=LATER), replace(timed, parts=({"text": "b"},)), replace(timed, role="model"), named)
    assert HASHES.of_event("s1", timed) not in {HASHES.of_event("s1", one) for one in others}
    assert HASHES.of_event("s1", replace(timed, time=None)) == ""
    assert HASHES.of_events("s1", [StoredEvent(named, 7, NOW)]) == {7: HASHES.of_event("s1", named)}


# ---- where the hashes come from


def policy(hashes=None):
    return WindowPolicy(window(), CONFIG, HASHES, hashes or {})


def edited(known, fact, now=LATER):
    return edits.update(known, Edit(frozenset({"fact"}), fact), CONFIG, b"", HASHES, now=now).after


def test_a_deletion_by_the_user_names_the_events_and_all_texts():
    """The tombstone has every event with a hash, the text and the earlier texts; the memory keeps none of its words."""
    known = memory(
        evidence=(Evidence("s", 1, (1, 2), ("a", "")), Evidence("s", 2, (3,)), Evidence("s", 3, (4,), ("b",)))
    )
    made = deletion(edited(known, "I like coffee"), HASHES, now=LATER)
    texts = {HASHES.of_text("I like tea"), HASHES.of_text("I like coffee")}
    assert made.tombstone == Tombstone("m1", LATER, frozenset("ab"), frozenset(texts), LATER + TOMBSTONE_TTL)
    assert made.tombstone.is_live(LATER + timedelta(days=399))
    assert not made.tombstone.is_live(LATER + timedelta(days=400))


def test_a_merge_names_no_event():
    """Of a memory that was merged away the texts alone count."""
    known = memory(evidence=(Evidence("s", 1, (1,), ("a",)),))
    merged = PlanStep(Verdict.DELETED, "m1", merged_into="m2")
    made = change(policy(), "", candidate(at=LATER), merged, known, now=LATER).tombstone
    assert (made.is_merge, made.events, made.texts) == (True, frozenset(), {HASHES.of_text("I like tea")})


def test_a_generations_deletion_counts_from_its_request():
    """What the user says again between the request and its commit is new."""
    request = candidate("Forget: tea", at=NOW)
    made = change(policy(), "", request, PlanStep(Verdict.DELETED, "m1"), memory(as_of=EARLIER), now=LATER).tombstone
    assert (made.at, made.expires) == (NOW, LATER + TOMBSTONE_TTL)


def test_every_change_of_the_text_is_remembered():
    """An update by a generation, an edit and a rollback each add the hash of the text that was replaced."""
    known = memory(fact="one")
    step = PlanStep(Verdict.UPDATED, "m1", "two", b"v")
    known = change(policy(), "", candidate(at=LATER), step, known, now=LATER).after
    known = edited(known, "three")
    target = Revision("m1", 1, "one", NOW, None)
    known = edits.rollback(known, target, CONFIG, b"v", HASHES, now=LATER).after
    assert known.former == tuple(map(HASHES.of_text, ("one", "two", "three")))
    named = edits.update(
        known, Edit(frozenset({"displayName"}), display_name="n"), CONFIG, b"", HASHES, now=LATER
    ).after
    assert named.former == known.former


@given(st.lists(st.integers(0, 99).map(str), max_size=120))
def test_former_texts_are_bounded(texts):
    """Each former text counts once, and the newest fifty are kept in their order."""
    known = memory(fact="first")
    for text in texts:
        known = edited(known, text)
    assert len(known.former) <= MAX_FORMER
    assert len(set(known.former)) == len(known.former)
    replaced = [one for one, after in zip(["first", *texts], texts, strict=False) if one != after]
    assert known.former == tuple(map(HASHES.of_text, _last_uses(replaced)))[-MAX_FORMER:]


def _last_uses(texts):
    return list(reversed(dict.fromkeys(reversed(texts))))


def test_a_memory_that_came_back_is_deleted_as_completely():
    """A rollback keeps what a second deletion needs: the events, and the texts from before the first."""
    known = memory(evidence=(Evidence("s", 1, (1,), ("a",)),))
    gone = deletion(known, HASHES, now=LATER).after
    back = edits.rollback(gone, Revision("m1", 1, "I like tea", NOW, None), CONFIG, b"v", HASHES, now=LATER).after
    again = deletion(edited(back, "I like coffee"), HASHES, now=LATER).tombstone
    assert again.events == {"a"}
    assert again.texts == {HASHES.of_text("I like tea"), HASHES.of_text("I like coffee")}


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=5))
def test_hashes_stay_with_their_events(counts):
    """However much evidence is cut, each event that is kept has its own hash."""
    known, first = memory(), 0
    for number, count in enumerate(counts):
        seqs = tuple(range(first, first + count))
        about = candidate(at=NOW + number * MINUTE, seqs=seqs)
        step = PlanStep(Verdict.UPDATED, "m1", known.fact)
        hashed = {seq: f"h{seq}" for seq in seqs if seq % 2}
        known = change(policy(hashed), "", about, step, known, now=LATER).after
        first += count
    pairs = [pair for one in known.evidence for pair in zip(one.seqs, one.hashes or [""] * len(one.seqs), strict=True)]
    assert len(pairs) == min(first, MAX_EVIDENCE_EVENTS)
    assert all(one == (f"h{seq}" if seq % 2 else "") for seq, one in pairs)
