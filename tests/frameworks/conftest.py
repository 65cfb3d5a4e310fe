from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService


@pytest.fixture(scope="package")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service


@pytest.fixture(scope="package")
def event_texts(service: LocalService) -> Callable[[str], list[str]]:
    """Return what returns the texts of all events of a user, sorted."""

    def texts(user: str) -> list[str]:
        with Streambank(service.base_url, token="local") as client:
            found = client.bank().retrieve_memories(
                scope={"user_id": user},
                query="text",
                top_k=100,
                # No memory passes: an event is left out where a nearer memory cites it.
                filter='fact="none"',
                include_events=True,
                include_pending=True,
            )
        return sorted(event.event.content.text for event in found.events)

    return texts
