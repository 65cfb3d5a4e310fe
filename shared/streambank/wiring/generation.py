"""The composition root of the state machine's functions, and of the one that starts it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from streambank import metrics
from streambank.llm.ports import Consolidator, Embedder, Extractor, ModelProvider
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.store.executions import Executions
from streambank.wiring import models
from streambank.wiring.deployment import Deployment, client
from streambank.wiring.stores import Stores


@dataclass(frozen=True)
class GenerationWiring:
    """What the stages of a generation work with; a client is built by the functions that use it."""

    deployment: Deployment
    stores: Stores
    jitter: Callable[[], float] = random.random

    @cached_property
    def executions(self) -> Executions:
        """Return the executions of the state machine."""
        return Executions(client("stepfunctions"), self.deployment.settings.state_machine_arn)

    @cached_property
    def token_budget(self) -> TokenBudget:
        """Return the budget that model calls are held within."""
        settings = self.deployment.settings
        return TokenBudget(self.stores.usage, settings.daily_tokens, settings.call_tokens, settings.prices)

    @cached_property
    def _models(self) -> ModelProvider:
        return models.provider(self.deployment.settings.models)

    @cached_property
    def extractor(self) -> Extractor:
        """Return the model that proposes facts."""
        return self._models.extractor()

    @cached_property
    def consolidator(self) -> Consolidator:
        """Return the model that decides what facts mean for memories."""
        return self._models.consolidator()

    @cached_property
    def embedder(self) -> Embedder:
        """Return the model that maps texts to vectors."""
        return self._models.embedder()


def build() -> GenerationWiring:
    """Return the wiring of a function that is being loaded."""
    deployment = Deployment.load()
    metrics.configure(enabled=deployment.settings.emits_metrics)
    return GenerationWiring(deployment, Stores.over(deployment.table))
