"""The composition root of the function `OnChange`."""

from __future__ import annotations

from streambank.pipeline.memories.publish import PublishContext
from streambank.settings import ChangeEventDetail
from streambank.store.changes import Changes
from streambank.store.event_bus import EventBus
from streambank.store.memories import Memories
from streambank.wiring.deployment import Deployment, client


def build() -> PublishContext:
    """Return what a function that is being loaded publishes changes with."""
    deployment = Deployment.load()
    return PublishContext(
        changes=Changes(deployment.table),
        memories=Memories(deployment.table),
        bus=EventBus(client("events"), deployment.settings.change_event_bus, deployment.retry_policy),
        with_text=deployment.settings.change_event_detail is ChangeEventDetail.FULL,
        clock=deployment.now,
    )
