"""The composition root of the function `Ingest`."""

from __future__ import annotations

from dataclasses import dataclass

from streambank.pipeline.events.ingest import IngestContext
from streambank.store.streams import Streams
from streambank.store.windows import Windows
from streambank.wiring.authentication import Authenticate, authenticator
from streambank.wiring.deployment import Deployment
from streambank.wiring.screening import screenings


@dataclass(frozen=True, slots=True)
class IngestWiring:
    """What the ingest route needs."""

    deployment: Deployment
    authenticate: Authenticate
    ingest: IngestContext


def build() -> IngestWiring:
    """Return the wiring of a function that is being loaded."""
    deployment = Deployment.load()
    return IngestWiring(deployment, authenticator(deployment), ingest_context(deployment))


def ingest_context(deployment: Deployment) -> IngestContext:
    """Return what an ingest works with."""
    streams, windows = Streams(deployment.table), Windows(deployment.table)
    return IngestContext(
        streams,
        windows,
        deployment.now,
        deployment.retry_policy,
        deployment.retention_policy,
        screenings(deployment),
    )
