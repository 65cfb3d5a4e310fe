"""Routes as methods: each is named once, and is a plain method where its owner waits, a coroutine where it awaits."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

from streambank_client.calls import Call, Page, PagedCall, Place, Told
from streambank_client.driving import AsyncDriver, Driver
from streambank_client.operations import AsyncOperation, Operation
from streambank_client.sending import Sender, Steps

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Synchronous:
    """Whoever waits for a reply."""

    holds = Operation

    def __init__(self, place: Place, sender: Sender, driver: Driver) -> None:
        self._place = place
        self._sender = sender
        self._driver = driver


class Asynchronous:
    """Whoever awaits a reply."""

    holds = AsyncOperation

    def __init__(self, place: Place, sender: Sender, driver: AsyncDriver) -> None:
        self._place = place
        self._sender = sender
        self._driver = driver


Owner: TypeAlias = Synchronous | Asynchronous


class _Method(Generic[P, C]):
    """What makes a method of the function that makes a call: subclasses say how such a call is carried out."""

    def __init__(self, call: Callable[Concatenate[Place, P], C]) -> None:
        self.call = call
        self.__doc__ = call.__doc__

    @cached_property
    def __signature__(self) -> inspect.Signature:
        place, *rest = inspect.signature(self.call).parameters.values()
        return inspect.Signature([place.replace(name="self"), *rest])

    def _begin(self, owner: Any, call: C) -> Any:
        raise NotImplementedError

    def _bound(self, owner: Owner | None) -> Any:
        if owner is None:
            return self

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return self._begin(owner, self.call(owner._place, *args, **kwargs))

        method.__name__, method.__doc__ = self.call.__name__, self.call.__doc__
        method.__signature__ = self.__signature__.replace(  # type: ignore[attr-defined]
            parameters=list(self.__signature__.parameters.values())[1:]
        )
        return method


class Route(_Method[P, Call[T]]):
    """A call whose answer is a value."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, owner: Owner | None, kind: type) -> Any:
        return self._bound(owner)

    def _begin(self, owner: Any, call: Call[T]) -> Any:
        return owner._driver.run(owner._sender, owner._sender.steps(call))


class OperationRoute(_Method[P, Call[Told[R]]]):
    """A call that is answered with an operation."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Operation[R]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, Coroutine[Any, Any, AsyncOperation[R]]]: ...
    def __get__(self, owner: Owner | None, kind: type) -> Any:
        return self._bound(owner)

    def _begin(self, owner: Any, call: Call[Told[R]]) -> Any:
        return owner._driver.run(owner._sender, _held(owner, call))


class PagedRoute(_Method[P, PagedCall[T]]):
    """A list, asked for page by page as it is gone through."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, owner: Owner | None, kind: type) -> Any:
        return self._bound(owner)

    def _begin(self, owner: Any, call: PagedCall[T]) -> Any:
        return owner._driver.pages(owner._sender, lambda token: owner._sender.steps(call.after(token)))


class PagedOperationRoute(_Method[P, PagedCall[Told[R]]]):
    """A list of operations."""

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Synchronous, kind: type) -> Callable[P, Iterator[Operation[R]]]: ...
    @overload
    def __get__(self, owner: Asynchronous, kind: type) -> Callable[P, AsyncIterator[AsyncOperation[R]]]: ...
    def __get__(self, owner: Owner | None, kind: type) -> Any:
        return self._bound(owner)

    def _begin(self, owner: Any, call: PagedCall[Told[R]]) -> Any:
        return owner._driver.pages(owner._sender, lambda token: _held_page(owner, call.after(token)))


def _held(owner: Any, call: Call[Told[R]]) -> Steps[Any]:
    told = yield from owner._sender.steps(call)
    return owner.holds(told, owner._sender, owner._driver)


def _held_page(owner: Any, call: Call[Page[Told[R]]]) -> Steps[Page[Any]]:
    page = yield from owner._sender.steps(call)
    return Page([owner.holds(told, owner._sender, owner._driver) for told in page.items], page.next_token)
