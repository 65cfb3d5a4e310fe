"""Spans, named as OpenTelemetry's conventions for generative AI name them, where a collector is configured.

The names are those of open-telemetry/semantic-conventions-genai, spans `gen_ai.memory.client` and
`gen_ai.inference.client` (status Development). What is opt-in there is never sent: no text of events, facts or
queries, and no scope. Without a collector nothing is done here, and nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from streambank import telemetry

if TYPE_CHECKING:
    from streambank.model.operation import Receipt
    from streambank.model.window import Attempt
    from streambank.otlp import Collector, Opened

INGEST = "ingest_events"
OPERATION_NAME = "gen_ai.operation.name"
STORE_ID = "gen_ai.memory.store.id"
RECORD_ID = "gen_ai.memory.record.id"
RECORD_COUNT = "gen_ai.memory.record.count"
OPERATION = "streambank.operation"

Attributes = Mapping[str, str | int]

_open: ContextVar[Opened | None] = ContextVar("the innermost open span", default=None)


@cache
def collector() -> Collector | None:
    """Return where spans go, or None: nothing is configured, or OpenTelemetry cannot be used, which is logged once."""
    endpoint = _endpoint(os.environ)
    if endpoint is None:
        return None
    try:
        from streambank.otlp import Collector

        return Collector.build(endpoint, os.environ)
    except Exception as fault:  # noqa: BLE001  whatever is wrong with traces, requests are answered
        telemetry.no_traces(fault)
        return None


def _endpoint(environment: Mapping[str, str]) -> str | None:
    """Return the URL that takes spans, as OpenTelemetry's own variables name it."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    base = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    own = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    return own or (f"{base.rstrip('/')}/v1/traces" if base else None)


@contextmanager
def span(name: str, attributes: Attributes, *, parent: str | None = None, is_call: bool = False) -> Iterator[None]:
    """Trace what is done inside, below the open span, else below *parent*, a W3C `traceparent`.

    *is_call* says that it is done elsewhere. A failure is told by its class alone: its message may quote an event.
    """
    traces = collector()
    if traces is None:
        yield
        return
    outer = _open.get()
    opened = traces.open(name, attributes, outer or parent, is_call=is_call)
    token = _open.set(opened)
    try:
        yield
    except BaseException as fault:
        opened.fail(type(fault).__name__)
        raise
    finally:
        _open.reset(token)
        opened.end()
        if outer is None:
            traces.send(opened.ended)


def note(attributes: Attributes) -> None:
    """Add to what is told of the innermost open span; nothing where none is open."""
    opened = _open.get()
    if opened is not None:
        opened.note(attributes)


def accepted(receipt: Receipt) -> None:
    """Tell how many events a request brought, and the operation that all later spans of their way name."""
    counts = {"streambank.events.accepted": receipt.accepted, "streambank.events.duplicates": receipt.duplicates}
    note({OPERATION: str(receipt.operation.id), **counts})


def chat(provider: str, model: str) -> AbstractContextManager[None]:
    """Trace a call of a model."""
    asked = {OPERATION_NAME: "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    return span(f"chat {model}", asked, is_call=True)


def used(tokens_in: int, tokens_out: int) -> None:
    """Tell what a call of a model took."""
    note({"gen_ai.usage.input_tokens": tokens_in, "gen_ai.usage.output_tokens": tokens_out})


def stage(name: str, attempt: Attempt, work: Callable[[Attempt], str], *, is_memory_operation: bool = False) -> str:
    """Return the outcome of a stage of a generation, which is traced with its attempt and its outcome."""
    told = telemetry.named(attempt)
    named = {OPERATION_NAME: name} if is_memory_operation else {}
    named |= {STORE_ID: told["bank"], OPERATION: told["operation"]}
    with span(name, {**named, "streambank.attempt": attempt.attempt}):
        outcome = work(attempt)
        note({"streambank.outcome": str(outcome)})
    return outcome
