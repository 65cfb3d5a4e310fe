"""The composition root of the function `Api`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from streambank.llm.ports import Embedder
from streambank.pipeline.events.ingest import IngestContext
from streambank.pipeline.generation.detail import DetailContext
from streambank.pipeline.generation.generate import GenerateContext
from streambank.pipeline.generation.operations import OperationContext
from streambank.pipeline.generation.redrive import RedriveContext
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.edit import EditContext
from streambank.pipeline.memories.reviews import ReviewContext
from streambank.pipeline.memories.search import SearchContext
from streambank.pipeline.screening.screening import Screenings
from streambank.store.secrets import page_secret
from streambank.wiring.authentication import Authenticate, authenticator
from streambank.wiring.deployment import Deployment
from streambank.wiring.ingest import ingest_context
from streambank.wiring.jobs import JobWiring
from streambank.wiring.stores import Stores


@dataclass(frozen=True)
class ApiWiring:
    """What routes work with; a client is built by the first route that uses it."""

    deployment: Deployment
    stores: Stores
    jobs: JobWiring
    authenticate: Authenticate
    sleep: Callable[[float], None] = time.sleep

    def now(self) -> datetime:
        """Return the present time."""
        return self.deployment.now()

    @property
    def embedder(self) -> Embedder:
        """Return the model that maps texts to vectors."""
        return self.jobs.embedder

    @cached_property
    def page_secret(self) -> bytes:
        """Return the secret that page tokens are signed with."""
        return page_secret(self.deployment.table)

    @property
    def screenings(self) -> Screenings:
        """Return what content policies are applied with."""
        return self.jobs.screenings

    @property
    def id_secret(self) -> bytes:
        """Return the secret that ids of the service's own are derived with."""
        return self.jobs.id_secret

    @cached_property
    def ingest(self) -> IngestContext:
        """Return what an ingest works with."""
        return ingest_context(self.deployment)

    @cached_property
    def token_budget(self) -> TokenBudget:
        """Return the budget that model calls are held within."""
        return self.jobs.token_budget

    def edit_context(self) -> EditContext:
        """Return what an edit of a memory works with."""
        return EditContext(
            memories=self.stores.memories,
            banks=self.stores.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retry_policy=self.deployment.retry_policy,
            id_secret=self.id_secret,
            now=self.now(),
            screenings=self.screenings,
        )

    def review_context(self) -> ReviewContext:
        """Return what reviews are listed and decided with."""
        return ReviewContext(
            memories=self.stores.memories,
            banks=self.stores.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            retry_policy=self.deployment.retry_policy,
            id_secret=self.id_secret,
            now=self.now(),
            reader=self.stores.reader,
            reviews=self.stores.reviews,
            windows=self.stores.windows,
            retention_policy=self.deployment.retention_policy,
        )

    def operation_context(self) -> OperationContext:
        """Return what operations and streams are looked up with."""
        return OperationContext(self.stores.streams, self.stores.windows, self.stores.plans)

    def detail_context(self) -> DetailContext:
        """Return what the details of windows and events are looked up with."""
        stores = self.stores
        return DetailContext(
            stores.streams, stores.windows, stores.plans, stores.memories, lambda: self.id_secret, self.now()
        )

    def redrive_context(self) -> RedriveContext:
        """Return what a redrive works with."""
        stores = self.stores
        return RedriveContext(stores.streams, stores.windows, stores.plans, self.jobs.executions, self.now())

    def generate_context(self) -> GenerateContext:
        """Return what a direct generation is started with."""
        stores = self.stores
        return GenerateContext(
            streams=stores.streams,
            windows=stores.windows,
            banks=stores.banks,
            retention_policy=self.deployment.retention_policy,
            now=self.now(),
            screenings=self.screenings,
        )

    def search_context(self) -> SearchContext:
        """Return what a search works with."""
        return SearchContext(
            memories=self.stores.memories,
            reader=self.stores.reader,
            events=self.stores.events,
            banks=self.stores.banks,
            embedder=self.embedder,
            token_budget=self.token_budget,
            id_secret=lambda: self.id_secret,
            now=self.now(),
        )


def build() -> ApiWiring:
    """Return the wiring of a function that is being loaded."""
    deployment = Deployment.load()
    stores = Stores.over(deployment.table)
    return ApiWiring(deployment, stores, JobWiring(deployment, stores), authenticator(deployment))
