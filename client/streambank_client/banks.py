"""The clients, and the banks that they reach."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Self, Unpack

import httpx

from streambank_client.calls import (
    banks,
    change_feed,
    chats,
    erasures,
    events,
    memories,
    moves,
    operations,
    policies,
    replays,
    reviews,
    search,
    sessions,
    streams,
    transfers,
)
from streambank_client.calls.resources import BANKS, bank_path
from streambank_client.http.connections import AsyncConnections, Connections
from streambank_client.http.sender import sender
from streambank_client.http.settings import Limits, Settings, clock_of
from streambank_client.routes import (
    AsyncCaller,
    Asynchronous,
    Caller,
    OperationRoute,
    PagedOperationRoute,
    PagedRoute,
    Route,
    Synchronous,
)


class BankRoutes:
    """The calls of a bank: every route of the API under one."""

    get = Route(banks.get)
    update = OperationRoute(banks.update)
    delete = OperationRoute(banks.delete)
    get_usage = Route(banks.get_usage)
    erase_scope = OperationRoute(erasures.erase_scope)
    erase = OperationRoute(erasures.erase)
    move_scope = OperationRoute(moves.move_scope)
    export = OperationRoute(transfers.export)
    import_from = OperationRoute(transfers.import_from)
    reindex = OperationRoute(banks.reindex)
    apply_content_policy = OperationRoute(policies.apply_content_policy)
    get_consent = Route(policies.get_consent)
    update_consent = Route(policies.update_consent)
    replay = OperationRoute(replays.replay)

    ingest_events = OperationRoute(events.ingest_events)
    generate_memories = OperationRoute(events.generate_memories)

    retrieve_memories = Route(search.retrieve_memories)
    retrieve_all_memories = PagedRoute(search.retrieve_all_memories)
    retrieve_profiles = Route(search.retrieve_profiles)

    create_memory = OperationRoute(memories.create_memory)
    get_memory = Route(memories.get_memory)
    list_memories = PagedRoute(memories.list_memories)
    update_memory = OperationRoute(memories.update_memory)
    delete_memory = OperationRoute(memories.delete_memory)
    rollback_memory = OperationRoute(memories.rollback_memory)
    batch_create_memories = Route(memories.batch_create_memories)
    batch_update_memories = Route(memories.batch_update_memories)
    batch_delete_memories = Route(memories.batch_delete_memories)
    purge_memories = OperationRoute(memories.purge_memories)
    list_revisions = PagedRoute(memories.list_revisions)
    get_revision = Route(memories.get_revision)

    list_reviews = PagedRoute(reviews.list_reviews)
    accept_review = Route(reviews.accept_review)
    reject_review = Route(reviews.reject_review)

    create_session = OperationRoute(sessions.create_session)
    get_session = Route(sessions.get_session)
    list_sessions = PagedRoute(sessions.list_sessions)
    update_session = Route(sessions.update_session)
    delete_session = OperationRoute(sessions.delete_session)
    append_event = Route(sessions.append_event)
    list_session_events = PagedRoute(sessions.list_session_events)

    load_chat_history = Route(chats.load_chat_history)
    store_chat_history = Route(chats.store_chat_history)
    append_chat_history = Route(chats.append_chat_history)
    delete_chat_history = Route(chats.delete_chat_history)

    get_operation = OperationRoute(operations.get_operation)
    list_operations = PagedOperationRoute(operations.list_operations)
    list_jobs = PagedOperationRoute(operations.list_jobs)
    wait_operation = OperationRoute(operations.wait_operation)
    replay_operation = OperationRoute(replays.replay_operation)
    redrive_operation = OperationRoute(operations.redrive_operation)
    cancel_operation = Route(operations.cancel_operation)
    delete_operation = Route(operations.delete_operation)
    redrive_operations = Route(streams.redrive_operations)

    changes = PagedRoute(change_feed.changes)
    list_changes = Route(change_feed.list_changes)
    list_streams = PagedRoute(streams.list_streams)
    find_events = Route(streams.find_events)


class ClientRoutes:
    """The calls that create and list banks."""

    create_bank = OperationRoute(banks.create_bank)
    list_banks = PagedRoute(banks.list_banks)


class Bank(BankRoutes, Synchronous):
    """A bank, by its id or name; it may not exist, which the first call will tell."""

    @property
    def name(self) -> str:
        """Its resource name, with which the names of its resources begin."""
        return self.caller.resource.name

    def with_options(self, **limits: Unpack[Limits]) -> Bank:
        """Return this bank with other limits.

        Raises:
            ValueError: a limit is out of its range.
        """
        return Bank(Caller(self.caller.resource, self.caller.sender.with_limits(**limits)))

    def __repr__(self) -> str:
        return _representation(self)


class AsyncBank(BankRoutes, Asynchronous):
    """A bank, by its id or name; it may not exist, which the first call will tell."""

    @property
    def name(self) -> str:
        """Its resource name, with which the names of its resources begin."""
        return self.caller.resource.name

    def with_options(self, **limits: Unpack[Limits]) -> AsyncBank:
        """Return this bank with other limits, as `Bank.with_options` does."""
        return AsyncBank(AsyncCaller(self.caller.resource, self.caller.sender.with_limits(**limits)))

    def __repr__(self) -> str:
        return _representation(self)


class Streambank(ClientRoutes, Synchronous):
    """A client of one service that waits for replies; threads may share it.

    Credentials are *key* or *token*. A call takes *timeout_seconds* (60) over all its attempts, one attempt at most
    *attempt_seconds* (30), and it is repeated at most *retries* (4) times.

    Raises:
        ValueError: the URL, the key or the token is not valid, or a number is out of its range.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        **settings: Unpack[Settings],
    ) -> None:
        self._connections = Connections(transport, clock_of(settings))
        super().__init__(Caller(BANKS, sender(base_url, send=self._connections.send, sleep=sleep, **settings)))

    def bank(self, bank: str = "default") -> Bank:
        """Return a bank by its id or by a name such as `projects/p/locations/l/reasoningEngines/b`; nothing is sent.

        Raises:
            ValueError: it is neither an id nor a name.
        """
        return Bank(Caller(bank_path(bank), self.caller.sender))

    def close(self) -> None:
        """Close the connections; the client cannot be used any more."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return _representation(self)


class AsyncStreambank(ClientRoutes, Asynchronous):
    """A client of one service whose calls are awaited; event loops may share it, each has its own connections.

    It has the arguments of `Streambank`. All loops use the *transport* if one is given.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        **settings: Unpack[Settings],
    ) -> None:
        self._connections = AsyncConnections(transport, clock_of(settings))
        super().__init__(AsyncCaller(BANKS, sender(base_url, send=self._connections.send, sleep=sleep, **settings)))

    def bank(self, bank: str = "default") -> AsyncBank:
        """Return a bank as `Streambank.bank` does."""
        return AsyncBank(AsyncCaller(bank_path(bank), self.caller.sender))

    async def aclose(self) -> None:
        """Close the connections of the running loop; the client cannot be used any more."""
        await self._connections.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return _representation(self)


def _representation(owner: Synchronous | Asynchronous) -> str:
    caller = owner.caller
    return f"<{type(owner).__name__} {caller.resource.name!r} of {caller.sender.base_url!r}>"
