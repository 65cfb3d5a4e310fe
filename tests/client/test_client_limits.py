"""Checks at construction: they refuse what the service would refuse at every call, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.model import chat, ids
from streambank.wire import ingest, reader
from streambank_client import AsyncStreambank, GenerationRule, Streambank, limits
from streambank_client.chat import ChatMemory, Feed, StreambankChatHistoryProvider
from streambank_client.koog import (
    AsyncStreambankStorage,
    IngestionSettings,
    InMemoryStorage,
    LongTermMemory,
    RetrievalSettings,
    StreambankStorage,
)
from streambank_client.strands import BankFactStore, BankStore, ExtractionConfig

SCOPE = {"user_id": "1"}
CLIENT = Streambank("http://service")
ASYNC_CLIENT = AsyncStreambank("http://service")
CLASS_OF_STORAGES: Any = InMemoryStorage


def refuses(check: Callable[[], object]) -> bool:
    try:
        check()
    except (ValueError, InvalidArgument):
        return True
    return False


# ---- the limits are those of the service


def test_limits_are_the_service_s() -> None:
    """Every limit has the value that the service has."""
    for name in (
        "MAX_SCOPE_PAIRS",
        "MAX_SCOPE_BYTES",
        "MAX_ID_BYTES",
        "MAX_EVENT_COUNT",
        "MAX_TOKEN_COUNT",
        "MAX_TIMED_OVERLAP",
        "MINUTE",
        "LONGEST_TRIGGER",
    ):
        assert getattr(limits, name) == getattr(ingest, name), name
    assert limits.MAX_FORMAT_BYTES == chat.MAX_FORMAT_BYTES
    assert limits.BANK_ID.pattern == ids.BANK_ID.pattern


texts = st.sampled_from(["", "a", "*", "a*", "é" * 128, "é" * 129, "x" * 256, "x" * 257, "\ud83d"])


@given(st.one_of(st.dictionaries(st.one_of(texts, st.text(max_size=2)), texts, max_size=6), st.none(), texts))
def test_scopes_as_the_service(scope: Any) -> None:
    """A scope is refused if and only if the service refuses it."""
    assert refuses(lambda: limits.checked_scope(scope)) == refuses(lambda: ingest.scope(scope, "scope"))


spans = st.sampled_from(["60s", "59s", "61s", "60.0s", "60.5s", "2592000s", "2592060s", "1m", "s", "", "-60s", 60])
counts = st.sampled_from([0, 1, 2, 100, 101, 9_999, 10_000, 10_001, -1, 10.0, 1.5, "10", True, "x", []])
rules = st.fixed_dictionaries(
    {},
    optional={
        "event_count": st.one_of(counts, st.none()),
        "eventCount": counts,
        "tokenCount": st.one_of(counts, st.sampled_from([1_000_000, 1_000_001])),
        "idle_duration": spans,
        "fixedInterval": st.one_of(spans, st.none()),
        "overlap_event_count": counts,
        "idle": counts,
    },
)


@given(rules)
def test_rules_as_the_service(rule: dict[str, Any]) -> None:
    """A rule is refused if and only if the service refuses it."""
    assert refuses(lambda: limits.checked_rule(rule)) == refuses(lambda: ingest.trigger_rule(rule, "rule"))


@given(st.integers(0, 40 * 24 * 60), st.integers(0, 59), st.integers(0, 10_002))
def test_rules_of_types(minutes: int, seconds: int, count: int) -> None:
    """A GenerationRule with timedeltas is checked as the same rule in JSON."""
    rule = GenerationRule(event_count=count, idle_duration=timedelta(minutes=minutes, seconds=seconds))
    assert refuses(lambda: limits.checked_rule(rule)) == refuses(lambda: ingest.trigger_rule(rule.document(), "rule"))


@pytest.mark.parametrize("stream_id", ["", "s", "x" * 512, "x" * 513, "é" * 257, 7])
def test_stream_ids_as_the_service(stream_id: Any) -> None:
    """A stream id is refused if and only if the service refuses it."""
    checked = refuses(lambda: reader.text(stream_id, "streamId", most_bytes=ingest.MAX_ID_BYTES))
    assert refuses(lambda: limits.checked_stream_id(stream_id)) == checked


# ---- every constructor checks

WRONG: list[dict[str, Any]] = [
    {"scope": {}},
    {"scope": {"u": "*"}},
    {"scope": {str(number): "x" for number in range(6)}},
    {"scope": {"u": "x" * 257}},
    {"scope": {"k" * 257: "x"}},
    {"scope": "user"},
    {"stream_id": "x" * 513},
    {"generation_rule": {"idle": 1}},
    {"generation_rule": {"idle_duration": "90s"}},
    {"generation_rule": {"fixed_interval": timedelta(seconds=59)}},
    {"generation_rule": {"idle_duration": timedelta(days=31)}},
    {"generation_rule": {"event_count": 0}},
    {"generation_rule": {"event_count": 10_001}},
    {"generation_rule": GenerationRule(event_count=0)},
    {"generation_rule": "10"},
]
CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "BankStore": lambda **more: BankStore(**{"client": CLIENT, "scope": SCOPE, **more}),
    "BankFactStore": lambda **more: BankFactStore(**{"client": CLIENT, "scope": SCOPE, **more}),
    "StreambankStorage": lambda **more: StreambankStorage(CLIENT.bank(), **{"scope": SCOPE, **more}),
    "AsyncStreambankStorage": lambda **more: AsyncStreambankStorage(ASYNC_CLIENT.bank(), **{"scope": SCOPE, **more}),
    "Feed": lambda **more: Feed(ASYNC_CLIENT.bank(), **{"scope": SCOPE, **more}),
}


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_constructors_refuse(constructor: str, wrong: dict[str, Any]) -> None:
    """Each constructor that has the argument refuses it by its name, and accepts the others."""
    [name] = wrong
    CONSTRUCTORS[constructor]()
    with pytest.raises(ValueError, match=name):
        CONSTRUCTORS[constructor](**wrong)


def test_strands_store_refuses() -> None:
    """The store of Strands has the same checks."""
    store = pytest.importorskip("streambank_client.strands.strands_store").StreambankMemoryStore
    for wrong in WRONG:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            store(**{"client": CLIENT, "scope": SCOPE, **wrong})


@pytest.mark.parametrize("bank", ["", "..", "x" * 37, "a/b", "ä", 7])
def test_banks_that_cannot_exist(bank: Any) -> None:
    """The id of a bank is checked, whether it is alone or in a name."""
    with pytest.raises(ValueError, match="bank"):
        BankStore(client=CLIENT, scope=SCOPE, bank=bank)
    BankStore(client=CLIENT, scope=SCOPE, bank="projects/p/locations/l/reasoningEngines/b")


@pytest.mark.parametrize(
    "construct",
    [
        lambda: BankStore(client=ASYNC_CLIENT, scope=SCOPE),  # type: ignore[arg-type]
        lambda: BankStore(client=CLIENT.bank(), scope=SCOPE),  # type: ignore[arg-type]
        lambda: StreambankStorage(ASYNC_CLIENT.bank(), scope=SCOPE),  # type: ignore[arg-type]
        lambda: StreambankStorage(CLIENT, scope=SCOPE),  # type: ignore[arg-type]
        lambda: AsyncStreambankStorage(CLIENT.bank(), scope=SCOPE),  # type: ignore[arg-type]
        lambda: Feed(CLIENT),  # type: ignore[arg-type]
        lambda: Feed(CLIENT.bank(), format="nonsense"),  # type: ignore[arg-type]
        lambda: StreambankChatHistoryProvider(CLIENT),  # type: ignore[arg-type]
        lambda: StreambankChatHistoryProvider(CLIENT.bank(), format="x" * 65),
        lambda: ChatMemory("nonsense"),  # type: ignore[arg-type]
        lambda: ChatMemory().feed(CLIENT.bank()),  # type: ignore[arg-type]
        lambda: ChatMemory().add_preprocessor(object()),  # type: ignore[arg-type]
        lambda: ChatMemory().filter_messages("user"),  # type: ignore[arg-type]
        lambda: ChatMemory().feed(Feed(CLIENT.bank(), scope=SCOPE)).turn("s", scope={}),
        lambda: ExtractionConfig(trigger="invocation"),  # type: ignore[arg-type]
        lambda: ExtractionConfig(extractor=print),  # type: ignore[arg-type]
        lambda: BankStore(client=CLIENT, scope=SCOPE, extraction={"trigger": 5}),
        lambda: IngestionSettings(storage="nonsense"),  # type: ignore[arg-type]
        lambda: IngestionSettings(storage=CLASS_OF_STORAGES),
        lambda: IngestionSettings(storage=InMemoryStorage(), extraction_strategy=object()),  # type: ignore[arg-type]
        lambda: IngestionSettings(storage=InMemoryStorage(), namespace="*"),
        lambda: RetrievalSettings(storage="nonsense"),  # type: ignore[arg-type]
        lambda: RetrievalSettings(storage=InMemoryStorage(), query="x"),  # type: ignore[arg-type]
        lambda: RetrievalSettings(storage=InMemoryStorage(), augmenter="x"),  # type: ignore[arg-type]
        lambda: LongTermMemory(ingestion=InMemoryStorage()),  # type: ignore[arg-type]
    ],
)
def test_wrong_objects(construct: Callable[[], object]) -> None:
    """An object that cannot do what is needed is refused where it is given."""
    with pytest.raises(ValueError, match="must"):
        construct()


def test_a_class_in_place_of_an_object() -> None:
    """The class of a strategy or of a preprocessor is refused with the cure."""

    class Redact:
        def preprocess(self, messages: list[Any]) -> list[Any]:
            return messages

    with pytest.raises(ValueError, match=r"Redact\(\)"):
        ChatMemory().add_preprocessor(Redact)  # type: ignore[arg-type]


def test_namespaces_count_as_pairs() -> None:
    """A namespace that a scope has no room for is refused before anything is sent."""
    storage = StreambankStorage(CLIENT.bank(), scope={str(number): "x" for number in range(5)})
    with pytest.raises(ValueError, match="scope"):
        storage.add([], "n")
