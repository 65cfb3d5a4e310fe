"""The composition root of the state machine's functions, and of the one that starts it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial

from streambank import metrics
from streambank.llm.ports import Consolidator, Embedder, Extractor, ModelProvider
from streambank.pipeline.events.on_record import OnRecordContext
from streambank.pipeline.generation.commit import CommitContext
from streambank.pipeline.generation.consolidate import ConsolidateContext
from streambank.pipeline.generation.extract import ExtractContext
from streambank.pipeline.generation.fail import FailContext
from streambank.pipeline.generation.replay_window import ReplayWindowContext
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs.replay import ReplayContext
from streambank.pipeline.screening.screening import Screenings
from streambank.rules.model_choice import choose_model
from streambank.settings import ModelProviderName
from streambank.store.executions import Executions
from streambank.store.secrets import id_secret
from streambank.wiring import models
from streambank.wiring.budget import token_budget
from streambank.wiring.deployment import Deployment, client
from streambank.wiring.scope_index import index_context
from streambank.wiring.screening import screenings
from streambank.wiring.stores import Stores

# How long one record of the table's stream keeps an index up.
_INDEX_TIME = timedelta(seconds=5)


@dataclass(frozen=True)
class GenerationWiring:
    """What the stages of a generation work with; a client is built by the functions that use it."""

    deployment: Deployment
    stores: Stores

    def extract_context(self) -> ExtractContext:
        """Return what an extraction works with, now."""
        return ExtractContext(
            windows=self.stores.windows,
            plans=self.stores.plans,
            banks=self.stores.banks,
            memories=self.stores.memories,
            reader=self.stores.reader,
            extractor=self._extractor,
            embedder=self._embedder,
            token_budget=self._token_budget,
            retention_policy=self.deployment.retention_policy,
            id_secret=self._id_secret,
            now=self.deployment.now(),
            screenings=self._screenings,
        )

    def consolidate_context(self) -> ConsolidateContext:
        """Return what a consolidation works with, now."""
        return ConsolidateContext(
            windows=self.stores.windows,
            plans=self.stores.plans,
            banks=self.stores.banks,
            memories=self.stores.memories,
            reader=self.stores.reader,
            consolidator=self._consolidator,
            embedder=self._embedder,
            token_budget=self._token_budget,
            retention_policy=self.deployment.retention_policy,
            id_secret=self._id_secret,
            now=self.deployment.now(),
            screenings=self._screenings,
        )

    def commit_context(self) -> CommitContext:
        """Return what a commit works with, now."""
        return CommitContext(
            windows=self.stores.windows,
            plans=self.stores.plans,
            memories=self.stores.memories,
            indexes=self.stores.scope_indexes,
            reviews=self.stores.reviews,
            banks=self.stores.banks,
            retention_policy=self.deployment.retention_policy,
            id_secret=self._id_secret,
            now=self.deployment.now(),
            screenings=self._screenings,
            model_name=self._model_name,
            clock=self.deployment.now,
        )

    def replay_context(self, time: timedelta) -> ReplayContext:
        """Return what a run of a replay that begins windows for *time* from now on works with."""
        end = self.deployment.now() + time
        return ReplayContext(
            replays=self.stores.replays,
            banks=self.stores.banks,
            streams=self.stores.streams,
            windows=self.stores.windows,
            of_window=self._replay_window_context(),
            retry_policy=self.deployment.retry_policy,
            clock=self.deployment.now,
            has_time=lambda: self.deployment.now() < end,
        )

    def _replay_window_context(self) -> ReplayWindowContext:
        return ReplayWindowContext(
            windows=self.stores.windows,
            plans=self.stores.plans,
            memories=self.stores.memories,
            reader=self.stores.reader,
            extractor=self._extractor,
            consolidator=self._consolidator,
            embedder=self._embedder,
            token_budget=self._token_budget,
            id_secret=self._id_secret,
            model_name=self._model_name,
            now=self.deployment.now(),
            screenings=self._screenings,
        )

    def fail_context(self) -> FailContext:
        """Return what a failure is recorded with, now."""
        return FailContext(self.stores.windows, self.deployment.now(), random.random)

    def on_record_context(self) -> OnRecordContext:
        """Return what records of the table's stream are handled with."""
        executions = Executions(client("stepfunctions"), self.deployment.settings.state_machine_arn)
        stores = self.stores
        index = partial(index_context, self.deployment, stores, _INDEX_TIME)
        return OnRecordContext(stores.streams, stores.windows, executions, index, self.deployment.now)

    def _model_name(self, requested: str | None) -> str:
        """Return the model that is asked where a bank requests one, or none; the embedded model has its own name."""
        settings = self.deployment.settings.models
        if settings.provider is ModelProviderName.EMBEDDED:
            return settings.provider.value
        return choose_model(requested, settings.model, settings.allowed)

    @cached_property
    def _id_secret(self) -> bytes:
        return id_secret(self.deployment.table)

    @cached_property
    def _screenings(self) -> Screenings:
        return screenings(self.deployment)

    @cached_property
    def _token_budget(self) -> TokenBudget:
        return token_budget(self.deployment, books_embeddings=not self._embedder.is_local)

    @cached_property
    def _models(self) -> ModelProvider:
        return models.provider(self.deployment.settings.models)

    @cached_property
    def _extractor(self) -> Extractor:
        return self._models.extractor()

    @cached_property
    def _consolidator(self) -> Consolidator:
        return self._models.consolidator()

    @cached_property
    def _embedder(self) -> Embedder:
        return self._models.embedder()


def build() -> GenerationWiring:
    """Return the wiring of a function that is being loaded."""
    deployment = Deployment.load()
    metrics.configure(enabled=deployment.settings.emits_metrics)
    return GenerationWiring(deployment, Stores.over(deployment.table))
