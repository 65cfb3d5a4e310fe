"""DynamoDB for the tests that make several worlds of their own over it."""

import pytest

from tests import aws


@pytest.fixture
def client(emulator):
    """A client of an empty table."""
    aws.empty(emulator)
    return emulator
