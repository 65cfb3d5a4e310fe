"""What is pure stays pure: no test here may open a connection."""

import socket

import pytest


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    def refused(*_):
        raise AssertionError("a pure test opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
