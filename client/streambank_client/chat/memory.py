"""ChatMemory: a conversation is loaded before a run, and stored when the run has ended without an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar
from uuid import uuid4

from streambank_client.chat.feeding import Destination, Feed
from streambank_client.chat.new_messages import LoadedMessages
from streambank_client.chat.preprocessors import (
    ApplyOn,
    PreprocessingStep,
    Preprocessor,
    PreprocessorFunction,
    filtered,
    preprocessed,
    windowed,
    without_system,
)
from streambank_client.chat.providers import (
    ChatHistoryProvider,
    ChatMessage,
    InMemoryChatHistoryProvider,
    VersionedChatHistoryProvider,
    VersionedHistory,
)
from streambank_client.http.drivers import Invoke, MustBeAwaited, Steps, run, run_async
from streambank_client.limits import checked_function, with_method

T = TypeVar("T")
_MOST_ID_BYTES = 512


class ChatMemory:
    """Gives each run the conversation of its session; without a provider it is kept in the memory of the process.

    Configuration is fluent: each method returns this memory. Preprocessors are applied in the order in which they were
    added, to loaded and to stored messages. A turn uses the configuration at the time of its creation.
    """

    def __init__(self, provider: ChatHistoryProvider | None = None) -> None:
        self._provider: ChatHistoryProvider = InMemoryChatHistoryProvider()
        if provider is not None:
            self.chat_history_provider(provider)
        self._steps: tuple[PreprocessingStep, ...] = ()
        self._feed: Feed | None = None

    # ---- configuration

    def chat_history_provider(self, provider: ChatHistoryProvider) -> Self:
        """Keep histories in *provider*. Raises ValueError for an object without `load` and `store`."""
        for method in ("load", "store"):
            with_method(provider, "provider", method)
        self._provider = provider
        return self

    def window_size(self, n: int | None, apply_on: ApplyOn = "both", *, begin_with_user: bool = False) -> Self:
        """Keep the newest *n* messages, or all for None; fewer if a tool's result would be without its call.

        With *begin_with_user* the first message, after instructions, is one of the user; fewer messages stay for that.

        Raises:
            ValueError: *n* is negative or no whole number.
        """
        return self._with(windowed(n, begin_with_user=begin_with_user), apply_on)

    def filter_messages(self, predicate: Callable[[ChatMessage], bool], apply_on: ApplyOn = "both") -> Self:
        """Keep the messages for which *predicate* is true; an error that it raises fails the run."""
        return self._with(filtered(checked_function(predicate, "predicate", "__call__")), apply_on)

    def drop_system_messages(self, apply_on: ApplyOn = "both") -> Self:
        """Remove the instructions to the model."""
        return self._with(without_system, apply_on)

    def add_preprocessor(self, preprocess: Preprocessor, apply_on: ApplyOn = "both") -> Self:
        """Replace the messages by what *preprocess* returns; an error that it raises fails the run.

        Raises:
            ValueError: it is neither callable nor an object with `preprocess(messages)`.
        """
        return self._with(checked_function(preprocess, "preprocessor", "preprocess"), apply_on)

    def feed(self, feed: Feed | None) -> Self:
        """Send the new messages of each turn to a stream, after the turn was stored, and before any preprocessing."""
        self._feed = None if feed is None else with_method(feed, "feed", "destination")
        return self

    def _with(self, preprocess: PreprocessorFunction, apply_on: ApplyOn) -> Self:
        self._steps = (*self._steps, PreprocessingStep(preprocess, apply_on))
        return self

    # ---- runs

    def turn(
        self,
        session_id: str,
        *,
        system: Sequence[ChatMessage] = (),
        if_match: bool = False,
        scope: Mapping[str, str] | None = None,
        run_id: str | None = None,
    ) -> Turn:
        """Return a run of a session; enter it once, by `async with`, or by `with` if the provider never has to wait.

        session_id: any text of 1 to 512 bytes of UTF-8.
        system: the current instructions; they come first and replace all instructions of the history.
        if_match: refuse to replace a version that was stored since this turn was loaded; without it the last turn wins.
        scope: the scope of the events for the feed, such as `{"user_id": "7"}`; the default is the feed's scope.
        run_id: for the ids of events whose messages have none; a turn that is repeated under it adds nothing twice.

        Raises:
            ValueError: the session id is empty, too long, or not text; or there is a feed but no scope.
            TypeError: *if_match* is set, and the provider has no versions.
        """
        _check(session_id)
        if if_match and not isinstance(self._provider, VersionedChatHistoryProvider):
            raise TypeError("if_match needs a provider that has load_version and store_version")
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
    """One run: entering it returns the list of messages, to which the run adds; leaving it stores that list.

    If an error is raised inside, the history is not changed. Errors of the provider are raised.
    """

    def __init__(
        self,
        session_id: str,
        provider: ChatHistoryProvider,
        steps: Sequence[PreprocessingStep],
        *,
        feed: Feed | None,
        destination: Destination | None,
        system: Sequence[ChatMessage],
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
        self._messages: list[ChatMessage] | None = None
        self._loaded = LoadedMessages()

    async def __aenter__(self) -> list[ChatMessage]:
        return await run_async(self._begin())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await run_async(self._end())

    def __enter__(self) -> list[ChatMessage]:
        return _run(self._begin())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            _run(self._end())

    def _begin(self) -> Steps[list[ChatMessage]]:
        if self._messages is not None:
            raise RuntimeError("a turn can be entered once; call ChatMemory.turn for another one")
        self._messages = []
        stored = yield from self._history()
        history = preprocessed(stored, self._steps, on="load")
        self._messages += [*self._system, *without_system(history)] if self._system else history
        self._loaded = LoadedMessages(self._messages) if self._feed else LoadedMessages()
        return self._messages

    def _history(self) -> Steps[list[ChatMessage]]:
        if self._is_conditional and isinstance(self._provider, VersionedChatHistoryProvider):
            history: VersionedHistory = yield Invoke(partial(self._provider.load_version, self.session_id))
            self._version = history.version
            return history.messages
        messages: list[ChatMessage] = yield Invoke(partial(self._provider.load, self.session_id))
        return messages

    def _end(self) -> Steps[None]:
        messages = list(self._messages or ())
        kept = preprocessed(messages, self._steps, on="store")
        if self._is_conditional and isinstance(self._provider, VersionedChatHistoryProvider):
            store = partial(self._provider.store_version, self.session_id, kept, replacing=self._version)
        else:
            store = partial(self._provider.store, self.session_id, kept)
        yield Invoke(store)
        if self._feed and self._destination:
            yield from self._feed.send(messages, loaded=self._loaded, to=self._destination)


def _run(steps: Steps[T]) -> T:
    """Carry out steps that must not wait for anything.

    Raises:
        RuntimeError: a step has to be awaited.
    """
    try:
        return run(steps, finishes_coroutines=True)
    except MustBeAwaited:
        raise RuntimeError("this provider or feed has to be awaited: use `async with`") from None
