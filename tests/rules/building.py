"""Values and strategies that the tests of rules start from."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from streambank.model import ids
from streambank.model.event import Event, KeyedEvent, StoredEvent
from streambank.model.memory import Memory
from streambank.model.metadata import MergeStrategy
from streambank.model.plan import Candidate
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head, IngestCall, StreamId
from streambank.model.window import Window
from streambank.rules.keyed_hashes import KeyedHashes

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SCOPE = {"user_id": "u1"}
STREAM = StreamId("default", ids.stream_key(SCOPE, ""), SCOPE, "default")
MINUTE = timedelta(minutes=1)
HASHES = KeyedHashes.of_scope(b"secret", "default", SCOPE)


def keyed(text="hello", event_id=None, *, size=100, key=None):
    event = Event("user", ({"text": text},), event_id)
    return KeyedEvent(event, key or (ids.event_key(event_id) if event_id else None), size)


def stored(seq, text="hello", *, time=None, arrived=NOW):
    return StoredEvent(Event("user", ({"text": text},), None, time), seq, arrived)


def call(*events, rule=None, force=False, settings=None):
    return IngestCall(STREAM, events, rule, force, settings or WindowSettings())


def filled(count=1, *, first=NOW, last=None, **more):
    """Return a head whose open window holds *count* events."""
    values = {"seq": count, "count": count, "size": 100 * count, "anchor": first, **more}
    return Head(STREAM, version=1, first_arrival=first, last_arrival=last or first, **values)


def window(**more):
    values = {"stream": STREAM, "number": 1, "first_seq": 1, "last_seq": 3, "reason": Reason.EVENT_COUNT}
    return Window(**{**values, "sealed": NOW, "last_arrival": NOW, **more})


def memory(name="m1", fact="I like tea", **more):
    return Memory(**{"id": name, "fact": fact, "scope": SCOPE, "created": NOW, "updated": NOW, "as_of": NOW, **more})


def candidate(fact="I like coffee", *, at=NOW, seqs=(1,), **more):
    return Candidate(fact, seqs, at, **more)


def minutes(most=100):
    return st.integers(1, most).map(lambda count: timedelta(minutes=count))


def rules():
    """Every rule that a call may name, the empty one too."""
    timers = st.one_of(
        st.just((None, None)), minutes(43_200).map(lambda span: (span, None)), minutes(43_200).map(lambda s: (None, s))
    )
    counts = st.none() | st.integers(1, 20)
    tokens = st.none() | st.integers(1, 2_000)
    return st.builds(lambda count, timer, most: TriggerRule(count, *timer, 0, most), counts, timers, tokens)


def instants():
    return st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))


def settings_said():
    """What a call may say about its window; each field may be silent."""
    labels = st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2)
    values = st.text(max_size=3) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | instants()
    return st.builds(
        WindowSettings,
        revision_labels=st.none() | labels,
        revision_expiry=st.none() | minutes() | instants(),
        disable_revisions=st.none() | st.booleans(),
        metadata=st.none() | st.dictionaries(st.text(max_size=3), values, max_size=2),
        merge_strategy=st.none() | st.sampled_from(MergeStrategy),
        time_zone=st.none() | st.sampled_from(["UTC", "Europe/Vienna"]),
        disable_consolidation=st.none() | st.booleans(),
        allowed_topics=st.none() | st.lists(st.text(max_size=3), max_size=2).map(tuple),
        include_tool_traffic=st.none() | st.booleans(),
    )
