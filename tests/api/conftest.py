"""DynamoDB for the tests that send requests to routes."""

import pytest

from streambank.wiring import overrides
from streambank_local.basic.models import BasicModels
from tests import aws
from tests.api.routes import Api


@pytest.fixture
def api(emulator, monkeypatch):
    """The routes over an empty table, with the basic models."""
    aws.empty(emulator)
    monkeypatch.setattr(overrides.current, "models", BasicModels())
    return Api(emulator)
