from __future__ import annotations

from collections.abc import Iterator

import pytest

from streambank_local.service import LocalService


@pytest.fixture(scope="package")
def service() -> Iterator[LocalService]:
    with LocalService(timer_enabled=False) as service:
        yield service
