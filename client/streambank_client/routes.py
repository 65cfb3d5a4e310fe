"""Calls as methods: each route is declared once, and is a method that waits or a coroutine function.

A descriptor makes a method of the function that makes a call. The owner's `caller` carries the call out.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

from streambank_client.calls.replies import OperationSnapshot
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, Page, PagedCall, WaitCall
from streambank_client.http.drivers import Steps, iterate, iterate_async, run, run_async
from streambank_client.http.sender import Sender
from streambank_client.operations import AsyncOperation, Operation, poll_until

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
OperationT = TypeVar("OperationT")
OperationCall: TypeAlias = Call[OperationSnapshot[R]] | WaitCall[OperationSnapshot[R]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Carries out the calls of one resource and waits for each."""

    resource: ResourcePath
    sender: Sender

    def call(self, call: Call[T]) -> T:
        return run(self.sender.steps(call))

    def begin(self, call: OperationCall[R]) -> Operation[R]:
        return run(_operation(call, self.sender, Operation))

    def iterate(self, paged: PagedCall[T]) -> Iterator[T]:
        return iterate(lambda token: self.sender.steps(paged.at(token)))

    def iterate_operations(self, paged: PagedCall[OperationSnapshot[R]]) -> Iterator[Operation[R]]:
        return iterate(lambda token: _operations(paged.at(token), self.sender, Operation))


@dataclass(frozen=True, slots=True)
class AsyncCaller:
    """Carries out the calls of one resource and awaits each."""

    resource: ResourcePath
    sender: Sender

    async def call(self, call: Call[T]) -> T:
        return await run_async(self.sender.steps(call))

    async def begin(self, call: OperationCall[R]) -> AsyncOperation[R]:
        return await run_async(_operation(call, self.sender, AsyncOperation))

    def iterate(self, paged: PagedCall[T]) -> AsyncIterator[T]:
        return iterate_async(lambda token: self.sender.steps(paged.at(token)))

    def iterate_operations(self, paged: PagedCall[OperationSnapshot[R]]) -> AsyncIterator[AsyncOperation[R]]:
        return iterate_async(lambda token: _operations(paged.at(token), self.sender, AsyncOperation))


def _operation(
    call: OperationCall[R], sender: Sender, make: Callable[[OperationSnapshot[R], Sender], OperationT]
) -> Steps[OperationT]:
    if isinstance(call, WaitCall):
        deadline = sender.now() + call.timeout_seconds
        snapshot = yield from sender.steps(call.first)
        return make((yield from poll_until(snapshot, sender, deadline)), sender)
    snapshot = yield from sender.steps(call)
    return make(snapshot, sender)


def _operations(
    call: Call[Page[OperationSnapshot[R]]], sender: Sender, make: Callable[[OperationSnapshot[R], Sender], OperationT]
) -> Steps[Page[OperationT]]:
    page = yield from sender.steps(call)
    return Page([make(snapshot, sender) for snapshot in page.items], page.next_token)


class Synchronous:
    """An object whose methods wait for their replies; *caller* carries them out."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller


class Asynchronous:
    """An object whose methods are awaited; *caller* carries them out."""

    def __init__(self, caller: AsyncCaller) -> None:
        self.caller = caller


class BaseRoute(Generic[P, C]):
    """Makes a method of a function that makes a call; a subclass says how the call is carried out."""

    def __init__(self, make_call: Callable[Concatenate[ResourcePath, P], C]) -> None:
        self.make_call = make_call
        self.__doc__ = make_call.__doc__

    @cached_property
    def __signature__(self) -> inspect.Signature:
        resource, *arguments = inspect.signature(self.make_call).parameters.values()
        return inspect.Signature([resource.replace(name="self"), *arguments])

    def _bind(self, owner: Any, carry_out: Callable[[Any, C], Any]) -> Any:
        """Return the method of *owner*, or this route if *owner* is None."""
        if owner is None:
            return self
        caller: Caller | AsyncCaller = owner.caller

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return carry_out(caller, self.make_call(caller.resource, *args, **kwargs))

        method.__name__, method.__doc__ = self.make_call.__name__, self.make_call.__doc__
        method.__signature__ = self.__signature__.replace(  # type: ignore[attr-defined]
            parameters=list(self.__signature__.parameters.values())[1:]
        )
        return method


class Route(BaseRoute[P, Call[T]]):
    """A call whose reply is a value."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        return self._bind(owner, lambda caller, call: caller.call(call))


class OperationRoute(BaseRoute[P, OperationCall[R]]):
    """A call whose reply is an operation."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Operation[R]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, Coroutine[Any, Any, AsyncOperation[R]]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        return self._bind(owner, lambda caller, call: caller.begin(call))


class PagedRoute(BaseRoute[P, PagedCall[T]]):
    """A list; a page is requested when its first item is needed."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        return self._bind(owner, lambda caller, call: caller.iterate(call))


class PagedOperationRoute(BaseRoute[P, PagedCall[OperationSnapshot[R]]]):
    """A list of operations."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Iterator[Operation[R]]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, AsyncIterator[AsyncOperation[R]]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        return self._bind(owner, lambda caller, call: caller.iterate_operations(call))
