"""What erasures, exports, imports and reindexes work with: in a route, and in the sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from botocore.config import Config

from streambank.errors import FailedPrecondition
from streambank.llm.ports import Embedder
from streambank.pipeline.generation.operations import OperationContext
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs.erase import EraseContext
from streambank.pipeline.jobs.export import ExportContext
from streambank.pipeline.jobs.import_records import ImportContext
from streambank.pipeline.jobs.move import MoveContext
from streambank.pipeline.jobs.policy_job import PolicyJobContext
from streambank.pipeline.jobs.reindex import ReindexContext
from streambank.pipeline.jobs.start_replay import StartReplayContext
from streambank.pipeline.screening.screening import Screenings
from streambank.store.executions import Executions
from streambank.store.exports import Exports
from streambank.store.imports import Imports
from streambank.store.objects import Objects
from streambank.store.rewrites import Rewrites
from streambank.store.secrets import id_secret
from streambank.wiring import models
from streambank.wiring.budget import token_budget
from streambank.wiring.deployment import CLIENT_CONFIG, Deployment, client
from streambank.wiring.screening import screenings
from streambank.wiring.stores import Stores

# A part is a few megabytes: it takes longer than an item.
_OBJECTS_CONFIG = CLIENT_CONFIG.merge(Config(read_timeout=10))


@dataclass(frozen=True)
class JobWiring:
    """Builds the context of a job that may take *time* from now on."""

    deployment: Deployment
    stores: Stores

    @cached_property
    def embedder(self) -> Embedder:
        """Return the model that maps texts to vectors."""
        return models.provider(self.deployment.settings.models).embedder()

    @cached_property
    def screenings(self) -> Screenings:
        """Return what content policies are applied with."""
        return screenings(self.deployment)

    @cached_property
    def token_budget(self) -> TokenBudget:
        """Return the budget that model calls are held within."""
        return token_budget(self.deployment)

    @cached_property
    def id_secret(self) -> bytes:
        """Return the secret that ids of the service's own are derived with."""
        return id_secret(self.deployment.table)

    @cached_property
    def objects(self) -> Objects:
        """Return the bucket of exports. Raises FailedPrecondition where this deployment has none."""
        bucket = self.deployment.settings.export_bucket
        if not bucket:
            raise FailedPrecondition("this deployment has no bucket for exports")
        return Objects(client("s3", _OBJECTS_CONFIG), bucket)

    def erase_context(self, time: timedelta) -> EraseContext:
        """Return what an erasure works with."""
        return EraseContext(
            erasures=self.stores.erasures,
            cuts=self.stores.cuts,
            streams=self.stores.streams,
            sessions=self.stores.sessions,
            histories=self.stores.histories,
            retention_policy=self.deployment.retention_policy,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    def move_context(self, time: timedelta) -> MoveContext:
        """Return what a move works with."""
        return MoveContext(
            moves=self.stores.moves,
            moved_streams=self.stores.moved_streams,
            moved_memories=self.stores.moved_memories,
            reviews=self.stores.reviews,
            memories=self.stores.memories,
            erasures=self.stores.erasures,
            banks=self.stores.banks,
            id_secret=lambda: self.id_secret,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    def export_context(self, time: timedelta) -> ExportContext:
        """Return what an export works with. Raises FailedPrecondition where this deployment has no bucket."""
        return ExportContext(
            transfers=self.stores.transfers,
            exports=Exports(self.deployment.table, lambda: self.id_secret),
            objects=self.objects,
            banks=self.stores.banks,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    def import_context(self, time: timedelta) -> ImportContext:
        """Return what an import works with. Raises FailedPrecondition where this deployment has no bucket."""
        return ImportContext(
            transfers=self.stores.transfers,
            imports=Imports(self.deployment.table),
            consents=self.stores.consents,
            reviews=self.stores.reviews,
            objects=self.objects,
            banks=self.stores.banks,
            sessions=self.stores.sessions,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retention_policy=self.deployment.retention_policy,
            id_secret=self.id_secret,
            screenings=self.screenings,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    def reindex_context(self, time: timedelta) -> ReindexContext:
        """Return what a reindex works with."""
        return ReindexContext(
            reindexes=self.stores.reindexes,
            indexes=self.stores.scope_indexes,
            banks=self.stores.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    def policy_context(self, time: timedelta) -> PolicyJobContext:
        """Return what an application of a content policy works with."""
        return PolicyJobContext(
            jobs=self.stores.policy_jobs,
            rewrites=Rewrites(self.deployment.table),
            histories=self.stores.histories,
            banks=self.stores.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            screenings=self.screenings,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=self._until(time),
        )

    @cached_property
    def executions(self) -> Executions:
        """Return the executions of the state machine."""
        return Executions(client("stepfunctions"), self.deployment.settings.state_machine_arn)

    def replay_context(self) -> StartReplayContext:
        """Return what a replay is started with; the state machine does it."""
        return StartReplayContext(
            replays=self.stores.replays,
            operations=OperationContext(self.stores.streams, self.stores.windows, self.stores.plans),
            executions=self.executions,
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=lambda: True,
        )

    def _until(self, time: timedelta) -> Callable[[], bool]:
        end = self.deployment.now() + time
        return lambda: self.deployment.now() < end
