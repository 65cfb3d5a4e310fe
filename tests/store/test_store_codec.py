import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from streambank.model import ids
from streambank.model.coverage import Coverage, NotShown
from streambank.model.event import Event, StoredEvent
from streambank.model.memory import Memory
from streambank.model.plan import Extracted, Plan
from streambank.model.review import ReviewState
from streambank.model.usage import Usage
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt
from streambank.rules.ingest_parts import EVENT_OVERHEAD_BYTES, split_into_batches
from streambank.rules.reviews import mark_of
from streambank.store import codec, due_partitions, keys, text
from streambank.store import plan_items as plans
from streambank.store.memory_items import memory_of, memory_values, revision_of, revision_values
from streambank.store.review_items import review_of, review_values
from streambank.store.tombstone_items import tombstone_of, tombstone_values
from streambank.store.windows import key_of
from streambank.wire.ingest import ingest_call
from tests.store.building import (
    FEW,
    NOW,
    candidates,
    events,
    heads,
    instants,
    keyed,
    memories,
    metadata,
    numbers,
    reviews,
    revisions,
    rules,
    settings,
    spans,
    steps,
    texts,
    through_item,
    tombstones,
    windows,
    written_times,
)

ATTEMPT = Attempt("default", "a" * 26, 3, 0)


def same_types(one, other):
    return {key: type(value) for key, value in one.items()} == {key: type(value) for key, value in other.items()}


@FEW
@given(head=heads())
def test_heads_come_back(head):
    """A head is the same after a round trip, whatever it holds."""
    key = keys.head(head.stream.bank, head.stream.sid)
    assert codec.head_of(through_item(key, codec.head_values(head))) == head


@FEW
@given(head=heads())
def test_the_stream_filter_matches_heads_that_must_be_sealed(head):
    """Attribute `ripe` is the number 1 exactly if the window must be sealed: the stream's filter matches on it."""
    assert codec.head_values(head)["ripe"] == (1 if head.seal_reason else 0)


@FEW
@given(window=windows())
def test_windows_come_back(window):
    """A window that was sealed is the same after a round trip, direct memories too."""
    assert codec.window_of(through_item(key_of(window), codec.window_values(window))) == window


@FEW
@given(head=heads(), window=windows())
def test_only_what_is_due_is_in_the_index(head, window):
    """Both keys of index `due` are there, or none: a sparse index must not show what waits for nothing."""
    head_key, window_key = keys.head(head.stream.bank, head.stream.sid), key_of(window)
    for key, values, due in (
        (head_key, codec.head_values(head), head.due),
        (window_key, codec.window_values(window), window.due),
    ):
        item = through_item(key, values)
        assert ("G1PK" in item, "G1SK" in item) == (due is not None,) * 2
        if due:
            assert item["G1PK"] in due_partitions.shards()
            assert item["G1SK"] == due.timestamp()


@FEW
@given(rule=st.none() | rules())
def test_rules_come_back(rule):
    """No rule and an empty one are told apart."""
    assert codec.rule_value(codec.rule_text(rule)) == rule


@FEW
@given(said=settings())
def test_settings_come_back(said):
    """What was not said stays unsaid; false, empty maps and offsets stay what they are."""
    found = codec.settings_value(codec.settings_text(said))
    assert found == said
    assert found.revision_expiry is None or str(found.revision_expiry) == str(said.revision_expiry)


@FEW
@given(values=metadata())
def test_metadata_keep_their_types(values):
    """A boolean is no number, a time is no text, and 3.0 stays a double."""
    found = text.metadata_value(json.loads(text.dumps(text.metadata_text(values))))
    assert found == values
    assert same_types(found, values)


@FEW
@given(span=spans(), moment=written_times())
def test_expiries_come_back(span, moment):
    """A span is a span to the microsecond, an instant an instant under its own offset."""
    assert text.expiry_value(json.loads(text.dumps(text.expiry_text(span)))) == span
    found = text.expiry_value(text.expiry_text(moment))
    assert (found, found.utcoffset()) == (moment, moment.utcoffset())


# ---- events


@FEW
@given(sent=st.lists(events(), min_size=1, max_size=5), first=st.integers(1, 10**9), window=numbers, arrived=instants())
def test_events_come_back(sent, first, window, arrived):
    """Events of a batch are numbered in order and the same as sent: any text, NUL, emoji, offset, JSON of any kind."""
    key = keys.batch("default", "sid", first)
    item = through_item(key, codec.batch_values([keyed(event) for event in sent], first, window, arrived))
    found = codec.batch_events(item)
    assert found == [StoredEvent(event, first + offset, arrived) for offset, event in enumerate(sent)]
    assert [json.dumps(one.event.parts) for one in found] == [json.dumps(event.parts) for event in sent]
    assert [one.event.fingerprint() for one in found] == [event.fingerprint() for event in sent]
    for one, event in zip(found, sent, strict=True):
        assert (one.event.time and one.event.time.utcoffset()) == (event.time and event.time.utcoffset())
    assert (item["n"], item["win"]) == (len(sent), window)


@FEW
@given(said=st.text(max_size=60) | texts, name=st.text(max_size=128), role=st.sampled_from(["user", "model", ""]))
def test_a_stored_event_weighs_at_most_what_it_is_counted_for(said, name, role):
    """What an event takes in its item never exceeds the bytes of its JSON and the overhead that parts reckon with."""
    event = {
        "content": {"role": role, "parts": [{"text": said}]},
        "eventId": name,
        "eventTime": "2026-01-01T00:00:00.123456+23:59",
    }
    call = ingest_call(
        {"scope": {"a": "b"}, "directContentsSource": {"events": [event]}}, bank="b", idempotency_key=None
    )
    [sent] = call.events
    raw = text.dumps([codec.event_text(sent.event)]).encode()
    assert len(raw) <= sent.size + EVENT_OVERHEAD_BYTES


def test_the_fullest_batch_fits_an_item():
    """Batches of text that cannot be compressed stay below DynamoDB's 400 KB an item."""
    import random

    noise = random.Random(1)
    letters = [chr(code) for code in range(0x21, 0x2FF)]
    sent = [
        keyed(Event("user", ({"text": "".join(noise.choices(letters, k=3_000))},), str(number)), size=6_050)
        for number in range(120)
    ]
    sizes = [len(codec.batch_values(run, 1, 1, NOW)["d"]) for run in split_into_batches(sent)]
    assert len(sizes) > 1
    assert max(sizes) < 400_000 - 1_000


# ---- candidates, plans, verdicts


@FEW
@given(
    found=st.lists(candidates(), max_size=4),
    calls=numbers,
    characters=numbers,
    covered=numbers,
    not_covered=st.dictionaries(st.sampled_from(NotShown).map(str), numbers, max_size=3),
)
def test_candidates_come_back(found, calls, characters, covered, not_covered):
    """Candidates keep their order, their vectors and their reasons; no candidate is a list too."""
    coverage = Coverage(covered, not_covered)
    extracted = Extracted(tuple(found), Usage(calls, characters, calls, 3, 1), coverage)
    items = [through_item(put.key, put.values) for put in plans.extracted_puts(ATTEMPT, extracted)]
    assert plans.extracted_of(items) == extracted
    assert plans.extracted_of([]) is None


@FEW
@given(
    made=st.lists(steps(), max_size=4),
    version=numbers,
    start=numbers,
    offered=st.dictionaries(texts, texts, max_size=3),
)
def test_plans_come_back(made, version, start, offered):
    """A plan keeps its steps, its version and what was offered."""
    plan = Plan(version, start, tuple(made), offered, Usage(2, 99))
    items = [through_item(put.key, put.values) for put in plans.plan_puts(ATTEMPT, plan)]
    assert plans.plan_of(items) == plan
    assert plans.plan_of([]) is None


def long_plan(count):
    from streambank.model.plan import PlanStep

    return Plan(
        1,
        0,
        tuple(PlanStep(Verdict.CREATED, None, f"{number} " + "x" * 8_000, bytes(4_096)) for number in range(count)),
        {},
    )


def test_a_long_plan_is_cut_into_items():
    """A plan that is larger than an item takes several, each within 350 KB of JSON, in order."""
    puts = plans.plan_puts(ATTEMPT, long_plan(100))
    items = [through_item(put.key, put.values) for put in puts]
    assert len(items) > 2
    assert [put.key.sk for put in puts] == sorted(put.key.sk for put in puts)
    assert all(len(text.dumps(text.decompressed(item["d"])).encode()) <= 360_000 for item in items)
    assert plans.plan_of(items) == long_plan(100)


@FEW
@given(
    number=st.integers(0, 999_999),
    verdict=st.sampled_from(Verdict),
    fact=texts,
    reason=texts,
    name=st.none() | st.text(min_size=1, max_size=9),
    revision=st.none() | st.integers(1, 99),
    before=st.none() | st.integers(1, 99),
    seqs=st.lists(numbers, max_size=3).map(tuple),
)
def test_verdicts_come_back(number, verdict, fact, reason, name, revision, before, seqs):
    """The verdicts of a slice are the same after a round trip."""
    recorded = RecordedVerdict(number, verdict, fact, reason, name, revision, before, seqs)
    other = RecordedVerdict(number + 1, Verdict.REJECTED, "x")
    put = plans.verdicts_put(ATTEMPT, [recorded, other], None)
    assert plans.verdicts_of(through_item(put.key, put.values)) == [recorded, other]


# ---- memories


@FEW
@given(memory=memories())
def test_memories_come_back(memory):
    """A memory is the same after a round trip, types of its metadata and a deletion included."""
    key = keys.memory("b", ids.scope_id(memory.scope), memory.id)
    found: Memory = memory_of(through_item(key, memory_values("b", memory)), memory.scope)
    assert found == memory
    assert same_types(found.metadata, memory.metadata)


@FEW
@given(tombstone=tombstones())
def test_tombstones_come_back(tombstone):
    """A tombstone is the same after a round trip, and DynamoDB deletes it at its end."""
    key = keys.tombstone("b", "c", 1, tombstone.memory_id)
    values = tombstone_values(tombstone)
    assert tombstone_of(through_item(key, values)) == tombstone
    assert values["ttl"] == -(-tombstone.expires.timestamp() // 1)


@FEW
@given(review=reviews(), decided=st.sampled_from([ReviewState.ACCEPTED, ReviewState.REJECTED]))
def test_reviews_come_back(review, decided):
    """A review is the same after a round trip, and so is its mark, which is in no list and has no text."""
    for one in (review, mark_of(review, decided, [memory.id for memory in review.memories])):
        values = review_values("b", one)
        assert review_of(through_item(keys.review("b", one.id), values), one.scope) == one
        assert (values["G2PK"] is None, values["d"] is None) == (one is not review, one is not review)
        assert values["ttl"] == -(-one.expires.timestamp() // 1)


@FEW
@given(memory=memories())
def test_times_of_a_memory_are_stored_once(memory):
    """Of a memory that was never changed its creation alone is stored; an older item has all times, and is read."""
    key = keys.memory("b", ids.scope_id(memory.scope), memory.id)
    fresh = replace(memory, updated=memory.created, as_of=memory.created)
    values = memory_values("b", fresh)
    assert values["upd"] is values["asof"] is None
    older = {**values, "upd": values["at"], "asof": values["at"]}
    assert memory_of(through_item(key, values), memory.scope) == fresh
    assert memory_of(through_item(key, older), memory.scope) == fresh


@FEW
@given(memory=memories())
def test_a_deleted_memory_is_in_no_list(memory):
    """A live memory is in index `list` by its creation; a deleted one is not, and expires after 48 hours."""
    values = memory_values("b", memory)
    listed = (values["G2PK"], values["G2SK"])
    if memory.deleted:
        assert listed == (None, None)
        assert values["ttl"] == -(-memory.deleted.timestamp() // 1) + 48 * 3_600
    else:
        assert listed[0] in keys.list_partitions("b", "M")
        assert listed[1] == round(memory.created.timestamp() * 1_000)
        assert (values["ttl"] is None) is (memory.expires is None)


@FEW
@given(revision=revisions())
def test_revisions_come_back(revision):
    """A revision is the same after a round trip, its expiry to the millisecond."""
    key = keys.revision("b", "c", revision.memory_id, revision.number)
    assert revision_of(through_item(key, revision_values(revision))) == revision


def test_a_shortened_revision_expires_earlier():
    """Where the item's `ttl` was moved up, that is when the revision ends."""
    from streambank.model.memory import Revision

    revision = Revision("m1", 1, "f", NOW, NOW.replace(year=2027))
    item = through_item(keys.revision("b", "c", "m1", 1), revision_values(revision))
    item["ttl"] = int(NOW.timestamp()) + 60
    assert (revision_of(item).expires - NOW).total_seconds() == 60
