"""The composition root: the only place that builds clients, reads the environment and knows the clock."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from streambank.pipeline.events.ingest import IngestContext
from streambank.settings import AuthMode, Settings
from streambank.store.streams import RetentionPolicy, Streams
from streambank.store.table import RetryPolicy, Table
from streambank.store.windows import Windows
from streambank.wiring import overrides

if TYPE_CHECKING:
    from streambank.model.principal import Principal
    from streambank.pipeline.jobs.erase import EraseContext
    from streambank.pipeline.jobs.export import ExportContext
    from streambank.pipeline.jobs.import_records import ImportContext
    from streambank.pipeline.sweep import SweepContext
    from streambank.store.banks import Banks
    from streambank.store.chat_histories import ChatHistories
    from streambank.store.events import Events
    from streambank.store.executions import Executions
    from streambank.store.memories import Memories
    from streambank.store.objects import Objects
    from streambank.store.plans import Plans
    from streambank.store.sessions import Sessions

# Three sends of at most 3 s each stay within the functions' timeouts; a hidden repeat is found in the reply.
_CONFIG = Config(
    connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3}, max_pool_connections=50
)


def use_clock(clock: overrides.Clock) -> None:
    """Let *clock* rule timers, TTLs, backoff and tokens: local mode's can be moved."""
    overrides.current.clock = clock
    from streambank import tracing
    from streambank.wiring import models

    for built in (stores, caller, page_secret, executions, objects, tracing.collector, *models.BUILT):
        built.cache_clear()  # what was built under another environment


def now() -> datetime:
    """Return the present instant to the millisecond, which is what items hold: nothing is shown that is not kept."""
    instant = overrides.current.clock.now()
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


@dataclass(frozen=True, slots=True)
class Stores:
    """The table and what is read and written through it."""

    settings: Settings
    retry_policy: RetryPolicy
    table: Table

    @property
    def streams(self) -> Streams:
        return Streams(self.table)

    @property
    def windows(self) -> Windows:
        return Windows(self.table)

    @property
    def plans(self) -> Plans:
        from streambank.store.plans import Plans

        return Plans(self.table)

    @property
    def retention_policy(self) -> RetentionPolicy:
        return RetentionPolicy(self.settings.retention, self.settings.dedup_horizon)

    @property
    def banks(self) -> Banks:
        from streambank.store.banks import Banks

        return Banks(self.table)

    @property
    def memories(self) -> Memories:
        from streambank.store.memories import Memories

        return Memories(self.table)

    @property
    def events(self) -> Events:
        from streambank.store.events import Events

        return Events(self.table)

    @property
    def sessions(self) -> Sessions:
        from streambank.store.sessions import Sessions

        return Sessions(self.table)

    @property
    def histories(self) -> ChatHistories:
        from streambank.store.chat_histories import ChatHistories

        return ChatHistories(self.table)


def client(name: str) -> Any:
    """Return a boto3 client."""
    return boto3.client(name, config=_CONFIG)


@cache
def stores() -> Stores:
    """Return the stores of this deployment."""
    settings = Settings.read(os.environ)
    retry_policy = RetryPolicy(time.sleep, random.random)
    return Stores(settings, retry_policy, Table(client("dynamodb"), settings.table, retry_policy))


@cache
def caller() -> Callable[[Mapping[str, Any]], Principal]:
    """Return who tells who calls; it raises Unauthenticated, and PermissionDenied for a token that grants nothing."""
    from streambank.pipeline.api_key_cache import ApiKeyCache
    from streambank.store.api_keys import ApiKeys
    from streambank.wire import identity

    ring = ApiKeyCache(ApiKeys(stores().table), now)
    modes: dict[AuthMode, Callable[[Mapping[str, Any]], Principal]] = {
        AuthMode.KEYS: lambda event: ring.principal(identity.token(event)),
        AuthMode.JWT: identity.claimed,
        AuthMode.IAM: identity.signed,
        AuthMode.OPEN: identity.anybody,
    }
    return modes[stores().settings.auth_mode]


@cache
def page_secret() -> bytes:
    """Return the secret that page tokens are signed with."""
    from streambank.store.secrets import page_secret

    return page_secret(stores().table)


def ingestion() -> IngestContext:
    """Return what an ingest needs."""
    built = stores()
    return IngestContext(built.streams, built.windows, now, built.retry_policy, built.retention_policy)


@cache
def executions() -> Executions:
    """Return the state machine's executions; the client is built when it is first needed."""
    from streambank.store.executions import Executions

    return Executions(client("stepfunctions"), Settings.read(os.environ).state_machine_arn)


def erasing(time: timedelta) -> EraseContext:
    """Return what an erasure needs that may take *time* from now on."""
    from streambank.pipeline.jobs.erase import EraseContext
    from streambank.store.erasures import Erasures

    built, end = stores(), now() + time
    return EraseContext(
        erasures=Erasures(built.table),
        streams=built.streams,
        sessions=built.sessions,
        histories=built.histories,
        retention_policy=built.retention_policy,
        retry_policy=built.retry_policy,
        clock=now,
        has_time=lambda: now() < end,
    )


@cache
def objects() -> Objects:
    """Return the bucket of exports. Raises FailedPrecondition where this deployment has none."""
    from streambank.errors import FailedPrecondition
    from streambank.store.objects import Objects

    bucket = Settings.read(os.environ).export_bucket
    if not bucket:
        raise FailedPrecondition("this deployment has no bucket for exports")
    # A part is a few megabytes: it takes longer than an item.
    config = _CONFIG.merge(Config(read_timeout=10))
    return Objects(boto3.client("s3", config=config), bucket)


def exporting(time: timedelta) -> ExportContext:
    """Return what an export needs that may take *time* from now on. Raises FailedPrecondition as `objects` does."""
    from streambank.pipeline.jobs.export import ExportContext
    from streambank.store.exports import Exports
    from streambank.store.transfers import Transfers

    built, end = stores(), now() + time
    return ExportContext(
        transfers=Transfers(built.table),
        exports=Exports(built.table),
        objects=objects(),
        banks=built.banks,
        retry_policy=built.retry_policy,
        clock=now,
        has_time=lambda: now() < end,
    )


def importing(time: timedelta) -> ImportContext:
    """Return what an import needs that may take *time* from now on. Raises FailedPrecondition as `objects` does."""
    from streambank.pipeline.jobs.import_records import ImportContext
    from streambank.store.imports import Imports
    from streambank.store.transfers import Transfers
    from streambank.wiring import models

    built, end = stores(), now() + time
    return ImportContext(
        transfers=Transfers(built.table),
        imports=Imports(built.table),
        objects=objects(),
        banks=built.banks,
        sessions=built.sessions,
        embedder=models.embedder(),
        retention_policy=built.retention_policy,
        retry_policy=built.retry_policy,
        clock=now,
        has_time=lambda: now() < end,
    )


def sweeper() -> SweepContext:
    """Return what a sweep needs."""
    from streambank.pipeline.sweep import SweepContext
    from streambank.store.due import DueIndex

    built = stores()
    return SweepContext(
        due=DueIndex(built.table),
        streams=built.streams,
        windows=built.windows,
        memories=built.memories,
        banks=built.banks,
        erase_context=erasing(timedelta(0)),
        export_context=exporting,
        import_context=importing,
        executions=executions(),
        retention_policy=built.retention_policy,
        clock=now,
        jitter=random.random,
    )


jitter: Callable[[], float] = random.random
pause: Callable[[float], None] = time.sleep
