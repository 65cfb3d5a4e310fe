"""The composition root of the function `OnSchedule`."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from streambank import metrics
from streambank.pipeline.sweep import SweepContext
from streambank.store.due import DueIndex
from streambank.wiring.deployment import Deployment
from streambank.wiring.jobs import JobWiring
from streambank.wiring.scope_index import index_context
from streambank.wiring.stores import Stores


@dataclass(frozen=True, slots=True)
class SweepWiring:
    """What a sweep needs."""

    deployment: Deployment
    sweep: SweepContext


def build() -> SweepWiring:
    """Return the wiring of a function that is being loaded."""
    deployment = Deployment.load()
    metrics.configure(enabled=deployment.settings.emits_metrics)
    stores = Stores.over(deployment.table)
    jobs = JobWiring(deployment, stores)
    context = SweepContext(
        due=DueIndex(deployment.table),
        streams=stores.streams,
        windows=stores.windows,
        memories=stores.memories,
        banks=stores.banks,
        erase_context=jobs.erase_context(timedelta(0)),
        move_context=jobs.move_context(timedelta(0)),
        export_context=jobs.export_context,
        import_context=jobs.import_context,
        reindex_context=jobs.reindex_context,
        index_context=partial(index_context, deployment, stores),
        policy_context=jobs.policy_context,
        replay_context=jobs.replay_context(),
        executions=jobs.executions,
        retention_policy=deployment.retention_policy,
        clock=deployment.now,
        jitter=random.random,
    )
    return SweepWiring(deployment, context)
