"""What every function has: its settings, the clock, the table. The environment is read here and nowhere else."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import boto3
from botocore.config import Config

from streambank import tracing
from streambank.retry import RetryPolicy
from streambank.settings import Settings
from streambank.store.streams import RetentionPolicy
from streambank.store.table import Table
from streambank.wiring import overrides
from streambank.wiring.overrides import Clock

# Three sends of at most 3 s each stay within the functions' timeouts; a hidden repeat is found in the reply.
CLIENT_CONFIG = Config(
    connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3}, max_pool_connections=50
)


@dataclass(frozen=True, slots=True)
class Deployment:
    """One deployed stack, as seen from inside a function."""

    settings: Settings
    clock: Clock
    retry_policy: RetryPolicy
    table: Table

    @classmethod
    def load(cls) -> Deployment:
        """Return the deployment that the environment describes. Raises KeyError if a variable is missing."""
        settings = Settings.read(os.environ)
        tracing.configure(settings.traces)
        retry_policy = RetryPolicy(time.sleep, random.random)
        table = Table(client("dynamodb"), settings.table, retry_policy)
        return cls(settings, overrides.current.clock, retry_policy, table)

    @property
    def retention_policy(self) -> RetentionPolicy:
        """Return how long events, markers and results are kept."""
        return RetentionPolicy(self.settings.retention, self.settings.dedup_horizon)

    def now(self) -> datetime:
        """Return the present time, cut to the millisecond: items hold no finer times."""
        instant = self.clock.now()
        return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def client(name: str, config: Config = CLIENT_CONFIG) -> Any:
    """Return a boto3 client."""
    return boto3.client(name, config=config)
