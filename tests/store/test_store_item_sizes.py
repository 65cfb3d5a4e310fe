"""No item grows past DynamoDB's 400 KB by anything that callers may send."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streambank.model import ids
from streambank.model.memory import Evidence, Memory, Profile, Revision
from streambank.model.review import Review, ReviewAction, ReviewCause, ReviewedMemory, ReviewState
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.session import Session
from streambank.model.stream import Head, StreamId
from streambank.model.tombstone import Tombstone
from streambank.model.validity import Statement, Validity
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt, DirectMemory, Window
from streambank.rules import profiles
from streambank.rules.evidence import MAX_EVIDENCE, MAX_EVIDENCE_EVENTS
from streambank.rules.history import MAX_STATEMENTS
from streambank.rules.keyed_hashes import MAX_FORMER
from streambank.rules.reviews import MAX_REJECTED, mark_of
from streambank.store import codec
from streambank.store.memory_items import memory_values, revision_values
from streambank.store.plan_items import verdicts_put
from streambank.store.review_items import review_values
from streambank.store.sessions import head_values
from streambank.store.tombstone_items import tombstone_values
from streambank.wire.topics import MAX_TOPICS_BYTES

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MAX_ITEM_BYTES = 400_000
SCRIPT = pytest.mark.parametrize("script", ["\U0001d518", '"\\', "\x01"], ids=["four-bytes", "quotes", "controls"])


def item_bytes(values) -> int:
    """Return the bytes of an item, a little more than DynamoDB counts."""
    sizes = (len(value if isinstance(value, bytes) else str(value).encode()) for value in values.values() if value)
    return 1_500 + 100 + sum(sizes)  # its keys, and the names of its attributes


def long(script: str, size: int) -> str:
    return script * (size // len(script.encode()))


def scope_of(script):
    return {f"{n}" + long(script, 252): long(script, 256) for n in range(5)}


def topics_of(script):
    label = long(script, 1_000)
    return (label,) * (MAX_TOPICS_BYTES // len(codec.text.dumps(label).encode()))


def settings_of(script):
    labels = {"k": long(script, 2_000)}
    return WindowSettings(revision_labels=labels, metadata=labels, allowed_topics=topics_of(script))


def stream_of(script):
    return StreamId("b" * 36, "s" * 26, scope_of(script), long(script, 512))


def memory_of(script):
    numbers = MAX_EVIDENCE_EVENTS // MAX_EVIDENCE
    seqs, hashes = tuple(range(10**9, 10**9 + numbers)), (ids.keyed_hash(b"s"),) * numbers
    evidence = [Evidence("s" * 26, 10**6, seqs, hashes) for _ in range(MAX_EVIDENCE)]
    return Memory(
        "m" * 63,
        long(script, 8_192),
        scope_of(script),
        NOW,
        NOW,
        NOW,
        topics=topics_of(script),
        metadata={"k": long(script, 4_000)},
        vector=b"v" * 4_096,
        display_name=long(script, 1_024),
        description=long(script, 1_024),
        evidence=tuple(evidence),
        former=(ids.keyed_hash(b"s"),) * MAX_FORMER,
        validity=Validity(NOW, NOW),
        statements=(Statement(NOW, NOW),) * MAX_STATEMENTS,
        whole_since=NOW,
    )


@SCRIPT
def test_a_memory_is_below_the_limit(script):
    """A memory, and a profile with as many fields as fit, have room with all that belongs to them."""
    memory = memory_of(script)
    assert item_bytes(memory_values("b" * 36, memory)) < MAX_ITEM_BYTES
    data = {f"{number:x}": 1 for number in range(profiles.MAX_PROFILE_BYTES // 9)}
    fact = profiles.to_fact(data)
    assert len(fact) <= profiles.MAX_PROFILE_BYTES
    profile = replace(memory, fact=fact, profile=Profile("s" * 63, dict.fromkeys(data, NOW)))
    revision = Revision("m" * 63, 1, fact, NOW, NOW, {"k": long(script, 4_000)}, (fact,), is_profile=True)
    assert item_bytes(memory_values("b" * 36, replace(profile, own_revision=revision))) < MAX_ITEM_BYTES
    other = replace(revision, extracted=(fact.replace("1}", "2}"),))
    assert item_bytes(memory_values("b" * 36, replace(profile, own_revision=other))) < MAX_ITEM_BYTES
    natural = replace(revision, fact=memory.fact, extracted=(long(script, 8_191),))
    assert item_bytes(memory_values("b" * 36, replace(memory, own_revision=natural))) < MAX_ITEM_BYTES
    assert item_bytes(revision_values(revision)) < MAX_ITEM_BYTES
    recorded = RecordedVerdict(10**6, Verdict.CREATED, fact, profiles.TOO_LARGE, "m" * 63, 1, 1)
    assert item_bytes(verdicts_put(Attempt("b", "s", 1, 0), [recorded], NOW).values) < MAX_ITEM_BYTES


@SCRIPT
def test_a_review_is_below_the_limit(script):
    """A review of a profile with the evidence of many windows, rejected before by as many events, has room."""
    memory, fact = memory_of(script), "f" * profiles.MAX_PROFILE_BYTES
    rejected = frozenset(ids.keyed_hash(b"s", str(number)) for number in range(MAX_REJECTED))
    review = Review(
        f"{'s' * 26}-0{'s' * 26}",
        memory.scope,
        ReviewAction.MERGE,
        ReviewCause.PINNED,
        NOW,
        NOW,
        NOW,
        (ReviewedMemory("m" * 63, ids.keyed_hash(b"s")),) * 15,
        topics=memory.topics,
        profile="s" * 63,
        evidence=memory.evidence,
        rejected=rejected,
    )
    # Compression is no promise.
    assert item_bytes({**review_values("b" * 36, review), "d": b"x" * (3 * len(fact))}) < MAX_ITEM_BYTES
    assert len(mark_of(review, ReviewState.REJECTED, []).rejected) == MAX_REJECTED


def test_what_counts_events_is_a_fourth_of_the_limit():
    """The numbers and hashes of a memory's evidence have at most 100 KB, and all hashes of a tombstone 40 KB."""
    values = memory_values("b", memory_of("x"))
    assert len(values["evh"]) == 8 * MAX_EVIDENCE_EVENTS
    assert len(values["fmr"]) == 8 * MAX_FORMER
    assert len(values["ev"]) + len(values["evh"]) < 100_000
    distinct = [ids.keyed_hash(b"s", str(number)) for number in range(MAX_EVIDENCE_EVENTS + MAX_FORMER)]
    events, texts = frozenset(distinct[:MAX_EVIDENCE_EVENTS]), frozenset(distinct[MAX_EVIDENCE_EVENTS:])
    assert item_bytes(tombstone_values(Tombstone("m" * 63, NOW, events, texts, NOW))) < 40_000


@SCRIPT
def test_a_stream_and_its_windows_are_below_the_limit(script):
    """HEAD with the longest settings, and a window with five stated memories beside them, have room."""
    stream, settings = stream_of(script), settings_of(script)
    head = Head(
        stream,
        1,
        rule=TriggerRule(10_000, token_count=1_000_000),
        tokens=1_000_000,
        settings=settings,
        anchor=NOW,
        first_arrival=NOW,
    )
    assert item_bytes(codec.head_values(head)) < MAX_ITEM_BYTES
    direct = tuple(DirectMemory(long(script, 8_192), topics_of(script)) for _ in range(5))
    window = Window(stream, 1, 1, 1, Reason.DIRECT, NOW, NOW, settings=settings, direct=direct)
    # Compression is no promise: labels of random letters hardly shrink.
    uncompressed = sum(len(one.fact.encode()) + MAX_TOPICS_BYTES for one in direct)
    assert item_bytes({**codec.window_values(window), "dir": b"x" * uncompressed}) < MAX_ITEM_BYTES


@SCRIPT
def test_a_session_is_below_the_limit(script):
    """The head of a session with the largest state has room."""
    state = {"k": script * (299_900 // (len(codec.text.dumps(script).encode()) - 2))}
    session = Session(
        "s" * 128, long(script, 512), NOW, NOW, 1, 1, 1, long(script, 1_024), state, {"k": long(script, 4_000)}
    )
    assert item_bytes(head_values("b" * 36, session)) < MAX_ITEM_BYTES
