"""Values and strategies that the tests of the store start from."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import settings as examples
from hypothesis import strategies as st

from streambank.model import ids
from streambank.model.event import Event, KeyedEvent
from streambank.model.memory import Evidence, Memory, Revision
from streambank.model.metadata import MergeStrategy
from streambank.model.plan import Candidate, PlanStep
from streambank.model.review import Review, ReviewAction, ReviewCause, ReviewedMemory
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head, StreamId
from streambank.model.tombstone import Tombstone
from streambank.model.validity import OPEN, Statement, Validity
from streambank.model.verdict import Verdict
from streambank.model.window import DirectMemory, Window, WindowState
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.attributes import packed, unpacked

# Items of many fields are slow to draw; what is rare is among the texts that are drawn often.
FEW = examples(max_examples=50)
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SCOPE = {"user_id": "u1"}
HASHES = KeyedHashes.of_scope(b"secret", "default", SCOPE)
COMMON = st.sampled_from(["", "\0", "\U0001f469\u200d\U0001f4bb", "\u202e", "e\u0301", "#", '"\\', "\u2028"])
texts = st.text(max_size=12) | COMMON


def through_item(key, values):
    """Return *values* as they are after DynamoDB had them under *key*."""
    return unpacked(packed({"PK": key.pk, "SK": key.sk, **values}))


def instants():
    """Instants as items hold them: to the millisecond."""
    moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1))
    return moments.map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC))


def seconds():
    return instants().map(lambda moment: moment.replace(microsecond=0))


def written_times():
    """Times as callers write them: any offset, any microsecond."""
    zones = st.integers(-1_439, 1_439).map(lambda offset: timezone(timedelta(minutes=offset)))
    return st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)


def spans(least=timedelta(seconds=1), most=timedelta(days=36_525)):
    return st.timedeltas(least, most)


def rules():
    whole = st.integers(1, 43_200).map(lambda minutes: timedelta(minutes=minutes))
    times = st.one_of(st.just((None, None)), whole.map(lambda span: (span, None)), whole.map(lambda span: (None, span)))
    counts = st.none() | st.integers(1, 10_000)
    return st.builds(
        lambda count, time, carried, tokens: TriggerRule(count, *time, carried, tokens),
        counts,
        times,
        st.integers(0, 100),
        st.none() | st.integers(1, 1_000_000),
    )


def metadata():
    values = texts | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | written_times()
    return st.dictionaries(texts, values, max_size=4)


def settings():
    return st.builds(
        WindowSettings,
        revision_labels=st.none() | st.dictionaries(texts, texts, max_size=3),
        revision_expiry=st.none() | spans() | written_times(),
        disable_revisions=st.none() | st.booleans(),
        metadata=st.none() | metadata(),
        merge_strategy=st.none() | st.sampled_from(MergeStrategy),
        time_zone=st.none() | st.sampled_from(["UTC", "Europe/Vienna"]),
        disable_consolidation=st.none() | st.booleans(),
        allowed_topics=st.none() | st.lists(texts, max_size=2).map(tuple),
        include_tool_traffic=st.none() | st.booleans(),
    )


def scopes():
    return st.dictionaries(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), min_size=1, max_size=5)


def streams():
    banks = st.from_regex(ids.BANK_ID, fullmatch=True)
    names = st.text(min_size=1, max_size=20)
    return st.builds(
        lambda bank, scope, name: StreamId(bank, ids.stream_key(scope, name), scope, name), banks, scopes(), names
    )


numbers = st.integers(0, 999_999_999_999)
hashes = st.binary(min_size=8, max_size=8).filter(any).map(ids.keyed_hash_text)


def heads():
    return st.builds(
        Head,
        stream=streams(),
        version=numbers,
        seq=numbers,
        window=numbers,
        start=numbers,
        count=numbers,
        size=numbers,
        tokens=numbers,
        first_arrival=st.none() | instants(),
        last_arrival=st.none() | instants(),
        anchor=st.none() | instants(),
        rule=st.none() | rules(),
        seal_reason=st.none() | st.sampled_from(Reason),
        settings=settings(),
        due=st.none() | seconds(),
    )


def windows():
    return st.builds(
        Window,
        stream=streams(),
        number=numbers,
        first_seq=numbers,
        last_seq=numbers,
        reason=st.sampled_from(Reason),
        sealed=instants(),
        last_arrival=instants(),
        rule=st.none() | rules(),
        settings=settings(),
        state=st.sampled_from(WindowState),
        attempt=numbers,
        failures=numbers,
        cursor=numbers,
        due=st.none() | seconds(),
        direct=st.lists(st.builds(DirectMemory, texts, st.lists(texts, max_size=2).map(tuple)), max_size=3).map(tuple),
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def events():
    parts = st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=3).map(tuple)
    ids_ = st.none() | st.text(min_size=1, max_size=20)
    return st.builds(Event, st.sampled_from(["user", "model"]), parts, ids_, st.none() | written_times())


def keyed(event, size=100):
    return KeyedEvent(event, ids.event_key(event.event_id) if event.event_id else None, size)


def candidates():
    return st.builds(
        Candidate,
        fact=texts,
        seqs=st.lists(numbers, max_size=4).map(tuple),
        at=written_times(),
        topics=st.lists(texts, max_size=2).map(tuple),
        vector=st.binary(max_size=12),
        rejected=texts,
        validity=validities(),
        is_correction=st.booleans(),
    )


def steps():
    names = st.none() | st.text(min_size=1, max_size=9)
    return st.builds(
        PlanStep,
        st.sampled_from(Verdict),
        names,
        st.none() | texts,
        st.binary(max_size=12),
        texts,
        validity=validities(),
        is_correction=st.booleans(),
    )


def _with_own(memory, own):
    """Return *memory* with its own revision, unless it is deleted; what the memory says, the revision does not."""
    if own is None or memory.deleted:
        return memory
    same = {"memory_id": memory.id, "fact": memory.fact, "is_profile": memory.profile is not None}
    other = {"validity": OPEN, "statements": (), "vector": b"", "is_late": False}
    statements = memory.statements or (Statement(memory.as_of, memory.created),)
    return replace(memory, own_revision=replace(own, **same, **other), statements=statements)


def validities():
    return st.builds(Validity, st.none() | instants(), st.none() | instants())


def statements():
    return st.lists(st.builds(Statement, instants(), instants()), max_size=3).map(tuple)


def memories():
    return st.builds(_with_own, _memories(), st.none() | revisions())


def _memories():
    found = st.builds(_evidence, st.text(max_size=5), numbers, st.lists(numbers, max_size=3), st.data())
    return st.builds(
        Memory,
        id=st.from_regex(r"m[a-z2-7]{26}", fullmatch=True),
        fact=texts,
        scope=scopes(),
        created=instants(),
        updated=instants(),
        as_of=instants(),
        revision=st.integers(1, 999),
        topics=st.lists(texts, max_size=3).map(tuple),
        metadata=metadata(),
        vector=st.binary(max_size=16),
        expires=st.none() | instants(),
        display_name=st.none() | st.text(max_size=9),
        description=st.none() | st.text(max_size=9),
        evidence=st.lists(found, max_size=3).map(tuple),
        deleted=st.none() | instants(),
        former=st.lists(hashes, max_size=3).map(tuple),
        pinned=st.booleans(),
        validity=validities(),
        statements=statements(),
        whole_since=st.none() | instants(),
        hidden=st.integers(0, 9),
    )


def _evidence(sid, window, seqs, data):
    """Evidence whose events have a hash each, or some of them, or none."""
    some = data.draw(st.lists(hashes | st.just(""), min_size=len(seqs), max_size=len(seqs)))
    return Evidence(sid, window, tuple(seqs), tuple(some) if any(some) else ())


def tombstones():
    return st.builds(
        Tombstone,
        memory_id=st.from_regex(r"m[a-z2-7]{26}", fullmatch=True),
        at=instants(),
        events=st.frozensets(hashes, max_size=4),
        texts=st.frozensets(hashes, max_size=4),
        expires=instants(),
        is_merge=st.booleans(),
    )


def reviews():
    found = st.builds(_evidence, st.text(max_size=5), numbers, st.lists(numbers, max_size=3), st.data())
    names = st.builds(ReviewedMemory, st.text("abc", min_size=1, max_size=9), hashes)
    return st.builds(
        Review,
        id=st.from_regex(r"[a-z2-7]{26}-0[a-z2-7]{26}", fullmatch=True),
        scope=scopes(),
        action=st.sampled_from(ReviewAction),
        cause=st.sampled_from(ReviewCause),
        created=instants(),
        expires=instants(),
        at=instants(),
        memories=st.lists(names, max_size=3).map(tuple),
        text=texts,
        fact=texts,
        number=numbers,
        topics=st.lists(texts, max_size=2).map(tuple),
        profile=st.sampled_from(["", "diet"]),
        reason=texts,
        evidence=st.lists(found, max_size=3).map(tuple),
        rejected=st.frozensets(hashes, max_size=3),
        validity=validities(),
        is_correction=st.booleans(),
        forgets=st.booleans(),
    )


def revisions():
    return st.builds(
        Revision,
        memory_id=st.from_regex(r"m[a-z2-7]{26}", fullmatch=True),
        number=st.integers(1, 999),
        fact=texts,
        created=instants(),
        expires=st.none() | instants(),
        labels=st.dictionaries(texts, texts, max_size=3),
        extracted=st.lists(texts, max_size=2).map(tuple),
        validity=validities(),
        statements=statements(),
        is_correction=st.booleans(),
        is_late=st.booleans(),
        vector=st.binary(max_size=16),
    )


def memory(name="m1", **more):
    return Memory(
        **{"id": name, "fact": "I like tea", "scope": SCOPE, "created": NOW, "updated": NOW, "as_of": NOW, **more}
    )
