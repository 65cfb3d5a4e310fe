"""Long-term memory around the calls of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from uuid import uuid4

from streambank_client.formats import FORMATS, Format
from streambank_client.http.drivers import is_asynchronous, run, run_async
from streambank_client.koog.messages import read_frame
from streambank_client.koog.records import AsyncSearchStorage, AsyncWriteStorage, SearchStorage, WriteStorage
from streambank_client.koog.runs import Counts, RunMemory
from streambank_client.koog.settings import IngestionSettings, RetrievalSettings
from streambank_client.koog.wrapping import wrap_model
from streambank_client.limits import WrongObject

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


def _now() -> datetime:
    return datetime.now(UTC)


class LongTermMemory:
    """Stores the messages of an agent's runs, and adds memories to the prompts of its model.

        memory = LongTermMemory(ingestion=IngestionSettings(storage=storage))
        with memory.run() as run:
            reply = run.wrap(call_model)(messages)

    format: the format of the messages: strands, koog-0.8, koog-1, openai, langchain or google.
    frame_text: returns the text of a frame of a stream; the default reads strings and OpenAI's chunks.
    clock: returns the time for messages without one.

    Raises:
        ValueError: the format is unknown, or the settings are another object.
    """

    def __init__(
        self,
        *,
        ingestion: IngestionSettings | None = None,
        retrieval: RetrievalSettings | None = None,
        format: Format = "openai",  # noqa: A002 - chat histories have an argument of this name too
        frame_text: Callable[[Any], str] = read_frame,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}")
        for name, settings, kind in (
            ("ingestion", ingestion, IngestionSettings),
            ("retrieval", retrieval, RetrievalSettings),
        ):
            if settings is not None and not isinstance(settings, kind):
                raise WrongObject(f"{name}: must be {kind.__name__}, not {type(settings).__name__}")
        self._ingestion = ingestion
        self._retrieval = retrieval
        self._format = format
        self._frame_text = frame_text
        self._clock = clock

    @property
    def ingestion_storage(self) -> WriteStorage | AsyncWriteStorage:
        """The storage, to write to it directly. Raises RuntimeError if ingestion is not configured."""
        if self._ingestion is None:
            raise RuntimeError("LongTermMemory was made without ingestion")
        return self._ingestion.storage

    @property
    def retrieval_storage(self) -> SearchStorage | AsyncSearchStorage:
        """The storage, to search it directly. Raises RuntimeError if retrieval is not configured."""
        if self._retrieval is None:
            raise RuntimeError("LongTermMemory was made without retrieval")
        return self._retrieval.storage

    def run(self, run_id: str | None = None, *, known: Iterable[Any] = ()) -> Run:
        """Return a run of an agent; enter it once, with `with` or `async with`.

        run_id: a run that is repeated under its id stores nothing twice; the default is a new id.
        known: messages of earlier runs that the prompts repeat; they are not stored again.

        Raises:
            ValueError: one of the *known* messages is not a message of the format.
        """
        writes = [self._ingestion.storage.add] if self._ingestion else []
        searches = [self._retrieval.storage.search] if self._retrieval else []
        memory = RunMemory(
            run_id or str(uuid4()),
            ingestion=self._ingestion,
            retrieval=self._retrieval,
            message_format=self._format,
            clock=self._clock,
            known=known,
        )
        return Run(memory, self._frame_text, is_async=any(map(is_asynchronous, [*writes, *searches])))


class Run:
    """One run of an agent: each message is stored once, however many prompts repeat it.

    A run that ends with an exception stores nothing more; messages that were to be stored at its end are dropped.
    """

    def __init__(self, memory: RunMemory, frame_text: Callable[[Any], str], *, is_async: bool) -> None:
        self._memory = memory
        self._frame_text = frame_text
        self._is_async = is_async

    @property
    def id(self) -> str:
        """Its id, with which the ids of messages without ids begin."""
        return self._memory.run_id

    @property
    def counts(self) -> Counts:
        """The numbers of stored and lost records, and of failed searches, so far."""
        return self._memory.counts

    def wrap(self, call: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
        """Return the model function *call* with memory around it.

        The first positional argument of *call* is the list of messages. *call* may be a function or a generator,
        synchronous or asynchronous, or return an iterator; frames are passed on as they arrive. A reply is a text, a
        message, several messages, or OpenAI's whole reply.

        The returned function raises what *call* raises, `IngestionError` and `RetrievalError` under FAIL_FAST, and what
        strategy, query and augmenter raise. It raises ValueError for an invalid message, TypeError for an unknown frame
        and for an asynchronous storage under a synchronous function, RuntimeError outside of the run.
        """
        wrapper: Callable[Concatenate[M, P], T] = wrap_model(call, self._memory, self._frame_text)
        return wrapper

    def __enter__(self) -> Self:
        """Raises TypeError if a storage is asynchronous."""
        if self._is_async:
            raise TypeError("an asynchronous storage needs `async with`")
        self._memory.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            run(self._memory.complete())
        else:
            self._memory.end()

    async def __aenter__(self) -> Self:
        self._memory.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await run_async(self._memory.complete())
        else:
            self._memory.end()
