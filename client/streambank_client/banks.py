"""The clients, and the banks that they reach."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Self, TypedDict, Unpack

import httpx

from streambank_client import (
    calls_banks,
    calls_chats,
    calls_erasures,
    calls_events,
    calls_memories,
    calls_operations,
    calls_search,
    calls_sessions,
    calls_streams,
    calls_transfers,
)
from streambank_client.calls import BANKS, bank_place
from streambank_client.driving import AsyncDriver, Driver, pause
from streambank_client.routes import (
    Asynchronous,
    OperationRoute,
    Owner,
    PagedOperationRoute,
    PagedRoute,
    Route,
    Synchronous,
)
from streambank_client.sending import Sender, Settings, sender


class Limits(TypedDict, total=False):
    """What `with_options` changes: seconds for a call, seconds for one attempt, and how often it is repeated."""

    timeout_seconds: float
    attempt_seconds: float
    retries: int


class BankRoutes:
    """What a bank can do: every route of the API that is under one."""

    get = Route(calls_banks.get)
    update = OperationRoute(calls_banks.update)
    delete = OperationRoute(calls_banks.delete)
    get_usage = Route(calls_banks.get_usage)
    erase_scope = OperationRoute(calls_erasures.erase_scope)
    erase = OperationRoute(calls_erasures.erase)
    export = OperationRoute(calls_transfers.export)
    import_from = OperationRoute(calls_transfers.import_from)

    ingest_events = OperationRoute(calls_events.ingest_events)
    generate_memories = OperationRoute(calls_events.generate_memories)

    retrieve_memories = Route(calls_search.retrieve_memories)
    retrieve_all_memories = PagedRoute(calls_search.retrieve_all_memories)
    retrieve_profiles = Route(calls_search.retrieve_profiles)

    create_memory = OperationRoute(calls_memories.create_memory)
    get_memory = Route(calls_memories.get_memory)
    list_memories = PagedRoute(calls_memories.list_memories)
    update_memory = OperationRoute(calls_memories.update_memory)
    delete_memory = OperationRoute(calls_memories.delete_memory)
    rollback_memory = OperationRoute(calls_memories.rollback_memory)
    purge_memories = OperationRoute(calls_memories.purge_memories)
    list_revisions = PagedRoute(calls_memories.list_revisions)
    get_revision = Route(calls_memories.get_revision)

    create_session = OperationRoute(calls_sessions.create_session)
    get_session = Route(calls_sessions.get_session)
    list_sessions = PagedRoute(calls_sessions.list_sessions)
    update_session = Route(calls_sessions.update_session)
    delete_session = OperationRoute(calls_sessions.delete_session)
    append_event = Route(calls_sessions.append_event)
    list_session_events = PagedRoute(calls_sessions.list_session_events)

    load_chat_history = Route(calls_chats.load_chat_history)
    store_chat_history = Route(calls_chats.store_chat_history)
    delete_chat_history = Route(calls_chats.delete_chat_history)

    get_operation = OperationRoute(calls_operations.get_operation)
    list_operations = PagedOperationRoute(calls_operations.list_operations)
    wait_operation = OperationRoute(calls_operations.wait_operation)
    redrive_operation = OperationRoute(calls_operations.redrive_operation)
    cancel_operation = Route(calls_operations.cancel_operation)
    delete_operation = Route(calls_operations.delete_operation)
    redrive_operations = Route(calls_streams.redrive_operations)

    list_streams = PagedRoute(calls_streams.list_streams)
    find_events = Route(calls_streams.find_events)


class ClientRoutes:
    """What is done to banks as a whole."""

    create_bank = OperationRoute(calls_banks.create_bank)
    list_banks = PagedRoute(calls_banks.list_banks)


class Bank(BankRoutes, Synchronous):
    """A bank, by its id or name: there need be none of that name until it is asked for something."""

    @property
    def name(self) -> str:
        """Its resource name, with which the names in replies begin."""
        return self._place.name

    def with_options(self, **limits: Unpack[Limits]) -> Bank:
        """Return this bank under other limits."""
        return Bank(self._place, _limited(self._sender, limits), self._driver)

    def __repr__(self) -> str:
        return _shown(self)


class AsyncBank(BankRoutes, Asynchronous):
    """A bank, by its id or name: there need be none of that name until it is asked for something."""

    @property
    def name(self) -> str:
        """Its resource name, with which the names in replies begin."""
        return self._place.name

    def with_options(self, **limits: Unpack[Limits]) -> AsyncBank:
        """Return this bank under other limits."""
        return AsyncBank(self._place, _limited(self._sender, limits), self._driver)

    def __repr__(self) -> str:
        return _shown(self)


class Streambank(ClientRoutes, Synchronous):
    """A client of one service that waits for replies; threads may share it.

    Credentials are *key* or *token*. A call takes *timeout_seconds* (60) over all its attempts, one of them
    *attempt_seconds* (30) at most, and there are *retries* (4) after the first.

    Raises:
        ValueError: the URL, the key or the token cannot be one, or a number is out of its range.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(BANKS, sender(base_url, **settings), Driver(transport, sleep))

    def bank(self, bank: str = "default") -> Bank:
        """Return a bank by its id, or by a name such as `projects/p/locations/l/reasoningEngines/b`; nothing is sent.

        Raises ValueError for what can be neither.
        """
        return Bank(bank_place(bank), self._sender, self._driver)

    def close(self) -> None:
        """Close the connections; the client cannot be used any more."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return _shown(self)


class AsyncStreambank(ClientRoutes, Asynchronous):
    """A client of one service that awaits replies; event loops may share it, each has connections of its own.

    It takes what `Streambank` takes. A *transport* of one's own is used by all loops.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = pause,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(BANKS, sender(base_url, **settings), AsyncDriver(transport, sleep))

    def bank(self, bank: str = "default") -> AsyncBank:
        """Return a bank as `Streambank.bank` does."""
        return AsyncBank(bank_place(bank), self._sender, self._driver)

    async def aclose(self) -> None:
        """Close the running loop's connections; the client cannot be used any more."""
        await self._driver.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return _shown(self)


def _limited(known: Sender, limits: Limits) -> Sender:
    return replace(known, policy=replace(known.policy, **limits))


def _shown(owner: Owner) -> str:
    return f"<{type(owner).__name__} {owner._place.name!r} of {owner._sender.base_url!r}>"
