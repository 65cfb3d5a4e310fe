"""Long-term memory around the calls of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from uuid import uuid4

from streambank_client.formats import FORMATS, Format
from streambank_client.koog.messages import read_frame
from streambank_client.koog.records import AsyncSearchStorage, AsyncWriteStorage, SearchStorage, WriteStorage
from streambank_client.koog.runs import Conversation, Counts
from streambank_client.koog.settings import IngestionSettings, RetrievalSettings
from streambank_client.koog.steps import drive, drive_async, is_asynchronous
from streambank_client.koog.wrapping import wrapped

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


def _now() -> datetime:
    return datetime.now(UTC)


class LongTermMemory:
    """Stores what is said in the runs of an agent, and tells its model what is remembered.

        memory = LongTermMemory(ingestion=IngestionSettings(storage=storage))
        with memory.run() as run:
            reply = run.wrap(call_model)(messages)

    format: of the messages: strands, koog-0.8, koog-1, openai, langchain, google.
    frame_text: returns the text of a frame of a stream; strings and OpenAI's chunks are understood without it.
    clock: tells the time of messages that have none.

    Raises:
        ValueError: the format is unknown.
    """

    def __init__(
        self,
        *,
        ingestion: IngestionSettings | None = None,
        retrieval: RetrievalSettings | None = None,
        format: Format = "openai",  # noqa: A002 - as chat histories call it
        frame_text: Callable[[Any], str] = read_frame,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}")
        self._ingestion = ingestion
        self._retrieval = retrieval
        self._format = format
        self._frame_text = frame_text
        self._clock = clock

    @property
    def ingestion_storage(self) -> WriteStorage | AsyncWriteStorage:
        """The storage to write to by hand. Raises RuntimeError where ingestion is not configured."""
        if self._ingestion is None:
            raise RuntimeError("LongTermMemory was made without ingestion")
        return self._ingestion.storage

    @property
    def retrieval_storage(self) -> SearchStorage | AsyncSearchStorage:
        """The storage to search by hand. Raises RuntimeError where retrieval is not configured."""
        if self._retrieval is None:
            raise RuntimeError("LongTermMemory was made without retrieval")
        return self._retrieval.storage

    def run(self, run_id: str | None = None, *, known: Iterable[Any] = ()) -> Run:
        """Return a run of an agent, to be entered with `with` or `async with`, once.

        run_id: one that is done again under its id stores nothing twice; left out it is a new one.
        known: messages of earlier runs that the prompts will repeat; they are not stored again.

        Raises:
            ValueError: one of the *known* messages is none.
        """
        methods = [self._ingestion.storage.add] if self._ingestion else []
        searches = [self._retrieval.storage.search] if self._retrieval else []
        conversation = Conversation(
            run_id or str(uuid4()),
            ingestion=self._ingestion,
            retrieval=self._retrieval,
            form=self._format,
            clock=self._clock,
            known=known,
        )
        return Run(conversation, self._frame_text, is_async=any(map(is_asynchronous, [*methods, *searches])))


class Run:
    """One run of an agent: each of its messages is stored once, however many prompts repeat it.

    A run that ends with an exception stores nothing more: what was held back for its end is forgotten.
    """

    def __init__(self, conversation: Conversation, frame_text: Callable[[Any], str], *, is_async: bool) -> None:
        self._conversation = conversation
        self._frame_text = frame_text
        self._is_async = is_async

    @property
    def id(self) -> str:
        """What the ids of messages without ids begin with."""
        return self._conversation.run_id

    @property
    def counts(self) -> Counts:
        """What became of records and searches until now."""
        return self._conversation.counts

    def wrap(self, call: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
        """Return the model function *call* with memory around it.

        Its first argument is the list of messages, by position. It may be a function, a generator, asynchronous or
        both, or return an iterator; frames are passed on as they come. An answer is a text, a message, several, or
        OpenAI's whole reply.

        What the returned function raises besides *call*'s own errors: `IngestionError` and `RetrievalError` under
        FAIL_FAST, what strategy, query and augmenter raise, ValueError for messages that are none, TypeError for
        frames of an unknown kind and for an asynchronous storage under a synchronous function, RuntimeError outside
        of the run.
        """
        around: Callable[Concatenate[M, P], T] = wrapped(call, run=self._conversation, frame_text=self._frame_text)
        return around

    def __enter__(self) -> Self:
        """Raises TypeError where a storage is asynchronous."""
        if self._is_async:
            raise TypeError("an asynchronous storage takes `async with`")
        self._conversation.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            drive(self._conversation.completed())
        else:
            self._conversation.end()

    async def __aenter__(self) -> Self:
        self._conversation.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await drive_async(self._conversation.completed())
        else:
            self._conversation.end()
