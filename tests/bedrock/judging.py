"""A service whose model answers by a script over real HTTP, and what the tests of its judgement share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, Reply, running, tool
from tests.journeys.caller import Caller, Document, Stream, said

ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


@contextmanager
def scripted_service() -> Iterator[tuple[LocalService, Bedrock]]:
    """Run local mode with Bedrock's adapters, and the server that they call."""
    parameters = {"Model": "bedrock", "EmbeddingDimensions": "256"}
    with running(Bedrock()) as server:
        os.environ[ENDPOINT] = server.url
        try:
            with LocalService(parameters=parameters, timer_enabled=False) as service:
                yield service, server
        finally:
            del os.environ[ENDPOINT]


@contextmanager
def scripted_caller(service: LocalService, server: Bedrock) -> Iterator[Caller]:
    """Yield a caller of *service*; the server has no script and no requests yet."""
    server.script, server.asked = [], []
    headers = {"authorization": "Bearer local"}
    with httpx.Client(base_url=service.base_url, headers=headers, timeout=60) as client:
        caller = Caller(service, client)
        yield caller
        caller.leave()


def facts(*rows: Document) -> Reply:
    return tool("record_facts", {"facts": list(rows)})


def decisions(*rows: Document) -> Reply:
    return tool("consolidate", {"decisions": list(rows)})


def remember(caller: Caller, stream: Stream, *texts: str) -> None:
    """Let the scope have a memory of each of *texts*."""
    for one in texts:
        caller.post(f"{stream.bank}/memories", {"scope": stream.scope, "fact": one})


def play(
    caller: Caller, server: Bedrock, stream: Stream, turns: list[str | Document], *script: Reply, **options: Any
) -> list[Document]:
    """Send *turns* in one window, let the model answer by *script*, and return the verdicts."""
    server.script = list(script)
    done = stream.flush(*[said(one) if isinstance(one, str) else one for one in turns], **options)
    assert done["done"], done
    assert not server.script, "the model was called less often than it should be"
    verdicts: list[Document] = caller.get(done["response"]["generateMemoriesOperation"])["response"].get("verdicts", [])
    return verdicts


def outcome(verdicts: list[Document]) -> list[tuple[str, str]]:
    return [(one["verdict"], one["fact"]) for one in verdicts]
