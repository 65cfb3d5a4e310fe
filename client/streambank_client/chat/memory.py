"""ChatMemory: a conversation is loaded before a run, and stored when the run has ended well."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

from streambank_client.chat.feeding import Destination, Feed
from streambank_client.chat.preprocessors import (
    ApplyOn,
    Preprocessor,
    Step,
    filtered,
    preprocessed,
    windowed,
    without_system,
)
from streambank_client.chat.providers import (
    ChatHistoryProvider,
    InMemoryChatHistoryProvider,
    Message,
    VersionedChatHistoryProvider,
)

T = TypeVar("T")
_MOST_ID_BYTES = 512


class ChatMemory:
    """Gives runs the conversation of their session; without a provider it lasts as long as the process.

    Configuration is fluent: each method returns this memory. Preprocessors are applied in the order in which they were
    added, to what is loaded and to what is stored. A turn heeds what was configured before it began.
    """

    def __init__(self, provider: ChatHistoryProvider | None = None) -> None:
        self._provider: ChatHistoryProvider = provider or InMemoryChatHistoryProvider()
        self._steps: tuple[Step, ...] = ()
        self._feed: Feed | None = None

    # ---- configuration

    def chat_history_provider(self, provider: ChatHistoryProvider) -> Self:
        """Keep histories in *provider*."""
        self._provider = provider
        return self

    def window_size(self, n: int | None, apply_on: ApplyOn = "both") -> Self:
        """Keep the newest *n* messages, all for None; never a tool's result without its call, so there may be fewer.

        Raises:
            ValueError: *n* is negative or no whole number.
        """
        return self._with(windowed(n), apply_on)

    def filter_messages(self, predicate: Callable[[Message], bool], apply_on: ApplyOn = "both") -> Self:
        """Keep the messages that *predicate* is true of; an error that it raises fails the run."""
        return self._with(filtered(predicate), apply_on)

    def drop_system_messages(self, apply_on: ApplyOn = "both") -> Self:
        """Keep no instructions to the model."""
        return self._with(without_system, apply_on)

    def add_preprocessor(self, preprocess: Preprocessor, apply_on: ApplyOn = "both") -> Self:
        """Let *preprocess* return the messages that go on; an error that it raises fails the run."""
        return self._with(preprocess, apply_on)

    def feed(self, feed: Feed | None) -> Self:
        """Send what is new in each turn to a stream, after the turn was stored and as it was before any window."""
        self._feed = feed
        return self

    def _with(self, preprocess: Preprocessor, apply_on: ApplyOn) -> Self:
        self._steps = (*self._steps, Step(preprocess, apply_on))
        return self

    # ---- runs

    def turn(
        self,
        session_id: str,
        *,
        system: Sequence[Message] = (),
        if_match: bool = False,
        scope: Mapping[str, str] | None = None,
        run_id: str | None = None,
    ) -> Turn:
        """Return a run of a session, to be entered once by `async with`, or by `with` if no provider has to wait.

        session_id: any text of 1 to 512 bytes of UTF-8; other texts are other conversations.
        system: the live instructions; they stand first, in the place of all instructions of the history.
        if_match: refuse to store over what somebody else stored since this turn was loaded; off, the last one wins.
        scope: whose the events are that are fed, such as `{"user_id": "7"}`; by default the feed's own scope.
        run_id: names this turn's events where their messages have no ids; the same one makes a repeated turn safe.

        Raises:
            ValueError: the session id is empty, too long, or no text; or there is a feed, and no scope.
            TypeError: *if_match* takes a provider with versions.
        """
        _check(session_id)
        if if_match and not isinstance(self._provider, VersionedChatHistoryProvider):
            raise TypeError("if_match takes a provider that has load_version and store_version")
        feed = self._feed
        destination = feed.destination(session_id, scope=scope, run_id=run_id or uuid4().hex) if feed else None
        return Turn(
            session_id,
            self._provider,
            self._steps,
            feed=feed,
            destination=destination,
            system=system,
            is_conditional=if_match,
        )


def _check(session_id: str) -> None:
    try:
        size = len(session_id.encode())
    except (AttributeError, UnicodeEncodeError):
        size = 0
    if not 1 <= size <= _MOST_ID_BYTES:
        raise ValueError(f"session_id: must be text of 1 to {_MOST_ID_BYTES} bytes of UTF-8")


class Turn:
    """One run: entering it gives the list of messages, to which the run adds; leaving it well stores that list.

    Whatever is raised inside leaves the history as it was. Errors of the provider are raised.
    """

    def __init__(
        self,
        session_id: str,
        provider: ChatHistoryProvider,
        steps: Sequence[Step],
        *,
        feed: Feed | None,
        destination: Destination | None,
        system: Sequence[Message],
        is_conditional: bool,
    ) -> None:
        self.session_id = session_id
        self._provider = provider
        self._steps = steps
        self._feed = feed
        self._destination = destination
        self._system = system
        self._is_conditional = is_conditional
        self._version: str | None = None
        self._messages: list[Message] | None = None
        self._loaded: tuple[Message, ...] = ()

    async def __aenter__(self) -> list[Message]:
        return await self._begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self._end()

    def __enter__(self) -> list[Message]:
        return _finished(self._begin())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            _finished(self._end())

    async def _begin(self) -> list[Message]:
        if self._messages is not None:
            raise RuntimeError("a turn is entered once; ask the memory for another one")
        self._messages = []
        history = preprocessed(await self._history(), self._steps, on="load")
        self._messages += [*self._system, *without_system(history)] if self._system else history
        self._loaded = tuple(self._messages)
        return self._messages

    async def _history(self) -> list[Message]:
        if self._is_conditional and isinstance(self._provider, VersionedChatHistoryProvider):
            found = await self._provider.load_version(self.session_id)
            self._version = found.version
            return found.messages
        return await self._provider.load(self.session_id)

    async def _end(self) -> None:
        said = list(self._messages or ())
        kept = preprocessed(said, self._steps, on="store")
        if self._is_conditional and isinstance(self._provider, VersionedChatHistoryProvider):
            await self._provider.store_version(self.session_id, kept, replacing=self._version)
        else:
            await self._provider.store(self.session_id, kept)
        if self._feed and self._destination:
            await self._feed.send(said, loaded=self._loaded, to=self._destination)


def _finished(steps: Coroutine[Any, Any, T]) -> T:
    """Return what *steps* come to, which must not wait for anything.

    Raises:
        RuntimeError: they would have to be awaited.
    """
    try:
        steps.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    steps.close()
    raise RuntimeError("this provider or feed has to be awaited: use `async with`")
