"""What the work on the index of a large scope is done with: by the sweep, and by a record of the table's stream."""

from __future__ import annotations

from datetime import timedelta

from streambank.pipeline.jobs.index_scope import IndexContext
from streambank.wiring.deployment import Deployment
from streambank.wiring.stores import Stores


def index_context(deployment: Deployment, stores: Stores, time: timedelta) -> IndexContext:
    """Return what work that may take *time* from now on needs."""
    end = deployment.now() + time
    return IndexContext(
        indexes=stores.scope_indexes,
        memories=stores.memories,
        changes=stores.changes,
        retry_policy=deployment.retry_policy,
        clock=deployment.now,
        has_time=lambda: deployment.now() < end,
    )
