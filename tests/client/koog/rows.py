"""What Koog's own tests pin down of ingestion, I1 to I12, for any storage and models of every kind."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from streambank_client.koog import (
    FilteringExtractionStrategy,
    IngestionSettings,
    IngestionTiming,
    InMemoryStorage,
    LongTermMemory,
    MemoryRecord,
    RetrievalSettings,
    record_of,
)
from tests.client.koog.agents import KINDS, NOON, Model, assistant, play, system, texts, user

COMPLETION = IngestionTiming.ON_AGENT_COMPLETION
every_kind = pytest.mark.parametrize("kind", KINDS)
both_timings = pytest.mark.parametrize("timing", tuple(IngestionTiming))
HELLO = [system("be brief"), user("hello there")]


class Backend(Protocol):
    """Storages of one place for each kind of model, and the texts that it holds, in order."""

    def storage(self, kind: str) -> Any: ...

    def texts(self) -> list[str]: ...


class InMemoryBackend:
    def __init__(self) -> None:
        self._storage = InMemoryStorage()

    def storage(self, kind: str) -> InMemoryStorage:
        return self._storage

    def texts(self) -> list[str]:
        return texts(self._storage)


def remembering(storage: Any, **settings: Any) -> LongTermMemory:
    return LongTermMemory(ingestion=IngestionSettings(storage=storage, **settings), clock=lambda: NOON)


def roles(*names: str) -> FilteringExtractionStrategy:
    return FilteringExtractionStrategy(roles=names)


class KoogRows:
    """The rows; subclasses have fixtures `backend`, `kind` (of a model) and `stream_kind`."""

    @both_timings
    def test_i1_both_sides_are_stored(self, backend: Backend, kind: str, timing: IngestionTiming) -> None:
        """I1: by default what the user and the model say in one call are stored, as one record each."""
        play(remembering(backend.storage(kind), timing=timing), Model(["how can I help?"]), kind, HELLO)
        assert backend.texts() == ["hello there", "how can I help?"]

    @pytest.mark.parametrize(("role", "stored"), [("assistant", "how can I help?"), ("user", "hello there")])
    def test_i2_one_role_alone_is_stored(self, backend: Backend, kind: str, role: str, stored: str) -> None:
        """I2: with one role in the filter only what that role said is found."""
        memory = remembering(backend.storage(kind), extraction_strategy=roles(role))
        play(memory, Model(["how can I help?"]), kind, HELLO)
        assert backend.texts() == [stored]

    def test_i3_nothing_is_stored_without_ingestion(self, backend: Backend, kind: str) -> None:
        """I3: where only retrieval is configured the model is called as ever, and no record is made."""
        model = Model(["how can I help?"])
        memory = LongTermMemory(retrieval=RetrievalSettings(storage=backend.storage(kind)))
        assert play(memory, model, kind, HELLO) == ["how can I help?"]
        assert model.prompts == [HELLO]
        assert backend.texts() == []

    def test_i4_frames_are_one_record(self, backend: Backend, stream_kind: str) -> None:
        """I4: a reply that comes in three frames is one record with the joined text."""
        memory = remembering(backend.storage(stream_kind), extraction_strategy=roles("assistant"))
        play(memory, Model(["one two three"]), stream_kind, HELLO)
        assert backend.texts() == ["one two three"]

    def test_i5_streamed_reply_is_filtered_too(self, backend: Backend, stream_kind: str) -> None:
        """I5: with the user's role alone what they said is stored and the streamed reply is not."""
        memory = remembering(backend.storage(stream_kind), extraction_strategy=roles("user"))
        play(memory, Model(["one two three"]), stream_kind, HELLO)
        assert backend.texts() == ["hello there"]

    def test_i6_completion_stores_nothing_before_it(self, backend: Backend, kind: str) -> None:
        """I6: ON_AGENT_COMPLETION stores nothing while the model is called, and all of it afterwards."""
        during: list[list[str]] = []
        model = Model(["a", "b"], during=lambda: during.append(backend.texts()))
        memory = remembering(backend.storage(kind), timing=COMPLETION)
        play(memory, model, kind, HELLO, [*HELLO, assistant("a"), user("more")])
        assert during == [[], []]
        assert backend.texts() == ["hello there", "a", "more", "b"]

    @pytest.mark.parametrize(
        ("names", "stored"), [(("user",), ["hello there"]), (("user", "assistant"), ["hello there", "hi"])]
    )
    def test_i7_completion_is_filtered(self, backend: Backend, kind: str, names: Any, stored: list[str]) -> None:
        """I7: the filter holds at completion too, for one role as for both."""
        memory = remembering(backend.storage(kind), timing=COMPLETION, extraction_strategy=roles(*names))
        play(memory, Model(["hi"]), kind, HELLO)
        assert backend.texts() == stored

    @both_timings
    @pytest.mark.parametrize("keeps_id", [False, True])
    def test_i8_strategy_may_split_a_reply(
        self, backend: Backend, kind: str, timing: IngestionTiming, keeps_id: bool
    ) -> None:
        """I8: a strategy that splits a reply in three makes exactly three records, with ids or without."""

        def pieces(messages: Any) -> list[MemoryRecord]:
            said = [message for message in messages if message.role == "assistant"]
            cut = [(message.id, piece) for message in said for piece in message.text.split("|")]
            return [MemoryRecord(piece, message_id if keeps_id else None) for message_id, piece in cut]

        memory = remembering(backend.storage(kind), timing=timing, extraction_strategy=pieces)
        play(memory, Model(["one|two|three"]), kind, HELLO)
        assert backend.texts() == ["one", "two", "three"]

    def test_i9_strategy_may_change_the_text(self, backend: Backend, kind: str) -> None:
        """I9: what a strategy makes of a text is what is stored."""
        shouting = lambda messages: [record_of(message, message.text.upper()) for message in messages]
        play(remembering(backend.storage(kind), extraction_strategy=shouting), Model(["hi"]), kind, [user("hello")])
        assert backend.texts() == ["HELLO", "HI"]

    @both_timings
    def test_i10_strategy_may_return_nothing(self, backend: Backend, kind: str, timing: IngestionTiming) -> None:
        """I10: a strategy that returns nothing leaves no records."""
        memory = remembering(backend.storage(kind), timing=timing, extraction_strategy=lambda _: [])
        assert play(memory, Model(["hi"]), kind, HELLO) == ["hi"]
        assert backend.texts() == []

    @both_timings
    def test_i11_each_message_is_stored_once_in_a_run(
        self, backend: Backend, kind: str, timing: IngestionTiming
    ) -> None:
        """I11: two calls in one run, the second of which repeats the first's prompt and reply, make four records."""
        memory, model = remembering(backend.storage(kind), timing=timing), Model(["first answer", "second answer"])
        play(memory, model, kind, HELLO, [*HELLO, assistant("first answer"), user("and?")])
        assert backend.texts() == ["hello there", "first answer", "and?", "second answer"]

    @both_timings
    def test_i12_runs_know_nothing_of_each_other(self, backend: Backend, kind: str, timing: IngestionTiming) -> None:
        """I12: a second run adds records of its own, also where it says the same as the first."""
        memory = remembering(backend.storage(kind), timing=timing)
        for _ in range(2):
            play(memory, Model(["hi"]), kind, HELLO)
        assert backend.texts() == ["hello there", "hi"] * 2
