"""Streambank in local mode with its Bedrock adapters: each turn is sent when it is over, in windows of some turns."""

from __future__ import annotations

import os

import httpx

from benchmarks.peers import drivers
from benchmarks.peers.conversation import Message, batches
from streambank_local.service import LocalService
from tests.journeys.caller import Caller, Document, Stream

ROLES = {"user": "user", "assistant": "model"}


def drive(url: str, turns: int) -> list[str]:
    """Send each turn when it is over; a window holds two messages for each of *turns*."""
    os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = url
    parameters = {"Model": "bedrock", "EmbeddingDimensions": str(drivers.DIMENSIONS)}
    rule = {"event_count": 2 * turns, "overlap_event_count": min(2, 2 * turns - 1)}
    with LocalService(parameters=parameters, timer_enabled=False) as service, _client(service) as client:
        stream = Caller(service, client).stream()
        for number, turn in enumerate(batches(1)):
            _send(stream, _events(number, turn), rule)
        stream.flush()
        return stream.caller.facts(stream.scope)


def _send(stream: Stream, events: list[Document], rule: Document) -> None:
    stream.send(*events, rule=rule)
    stream.caller.settle()


def _events(number: int, turn: list[Message]) -> list[Document]:
    return [
        {"event_id": f"{number}-{one.role}", "content": {"role": ROLES[one.role], "parts": [{"text": one.text}]}}
        for one in turn
    ]


def _client(service: LocalService) -> httpx.Client:
    return httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60)


if __name__ == "__main__":
    drivers.run(drive, "streambank")
