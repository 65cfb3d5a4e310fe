from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.bank import Bank
from streambank.model.memory import Revision
from streambank.wire import reader
from streambank.wire.bank import bank
from streambank.wire.memory import memory, revision
from streambank.wire.reply import optional_time, rfc3339, without_nulls
from streambank.wire.settings import metadata_value
from tests.rules.building import MINUTE, NOW, SCOPE
from tests.rules.building import memory as made

BANK = "memoryBanks/1"


def test_a_bare_memory():
    """A memory without extras shows what it must and no empty field."""
    assert memory(made(), BANK) == {
        "name": "memoryBanks/1/memories/m1",
        "fact": "I like tea",
        "scope": SCOPE,
        "memoryType": "NATURAL_LANGUAGE_COLLECTION",
        "createTime": "2026-03-01T12:00:00Z",
        "updateTime": "2026-03-01T12:00:00Z",
        "eventTime": "2026-03-01T12:00:00Z",
    }


def test_a_full_memory():
    """Name, description, topics and expiry are shown where there are any; nothing of ours shows through."""
    full = made(
        topics=("USER_PREFERENCES", "jargon"),
        display_name="d",
        description="e",
        expires=NOW + MINUTE,
        metadata={"k": "v"},
        vector=b"1234",
        revision=9,
    )
    document = memory(full, BANK)
    assert document["topics"] == [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "jargon"}]
    assert (document["displayName"], document["description"]) == ("d", "e")
    assert document["expireTime"] == "2026-03-01T12:01:00Z"
    assert set(document) - {"topics", "displayName", "description", "expireTime", "metadata"} == set(
        memory(made(), BANK)
    )


def test_values_of_metadata_hold_one_field_that_the_sdk_knows():
    """Any other key inside a map's value makes Google's SDK fail; true is a boolean, not the number one."""
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1)))
    values = {"s": "x", "empty": "", "d": 0.0, "yes": True, "no": False, "t": at}
    assert memory(made(metadata=values), BANK)["metadata"] == {
        "s": {"stringValue": "x"},
        "empty": {"stringValue": ""},
        "d": {"doubleValue": 0.0},
        "yes": {"boolValue": True},
        "no": {"boolValue": False},
        "t": {"timestampValue": "2026-01-02T02:04:05Z"},
    }


values = st.text(max_size=9) | st.floats(-1.7e308, 1.7e308) | st.booleans()


@given(value=values)
def test_metadata_comes_back_as_it_was_sent(value):
    """What a memory shows of a value is what a call may say of it."""
    shown = memory(made(metadata={"k": value}), BANK)["metadata"]["k"]
    assert metadata_value(shown, "k") == value
    assert type(metadata_value(shown, "k")) is type(value)


def test_revisions():
    """A revision shows its number in its name, its labels and what was extracted; a deletion has an empty fact."""
    full = Revision("m1", 3, "I like tea", NOW, NOW + MINUTE, {"source": "321"}, ("tea is good",))
    assert revision(full, BANK) == {
        "name": "memoryBanks/1/memories/m1/revisions/3",
        "fact": "I like tea",
        "createTime": "2026-03-01T12:00:00Z",
        "eventTime": "2026-03-01T12:00:00Z",
        "expireTime": "2026-03-01T12:01:00Z",
        "labels": {"source": "321"},
        "extractedMemories": [{"fact": "tea is good"}],
    }
    assert revision(Revision("m1", 4, "", NOW, None), BANK) == {
        "name": "memoryBanks/1/memories/m1/revisions/4",
        "fact": "",
        "createTime": "2026-03-01T12:00:00Z",
    }


def test_a_bank_without_configuration_has_no_context_spec():
    """An empty contextSpec crashes Google's SDK, so it is complete or absent."""
    assert bank(Bank("default"), "memoryBanks", {}) == {"name": "memoryBanks/default"}
    config = {"disableMemoryRevisions": True}
    full = Bank("7", NOW, NOW + MINUTE, "d", "e")
    assert bank(full, "projects/p/locations/l/reasoningEngines", config) == {
        "name": "projects/p/locations/l/reasoningEngines/7",
        "displayName": "d",
        "description": "e",
        "createTime": "2026-03-01T12:00:00Z",
        "updateTime": "2026-03-01T12:01:00Z",
        "contextSpec": {"memoryBankConfig": config},
    }


@given(
    moment=st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    offset=st.integers(-1_439, 1_439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_times_are_utc_to_the_millisecond(moment, offset):
    """A time in any offset is shown in UTC with a Z, cut to the millisecond, and can be read back."""
    instant = moment.replace(tzinfo=offset)
    text = rfc3339(instant)
    assert text.endswith("Z")
    lost = instant - reader.instant(text, "f")
    assert timedelta(0) <= lost < timedelta(milliseconds=1)


def test_whole_seconds_have_no_fraction():
    """A fraction is shown only where there is one."""
    assert rfc3339(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00Z"
    assert rfc3339(datetime(2026, 1, 1, 0, 0, 0, 5_000, UTC)) == "2026-01-01T00:00:00.005Z"
    assert optional_time(None) is None


def test_only_nulls_are_left_out():
    """False, zero and what is empty are said."""
    assert without_nulls({"a": None, "b": 0, "c": False, "d": "", "e": []}) == {"b": 0, "c": False, "d": "", "e": []}
