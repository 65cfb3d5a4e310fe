"""Spans, named as OpenTelemetry's conventions for generative AI name them, where a collector is configured.

The names are those of open-telemetry/semantic-conventions-genai, spans `gen_ai.memory.client` and
`gen_ai.inference.client` (status Development). What is opt-in there is never sent: no text of events, facts or
queries, and no scope. Without a collector nothing is done here, and nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streambank import telemetry

if TYPE_CHECKING:
    from streambank.model.operation import Receipt
    from streambank.model.window import Attempt
    from streambank.otlp import Collector, OpenSpan
    from streambank.settings import TraceSettings

INGEST = "ingest_events"
OPERATION_NAME = "gen_ai.operation.name"
STORE_ID = "gen_ai.memory.store.id"
RECORD_ID = "gen_ai.memory.record.id"
RECORD_COUNT = "gen_ai.memory.record.count"
OPERATION = "streambank.operation"

Attributes = Mapping[str, str | int]

_open: ContextVar[OpenSpan | None] = ContextVar("the innermost open span", default=None)


@dataclass(slots=True)
class _Exporter:
    settings: TraceSettings | None = None
    collector: Collector | None = None


_exporter = _Exporter()


def configure(settings: TraceSettings | None) -> None:
    """Set where spans go; nowhere without *settings*, or if OpenTelemetry cannot be used, which is logged."""
    if settings == _exporter.settings:
        return  # one collector a process, also where local mode loads all functions into one
    _exporter.settings, _exporter.collector = settings, None
    if settings is None:
        return
    try:
        # OpenTelemetry is optional: it is imported where a collector is configured, and nowhere else.
        from streambank.otlp import Collector  # noqa: PLC0415

        _exporter.collector = Collector.build(settings)
    except Exception as fault:  # noqa: BLE001  whatever is wrong with traces, requests are answered
        telemetry.no_traces(fault)


@contextmanager
def span(name: str, attributes: Attributes, *, parent: str | None = None, is_call: bool = False) -> Iterator[None]:
    """Open a span below the innermost open one, else below *parent*, a W3C `traceparent`.

    *is_call* marks a call of another service. Of a failure the span holds the class name alone: its message may quote
    an event.
    """
    collector = _exporter.collector
    if collector is None:
        yield
        return
    outer = _open.get()
    opened = collector.open(name, attributes, outer or parent, is_call=is_call)
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
            collector.send(opened.ended)


def note(attributes: Attributes) -> None:
    """Add attributes to the innermost open span, if there is one."""
    opened = _open.get()
    if opened is not None:
        opened.note(attributes)


def accepted(receipt: Receipt) -> None:
    """Add how many events a request brought, and the operation that all later spans about them name."""
    counts = {"streambank.events.accepted": receipt.accepted, "streambank.events.duplicates": receipt.duplicates}
    note({OPERATION: str(receipt.operation.id), **counts})


def chat(provider: str, model: str) -> AbstractContextManager[None]:
    """Open a span for a call of a model."""
    attributes = {OPERATION_NAME: "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    return span(f"chat {model}", attributes, is_call=True)


def used(tokens_in: int, tokens_out: int) -> None:
    """Add the tokens of a call of a model."""
    note({"gen_ai.usage.input_tokens": tokens_in, "gen_ai.usage.output_tokens": tokens_out})


def stage(name: str, attempt: Attempt, work: Callable[[Attempt], str], *, is_memory_operation: bool = False) -> str:
    """Run a stage of a generation in a span of its own and return its outcome."""
    fields = telemetry.attempt_fields(attempt)
    attributes = {OPERATION_NAME: name} if is_memory_operation else {}
    attributes |= {STORE_ID: fields["bank"], OPERATION: fields["operation"]}
    with span(name, {**attributes, "streambank.attempt": attempt.attempt}):
        outcome = work(attempt)
        note({"streambank.outcome": str(outcome)})
    return outcome


def no_span() -> AbstractContextManager[None]:
    """Return a context without a span, for what is not traced."""
    return nullcontext()
